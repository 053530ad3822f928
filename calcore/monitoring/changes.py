"""What a bet that has won says: since when, how far off, how far before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calcore.metrics.uncertainty import Z
from calcore.monitoring.betting import SHAPES, shapes
from calcore.monitoring.results import BatchResult, Value
from calcore.monitoring.sequential import Change


@dataclass(frozen=True)
class Finding:
    """A change in words and numbers.

    ``size`` is by how much scores are off in the direction of ``pattern`` from the batch ``since`` to ``until``,
    over the bins that the pattern is about; ``before`` the same for all earlier batches (NaN: none). ``low`` and
    ``high`` bound the scores of a single bin, else 0 and 1. ``over`` says that later batches speak against it.
    """

    group: str | None
    pattern: str
    low: float
    high: float
    since: int
    alarm: int
    until: int
    over: bool
    since_label: str
    alarm_label: str
    until_label: str
    alarm_key: str
    size: Value
    before: Value
    rows: int
    #: The share of the rows that the subgroup holds; 1 overall.
    share: float
    log_evidence: float

    @property
    def about_confidence(self) -> bool:
        return self.pattern in ("overconfident", "underconfident")


def findings(changes: Sequence[Change], results: Sequence[BatchResult]) -> tuple[Finding, ...]:
    """Every change with its size, pooled over its batches and over those before.

    An intersection of subgroups is left out where a part of it is convicted too.
    """
    made = [_finding(change, results) for change in changes]
    convicted = {one.group for one in made if one.group is not None}
    parts = {group.name: group.parts for one in results for group in one.groups}
    return tuple(
        one for one in made if one.group is None or not convicted.intersection(parts.get(one.group, ()))
    )


def _finding(change: Change, results: Sequence[BatchResult]) -> Finding:
    during = [one for one in results[change.since : change.until + 1] if one.measured]
    before = [one for one in results[: change.since] if one.measured]
    bins = next(len(one.bins) for one in during if one.bins is not None)
    low, high = (change.bin / bins, (change.bin + 1) / bins) if change.bin is not None else (0.0, 1.0)
    return Finding(
        group=change.group,
        pattern=change.pattern,
        low=low,
        high=high,
        since=change.since,
        alarm=change.alarm,
        until=change.until,
        over=change.over,
        since_label=results[change.since].label,
        alarm_label=results[change.alarm].label,
        until_label=results[change.until].label,
        alarm_key=results[change.alarm].key,
        size=_pooled(change, during),
        before=_pooled(change, before),
        rows=sum(_rows(change, one) for one in during),
        share=_share(change, during),
        log_evidence=change.log_evidence,
    )


def _rows(change: Change, one: BatchResult) -> int:
    if change.group is not None:
        return next((group.rows for group in one.groups if group.name == change.group), 0)
    if change.bin is not None and one.bins is not None:
        return int(one.bins.rows[change.bin])
    return one.labelled


def _share(change: Change, results: Sequence[BatchResult]) -> float:
    """The mass of the subgroup over batches, each by its labelled rows."""
    total = sum(one.labelled for one in results)
    if change.group is None or not total:
        return 1.0
    held = sum(
        one.labelled * group.mass for one in results for group in one.groups if group.name == change.group
    )
    return held / total


def _pooled(change: Change, results: Sequence[BatchResult]) -> Value:
    """Signed mean gap over batches, each by its labelled rows."""
    total, mass, variance = 0.0, 0.0, 0.0
    for one in results:
        found = _one(change, one)
        if found is None:
            continue
        moment, error, share = found
        total += one.labelled * moment
        mass += one.labelled * share
        variance += (one.labelled * error) ** 2
    if mass <= 0:
        return Value(float("nan"))
    value, spread = total / mass, float(np.sqrt(variance)) / mass
    return Value(value, spread, value - Z * spread, value + Z * spread)


def _one(change: Change, one: BatchResult) -> tuple[float, float, float] | None:
    """Moment in the direction of the change, its error, and the mass that it is over, in one batch."""
    if change.group is not None:
        found = next((group for group in one.groups if group.name == change.group), None)
        if found is None:
            return None
        if change.pattern in ("too low", "too high"):
            sign = 1.0 if change.pattern == "too low" else -1.0
            return sign * found.gap * found.mass, found.error * found.mass, found.mass
        sign = 1.0 if change.pattern == "overconfident" else -1.0
        return sign * found.tilt * found.mass, found.tilt_error * found.mass, found.mass
    if one.bins is None:
        return None
    if change.bin is not None:
        signs = np.zeros(len(one.bins))
        signs[change.bin] = 1.0 if change.pattern == "too low" else -1.0
    else:
        signs = shapes(len(one.bins), one.centre)[SHAPES.index(change.pattern)]
    error = float(np.sqrt((signs**2) @ np.nan_to_num(one.bins.error) ** 2))
    return float(signs @ one.bins.moment), error, float(np.abs(signs) @ one.bins.mass)
