"""The session's file as batches over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from calcore.maps import CalibrationMap, safe_csv
from calcore.monitoring import (
    Batching,
    BatchResult,
    Plan,
    Watch,
    batches_of_file,
    joined,
    parts,
    split,
    watch,
)
from calcore.monitoring.alert_table import alert_table
from calcore.monitoring.history import Earlier, agreed, usable
from calcore.monitoring.mapped import batches_at_map
from calcore.monitoring.series import GroupSeries, group_series
from calcore.monitoring.suggest import suggested_batching
from dashboard.services.memory import once
from dashboard.services.results import Analysis, measured_words
from dashboard.state import get_state

Measured = tuple[tuple[BatchResult, ...], Plan, int]


def default_batching(found: Analysis) -> Batching:
    """How the file is split where nobody said how."""
    columns = found.ingested.columns
    return once(
        ("batching", *found.key, found.settings.measure_on),
        lambda: suggested_batching(columns.score.size, found.measured.n, columns.time),
    )


def usual_completeness(found: Analysis) -> float:
    """The share of labels that completes a batch: where some rows were drawn at random to be checked, any share."""
    return 0.0 if found.audit is not None and found.measured is found.audit else Plan().complete


def batch_columns(found: Analysis) -> list[str]:
    """Columns whose values can be batches."""
    return [
        column.name for column in found.ingested.report.columns if column.name != found.ingested.roles.score
    ]


def batch_names(found: Analysis, batching: Batching) -> tuple[tuple[str, str], ...]:
    """Key and label of every batch of the file, in order. Raises InputError where it cannot be split so."""
    ingested, measured = found.ingested, found.measured

    def compute() -> tuple[tuple[str, str], ...]:
        labelled = np.zeros(ingested.columns.score.size, dtype=bool)
        labelled[slice(None) if measured.row is None else measured.row] = True
        column = None
        if batching.by == "column" and batching.column in ingested.table:
            column = ingested.table[batching.column]
        made = split(
            batching,
            labelled.size,
            time=ingested.columns.time,
            column=column,
            counted=labelled,
            prefix=f"{ingested.report.sha256[:12]}:",
        )
        return tuple((one.key, one.label) for one in made.batches)

    return once(("batch-names", *found.key, found.settings.measure_on, batching), compute)


def watch_of(found: Analysis, plan: Plan, earlier: Earlier | None = None, kept: str = "") -> Watch:
    """The file watched under ``plan``, going on from ``earlier`` runs; ``kept`` names the state that they left.

    Raises InputError where the file cannot be split so, or the stream is kept by other batches.
    """

    def compute() -> Watch:
        agreed_on = plan if earlier is None else agreed(earlier, plan)
        before = () if earlier is None else usable(earlier, agreed_on)
        results, settled, without_place = measured_of(found, agreed_on, before, kept)
        return watch(joined(before, results), replace(settled, fixed=plan.fixed), without_place)

    return once(("watch", *found.key, found.settings.measure_on, plan, kept), compute)


def remember_watch(found: Analysis, watched: Watch) -> None:
    """Keep what Over time shows of the file: other pages and the report speak of it."""
    get_state().latest_watch = (_judged(found), watched)


def latest_watch(found: Analysis) -> Watch | None:
    """What Over time showed last of this file, on the same labels and judged by the same; None where it did not."""
    kept = get_state().latest_watch
    return kept[1] if kept is not None and kept[0] == _judged(found) else None


def _judged(found: Analysis) -> tuple[Any, ...]:
    settings = found.settings
    return (*found.key, settings.measure_on, settings.tolerance, settings.bins)


def parts_of(found: Analysis, watched: Watch, earlier: Earlier, kept: str) -> tuple[str, ...]:
    """What must be said of batches of which this file holds only a part."""
    before = usable(earlier, watched.plan)
    return parts(before, measured_of(found, agreed(earlier, watched.plan), before, kept)[0])


def measured_of(found: Analysis, plan: Plan, earlier: Sequence[BatchResult], kept: str) -> Measured:
    """The batches of the file; limits that somebody set are no part of them."""
    plan = replace(plan, fixed=())

    def compute() -> Measured:
        return batches_of_file(
            found.ingested, plan, found.measured, basis=measured_words(found), earlier=earlier
        )

    return once(("batches", *found.key, found.settings.measure_on, plan, kept), compute)


def mapped_watch_of(found: Analysis, plan: Plan, map_: CalibrationMap, since: np.datetime64 | None) -> Watch:
    """The file watched with ``map_`` applied from ``since`` on. Raises InputError where the map does not fit the file."""
    plan = replace(plan, fixed=())
    key = ("mapped", *found.key, found.settings.measure_on, plan, map_.checksum, str(since))

    def compute() -> Watch:
        measure = partial(batches_at_map, found.ingested, plan, found.measured, map_, since)
        return watch(*measure(basis=measured_words(found)))

    return once(key, compute)


def group_series_of(watched: Watch) -> tuple[GroupSeries, ...]:
    return once(("group-series", id(watched.results)), lambda: (watched, group_series(watched)))[1]


def alerts_csv(watched: Watch) -> bytes:
    """All alerts and notices as CSV, safe to open in a spreadsheet."""
    return safe_csv(alert_table(watched.alerts, watched.results))
