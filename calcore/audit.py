"""The audit of a score: how far it is off, where, for whom, and whether the data can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore import metrics
from calcore.errors import DoesNotExist
from calcore.evidence import COLLAPSE_ABOVE, GRID, Evidence, compress
from calcore.metrics.cells import Cells, ChanceGap, chance_gaps
from calcore.metrics.reliability import Reliability
from calcore.metrics.results import CalibrationError
from calcore.metrics.uncertainty import Z
from calcore.validation import fraction

#: A gap below this is not worth acting on unless the user says otherwise: 2 points.
TOLERANCE = 0.02
#: Data that could not tell a calibrated score from one that is off by this much decide nothing.
RESOLUTION = 0.05


@dataclass(frozen=True)
class Gap:
    """A cell whose event rate differs from its mean score; rates in [0, 1], ``adjusted`` its Holm p-value.

    ``lower`` and ``upper`` bound the event rate at 95 %, before any allowance for having searched.
    """

    group: str
    low: float
    high: float
    mean_score: float
    event_rate: float
    lower: float
    upper: float
    rows: int
    adjusted: float

    @property
    def residual(self) -> float:
        """Event rate minus mean score: below 0 the scores are too high."""
        return self.event_rate - self.mean_score


@dataclass(frozen=True)
class GroupFinding:
    """One subgroup: its mass, ECE by its own mass, and its largest tested gap (None: too few rows anywhere)."""

    group: str
    position: int
    rows: int
    mass: float
    error: float
    gap: Gap | None
    wrong: bool


@dataclass(frozen=True, eq=False)
class Audit:
    """What a verdict is made from.

    ``level`` is "wrong" (a gap overall), "subgroup" (only in a subgroup), "calibrated" or "cannot tell".
    ``wrong_bins`` are the bins that are significantly off by more than ``tolerance``, the largest first;
    ``largest`` the largest tested gap; ``chance`` and ``group_chance`` what chance alone gives it.
    ``rows_needed`` would settle a gap of ``resolution``. ``groups`` the worst first.
    """

    level: str
    reliability: Reliability
    error: CalibrationError
    cells: Cells
    wrong_bins: tuple[Gap, ...]
    largest: Gap | None
    chance: ChanceGap
    group_chance: ChanceGap
    groups: tuple[GroupFinding, ...]
    too_small_groups: int
    tolerance: float
    resolution: float
    n: int
    positives: float
    negatives: float
    rows_needed: int
    base_rate: float
    mean_score: float
    constant_score: bool
    decisions_only: bool
    basis: str
    assumptions: tuple[str, ...]


def audit(
    evidence: Evidence,
    *,
    bins: int = 10,
    tolerance: float = TOLERANCE,
    min_mass: float = 0.01,
    resolution: float = RESOLUTION,
) -> Audit:
    """Audit the score of ``evidence``, overall and in each of its subgroups of mass above ``min_mass``.

    "wrong" needs both: significance at 5 % after Holm over the tested cells, and a gap beyond ``tolerance``.
    """
    fraction(tolerance, "the tolerance", open_interval=False)
    whole = _collapsed(evidence)
    table = metrics.cells(evidence, bins)
    reliability = metrics.reliability(whole, table.bins)
    error = metrics.ece(whole, table.bins)
    chance, group_chance = chance_gaps(evidence, table, min_mass)
    overall = [gap for gap in _gaps(table, 0, reliability) if gap is not None]
    wrong = sorted((gap for gap in overall if _is_wrong(gap, tolerance)), key=lambda gap: -abs(gap.residual))
    groups = _findings(table, tolerance, min_mass)
    mass = float(evidence.mass.sum())
    mean_score = float(evidence.mass @ evidence.score / mass) if mass else float("nan")
    draws = float(evidence.source_size.min())
    positives = evidence.base_rate * evidence.n
    if wrong:
        level = "wrong"
    elif any(group.wrong for group in groups):
        level = "subgroup"
    elif not overall or not error.noise_limit <= resolution:
        level = "cannot tell"
    else:
        level = "calibrated"
    return Audit(
        level=level,
        reliability=reliability,
        error=error,
        cells=table,
        wrong_bins=tuple(wrong),
        largest=max(overall, key=lambda gap: abs(gap.residual), default=None),
        chance=chance,
        group_chance=group_chance,
        groups=groups,
        too_small_groups=int((table.group_mass[1:] <= min_mass).sum()),
        tolerance=tolerance,
        resolution=resolution,
        n=evidence.n,
        positives=positives,
        negatives=evidence.n - positives,
        rows_needed=_rows_needed(draws, error.noise_limit, resolution),
        base_rate=evidence.base_rate,
        mean_score=mean_score,
        constant_score=bool(evidence.score.min() == evidence.score.max()),
        decisions_only=bool(((evidence.score == 0) | (evidence.score == 1)).all()),
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
    )


def _collapsed(evidence: Evidence) -> Evidence:
    """The evidence without groups, added up where it is large: binned values stay exact."""
    plain = evidence.without_groups()
    if len(plain) <= COLLAPSE_ABOVE:
        return plain
    try:
        return compress(plain, grid=GRID)[0]
    except DoesNotExist:
        return plain


def _rows_needed(draws: float, limit: float, resolution: float) -> int:
    """Rows at which the noise of the ECE would fall to ``resolution``, to two digits: noise goes as n^-1/2."""
    if not np.isfinite(limit):
        return 0
    needed = draws * max(limit / resolution, 1.0) ** 2
    digits = max(int(np.floor(np.log10(max(needed, 1)))) - 1, 0)
    return int(np.ceil(needed / 10**digits) * 10**digits)


def _is_wrong(gap: Gap, tolerance: float) -> bool:
    return gap.adjusted < 0.05 and abs(gap.residual) > tolerance


def _gaps(table: Cells, group: int, reliability: Reliability | None = None) -> list[Gap | None]:
    """The tested cells of a group as gaps; None for those that are not tested."""
    found: list[Gap | None] = []
    residual, error = table.residual[group], table.error[group]
    for j in range(len(table.bins)):
        if not np.isfinite(table.p_value[group, j]) or not table.mass[group, j] > 0:
            found.append(None)
            continue
        mean = table.mean_score[group, j]
        if reliability is not None and np.isfinite(reliability.lower[j]):
            lower, upper = reliability.lower[j], reliability.upper[j]
        else:
            half = Z * error[j] / table.mass[group, j]
            lower, upper = mean + residual[j] - half, mean + residual[j] + half
        found.append(
            Gap(
                table.groups[group],
                float(table.bins.edges[j]),
                float(table.bins.edges[j + 1]),
                float(mean),
                float(mean + residual[j]),
                float(np.clip(lower, 0, 1)),
                float(np.clip(upper, 0, 1)),
                int(table.rows[group, j]),
                float(table.adjusted[group, j]),
            )
        )
    return found


def _findings(table: Cells, tolerance: float, min_mass: float) -> tuple[GroupFinding, ...]:
    found = []
    for g in range(1, len(table.groups)):
        if not table.group_mass[g] > min_mass:
            continue
        gaps = [gap for gap in _gaps(table, g) if gap is not None]
        wrong = [gap for gap in gaps if _is_wrong(gap, tolerance)]
        worst = max(wrong or gaps, key=lambda gap: abs(gap.residual), default=None)
        found.append(
            GroupFinding(
                table.groups[g],
                g - 1,
                int(table.rows[g].sum()),
                float(table.group_mass[g]),
                float(table.group_error[g]),
                worst,
                bool(wrong),
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.wrong, -abs(one.gap.residual) if one.gap else 0.0)))
