"""Where contradictions come from: the model's own doubt, or labels that are recorded wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calcore.audit import TOLERANCE
from calcore.calibrators.loss_weighted import contradiction, contradiction_rate, recorded_labels
from calcore.evidence import Evidence
from calcore.known_flips import KnownFlips, known_flips
from calcore.metrics.rates import rate_interval
from calcore.metrics.uncertainty import FEWEST_DRAWS, SIGNIFICANCE, Z, effective_draws, variance_of_sum
from calcore.observation.priors import FlipRates
from calcore.sums import sum_by
from calcore.validation import Floats

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class WithFlips:
    """What the flip rates would make of a calibrated score.

    ``expected`` is the contradiction rate then, with the ``interval`` that those of both rates allow; ``rest`` is
    the observed rate minus it, and ``rest_interval`` adds the error of the labels at 95 %. Below 0 the score is not
    sure enough. ``origin`` is "given", "counted" (on audited rows) or "estimated". Given rates are taken to be
    ``exact``: no ``interval``. Where the error of estimated rates is not known, both intervals are None.
    """

    expected: float
    interval: Interval
    rest: float
    rest_interval: Interval
    origin: str
    exact: bool

    @property
    def hidden(self) -> bool:
        """Fewer contradictions than these flips would cause, beyond chance: unsure scores hide wrong labels."""
        return self.rest_interval is not None and self.rest_interval[1] < 0


@dataclass(frozen=True)
class Contradictions:
    """The contradiction rate of LWCal, Eq. 6, split by what explains it; all rates in [0, 1] of the weighted rows.

    ``observed`` with its Wilson ``interval``; ``expected`` is the rate if every label were right and the score
    calibrated, the mean of min(p, 1 - p); ``excess`` = observed - expected, with the interval and the two-sided
    p-value of no excess (both by the larger of the estimated and the null error). ``with_flips`` is None where
    no flip rates are known. Intervals are None where fewer than four independent draws allow none.

    An excess says that labels are wrong **or** the score is too sure: clean labels alone tell these apart. A
    score that is not sure enough hides wrong labels in the same way.
    """

    n: int
    observed: float
    interval: Interval
    expected: float
    excess: float
    excess_interval: Interval
    p_value: float
    with_flips: WithFlips | None

    @property
    def noise(self) -> float:
        """What label noise explains: the excess, not below 0."""
        return max(self.excess, 0.0)

    @property
    def noise_interval(self) -> Interval:
        """The interval of ``noise``."""
        if self.excess_interval is None:
            return None
        low, high = self.excess_interval
        return max(low, 0.0), max(high, 0.0)

    @property
    def significant(self) -> bool:
        """Is the excess, above or below 0, more than chance would give?"""
        return self.p_value < SIGNIFICANCE

    @property
    def beyond_chance(self) -> bool:
        """More contradictions than right labels of a calibrated score would show in 97.5 % of samples."""
        return self.excess > 0 and self.significant

    def alarm(self, tolerance: float = TOLERANCE) -> bool:
        """Too many contradictions: beyond chance, and by more than ``tolerance`` (a rate in [0, 1])."""
        return self.beyond_chance and self.excess > tolerance

    def hides(self, tolerance: float = TOLERANCE) -> bool:
        """Do unsure scores hide wrong labels: fewer contradictions than the flips give, by more than ``tolerance``?"""
        flips = self.with_flips
        return flips is not None and flips.hidden and flips.rest < -tolerance


def own_doubt(score: Floats) -> Floats:
    """P(the true label contradicts the decision p >= .5) of a calibrated score, (n,): min(p, 1 - p)."""
    return np.minimum(score, 1.0 - score)


def contradictions(
    evidence: Evidence, *, counted: FlipRates | None = None, estimated: FlipRates | None = None
) -> Contradictions:
    """Split the contradiction rate of ``evidence``, by the best of what is known of its flips.

    ``counted`` (on audited rows) and ``estimated`` (from these scores and labels) are used as in ``known_flips``.
    Rows that belong together count as one draw in every error. Raises DoesNotExist where rows carry no label.
    """
    label = recorded_labels(evidence)
    share = evidence.weight / evidence.weight.sum()
    against = contradiction(evidence.score, label)
    doubt = own_doubt(evidence.score)
    known = known_flips(evidence, counted, estimated)
    excess, bounds, error = _compared(evidence, share, against, doubt)
    return Contradictions(
        n=evidence.n,
        observed=contradiction_rate(evidence),
        interval=rate_interval(evidence, against),
        expected=float(share @ doubt),
        excess=excess,
        excess_interval=bounds,
        p_value=p_value(excess, error),
        with_flips=_with_flips(evidence, share, against, known[0]) if known else None,
    )


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard errors of sums of row terms, for many sums over the same rows.

    ``rows`` is the evidence as if every row were a draw of its own; ``units`` has one entry for each unit of rows
    that belong together and ``unit`` (n,) is the place of each row's, both None where rows do not belong together.
    """

    rows: Evidence
    units: Evidence | None
    unit: NDArray[np.int64] | None

    @classmethod
    def of(cls, evidence: Evidence) -> Errors:
        if evidence.unit is None:
            return cls(evidence, None, None)
        _, first, unit = np.unique(evidence.unit, return_index=True, return_inverse=True)
        weight = sum_by(unit, evidence.weight, first.size)
        rows = replace(evidence, unit=None)
        units = replace(
            rows.take(first), weight=weight, weight_squared=weight**2, rows=None, weighting="importance"
        )
        return cls(rows, units, unit)

    def of_sum(self, terms: Floats, null_squares: Floats) -> float:
        """The larger of the estimated and the null error of the sum of ``terms`` (n,).

        ``null_squares`` (n,) are the variances of the terms if nothing were wrong; units widen them by their
        design effect. The estimated error alone is 0 where no label contradicts, and accuses too often. NaN where
        all rows are one unit.
        """
        alone, together = self._variances(terms)
        null = float(null_squares.sum()) * _ratio(together, alone)
        return float(np.sqrt(np.fmax(together, null)))

    def _variances(self, terms: Floats) -> tuple[float, float]:
        """Variance of the sum of ``terms`` (n,) over independent rows, and over units."""
        alone = variance_of_sum(self.rows, terms)
        if self.units is None or self.unit is None:
            return alone, alone
        return alone, variance_of_sum(self.units, sum_by(self.unit, terms, len(self.units)))


def _ratio(together: float, alone: float) -> float:
    # NaN where all rows are one unit: how much they depend is not known then
    return float(np.maximum(together / alone, 1.0)) if alone > 0 else 1.0


def p_value(value: float, error: float) -> float:
    """Two-sided normal p-value; 1 where there is neither a difference nor an error, or the error is not known."""
    if error > 0:
        return float(2 * special.ndtr(-abs(value) / error))
    return 1.0 if value == 0 or np.isnan(error) else 0.0


def row_squares(evidence: Evidence) -> Floats:
    """Squared weight of the rows behind each entry, (n,), as shares of the total squared."""
    return np.asarray(evidence.weight_squared / evidence.weight.sum() ** 2)


def _compared(
    evidence: Evidence, share: Floats, against: Floats, expected: Floats
) -> tuple[float, Interval, float]:
    """Observed minus expected contradictions, their interval and standard error."""
    value = float(share @ (against - expected))
    null = row_squares(evidence) * expected * (1 - expected)
    error = Errors.of(evidence).of_sum(share * (against - expected), null)
    if effective_draws(evidence) < FEWEST_DRAWS or not np.isfinite(error):
        return value, None, error
    return value, (value - Z * error, value + Z * error), error


def _with_flips(evidence: Evidence, share: Floats, against: Floats, flips: KnownFlips) -> WithFlips:
    rates = flips.rates
    if rates is None:
        drawn = evidence.model.two_point(evidence)
        assert drawn is not None
        expected = np.where(evidence.score >= 0.5, 1.0 - drawn[0], drawn[0])
        rest, bounds, _ = _compared(evidence, share, against, expected)
        # the error of estimated rates that come without one is not 0: no interval can be given
        bounds = bounds if flips.exact else None
        return WithFlips(float(share @ expected), None, rest, bounds, flips.origin, flips.exact)
    expected = _flipped(evidence.score, rates.rho0.value, rates.rho1.value)
    value = float(share @ expected)
    rest, bounds, _ = _compared(evidence, share, against, expected)
    # linear in both rates: their distances to the ends add up as squares
    side = np.where(evidence.score >= 0.5, 1.0, -1.0) * share
    parts = (
        (-float(side @ (1 - evidence.score)), rates.rho0.value, rates.rho0.interval),
        (float(side @ evidence.score), rates.rho1.value, rates.rho1.interval),
    )
    below, above = squared_reach(parts)
    low, high = max(value - np.sqrt(below), 0.0), min(value + np.sqrt(above), 1.0)
    if bounds is not None:
        bounds = (
            rest - float(np.hypot(rest - bounds[0], high - value)),
            rest + float(np.hypot(bounds[1] - rest, value - low)),
        )
    return WithFlips(value, (float(low), float(high)), rest, bounds, flips.origin, flips.exact)


def squared_reach(parts: Iterable[tuple[float, float, tuple[float, float]]]) -> tuple[float, float]:
    """How far below and above a sum of (slope, value, interval) reaches, squared (Zou and Donner 2008)."""
    below = above = 0.0
    for slope, value, (low, high) in parts:
        down, up = (value - low, high - value) if slope >= 0 else (high - value, value - low)
        below += (slope * down) ** 2
        above += (slope * up) ** 2
    return below, above


def _flipped(score: Floats, rho0: float, rho1: float) -> Floats:
    """P(the recorded label contradicts the decision) of a calibrated score whose labels are flipped, (n,)."""
    recorded = rho0 + (1.0 - rho0 - rho1) * score
    return np.where(score >= 0.5, 1.0 - recorded, recorded)
