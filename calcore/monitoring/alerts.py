"""Alerts: what, since when, where first. Each has a key by which the same alert is known again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calcore import wording as w
from calcore.monitoring.changes import Finding
from calcore.monitoring.limits import Limits
from calcore.monitoring.reference import Reference
from calcore.monitoring.results import TITLES, BatchResult
from calcore.monitoring.sequential import SequentialTest

#: Metrics whose control limits are told of; the others are drawn only.
TOLD = ("ECE", "gap", "mean score", "AUC")


@dataclass(frozen=True)
class Alert:
    """``kind`` is "calibration" or "change" (the two tests), "fixed" (a limit that somebody set) or "control".

    ``severity`` is "alert", or "notice" for what is over again and for control limits: with several metrics and many
    batches some are left by chance. ``batch`` is the key of the batch at which it was raised, ``since`` the label of
    that where it began.
    """

    key: str
    kind: str
    severity: str
    batch: str
    since: str
    group: str | None
    sentence: str


def alerts_of(
    results: Sequence[BatchResult],
    limits: Mapping[str, Limits],
    fixed: Sequence[Limits],
    of_test: Sequence[Alert],
) -> tuple[Alert, ...]:
    """All alerts of a stream: those of the tests first, then limits from the newest batch back; notices last."""
    found = [alert for one in fixed for alert in _beyond(results, one)]
    found += [alert for metric, one in limits.items() if metric in TOLD for alert in _beyond(results, one)]
    place = {one.key: i for i, one in enumerate(results)}
    found.sort(key=lambda alert: -place[alert.batch])
    return tuple(sorted([*of_test, *found], key=lambda alert: alert.severity != "alert"))


def calibration_alerts(
    results: Sequence[BatchResult], test: SequentialTest, found: Sequence[Finding], tolerance: float
) -> list[Alert]:
    """What the test of "calibrated within tolerance" found."""
    within = f"not calibrated within {w.points(tolerance)}"
    made = [
        _alert("calibration", one, f"{within}{_since(one)}: {off(one)}.", found)
        for one in _worst_first(found)
    ]
    return made or _unexplained("calibration", results, test, within)


def change_alerts(
    results: Sequence[BatchResult],
    test: SequentialTest,
    found: Sequence[Finding],
    told: Sequence[Finding],
    reference: Reference,
    tolerance: float,
) -> list[Alert]:
    """What the test of "as in the reference period" found, without what is ``told`` already: gaps that began later.

    A change to a gap within the tolerance is a notice.
    """
    last = max(reference.positions)
    known = {one.group for one in told if one.since > last}
    what = "unlike the reference period"
    made = []
    for one in _worst_first(found):
        if one.group not in known:
            alert = _alert("change", one, f"{what}{_since(one)}: {off(one)}.", found)
            small = abs(one.size.value) <= tolerance
            made.append(replace(alert, severity="notice") if small else alert)
    return made or ([] if found or told else _unexplained("change", results, test, what))


def _worst_first(found: Sequence[Finding]) -> list[Finding]:
    """Everyone first, then subgroups by how far they are off."""
    return sorted(found, key=lambda one: (one.group is not None, -abs(one.size.value) if one.group else 0.0))


def _alert(kind: str, one: Finding, text: str, found: Sequence[Finding]) -> Alert:
    sentence = f"{one.group} is {text}" if one.group is not None else f"{text[:1].upper()}{text[1:]}"
    if one.alarm != one.since:
        sentence += f" Noticed at {one.alarm_label}."
    if one.group is None:
        groups = [other for other in found if other.group is not None]
        sentence += _first(one, groups) + _most(one, groups)
    key = f"{kind}:{one.group or ''}:{one.alarm_key}"
    return Alert(
        key, kind, "notice" if one.over else "alert", one.alarm_key, one.since_label, one.group, sentence
    )


def _since(one: Finding) -> str:
    if one.over:
        return (
            f" in {one.since_label}"
            if one.since == one.until
            else f" from {one.since_label} to {one.until_label}"
        )
    return f" since {one.since_label}"


def _first(overall: Finding, groups: Sequence[Finding]) -> str:
    """Where it shows before it shows everywhere."""
    earlier = [one for one in groups if one.since < overall.since and not one.over]
    if not earlier:
        return ""
    start = min(one.since for one in earlier)
    names = [one.group or "" for one in earlier if one.since == start]
    label = next(one.since_label for one in earlier if one.since == start)
    return f" It shows first in {w.listed(names)} (since {label})."


#: A subgroup is named as where it is worst if its gap is so many times that of everyone.
WORSE = 1.5


def _most(overall: Finding, groups: Sequence[Finding]) -> str:
    """The subgroup whose scores are off most in the same direction, and what is left without it."""
    if overall.about_confidence or overall.over:
        return ""
    alike = [one for one in groups if one.pattern == overall.pattern and not one.over]
    worst = max(alike, key=lambda one: one.size.value, default=None)
    if worst is None or worst.size.value < WORSE * overall.size.value:
        return ""
    text = f" Most in {worst.group}: {w.points(worst.size.value)} {worst.pattern}"
    whole = overall.high - overall.low >= 1
    if whole and 0 < worst.share < 0.9 and worst.since == overall.since:
        rest = (overall.size.value - worst.share * worst.size.value) / (1 - worst.share)
        side = w.side(rest if overall.pattern == "too low" else -rest)
        text += f"; all other rows together {w.points(rest)} {side}".rstrip()
    return f"{text}."


def _unexplained(kind: str, results: Sequence[BatchResult], test: SequentialTest, what: str) -> list[Alert]:
    if not test.alarms:
        return []
    at = results[test.alarms[-1]]
    over = test.log_evidence[-1] < test.threshold
    text = f"{what[:1].upper()}{what[1:]} at {at.label}: no single pattern or subgroup explains it alone."
    return [Alert(f"{kind}::{at.key}", kind, "notice" if over else "alert", at.key, at.label, None, text)]


def off(one: Finding) -> str:
    """How far scores are off, and how far they were before."""
    size, before = one.size, one.before
    if one.about_confidence:
        what = f"scores are {one.pattern}, off by {w.points(size.value)} on average ({_interval(one)})"
        opposite = "underconfident" if one.pattern == "overconfident" else "overconfident"
        side = one.pattern if before.value > 0 else opposite
    else:
        where = "" if one.high - one.low >= 1 else f" from {w.edge(one.low)} to {w.edge(one.high)}"
        what = f"scores{where} are {w.points(size.value)} {one.pattern} ({_interval(one)})"
        side = w.side(before.value if one.pattern == "too low" else -before.value)
    if np.isfinite(before.value):
        what += f"; before that {w.points(before.value)} {side}".rstrip()
    return what


def _interval(one: Finding) -> str:
    return f"95 % interval {100 * one.size.low:.1f} to {100 * one.size.high:.1f}, {w.rows(one.rows)}"


def _beyond(results: Sequence[BatchResult], limits: Limits) -> list[Alert]:
    made = []
    severity = "alert" if limits.kind == "fixed" else "notice"
    for i in np.flatnonzero(limits.outside):
        one = results[int(i)]
        value = one.value(limits.metric).value
        high = not value < limits.low[i]
        bound = float(limits.high[i] if high else limits.low[i])
        whose = (
            "the limit" if limits.kind == "fixed" else "what the reference period gives a batch of this size"
        )
        text = (
            f"{TITLES[limits.metric]} of {one.label} is {number(limits.metric, value)}, {'above' if high else 'below'} "
            f"{whose} ({number(limits.metric, bound)})."
        )
        made.append(
            Alert(
                f"{limits.kind}:{limits.metric}:{one.key}",
                limits.kind,
                severity,
                one.key,
                one.label,
                None,
                text,
            )
        )
    return made


def number(metric: str, value: float) -> str:
    """A metric as people read it."""
    if metric == "gap":
        return "n/a" if not np.isfinite(value) else f"{100 * value:+.1f}\u00a0points"
    return w.rate(value) if metric in ("event rate", "mean score") else w.error(value)
