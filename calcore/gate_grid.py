"""How much the centre and the width of the gate matter on these data (the grid of LWCal, Table VII)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calcore import metrics
from calcore.calibrators import LWCal
from calcore.calibrators.loss_weighted import (
    GATE_CENTERS,
    GATE_START,
    GATE_WIDTH,
    GATE_WIDTHS,
    contradiction_rate,
    gate_opening,
)
from calcore.comparison import RankingBasis, ranking_basis
from calcore.crossfit import CrossFit, Folds, cross_fit, fold_elsewhere, predict_elsewhere
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.metrics.differences import Difference, linear_difference
from calcore.metrics.results import Estimate
from calcore.metrics.scores import brier_terms
from calcore.validation import Floats


@dataclass(frozen=True)
class GateSetting:
    """One centre and width: the gate ``rho`` on all rows and, where metrics can be trusted, the cross-fitted
    ``brier`` and its paired ``difference`` to the present setting (negative is better; the intervals of all
    settings hold together at 95 %). ``present`` marks the setting in use."""

    center: float
    width: float
    rho: float
    present: bool
    brier: Estimate | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class GateGrid:
    """Settings, widths within centres; ``basis`` says what was measured on and why not, where nothing was."""

    settings: tuple[GateSetting, ...]
    centers: tuple[float, ...]
    widths: tuple[float, ...]
    d_hat: float
    n: int
    basis: RankingBasis
    folds: int

    @property
    def measured(self) -> bool:
        return any(one.brier is not None for one in self.settings)

    @property
    def separated(self) -> tuple[GateSetting, ...]:
        """Settings whose Brier score differs from the present one's by more than chance."""
        return tuple(one for one in self.settings if one.difference is not None and one.difference.separated)


def gate_grid(
    evidence: Evidence,
    audit: Evidence | None = None,
    *,
    centers: Sequence[float] = GATE_CENTERS,
    widths: Sequence[float] = GATE_WIDTHS,
    present: tuple[float, float] = (GATE_START, GATE_WIDTH),
    folds: int = 5,
) -> GateGrid:
    """rho at every setting, and the Brier score of Gated-LWCal where these labels may be ranked on.

    ``audit``: clean evidence of a random sample of rows of the same file. Every setting blends the same LWCal
    maps with the score: they are fitted once a fold, and rho is computed without the fold. The present setting is added to the grid where it is not on it. Raises
    DoesNotExist where rows carry no label.
    """
    d_hat = contradiction_rate(evidence)
    centers = tuple(sorted({*centers, present[0]}))
    widths = tuple(sorted({*widths, present[1]}))
    grid = [(center, width) for center in centers for width in widths]
    basis = ranking_basis(evidence, audit)
    measured: _Measured | None = None
    count = 0
    if basis.ranked != "no":
        try:
            split = Folds.of(evidence, folds)
            measured = _Measured.of(split, cross_fit(LWCal(), split), d_hat, audit)
            count = split.count
        except InputError as reason:
            basis = RankingBasis(basis.case, "no", f"Not measured: {reason}.")
    level = 1 - 0.05 / max(len(grid) - 1, 1)
    reference = None if measured is None else measured.at(*present)
    settings = []
    for center, width in grid:
        plain = center, width, float(gate_opening(d_hat, center, width)), (center, width) == present
        if measured is None or reference is None:
            settings.append(GateSetting(*plain))
            continue
        blended = measured.at(center, width)
        terms = brier_terms(blended) - brier_terms(reference)
        difference = linear_difference("Brier", blended, terms).at_level(level)
        settings.append(GateSetting(*plain, metrics.brier(blended), difference))
    return GateGrid(tuple(settings), centers, widths, d_hat, evidence.n, basis, count)


@dataclass(frozen=True, eq=False)
class _Measured:
    """The measured rows with LWCal's out-of-fold prediction and the contradiction rate without their fold."""

    evidence: Evidence
    loss_weighted: Floats
    d_hat: Floats

    @classmethod
    def of(cls, folds: Folds, fit: CrossFit, d_hat: float, audit: Evidence | None) -> _Measured:
        without = [contradiction_rate(folds.work.take(folds.fold != k)) for k in range(folds.count)]
        # fold -1, the rows outside of the evidence, takes the last: that of all rows
        rates = np.array([*without, d_hat])
        if audit is None:
            return cls(folds.work, fit.predicted, rates[folds.fold])
        return cls(audit, predict_elsewhere(fit, folds, audit), rates[fold_elsewhere(folds, audit)])

    def at(self, center: float, width: float) -> Evidence:
        """The measured rows at the predictions of Gated-LWCal with this gate."""
        rho = gate_opening(self.d_hat, center, width)
        return self.evidence.with_score((1 - rho) * self.loss_weighted + rho * self.evidence.score)
