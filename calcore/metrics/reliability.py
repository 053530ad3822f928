"""The reliability table: event rate against mean score, bin by bin, with an interval for every event rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.cells import cells
from calcore.metrics.uncertainty import LEVEL, SIGNIFICANCE, SourceSums, Z, design_effect
from calcore.observation.labelled import Labelled
from calcore.sums import sum_by
from calcore.validation import Floats, fraction


@dataclass(frozen=True, eq=False)
class Reliability:
    """One entry a bin, (bins,) each; empty bins have ``rows`` 0 and NaN elsewhere.

    ``low`` and ``high`` are the bin's edges; ``event_rate`` the estimated frequency of positives, not cut to
    [0, 1]; ``lower`` and ``upper`` its interval at ``level`` (NaN where the mass of the bin is not separated
    from 0); ``residual`` = event rate - mean score; ``p_value`` and ``adjusted`` (Holm over the bins) of the
    test that the residual is 0, NaN where ``too_few``; ``contradiction`` marks bins whose interval lies
    outside [0, 1] altogether: the stated rates contradict the bin.
    """

    low: Floats
    high: Floats
    rows: NDArray[np.int64]
    mass: Floats
    mean_score: Floats
    event_rate: Floats
    residual: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    adjusted: Floats
    too_few: NDArray[np.bool_]
    contradiction: NDArray[np.bool_]
    strategy: str
    method: str
    n: int
    dropped: int
    clipped: int
    basis: str
    assumptions: tuple[str, ...]
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.low)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Bins that hold rows."""
        return self.rows > 0

    def wrong(self, tolerance: float) -> NDArray[np.bool_]:
        """Bins that are off: significantly, after Holm, and by more than ``tolerance`` (a rate in [0, 1])."""
        # NaN (not tested, no mass) is never off
        with np.errstate(invalid="ignore"):
            return (self.adjusted < SIGNIFICANCE) & (np.abs(self.residual) > tolerance)

    def to_frame(self) -> pd.DataFrame:
        """One row a bin."""
        names = [
            "low",
            "high",
            "rows",
            "mass",
            "mean_score",
            "event_rate",
            "residual",
            "lower",
            "upper",
            "p_value",
            "adjusted",
        ]
        frame = pd.DataFrame({name: getattr(self, name) for name in names})
        return frame.assign(too_few=self.too_few, contradiction=self.contradiction)


def reliability(
    evidence: Evidence, bins: int | Bins = 15, strategy: str = "width", *, level: float = LEVEL
) -> Reliability:
    """The reliability table of ``evidence`` over ``bins`` of the ``strategy`` "width" or "mass".

    Intervals at ``level``: Wilson on clean labels (at the effective n under weights, over the design effect
    under units); Wilson on the recorded rate mapped through the flip rates; else Fieller's for positive mass
    over mass.
    """
    evidence = evidence.without_groups()
    made = Bins.of(evidence, bins, strategy)
    key, count = made.index(evidence.score), len(made)
    table = cells(evidence, made)
    mass, moment = table.mass[0], table.moment[0]
    usable = mass > 0
    residual = np.divide(moment, mass, out=np.full(count, np.nan), where=usable)
    event_rate = np.divide(
        sum_by(key, evidence.positive, count), mass, out=np.full(count, np.nan), where=usable
    )
    z = float(stats.norm.ppf(0.5 + fraction(level, "the level") / 2))
    if isinstance(evidence.model, Labelled) and not evidence.row_parameters:
        lower, upper, method = *_wilson(evidence, key, count, z), "Wilson"
    else:
        lower, upper, method = *_fieller(evidence, key, count, z), "Fieller"
    with np.errstate(invalid="ignore"):
        contradiction = (upper < 0.0) | (lower > 1.0)
    return Reliability(
        low=made.edges[:-1],
        high=made.edges[1:],
        rows=table.rows[0],
        mass=mass,
        mean_score=table.mean_score[0],
        event_rate=event_rate,
        residual=residual,
        lower=lower,
        upper=upper,
        p_value=table.p_value[0],
        adjusted=table.adjusted[0],
        too_few=table.too_few[0],
        contradiction=contradiction,
        strategy=made.strategy,
        method=method,
        n=evidence.n,
        dropped=evidence.dropped,
        clipped=evidence.clipped,
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
        level=level,
    )


def wilson(successes: Floats, trials: Floats, z: float = Z) -> tuple[Floats, Floats]:
    """Wilson's score interval of rates (Wilson 1927); all (k,); ``trials`` need not be whole; NaN where 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = successes / trials
        middle = (rate + z**2 / (2 * trials)) / (1 + z**2 / trials)
        half = z / (1 + z**2 / trials) * np.sqrt(rate * (1 - rate) / trials + z**2 / (4 * trials**2))
    return middle - half, middle + half


def _wilson(evidence: Evidence, key: NDArray[np.int64], count: int, z: float) -> tuple[Floats, Floats]:
    assert evidence.label is not None
    weight = sum_by(key, evidence.weight, count)
    squared = sum_by(key, evidence.weight_squared, count)
    recorded = sum_by(key, evidence.weight * evidence.label, count)
    trials = np.divide(weight**2, squared, out=np.zeros(count), where=squared > 0)
    if evidence.unit is not None:
        trials = trials / design_effect(evidence, key, count)
    rate = np.divide(recorded, weight, out=np.full(count, np.nan), where=weight > 0)
    lower, upper = wilson(rate * trials, trials, z)
    assert isinstance(evidence.model, Labelled)
    rho0, top = evidence.model.recorded_rate(np.array([0.0, 1.0]))
    return (lower - rho0) / (top - rho0), (upper - rho0) / (top - rho0)


def _fieller(evidence: Evidence, key: NDArray[np.int64], count: int, z: float) -> tuple[Floats, Floats]:
    """All r with (P - r M)^2 <= z^2 Var(P - r M), P the positive mass and M the mass of a bin (Fieller 1954).

    Var P is at least that of z^2 draws: where no positive was drawn, P = 0 is not known without error.
    """
    positive = SourceSums.of(evidence, evidence.positive, key, count)
    mass = SourceSums.of(evidence, evidence.mass, key, count)
    both = SourceSums.of(evidence, evidence.positive + evidence.mass, key, count)
    p, m = positive.total.sum(axis=0), mass.total.sum(axis=0)
    var_p, var_m = positive.variance(), mass.variance()
    cov = (both.variance() - var_p - var_m) / 2
    draw = np.abs(evidence.positive) / np.maximum(evidence.count, 1.0)
    var_p = np.maximum(var_p, z**2 * float(draw.max()) ** 2)
    a, b, c = m**2 - z**2 * var_m, p * m - z**2 * cov, p**2 - z**2 * var_p
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        bounded = (a > 0) & (m > 0)
        lower = np.where(bounded, (b - root) / a, np.nan)
        upper = np.where(bounded, (b + root) / a, np.nan)
    return lower, upper
