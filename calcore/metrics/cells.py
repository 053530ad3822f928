"""Cells: subgroup x bin, with the moment, mass and error of each; the maxima over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse, special, stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.results import CalibrationError, provenance
from calcore.metrics.uncertainty import (
    LEVEL,
    SEED,
    SIGNIFICANCE,
    SourceSums,
    holm,
    honest_interval,
    invert,
    null_draws,
    null_variance,
    number_of_draws,
)
from calcore.sums import sum_by
from calcore.validation import Floats

EVERYONE = "(everyone)"
#: Simulated moments that are held at a time.
LARGEST_BLOCK = 10_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Tables of groups x bins; row 0 is the whole population, then the subgroups in order.

    ``moment`` E[1{cell}(Y - f)], ``mass`` P(cell), ``mean_score`` by mass, ``rows`` file rows,
    ``standard_error`` of the moment, ``null_error`` its standard error if f were calibrated (NaN where the
    model has none), ``p_value`` of the test by the larger of the two (NaN in cells of fewer than
    ``min_rows``), ``adjusted`` Holm over the cells of the subgroups (row 0: over its own bins).
    """

    groups: tuple[str, ...]
    bins: Bins
    moment: Floats
    mass: Floats
    mean_score: Floats
    rows: NDArray[np.int64]
    standard_error: Floats
    null_error: Floats
    p_value: Floats
    adjusted: Floats
    min_rows: int
    n: int
    dropped: int
    clipped: int
    basis: str
    assumptions: tuple[str, ...]

    @property
    def residual(self) -> Floats:
        """Event rate minus mean score of each cell; NaN where no mass is left."""
        return np.divide(self.moment, self.mass, out=np.full(self.mass.shape, np.nan), where=self.mass > 0)

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Cells with rows and mass enough for a test."""
        return np.asarray(np.isfinite(self.p_value) & (self.mass > 0))

    def wrong(self, tolerance: float) -> NDArray[np.bool_]:
        """Cells that are off: significantly, after Holm, and by more than ``tolerance`` (a rate in [0, 1])."""
        # NaN (not tested, no mass) is never off
        with np.errstate(invalid="ignore"):
            return (self.adjusted < SIGNIFICANCE) & (np.abs(self.residual) > tolerance)

    def chance(self, row: int, level: float = LEVEL) -> Floats:
        """Up to what |residual| chance alone gives each cell of a row as one of all that are searched, (bins,).

        Bonferroni over the tested cells of the subgroups (row 0: over its own bins), at the cell's own error.
        """
        searched = self.tested[:1] if row == 0 else self.tested[1:]
        z = -special.ndtri((1 - level) / 2 / max(int(searched.sum()), 1))
        gap = np.full(len(self.bins), np.nan)
        np.divide(z * self.error[row], self.mass[row], out=gap, where=self.mass[row] > 0)
        return gap

    @property
    def too_few(self) -> NDArray[np.bool_]:
        """Cells of fewer rows than are tested; empty ones too."""
        return self.rows < self.min_rows

    @property
    def group_mass(self) -> Floats:
        """Mass of each group, (groups,)."""
        return self.mass.sum(axis=1)

    @property
    def group_error(self) -> Floats:
        """ECE of each group by its own mass, (groups,); NaN for inactive ones (no positive mass)."""
        mass = self.group_mass
        return np.divide(
            np.abs(self.moment).sum(axis=1), mass, out=np.full(mass.shape, np.nan), where=mass > 0
        )

    @property
    def error(self) -> Floats:
        """The standard error that the test uses: the larger of the estimated and the null one."""
        return np.fmax(self.standard_error, self.null_error)

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        count = len(self.bins)
        return pd.DataFrame(
            {
                "group": np.repeat(np.array(self.groups, dtype=object), count),
                "bin_low": np.tile(self.bins.edges[:-1], len(self.groups)),
                "bin_high": np.tile(self.bins.edges[1:], len(self.groups)),
                "rows": self.rows.ravel(),
                "mass": self.mass.ravel(),
                "mean_score": self.mean_score.ravel(),
                "residual": self.residual.ravel(),
                "moment": self.moment.ravel(),
                "standard_error": self.standard_error.ravel(),
                "p_value": self.p_value.ravel(),
                "p_adjusted": self.adjusted.ravel(),
            }
        )


def cells(
    evidence: Evidence, bins: int | Bins = 10, strategy: str = "width", *, groups: bool = True
) -> Cells:
    """The table of cells of ``evidence``; ``groups=False`` leaves only the whole population.

    Test: ``max(Wald, score)`` (the score variance keeps small cells honest); two-sided, normal.
    """
    layout = _Layout.of(evidence, bins, strategy, groups)
    count, names = len(layout.bins), layout.names
    shape = (len(names), count)
    mass = layout.add(evidence.mass)
    score_mass = layout.add(evidence.mass * evidence.score)
    rows = layout.add(evidence.count if evidence.rows is not None else None)
    if evidence.unit is None:
        sums = layout.sums.grouped(layout.matrix, count)
        variance, moment = sums.variance(), sums.total.sum(axis=0)
    else:
        # a unit's rows may differ in their subgroups: its sums are made group by group
        variance, moment = _unit_variance(evidence, layout)
    null = null_variance(evidence, layout.key, layout.cells)
    null_error = np.full(shape, np.nan) if null is None else np.sqrt(layout.group(null))
    moment, error = moment.reshape(shape), np.sqrt(variance.reshape(shape))
    whole_rows = np.rint(rows).astype(np.int64)
    p_value = _p_value(moment, np.fmax(error, null_error), whole_rows >= evidence.model.min_cell_rows)
    return Cells(
        groups=names,
        bins=layout.bins,
        moment=moment,
        mass=mass,
        mean_score=np.divide(score_mass, mass, out=np.full(shape, np.nan), where=mass > 0),
        rows=whole_rows,
        standard_error=error,
        null_error=null_error,
        p_value=p_value,
        adjusted=np.vstack([holm(p_value[:1]), holm(p_value[1:])]),
        min_rows=evidence.model.min_cell_rows,
        n=evidence.n,
        dropped=evidence.dropped,
        clipped=evidence.clipped,
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
    )


def max_ece(
    evidence: Evidence, bins: int | Bins = 10, min_mass: float = 0.0, *, include_all: bool = False
) -> CalibrationError:
    """The largest ECE of any subgroup of mass above ``min_mass``, each by its own mass.

    The whole population is left out unless ``include_all`` or there are no subgroups. NaN with a reason where
    no subgroup is heavy enough.
    """
    layout = _Layout.of(evidence, bins, "width", True)
    table = cells(evidence, layout.bins)
    used = _used(table, include_all) & (table.group_mass > min_mass)
    if not used.any():
        return _nothing(evidence, "maxECE", layout.bins, f"no subgroup has a mass above {min_mass:g}")
    mass = table.group_mass[used]
    worst = int(np.flatnonzero(used)[np.argmax(table.group_error[used])])

    def statistic(moments: Floats) -> Floats:
        return (np.abs(moments).sum(axis=2) / mass).max(axis=1)

    return _maximum(evidence, "maxECE", layout, table, used, statistic, table.groups[worst])


def multicalibration_error(
    evidence: Evidence, bins: int | Bins = 10, *, include_all: bool = False
) -> CalibrationError:
    """MC: the largest |moment| over all cells of the subgroups."""
    layout = _Layout.of(evidence, bins, "width", True)
    table = cells(evidence, layout.bins)
    used = _used(table, include_all)
    size = np.abs(table.moment) * used[:, None]
    group, place = np.unravel_index(int(np.argmax(size)), size.shape)

    def statistic(moments: Floats) -> Floats:
        return np.abs(moments).max(axis=(1, 2))

    where = f"{table.groups[group]}, score {layout.bins.label(int(place))}"
    return _maximum(evidence, "MC", layout, table, used, statistic, where)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Disjoint cells (membership pattern x bin), and how they add up to groups."""

    evidence: Evidence
    bins: Bins
    key: NDArray[np.int64]
    cells: int
    matrix: sparse.csr_array
    names: tuple[str, ...]

    @classmethod
    def of(cls, evidence: Evidence, bins: int | Bins, strategy: str, groups: bool) -> _Layout:
        made = Bins.of(evidence, bins, strategy)
        key = made.index(evidence.score)
        member = evidence.membership if groups else None
        if member is None:
            return cls(evidence, made, key, len(made), sparse.csr_array(np.ones((1, 1))), (EVERYONE,))
        patterns = member.table.shape[0]
        matrix = sparse.csr_array(sparse.vstack([np.ones((1, patterns)), member.table.T]))
        key = member.pattern * np.int64(len(made)) + key
        return cls(evidence, made, key, patterns * len(made), matrix, (EVERYONE, *member.names))

    @property
    def sums(self) -> SourceSums:
        return SourceSums.of(self.evidence, self.evidence.residual, self.key, self.cells)

    def group(self, values: Floats) -> Floats:
        """Sums over disjoint cells to groups x bins."""
        return np.asarray(self.matrix @ values.reshape(-1, len(self.bins)))

    def add(self, terms: Floats | None) -> Floats:
        """Row terms (n,), or ones, to groups x bins."""
        return self.group(sum_by(self.key, terms, self.cells))

    def noise(self) -> Floats:
        """Moments of a calibrated score, (draws, groups, bins)."""
        count = len(self.bins)
        draws = number_of_draws(max(self.cells, len(self.names) * count))
        # as many samples at a time as fit in memory: there may be a million patterns
        block = max(LARGEST_BLOCK // self.cells, 1)
        parts = []
        for start in range(0, draws, block):
            size = min(block, draws - start)
            noise = null_draws(self.evidence, self.key, self.cells, size, SEED + start)
            by_pattern = noise.reshape(size, -1, count).transpose(1, 0, 2).reshape(-1, size * count)
            grouped = np.asarray(self.matrix @ by_pattern).reshape(-1, size, count)
            parts.append(grouped.transpose(1, 0, 2))
        return np.concatenate(parts)


def _unit_variance(evidence: Evidence, layout: _Layout) -> tuple[Floats, Floats]:
    variances, moments = [], []
    bin_of_row = layout.key % len(layout.bins)
    member = evidence.membership
    for group in range(len(layout.names)):
        inside = (
            np.ones(len(evidence)) if group == 0 or member is None else member.mask(group - 1).astype(float)
        )
        sums = SourceSums.of(evidence, evidence.residual * inside, bin_of_row, len(layout.bins))
        variances.append(sums.variance())
        moments.append(sums.total.sum(axis=0))
    return np.concatenate(variances), np.concatenate(moments)


def _p_value(moment: Floats, error: Floats, enough: NDArray[np.bool_]) -> Floats:
    result = np.full(moment.shape, np.nan)
    tested = enough & (error > 0)
    result[tested] = 2 * stats.norm.sf(np.abs(moment[tested]) / error[tested])
    # every row the same and none as the score says (all 1, all labels 0): no error, and no doubt
    result[enough & (error == 0) & (np.abs(moment) > 1e-12)] = 0.0
    return result


def _used(table: Cells, include_all: bool) -> NDArray[np.bool_]:
    used = np.ones(len(table.groups), dtype=bool)
    used[0] = include_all or len(table.groups) == 1
    return used


def _maximum(
    evidence: Evidence,
    name: str,
    layout: _Layout,
    table: Cells,
    used: NDArray[np.bool_],
    statistic: Callable[[Floats], Floats],
    where: str,
) -> CalibrationError:
    observed = float(statistic(table.moment[None, used])[0])
    noise = layout.noise()[:, used]
    result = invert(statistic, observed, table.moment[used], table.error[used] ** 2, noise)
    return CalibrationError(
        name=name,
        value=observed,
        interval=honest_interval(evidence, result.interval, 1.0),
        standard_error=None,
        noise_floor=result.noise_floor,
        noise_limit=result.noise_limit,
        debiased=result.debiased,
        bins=len(layout.bins),
        where=where,
        **provenance(evidence),
    )


def _nothing(evidence: Evidence, name: str, bins: Bins, reason: str) -> CalibrationError:
    return CalibrationError(
        name=name,
        value=float("nan"),
        interval=None,
        standard_error=None,
        bins=len(bins),
        **provenance(evidence, reason),
    )
