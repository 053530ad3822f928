"""Paired differences between two score vectors on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import sparse, stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.inversion import multiple_of, plausible_shapes
from calcore.metrics.uncertainty import LEVEL, SEED, variance_of_sum
from calcore.validation import Floats

#: Errors outside the middle 80 % of what an observed ECE allows are not looked at: the interval adds its own.
TAIL = 0.1


@dataclass(frozen=True)
class Difference:
    """``value`` = first minus second (negative: the first is better), corrected for the noise of both.

    ``standard_error`` and the interval [``lower``, ``upper``] at ``level`` are of the paired difference;
    ``unknown_bias`` bounds what the correction may be off by, and is part of the interval.
    """

    name: str
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float = LEVEL
    unknown_bias: float = 0.0

    def at_level(self, level: float) -> Difference:
        """The same difference with a normal interval at another level."""
        half = float(stats.norm.ppf(0.5 + level / 2)) * self.standard_error + self.unknown_bias
        return replace(self, lower=self.value - half, upper=self.value + half, level=level)

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
    covariance = _covariance(one, design)
    observed = float(_difference_of_sizes(moment, count))
    if not np.isfinite(covariance).all():  # a single draw has no known error
        return Difference("ECE", observed, float("nan"), float("nan"), float("nan"))
    values, vectors = np.linalg.eigh(covariance)
    scale = np.sqrt(np.maximum(values, 0.0))
    noise = (np.random.default_rng(SEED).standard_normal((draws, 2 * count)) * scale) @ vectors.T
    halves = slice(0, count), slice(count, None)
    centres = [_centres(moment[half], np.diag(covariance)[half], noise[:, half]) for half in halves]
    biases, spreads = [], []
    for centre in (np.concatenate(pair) for pair in product(*centres)):
        error = _difference_of_sizes(centre + noise, count) - _difference_of_sizes(centre, count)
        biases.append(float(error.mean()))
        spreads.append(float(error.std()))
    low, high = min(biases), max(biases)
    middle = Difference(
        "ECE", observed - (low + high) / 2, max(spreads), 0.0, 0.0, unknown_bias=(high - low) / 2
    )
    return middle.at_level(LEVEL)


def _centres(moment: Floats, variance: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest true moments that the observed sum of sizes allows."""
    observed = float(_size(moment))
    if not moment.any():
        return moment, moment
    concentrated, spread = plausible_shapes(moment, variance)
    return (
        concentrated * multiple_of(concentrated, _size, noise, 1 - TAIL, observed),
        spread * multiple_of(spread, _size, noise, TAIL, observed),
    )


def _size(moments: Floats) -> Floats:
    return np.asarray(np.abs(moments).sum(axis=-1))


def _difference_of_sizes(moments: Floats, count: int) -> Floats:
    """Sum of the sizes of the first ``count`` moments less that of the others, over the last axis."""
    return np.asarray(_size(moments[..., :count]) - _size(moments[..., count:]))


def _terms(one: Evidence, other: Evidence, edges: Bins) -> sparse.csr_array:
    """Rows x (bins of one, bins of other): each row's contribution to a moment of either."""
    n, count = len(one), len(edges)
    rows = np.tile(np.arange(n), 2)
    columns = np.concatenate([edges.index(one.score), count + edges.index(other.score)])
    return sparse.csr_array((np.concatenate([one.residual, other.residual]), (rows, columns)), (n, 2 * count))


def _covariance(evidence: Evidence, design: sparse.csr_array) -> Floats:
    """Covariance of the column sums of ``design``, by source; units count as one draw."""
    total = np.zeros((design.shape[1], design.shape[1]))
    for s in range(len(evidence.sources)):
        inside = np.flatnonzero(evidence.source == s)
        part, weight = design[inside], evidence.weight[inside]
        spread = evidence.weight_squared[inside] / weight**2
        if evidence.unit is not None:
            _, unit = np.unique(evidence.unit[inside], return_inverse=True)
            adder = sparse.csr_array((np.ones(inside.size), (unit, np.arange(inside.size))))
            part, weight = sparse.csr_array(adder @ part), adder @ weight
            spread = np.ones(weight.size)
        share = weight / weight.sum()
        mean = np.asarray(part.sum(axis=0)).ravel()
        square = (part.T @ sparse.diags_array(spread) @ part).toarray()
        cross = part.T @ (spread * share)
        centred = square - np.outer(mean, cross) - np.outer(cross, mean)
        centred += np.outer(mean, mean) * float(spread @ share**2)
        size = evidence.source_size[s]
        total += centred * (size / (size - 1) if size > 1 else np.nan)
    return total
