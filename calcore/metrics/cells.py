"""Cells: subgroup x bin, with the moment, mass and error of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.cell_layout import CellLayout
from calcore.metrics.results import ROUNDING
from calcore.metrics.uncertainty import LEVEL, SIGNIFICANCE, SourceSums, holm, null_variance
from calcore.validation import Floats


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
    layout = CellLayout.of(evidence, bins, strategy, groups)
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


def _unit_variance(evidence: Evidence, layout: CellLayout) -> tuple[Floats, Floats]:
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
    # a confidence that equals the score leaves moments and errors of rounding alone
    result[tested & (np.abs(moment) < ROUNDING)] = 1.0
    # every row the same and none as the score says (all 1, all labels 0): no error, and no doubt
    result[enough & (error == 0) & (np.abs(moment) > 1e-12)] = 0.0
    return result
