"""How much the centre and the width of the gate matter on these data (the grid of LWCal, Table VII)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from calcore.metrics.differences import Difference
from calcore.metrics.pairs import Pairs
from calcore.metrics.results import Estimate
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
    """Settings, widths within centres; ``basis`` says what these labels may be ranked on.

    ``failure`` is what was wrong with the evidence where it may be ranked on, and could not be measured all the same.
    """

    settings: tuple[GateSetting, ...]
    centers: tuple[float, ...]
    widths: tuple[float, ...]
    d_hat: float
    n: int
    basis: RankingBasis
    folds: int
    failure: str | None = None

    @property
    def measured(self) -> bool:
        return any(one.brier is not None for one in self.settings)

    @property
    def separated(self) -> tuple[GateSetting, ...]:
        """Settings whose Brier score differs from the present one's by more than chance."""
        return tuple(one for one in self.settings if one.difference is not None and one.difference.separated)

    @property
    def best(self) -> GateSetting | None:
        """The lowest Brier score of all settings that beat the present one by more than chance; None: none does."""
        better = [
            (one.brier.value, place)
            for place, one in enumerate(self.settings)
            if one.brier is not None and one.difference is not None and one.difference.upper < 0
        ]
        return self.settings[min(better)[1]] if better else None


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
    maps with the score: they are fitted once a fold, and rho is computed without the fold. The present setting is
    added to the grid where it is not on it. Differences are bootstrapped, all from the same draws. Raises
    DoesNotExist where rows carry no label.
    """
    d_hat = contradiction_rate(evidence)
    centers = tuple(sorted({*centers, present[0]}))
    widths = tuple(sorted({*widths, present[1]}))
    grid = [(center, width) for center in centers for width in widths]
    basis = ranking_basis(evidence, audit)
    measured: _Measured | None = None
    count, failure = 0, None
    if basis.ranked != "no":
        try:
            split = Folds.of(evidence, folds)
            measured = _Measured.of(split, cross_fit(LWCal(), split), d_hat, audit)
            count = split.count
        except InputError as reason:
            failure = str(reason)
    settings = [
        GateSetting(center, width, float(gate_opening(d_hat, center, width)), (center, width) == present)
        for center, width in grid
    ]
    if measured is not None:
        settings = _with_metrics(settings, measured, present)
    return GateGrid(tuple(settings), centers, widths, d_hat, evidence.n, basis, count, failure)


def _with_metrics(
    settings: list[GateSetting], measured: _Measured, present: tuple[float, float]
) -> list[GateSetting]:
    """The settings with their Brier scores and the differences to that of the ``present`` one."""
    blended = {_name(one.center, one.width): measured.at(one.center, one.width) for one in settings}
    pairs = Pairs.of(blended)
    reference = _name(*present)
    return [
        replace(
            one,
            brier=metrics.brier(blended[name]),
            difference=pairs.difference("Brier", name, reference),
        )
        for one, name in zip(settings, blended, strict=True)
    ]


def _name(center: float, width: float) -> str:
    return f"center {center!r}, width {width!r}"


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
