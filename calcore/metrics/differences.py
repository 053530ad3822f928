"""Paired differences between two score vectors on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from scipy import sparse, stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.cell_layout import CellLayout
from calcore.metrics.inversion import multiple_of, plausible_shapes
from calcore.metrics.uncertainty import LEVEL, SEED, covariance_of_sums, variance_of_sum
from calcore.validation import Floats, read_only

#: Errors outside the middle 80 % of what an observed ECE allows are not looked at: the interval adds its own.
TAIL = 0.1
#: Draws beyond either end of a percentile interval, so that another seed hardly moves it.
FEWEST_IN_TAIL = 25


@dataclass(frozen=True)
class Difference:
    """``value`` = first minus second (negative: the first is better), corrected for the noise of both.

    ``standard_error`` and the interval [``lower``, ``upper``] at ``level`` are of the paired difference;
    ``unknown_bias`` bounds what the correction may be off by, and is part of the interval. ``draws`` holds the
    difference in redrawn samples where it was bootstrapped: the interval is then their percentile one.
    """

    name: str
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float = LEVEL
    unknown_bias: float = 0.0
    draws: Floats | None = field(default=None, repr=False, compare=False)

    def at_level(self, level: float) -> Difference:
        """The same difference with an interval at another level: a percentile one where there are draws, else normal.

        Where a tail of ``level`` would hold fewer than FEWEST_IN_TAIL draws, the ends of the widest interval whose
        tails do are moved out as a normal distribution's would be.
        """
        if self.draws is not None:
            supported = min(level, max(1 - 2 * FEWEST_IN_TAIL / self.draws.size, 0.5))
            ends = np.quantile(self.draws, [(1 - supported) / 2, (1 + supported) / 2])
            further = float(stats.norm.ppf(0.5 + level / 2) / stats.norm.ppf(0.5 + supported / 2))
            middle = float(np.median(self.draws))
            lower, upper = middle + further * (ends - middle)
            return replace(self, lower=float(lower), upper=float(upper), level=level)
        half = float(stats.norm.ppf(0.5 + level / 2)) * self.standard_error + self.unknown_bias
        return replace(self, lower=self.value - half, upper=self.value + half, level=level)

    def with_draws(self, draws: Floats) -> Difference:
        """The same difference with the percentile interval of its values in redrawn samples, (draws,)."""
        return replace(self, draws=read_only(draws)).at_level(self.level)

    @property
    def separated(self) -> bool:
        """Does the interval exclude 0?"""
        return self.lower > 0 or self.upper < 0


def linear_difference(name: str, evidence: Evidence, terms: Floats) -> Difference:
    """Difference of two scores that are sums over rows; ``terms`` (n,) are the row differences."""
    error = float(np.sqrt(variance_of_sum(evidence, terms)))
    return Difference(name, float(terms.sum()), error, 0.0, 0.0).at_level(LEVEL)


def ece_difference(one: Evidence, other: Evidence, bins: int | Bins = 15, draws: int = 1000) -> Difference:
    """ECE of ``one`` minus ECE of ``other`` on the same rows, less what noise alone adds to each.

    How much noise adds depends on the true moments: most where there is no error, little where errors are
    large. It is simulated, with the joint covariance of both moment vectors, at the smallest and at the largest
    errors that each observed ECE allows; the middle is taken out and half the range is ``unknown_bias``.
    """
    edges = Bins.of(one, bins)
    count = len(edges)
    design = _terms(one, other, edges)
    moment = np.asarray(design.sum(axis=0)).ravel()
    covariance = covariance_of_sums(one, design)
    if not np.isfinite(covariance).all():  # a single draw has no known error
        observed = float(_size(moment[:count]) - _size(moment[count:]))
        return Difference("ECE", observed, float("nan"), float("nan"), float("nan"))
    values, vectors = np.linalg.eigh(covariance)
    scale = np.sqrt(np.maximum(values, 0.0))
    noise = (np.random.default_rng(SEED).standard_normal((draws, 2 * count)) * scale) @ vectors.T
    halves = slice(0, count), slice(count, None)
    sides = [_Side(moment[half], np.diag(covariance)[half], noise[:, half]) for half in halves]
    return _corrected("ECE", sides, _size)


@dataclass(frozen=True, eq=False)
class _Side:
    """One of two score vectors: its moments (...), their variance (...) and draws of their noise (draws, ...)."""

    moment: Floats
    variance: Floats
    noise: Floats

    def centres(self, size: Callable[[Floats], Floats]) -> list[Floats]:
        """The smallest and the largest true moments, concentrated or spread, that the observed size allows."""
        observed = float(size(self.moment))
        if not self.moment.any():
            return [self.moment]
        return [
            shape * multiple_of(shape, size, self.noise, q, observed)
            for shape in plausible_shapes(self.moment, self.variance)
            for q in (1 - TAIL, TAIL)
        ]


def _corrected(name: str, sides: Sequence[_Side], size: Callable[[Floats], Floats]) -> Difference:
    """Difference of the observed sizes of two sides, less what noise adds at the true moments that are plausible."""
    one, other = sides
    observed = float(size(one.moment) - size(other.moment))
    biases, spreads = [], []
    for first, second in product(one.centres(size), other.centres(size)):
        error = size(first + one.noise) - size(second + other.noise) - (size(first) - size(second))
        biases.append(float(error.mean()))
        spreads.append(float(error.std()))
    low, high = min(biases), max(biases)
    middle = Difference(
        name, observed - (low + high) / 2, max(spreads), 0.0, 0.0, unknown_bias=(high - low) / 2
    )
    return middle.at_level(LEVEL)


def _size(moments: Floats) -> Floats:
    return np.asarray(np.abs(moments).sum(axis=-1))


def _terms(one: Evidence, other: Evidence, edges: Bins) -> sparse.csr_array:
    """Rows x (bins of one, bins of other): each row's contribution to a moment of either."""
    n, count = len(one), len(edges)
    rows = np.tile(np.arange(n), 2)
    columns = np.concatenate([edges.index(one.score), count + edges.index(other.score)])
    return sparse.csr_array((np.concatenate([one.residual, other.residual]), (rows, columns)), (n, 2 * count))


def mc_difference(one: Evidence, other: Evidence, bins: int | Bins = 10, draws: int = 300) -> Difference:
    """MC of ``one`` minus MC of ``other`` on the same rows with subgroups, less what noise alone adds to each.

    The joint noise of both tables of moments comes from random multipliers of the rows (of the units, where there
    are any), which keeps every dependence between cells; as in ``ece_difference`` its mean effect is taken out.
    """
    edges = Bins.of(one, bins)
    layouts = [CellLayout.of(part, edges, "width", True) for part in (one, other)]
    searched = slice(1, None) if len(layouts[0].names) > 1 else slice(None)
    moments = [
        layout.add(part.residual)[searched] for layout, part in zip(layouts, (one, other), strict=True)
    ]
    # a row of a collapsed entry is one draw: its terms' squares add up to t^2 (sum v^2) / v^2
    spread = np.sqrt(one.weight_squared) / one.weight
    owner = np.arange(len(one)) if one.unit is None else np.unique(one.unit, return_inverse=True)[1]
    rng = np.random.default_rng(SEED)
    noise = np.empty((draws, 2, *moments[0].shape))
    for k in range(draws):
        multiplier = rng.standard_normal(int(owner.max()) + 1)[owner] * (spread if one.unit is None else 1.0)
        for side, (layout, part) in enumerate(zip(layouts, (one, other), strict=True)):
            noise[k, side] = layout.add(part.residual * multiplier)[searched]
    if min(one.source_size) < 2:  # a single draw has no known error
        observed = float(_largest(moments[0]) - _largest(moments[1]))
        return Difference("MC", observed, float("nan"), float("nan"), float("nan"))
    if np.array_equal(one.score, other.score):
        return Difference("MC", 0.0, 0.0, 0.0, 0.0)
    sides = [_Side(moments[k], noise[:, k].var(axis=0), noise[:, k]) for k in (0, 1)]
    return _corrected("MC", sides, _largest)


def _largest(moments: Floats) -> Floats:
    return np.asarray(np.abs(moments).max(axis=(-2, -1)))
