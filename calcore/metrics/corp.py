"""CORP reliability: the isotonic event rate over the score, with bands; no bins to choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calcore.calibrators.isotonic import fit_isotonic
from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.isotonic_noise import IsotonicNoise
from calcore.metrics.uncertainty import LEVEL
from calcore.sums import sum_by
from calcore.validation import Floats, fraction

#: Scores at which a curve of more distinct ones is given.
POINTS = 400


@dataclass(frozen=True, eq=False)
class Corp:
    """The isotonic event rate at each ``score``, (k,) each, in order: distinct scores, or quantiles of many.

    ``event_rate`` is in [0, 1]; ``mass`` is that of the scores up to this one and above the one before. A calibrated
    score would show rates within [``consistency_lower``, ``consistency_upper``]; [``lower``, ``upper``] is the
    confidence band around the curve. Both hold at ``level`` at each score by itself, not for the whole curve.
    """

    score: Floats
    event_rate: Floats
    mass: Floats
    consistency_lower: Floats
    consistency_upper: Floats
    lower: Floats
    upper: Floats
    n: int
    dropped: int
    clipped: int
    basis: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.score)

    @property
    def outside(self) -> np.ndarray:
        """Scores whose rate a calibrated score would not show, (k,)."""
        return (self.event_rate < self.consistency_lower) | (self.event_rate > self.consistency_upper)

    def blocks(self) -> pd.DataFrame:
        """One row a step of the curve: its range (of the scores that are given), mass and event rate."""
        step = np.cumsum(np.concatenate([[0], np.abs(np.diff(self.event_rate)) > 1e-12]))
        frame = pd.DataFrame({"score": self.score, "mass": self.mass, "event_rate": self.event_rate})
        steps = frame.groupby(step)
        return pd.DataFrame(
            {
                "low": steps["score"].min(),
                "high": steps["score"].max(),
                "mass": steps["mass"].sum(),
                "event_rate": steps["event_rate"].first(),
            }
        ).reset_index(drop=True)

    def to_frame(self) -> pd.DataFrame:
        """One row a score."""
        names = ["score", "event_rate", "mass", "consistency_lower", "consistency_upper", "lower", "upper"]
        return pd.DataFrame({name: getattr(self, name) for name in names})


def corp(evidence: Evidence, *, level: float = LEVEL) -> Corp:
    """The CORP reliability curve (Dimitriadis, Gneiting and Jordan 2021): consistent, optimally binned, reproducible.

    The event rate is the isotonic fit to the evidence. Both bands refit it to 400 samples: drawn from the score for
    consistency, from the fit itself for confidence (there as in "reliabilitydiag", Section S2). Samples are drawn for
    at most 400 groups of neighbouring scores.
    """
    tail = (1 - fraction(level, "the level")) / 2
    evidence = evidence.without_groups()
    curve = fit_isotonic(evidence)
    distinct, place = np.unique(evidence.score, return_inverse=True)
    mass = sum_by(place, evidence.mass, distinct.size)
    score, upto = distinct, np.arange(distinct.size)
    if distinct.size > POINTS:
        upto = np.unique(np.linspace(0, distinct.size - 1, POINTS).round().astype(np.int64))
        score = distinct[upto]
    fitted = np.clip(curve(evidence.score), 0.0, 1.0)
    notes = evidence.notes
    if fitted.min() == fitted.max():
        notes = (*notes, "one step: no rise of the event rate with the score is seen")
    # the fit is made on the rows; its noise does not need them where they are many
    light, _ = collapsed_if_large(evidence)
    bands = []
    refitted = _smoothed(light, np.clip(curve(light.score), 0.0, 1.0))
    for seed, centre in enumerate((light.score, refitted)):
        noise = IsotonicNoise.of(light, centre, seed=seed)
        bands += [noise.at(score, np.quantile(noise.fitted, q, axis=0)) for q in (tail, 1 - tail)]
    rate = np.clip(curve(score), 0.0, 1.0)
    return Corp(
        score=score,
        event_rate=rate,
        mass=np.diff(np.concatenate([[0.0], np.cumsum(mass)[upto]])),
        consistency_lower=bands[0],
        consistency_upper=bands[1],
        # a curve is in its own band
        lower=np.minimum(bands[2], rate),
        upper=np.maximum(bands[3], rate),
        n=evidence.n,
        dropped=evidence.dropped,
        clipped=evidence.clipped,
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
        notes=notes,
        level=level,
    )


def _smoothed(evidence: Evidence, fitted: Floats) -> Floats:
    """The fit, kept off 0 and 1 by what its effective rows leave open: a step of 0 of 20 is not surely 0."""
    weight = evidence.covariate_weight
    # as many rows as the weights are worth, whatever their scale
    worth = weight.sum() / (evidence.weight_squared * (weight / evidence.weight) ** 2).sum()
    weight = weight * worth
    levels, block = np.unique(fitted, return_inverse=True)
    size = sum_by(block, weight, levels.size)
    count = (sum_by(block, weight * fitted, levels.size) + 0.5) / (size + 1.0)
    ends = (levels <= 0.0) | (levels >= 1.0)
    return np.where(ends, count, levels)[block]
