"""How numbers get their errors: variances by source, the noise of a calibrated score, Holm's correction.

Everything here is about sums of row terms over cells. A moment is a sum of independent source means, so its
variance is the sum over sources of the within-source variance (ddof 1) of the row terms over the size of the
source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from calcore.evidence import Evidence
from calcore.sums import sum_by
from calcore.validation import Floats

LEVEL = 0.95
#: Level of tests, after Holm.
SIGNIFICANCE = 0.05
Z = float(stats.norm.ppf(0.5 + LEVEL / 2))
SEED = 20_250
#: Fewer effective draws than this give no interval.
FEWEST_DRAWS = 4
#: Up to this many labels are drawn one by one; above, moments are close to normal.
DRAWN_LABELS = 1_000_000


@dataclass(frozen=True, eq=False)
class SourceSums:
    """Sums of row terms t over cells, by source: what variances of the cell sums need.

    ``total`` sum of t, ``square`` sum of t squared, ``cross`` sum of t v, each (sources, cells); ``weight`` sum
    of v, ``weight_squared`` sum of v squared and ``size`` the independent draws, each (sources,).
    """

    total: Floats
    square: Floats
    cross: Floats
    weight: Floats
    weight_squared: Floats
    size: Floats

    @classmethod
    def of(cls, evidence: Evidence, terms: Floats, key: NDArray[np.integer], cells: int) -> SourceSums:
        """Add up ``terms`` (n,) over the cells that ``key`` (n,) names; units count as one draw each."""
        if evidence.unit is not None:
            return cls._of_units(evidence, terms, key, cells)
        sources = len(evidence.sources)
        place = key if sources == 1 else evidence.source * np.int64(cells) + key
        weight, squared = evidence.weight, evidence.weight_squared
        plain = evidence.rows is None and bool((weight == 1).all())

        def add(values: Floats) -> Floats:
            return sum_by(place, values, sources * cells).reshape(sources, cells)

        total = add(terms)
        return cls(
            total,
            # an entry stands for rows with terms t v_r / v, whose squares add up to t^2 (sum v_r^2) / v^2
            add(terms**2) if plain else add(terms**2 * squared / weight**2),
            total if plain else add(terms * squared / weight),
            evidence.drawn.weight,
            evidence.drawn.weight_squared,
            evidence.drawn.size,
        )

    @classmethod
    def _of_units(cls, evidence: Evidence, terms: Floats, key: NDArray[np.integer], cells: int) -> SourceSums:
        assert evidence.unit is not None
        sources = len(evidence.sources)
        unit_of_source = evidence.unit * sources + evidence.source
        _, unit = np.unique(unit_of_source, return_inverse=True)
        weight_of_unit = sum_by(unit, evidence.weight, int(unit.max(initial=-1)) + 1)
        source_of_unit = np.zeros(weight_of_unit.size, dtype=np.int64)
        source_of_unit[unit] = evidence.source
        combined, place = np.unique(unit * np.int64(cells) + key, return_inverse=True)
        sums = sum_by(place, terms, combined.size)
        owner, cell = combined // cells, combined % cells
        slot = source_of_unit[owner] * cells + cell

        def add(values: Floats) -> Floats:
            return sum_by(slot, values, sources * cells).reshape(sources, cells)

        return cls(
            add(sums),
            add(sums**2),
            add(sums * weight_of_unit[owner]),
            evidence.drawn.weight,
            evidence.drawn.draw_squared,
            evidence.drawn.size,
        )

    def grouped(self, matrix: NDArray[np.float64], bins: int) -> SourceSums:
        """Patterns x bins to groups x bins: ``matrix`` is groups x patterns."""

        def add(values: Floats) -> Floats:
            parts = [np.asarray(matrix @ row.reshape(-1, bins)).ravel() for row in values]
            return np.array(parts)

        total = add(self.total)
        same = self.cross is self.total
        return SourceSums(
            total,
            add(self.square),
            total if same else add(self.cross),
            self.weight,
            self.weight_squared,
            self.size,
        )

    def variance(self) -> Floats:
        """Variance of each cell's sum, (cells,); NaN where a source has a single draw."""
        weight = self.weight[:, None]
        mean = np.divide(self.total, weight, out=np.zeros_like(self.total), where=weight > 0)
        within = self.square - 2 * mean * self.cross + mean**2 * self.weight_squared[:, None]
        return (np.maximum(within, 0.0) * self._unbiased()[:, None]).sum(axis=0)

    def _unbiased(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(self.size > 1, self.size / (self.size - 1), np.nan)


def variance_of_sum(evidence: Evidence, terms: Floats) -> float:
    """Variance of the sum of ``terms`` (n,) over all rows; in a subgroup, of their mean over its mass."""
    if evidence.drawn.share < 1.0:
        terms = terms - terms.sum() * evidence.mass
    whole = np.zeros(len(evidence), dtype=np.int64)
    return float(SourceSums.of(evidence, terms, whole, 1).variance()[0])


def null_variance(evidence: Evidence, key: NDArray[np.integer], cells: int) -> Floats | None:
    """The score variance of each cell's moment, (cells,): what it would be if f were calibrated."""
    terms = evidence.model.null_terms(evidence)
    if terms is None:
        return None
    return np.maximum(np.sum([sum_by(key, second, cells) for second, _ in terms], axis=0), 0.0)


def covariance_of_sums(evidence: Evidence, design: sparse.csr_array | Floats) -> Floats:
    """Covariance (d, d) of the column sums of ``design`` (n, d), by source as in ``SourceSums.variance``.

    Units count as one draw. In a subgroup, of the columns' means over its mass, as in ``variance_of_sum``. NaN
    where a source has a single draw.
    """
    columns = sparse.csr_array(design)
    if evidence.drawn.share < 1.0:
        # what each column is beside its total's share of the mass: one more column, then a linear map
        whole = covariance_of_sums(
            replace(evidence, drawn_elsewhere=replace(evidence.drawn, share=1.0)),
            sparse.hstack([columns, sparse.csr_array(evidence.mass[:, None])]).tocsr(),
        )
        centre = np.column_stack([np.eye(columns.shape[1]), -np.asarray(columns.sum(axis=0)).ravel()])
        return np.asarray(centre @ whole @ centre.T)
    drawn, found = evidence.drawn, np.zeros((columns.shape[1], columns.shape[1]))
    for s in range(len(evidence.sources)):
        inside = np.flatnonzero(evidence.source == s)
        part, weight = columns[inside], evidence.weight[inside]
        spread, squared = evidence.weight_squared[inside] / weight**2, drawn.weight_squared[s]
        if evidence.unit is not None:
            _, unit = np.unique(evidence.unit[inside], return_inverse=True)
            adder = sparse.csr_array((np.ones(inside.size), (unit, np.arange(inside.size))))
            part, weight = sparse.csr_array(adder @ part), adder @ weight
            spread, squared = np.ones(weight.size), drawn.draw_squared[s]
        mean = np.asarray(part.sum(axis=0)).ravel() / drawn.weight[s]
        square = (part.T @ sparse.diags_array(spread) @ part).toarray()
        cross = part.T @ (spread * weight)
        centred = square - np.outer(mean, cross) - np.outer(cross, mean) + np.outer(mean, mean) * squared
        size = drawn.size[s]
        found += centred * (size / (size - 1) if size > 1 else np.nan)
    return found


def null_covariance(evidence: Evidence, factors: Floats) -> Floats | None:
    """Covariance (d, d) of the sums of residual x ``factors`` (n, d) if f were calibrated; None as in null_variance."""
    terms = evidence.model.null_terms(evidence)
    if terms is None:
        return None
    found = np.zeros((factors.shape[1], factors.shape[1]))
    for second, first in terms:
        mean = factors.T @ first
        found += (factors * second[:, None]).T @ factors - np.outer(mean, mean)
    return found


def number_of_draws(cells: int) -> int:
    """Simulated samples: 2,000, fewer where the cells are so many that time and memory would suffer."""
    return int(np.clip(2_000_000 // max(cells, 1), 200, 2000))


def null_draws(
    evidence: Evidence, key: NDArray[np.integer], cells: int, draws: int, seed: int = SEED
) -> Floats:
    """Moments of disjoint cells in samples where the score is calibrated, (draws, cells), centred at 0.

    Small labelled evidence: labels are drawn on the rows. Otherwise the moments are normal with the score
    variance, centred by source; models without one take the estimated variance. Units widen each cell by its
    design effect.
    """
    rng = np.random.default_rng(seed)
    two_point = evidence.model.two_point(evidence)
    # one label a row: not where an entry stands for several rows, nor where labels depend within units
    single = evidence.rows is None and np.array_equal(evidence.weight_squared, evidence.weight**2)
    if two_point is not None and single and evidence.unit is None and len(evidence) * draws <= DRAWN_LABELS:
        return _drawn_on_rows(rng, draws, key, cells, *two_point)
    terms = evidence.model.null_terms(evidence)
    noise = np.zeros((draws, cells))
    if terms is None:
        sums = SourceSums.of(evidence, evidence.residual, key, cells)
        pairs = [(sums.square[s], sums.total[s] / np.sqrt(sums.size[s])) for s in range(len(sums.size))]
    else:
        pairs = [(sum_by(key, second, cells), sum_by(key, first, cells)) for second, first in terms]
    for second, first in pairs:
        noise += _centred_normal(rng, draws, np.maximum(second, 0.0), first)
    if evidence.unit is not None:
        noise *= np.sqrt(design_effect(evidence, key, cells))
    return noise


def _drawn_on_rows(
    rng: np.random.Generator,
    draws: int,
    key: NDArray[np.integer],
    cells: int,
    rate: Floats,
    of_one: Floats,
    of_zero: Floats,
) -> Floats:
    outcomes = np.where(rng.random((draws, rate.size)) < rate, of_one, of_zero)
    order = np.argsort(key, kind="stable")
    present, start = np.unique(key[order], return_index=True)
    noise = np.zeros((draws, cells))
    noise[:, present] = np.add.reduceat(outcomes[:, order], start, axis=1)
    return noise


def _centred_normal(rng: np.random.Generator, draws: int, second: Floats, first: Floats) -> Floats:
    """Normal draws with covariance diag(second) - first first'."""
    scale = np.sqrt(second)
    z = rng.standard_normal((draws, second.size))
    direction = np.divide(first, scale, out=np.zeros_like(first), where=scale > 0)
    length = float(direction @ direction)
    if length > 1e-12:
        shrink = (1.0 - np.sqrt(max(1.0 - length, 0.0))) / length
        z -= np.outer(z @ direction, shrink * direction)
    return z * scale


def design_effect(evidence: Evidence, key: NDArray[np.integer], cells: int) -> Floats:
    """How much larger units make the variance of each cell's moment than independent rows would, at least 1."""
    clustered = SourceSums.of(evidence, evidence.residual, key, cells).variance()
    alone = replace(evidence, unit=None)
    independent = SourceSums.of(alone, alone.residual, key, cells).variance()
    ratio = np.divide(clustered, independent, out=np.ones(cells), where=independent > 0)
    return np.maximum(np.nan_to_num(ratio, nan=1.0), 1.0)


def effective_draws(evidence: Evidence) -> float:
    """Independent draws of the smallest source; under weights their effective number (sum v)^2 / sum v^2."""
    if evidence.unit is not None or evidence.weighting == "frequency":
        return float(evidence.source_size.min())
    drawn = evidence.drawn
    return float((drawn.weight**2 / drawn.weight_squared).min())


def honest_interval(
    evidence: Evidence, interval: tuple[float, float] | None, most: float = np.inf
) -> tuple[float, float] | None:
    """An interval in order and within what is possible; None where too few draws allow none.

    ``most`` bounds values from above, and 0 from below, where labels are taken as they are: corrected values may
    leave the range, which is told and not hidden.
    """
    if interval is None or not np.isfinite(interval).all() or effective_draws(evidence) < FEWEST_DRAWS:
        return None
    low, high = min(interval), max(interval)
    if evidence.model.corrected or not np.isfinite(most):
        return low, high
    return min(max(low, 0.0), most), min(max(high, 0.0), most)


def holm(p_values: Floats) -> Floats:
    """Holm-adjusted p-values over the finite entries, same shape; NaN stays NaN (Holm 1979)."""
    flat = p_values.ravel()
    adjusted = np.full(flat.size, np.nan)
    tested = np.flatnonzero(np.isfinite(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    steps = flat[order] * (order.size - np.arange(order.size))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if order.size else steps
    return adjusted.reshape(p_values.shape)
