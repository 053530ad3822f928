"""A watch to a level and a sentence: should somebody worry, since when, and what is not known yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import numpy as np

from calcore import wording as w
from calcore.monitoring.alerts import Alert, number
from calcore.monitoring.caveats import pending, unplaced, untested, unusual, unusual_now
from calcore.monitoring.limits import Limits
from calcore.monitoring.results import TITLES, BatchResult
from calcore.monitoring.series import RECENT, GroupSeries, pooled_gap
from calcore.monitoring.watch import Plan, Watch
from calcore.verdicts import Level, Verdict

KINDS = {
    "calibration": "Not calibrated",
    "change": "Changed",
    "fixed": "Beyond the limit",
    "control": "Unusual batch",
}


def verdict(watch: Watch, seen: Collection[str] = ()) -> Verdict:
    """The one sentence about a stream; where there are alerts it only counts them, and they say the rest.

    ``seen`` are the keys of alerts that somebody has acknowledged: those are not told of again.
    """
    notes = tuple(note for note in (pending(watch), unplaced(watch)) if note)
    left = untested(watch)
    measured = [one for one in watch.results if one.measured]
    if watch.alarming:
        unseen = [one for one in watch.alarming if one.key not in seen]
        notes = (left, *notes) if left else notes
        return _alarmed(unseen, notes) if unseen else _all_seen(watch, notes)
    if not measured:
        return Verdict(Level.UNKNOWN, _nothing(watch), (), word=_nothing_word(watch.results))
    more = f" {_capital(left)}" if left else ""
    now = unusual_now(watch)
    if now:
        return Verdict(Level.WATCH, f"{now} No test has raised an alert.{more}", notes)
    tested = [one for one in measured if one.growth is not None]
    if not tested:
        return Verdict(Level.UNKNOWN, f"No batch is in the test.{more}", notes)
    passed = [one for one in watch.alerts if one.kind in ("calibration", "change")]
    if passed:
        sentence = f"{passed[0].sentence} Later batches speak against it.{more}"
        return Verdict(Level.WATCH, sentence, notes, word="Over again")
    return _quiet(watch, tested, more, notes)


def _quiet(watch: Watch, tested: Sequence[BatchResult], more: str, notes: tuple[str, ...]) -> Verdict:
    """No alert, none that is over, and nothing unusual now: is that much to go by?"""
    gap, rows = pooled_gap(tested), w.rows(sum(one.labelled for one in tested))
    overall = (
        f"overall, events are {_signed_points(gap.value)} than the scores say "
        f"(95 % interval {100 * gap.low:+.1f} to {100 * gap.high:+.1f}, {rows})"
    )
    span = _span(tested, everything=not more)
    before = [one.label for one, _ in unusual(watch)]
    nothing = f"The test found nothing in {span}" if before else f"Nothing speaks against it in {span}"
    crossed = (
        f" {_capital(w.listed(before))} {'was' if len(before) == 1 else 'were'} outside what the reference period leads "
        "to expect."
        if before
        else ""
    )
    within = f"within {w.points(watch.plan.tolerance)}"
    if max(abs(gap.low), abs(gap.high)) <= watch.plan.tolerance:
        return Verdict(
            Level.GOOD, f"{nothing}; {overall}.{crossed}{more}", notes, word=f"Calibrated {within}"
        )
    doubt = nothing.replace(" it ", f" scores that are right {within} ") if not before else nothing
    return Verdict(
        Level.UNKNOWN,
        f"{doubt}, but these rows leave room for more: {overall}.{crossed}{more}",
        notes,
        word="No alert",
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _alarmed(alerts: Sequence[Alert], notes: tuple[str, ...]) -> Verdict:
    first = alerts[0]
    more = len(alerts) - 1
    said = "" if not more else f" {more} more {'alerts' if more > 1 else 'alert'} below."
    return Verdict(Level.BAD, f"{first.sentence}{said}", notes, word="Alert")


def _all_seen(watch: Watch, notes: tuple[str, ...]) -> Verdict:
    count = len(watch.alarming)
    what = "the one alert has" if count == 1 else f"all {w.count(count)} alerts have"
    sentence = f"Nothing new: {what} been acknowledged and {'is' if count == 1 else 'are'} listed under Seen."
    return Verdict(Level.WATCH, sentence, notes, word="Alert, seen")


def of_alert(alert: Alert) -> Verdict:
    """One alert or notice by itself."""
    level = Level.BAD if alert.severity == "alert" else Level.WATCH
    return Verdict(level, alert.sentence, (), word=alert.severity.capitalize())


def _nothing_word(results: Sequence[BatchResult]) -> str:
    return "Too few rows" if any(one.labelled for one in results) else "No labels yet"


def _nothing(watch: Watch) -> str:
    if not watch.results:
        return "No row has a place in a batch: choose other batches."
    if not any(one.labelled for one in watch.results):
        return "No batch has labels yet, so nothing can be said about calibration; scores alone cannot tell."
    return (
        f"No batch can be measured: {watch.results[-1].reason or 'too few rows'}. Choose longer batches or fewer "
        "rows a batch."
    )


def _span(tested: Sequence[BatchResult], everything: bool) -> str:
    """The batches that were tested; with ``everything`` they are all that are measured."""
    if len(tested) == 1:
        return f"the one batch {'(' if everything else 'in the test ('}{tested[0].label})"
    which = (
        f"all {w.count(len(tested))} batches" if everything else f"the {w.count(len(tested))} tested batches"
    )
    return f"{which} ({tested[0].label} to {tested[-1].label})"


def _signed_points(gap: float) -> str:
    if abs(gap) < 0.0005:
        return "no more or less frequent"
    return f"{w.points(gap)} {'more' if gap > 0 else 'less'} frequent"


def lately(watch: Watch, seen: Collection[str] = ()) -> str:
    """What a verdict over all rows together may hide: the first alert that nobody has ``seen``, or an unusual newest batch."""
    unseen = [one.sentence for one in watch.alarming if one.key not in seen]
    if watch.alarming:  # after one, what is unusual is no news
        return unseen[0] if unseen else ""
    return unusual_now(watch)


def batching_words(plan: Plan) -> str:
    """How rows became batches."""
    batching = plan.batching
    unit = {
        "rows": f"{w.rows(batching.size)} after each other",
        "column": f"a value of the column {batching.column}",
    }.get(batching.by, f"a {batching.by}")
    return f"{unit}; joined with the next below {w.rows(batching.min_rows)} with labels"


def reference_words(watch: Watch) -> str:
    """What the reference period is."""
    if watch.reference is None:
        return "There is no reference period: none of its batches has labels enough."
    first, last = watch.reference.labels
    span = first if first == last else f"{first} to {last}"
    return f"Reference period: {span}, {w.rows(watch.reference.rows)} with labels."


def series_title(watch: Watch, metric: str) -> str:
    """What a metric does over the batches: how many are beyond their limits, and the first of them."""
    title = TITLES[metric]
    fixed = [one for one in watch.fixed if one.metric == metric]
    outside = _outside(fixed, len(watch.results))
    if outside.any():
        return f"{title}: {_beyond(watch.results, outside)} beyond the fixed limit"
    control = watch.limits.get(metric)
    if control is None or not np.isfinite(control.low).any():
        return f"{title} by batch"
    outside = control.outside
    if outside.any():
        return f"{title}: {_beyond(watch.results, outside)} outside what the reference period leads to expect"
    begun = first_alert(watch)
    if begun is not None:
        return (
            f"{title}: no single batch is outside its limits, but together they give an alert since "
            f"{watch.results[begun].label}"
        )
    return f"{title}: as the reference period leads to expect in all {_measured(watch)} batches"


def first_alert(watch: Watch) -> int | None:
    """The batch in which the earliest change began that is an alert: not over, and to a gap beyond the tolerance."""
    moved = (one for one in watch.changes if abs(one.size.value) > watch.plan.tolerance)
    return min((one.since for one in (*watch.findings, *moved) if not one.over), default=None)


def broke_at(watch: Watch) -> datetime | None:
    """When the first alert began that is not over; None where there is none, or no time."""
    begun = first_alert(watch)
    start = None if begun is None else watch.results[begun].start
    return None if start is None else datetime.fromisoformat(start).replace(tzinfo=UTC)


def _measured(watch: Watch) -> int:
    return sum(one.measured for one in watch.results)


def _outside(limits: Sequence[Limits], count: int) -> np.ndarray:
    found = np.zeros(count, dtype=bool)
    for one in limits:
        found |= one.outside
    return found


def _beyond(results: Sequence[BatchResult], outside: np.ndarray) -> str:
    at = np.flatnonzero(outside)
    first = results[int(at[0])].label
    if at.size == 1:
        return f"{first} is"
    return f"{w.count(int(at.size))} of {w.count(sum(one.measured for one in results))} batches, first {first}, are"


def evidence_title(watch: Watch) -> str:
    """What the two tests have found, as the title of their picture."""
    within = f"calibrated within {w.points(watch.plan.tolerance)}"
    results = watch.results
    if watch.test.alarms:
        at = results[watch.test.alarms[0]].label
        return f"Evidence against '{within}', everyone and subgroups together: beyond the line at {at}"
    if watch.change.alarms:
        return f"Evidence of a change: beyond the line at {results[watch.change.alarms[0]].label}"
    return f"Evidence against '{within}' never reached the line"


def evidence_words(watch: Watch) -> str:
    """How the line of evidence is read."""
    return (
        f"If the scores were right within {w.points(watch.plan.tolerance)} and nothing changed, either kind of evidence "
        f"would reach the line in at most 1 of {1 / watch.plan.alpha:.0f} streams, ever, however often one looks."
    )


def groups_title(series: Sequence[GroupSeries]) -> str:
    """Which subgroups a test convicted, the worst first."""
    lasting = [one.name for one in series if one.alarmed and not one.over]
    if lasting:
        return f"The tests single out {w.listed(lasting)}"
    passed = [one.name for one in series if one.over]
    if passed:
        return f"The tests single out no subgroup now; {w.listed(passed)} {'was' if len(passed) == 1 else 'were'} for a time"
    return f"The tests single out none of {w.count(len(series))} subgroups"


def groups_order(series: Sequence[GroupSeries]) -> str:
    """In which order subgroups are drawn."""
    first = "those that the tests single out, then the others; " if any(one.alarmed for one in series) else ""
    return f"{first}the largest gap in the newest {RECENT} measured batches first."


def batch_words(one: BatchResult, metric: str) -> str:
    """A batch in words: its rows, the metric with its interval, and what there is to know."""
    text = f"{one.label}: {w.rows(one.rows)}"
    if one.labelled != one.rows:
        text += f", {w.count(one.labelled)} with labels"
    value = one.value(metric)
    if np.isfinite(value.value):
        said = "estimated " if one.kind == "estimated" else ""
        text += f"; {said}{TITLES[metric]} {number(metric, value.value)}"
        if np.isfinite(value.low) and np.isfinite(value.high):
            text += f" ({number(metric, value.low)} to {number(metric, value.high)})"
    if metric == "ECE" and one.measured and np.isfinite(one.noise_floor):
        text += f"; by chance alone about {w.error(one.noise_floor)}, up to {w.error(one.noise_limit)}"
    return f"{text}; {one.reason}" if one.reason else text


def mapped_title(watch: Watch, mapped: Watch, metric: str, since: str) -> str:
    """The last batches at the raw and at the mapped score, as the title of their picture."""
    pairs = [
        (raw.value(metric), new.value(metric))
        for raw, new in zip(watch.results, mapped.results, strict=True)
        if raw.measured and new.measured and (raw.end is None or raw.end >= since)
    ]
    if not pairs:
        return f"{TITLES[metric]}: no measured batch from {since[:10]} on"
    before, after = (float(np.mean([pair[k].value for pair in pairs])) for k in (0, 1))
    return (
        f"{TITLES[metric]} from {since[:10]} on: {number(metric, before)} as it is, {number(metric, after)} with the map "
        f"(means of {w.count(len(pairs))} {'batches' if len(pairs) != 1 else 'batch'})"
    )
