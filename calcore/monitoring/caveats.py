"""What must be said beside a watch's verdict: batches that wait for labels, are not tested yet, or look unusual."""

from __future__ import annotations

import numpy as np

from calcore import wording as w
from calcore.monitoring.results import TITLES, BatchResult
from calcore.monitoring.watch import Watch

#: Metrics whose control limits are about calibration.
ABOUT_CALIBRATION = ("ECE", "gap")


def pending(watch: Watch) -> str:
    """Which batches have no labels yet; empty where all do."""
    waiting = [one for one in watch.results if not one.labelled]
    if not waiting or len(waiting) == len(watch.results):
        return ""
    what = (
        "the numbers drawn are estimates from their scores, and cannot see that events have become more or less frequent"
        if any(one.kind == "estimated" for one in waiting)
        else "nothing is drawn for them"
    )
    subject = "1 batch has" if len(waiting) == 1 else f"{w.count(len(waiting))} batches have"
    return f"{subject} no labels yet ({w.listed([one.label for one in waiting])}): {what}."


def estimates(watch: Watch, metric: str) -> str:
    """What the estimates that are drawn of ``metric`` cannot show; empty where none is."""
    drawn = [one for one in watch.results if one.kind == "estimated" and np.isfinite(one.value(metric).value)]
    if not drawn:
        return ""
    names = w.listed([one.label for one in drawn])
    what = "repeats the gaps of the reference period" if metric == "ECE" else "comes from the scores alone"
    return f"Hollow: {names}, without labels yet. Such an estimate {what} and cannot see a change; it is no recovery."


def untested(watch: Watch) -> str:
    """How many measured batches are not in the test yet, and why, from the newest back; empty where all are."""
    left = [one for one in watch.results if one.measured and one.growth is None]
    if not left:
        return ""
    reasons: dict[str, list[str]] = {}
    for one in reversed(left):
        reasons.setdefault(one.reason or "measured under other settings", []).append(one.label)
    said = [f"{w.listed(labels)}: {reason.rstrip('.')}" for reason, labels in list(reasons.items())[:2]]
    if len(reasons) > 2:
        said.append("the others for the like")
    subject = "1 measured batch is" if len(left) == 1 else f"{w.count(len(left))} of the measured batches are"
    return f"{subject} not in the test yet ({'; '.join(said)})."


def unusual(watch: Watch) -> list[tuple[BatchResult, list[str]]]:
    """Measured batches outside what the reference period leads to expect of ECE or gap, with the metrics of each."""
    found = []
    for i, one in enumerate(watch.results):
        metrics = [
            name for name in ABOUT_CALIBRATION if name in watch.limits and watch.limits[name].outside[i]
        ]
        if one.measured and metrics:
            found.append((one, metrics))
    return found


def unusual_now(watch: Watch) -> str:
    """That the newest measured batch is outside what was normal, or one that no test covers; else empty."""
    found = unusual(watch)
    if not found:
        return ""
    newest = next(one for one in reversed(watch.results) if one.measured)
    said = next((pair for pair in reversed(found) if pair[0] is newest or pair[0].growth is None), None)
    if said is None:
        return ""
    one, metrics = said
    which = "the newest measured batch, " if one is newest else ""
    names = " and ".join(TITLES[name] if name == "ECE" else TITLES[name].lower() for name in metrics)
    return f"{one.label}, {which}is outside what the reference period leads to expect ({names})."


def unplaced(watch: Watch) -> str:
    """How many rows are in no batch; empty where all are."""
    if not watch.without_place:
        return ""
    what = "value of the batch column" if watch.plan.batching.by == "column" else "time"
    verb = "has" if watch.without_place == 1 else "have"
    return f"{w.rows(watch.without_place)} {verb} no {what} and {verb.replace('have', 'are').replace('has', 'is')} in no batch."
