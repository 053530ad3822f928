"""The audit of a score: how far it is off, where, for whom, and whether the data can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore import metrics
from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.cells import Cells
from calcore.metrics.reliability import Reliability
from calcore.metrics.results import CalibrationError
from calcore.metrics.uncertainty import SIGNIFICANCE, Z
from calcore.subgroups import Subgroup
from calcore.validation import fraction

#: A gap below this is not worth acting on unless the user says otherwise: 2 points.
TOLERANCE = 0.02
#: Data that could not tell a calibrated score from one that is off by this much decide nothing.
RESOLUTION = 0.05


@dataclass(frozen=True)
class Gap:
    """A cell whose event rate differs from its mean score; rates in [0, 1], ``adjusted`` its Holm p-value.

    ``lower`` and ``upper`` bound the event rate at 95 %, before any allowance for having searched; ``chance`` is
    up to what gap a cell of this size would show by chance as one of all that were searched.
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
    chance: float

    @property
    def residual(self) -> float:
        """Event rate minus mean score: below 0 the scores are too high."""
        return self.event_rate - self.mean_score

    def is_wrong(self, tolerance: float) -> bool:
        """Significant at 5 % and beyond ``tolerance``: a gap is called wrong only if it is both."""
        return self.adjusted < SIGNIFICANCE and abs(self.residual) > tolerance


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

    ``level`` is "wrong" (a gap overall), "subgroup" (only in a subgroup), "calibrated", "cannot tell", or
    "contradiction": the stated rates or prior would need event rates outside [0, 1].
    ``gaps`` are the tested bins, the largest gap first, ``largest`` the first of them, and ``wrong_bins`` those that
    are significantly off by more than ``tolerance``; ``bins_tested`` and ``cells_tested`` how many were searched.
    ``rows_needed`` would settle a gap of ``resolution``. ``groups`` the worst first.
    """

    level: str
    reliability: Reliability
    error: CalibrationError
    cells: Cells
    gaps: tuple[Gap, ...]
    wrong_bins: tuple[Gap, ...]
    largest: Gap | None
    bins_tested: int
    cells_tested: int
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

    def worst_groups(self, subgroups: Sequence[Subgroup], most: int = 3) -> tuple[GroupFinding, ...]:
        """The worst of ``subgroups`` (those audited, in their order), without intersections of a wrong one."""
        wrong = {subgroups[group.position] for group in self.groups if group.wrong}
        chosen = [
            group
            for group in self.groups
            if not (group.wrong and any(part in wrong for part in subgroups[group.position].parts))
        ]
        return tuple(chosen[:most])


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
    whole, _ = collapsed_if_large(evidence.without_groups())
    table = metrics.cells(evidence, bins)
    reliability = metrics.reliability(whole, table.bins)
    error = metrics.ece(whole, table.bins)
    overall = sorted(_overall(table, reliability), key=lambda gap: -abs(gap.residual))
    wrong = [gap for gap in overall if gap.is_wrong(tolerance)]
    groups = _findings(table, tolerance, min_mass)
    mass = float(evidence.mass.sum())
    mean_score = float(evidence.mass @ evidence.score / mass) if mass else float("nan")
    draws = float(evidence.source_size.min())
    population = evidence.population_size
    positives = evidence.base_rate * population
    contradicted = not -1e-9 <= evidence.base_rate <= 1 + 1e-9 or bool(
        (reliability.contradiction & table.tested[0]).any()
    )
    if contradicted:
        level = "contradiction"
    elif wrong:
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
        gaps=tuple(overall),
        wrong_bins=tuple(wrong),
        largest=overall[0] if overall else None,
        bins_tested=len(overall),
        cells_tested=int(table.tested[1:].sum()),
        groups=groups,
        too_small_groups=int((table.group_mass[1:] <= min_mass).sum()),
        tolerance=tolerance,
        resolution=resolution,
        n=evidence.n,
        positives=positives,
        negatives=population - positives,
        rows_needed=_rows_needed(draws, error.noise_limit, resolution),
        base_rate=evidence.base_rate,
        mean_score=mean_score,
        constant_score=bool(evidence.score.min() == evidence.score.max()),
        decisions_only=bool(((evidence.score == 0) | (evidence.score == 1)).all()),
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
    )


def _rows_needed(draws: float, limit: float, resolution: float) -> int:
    """Rows at which the noise of the ECE would fall to ``resolution``, to two digits: noise goes as n^-1/2."""
    if not np.isfinite(limit):
        return 0
    needed = draws * max(limit / resolution, 1.0) ** 2
    digits = max(int(np.floor(np.log10(max(needed, 1)))) - 1, 0)
    return int(np.ceil(needed / 10**digits) * 10**digits)


def _gap(table: Cells, group: int, place: int, interval: tuple[float, float] | None = None) -> Gap:
    """One cell as a gap; the event rate's interval is Wald's where none is given."""
    mean, mass = float(table.mean_score[group, place]), float(table.mass[group, place])
    rate = mean + float(table.moment[group, place]) / mass
    if interval is None or not np.isfinite(interval[0]):
        half = Z * float(np.fmax(table.standard_error[group, place], table.null_error[group, place])) / mass
        interval = rate - half, rate + half
    return Gap(
        group=table.groups[group],
        low=float(table.bins.edges[place]),
        high=float(table.bins.edges[place + 1]),
        mean_score=mean,
        event_rate=rate,
        lower=min(max(interval[0], 0.0), 1.0),
        upper=min(max(interval[1], 0.0), 1.0),
        rows=int(table.rows[group, place]),
        adjusted=float(table.adjusted[group, place]),
        chance=float(table.chance(group)[place]),
    )


def _overall(table: Cells, reliability: Reliability) -> list[Gap]:
    """The tested bins of the whole population."""
    places = np.flatnonzero(table.tested[0])
    bounds = zip(reliability.lower[places].tolist(), reliability.upper[places].tolist(), strict=True)
    return [_gap(table, 0, int(j), interval) for j, interval in zip(places, bounds, strict=True)]


def _findings(table: Cells, tolerance: float, min_mass: float) -> tuple[GroupFinding, ...]:
    """Each subgroup with its worst cell: the largest of the wrong ones, else of the tested ones."""
    tested = table.tested
    size = np.where(tested, np.abs(table.residual), -1.0)
    wrong = tested & table.wrong(tolerance)
    any_wrong: NDArray[np.bool_] = np.any(wrong, axis=1)
    worst = np.where(any_wrong[:, None] & ~wrong, -1.0, size).argmax(axis=1)
    error, mass, rows = table.group_error, table.group_mass, table.rows.sum(axis=1)
    found = [
        GroupFinding(
            group=table.groups[g],
            position=g - 1,
            rows=int(rows[g]),
            mass=float(mass[g]),
            error=float(error[g]),
            gap=_gap(table, g, int(worst[g])) if tested[g, int(worst[g])] else None,
            wrong=bool(any_wrong[g]),
        )
        for g in range(1, len(table.groups))
        if mass[g] > min_mass
    ]
    return tuple(sorted(found, key=lambda one: (not one.wrong, -abs(one.gap.residual) if one.gap else 0.0)))
