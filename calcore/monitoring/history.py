"""A watched stream in the history store: what is kept of a run, and how the next one goes on from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from calcore.errors import InputError
from calcore.ingest import Ingested
from calcore.monitoring import store as kept
from calcore.monitoring.alerts import Alert
from calcore.monitoring.documents import from_document, to_document
from calcore.monitoring.file_batches import fitting
from calcore.monitoring.plan_document import plan_from_document, plan_to_document
from calcore.monitoring.results import BatchResult
from calcore.monitoring.store import AlertRecord, BatchRecord, Store, Stream
from calcore.monitoring.watch import Plan, Watch


@dataclass(frozen=True, eq=False)
class Earlier:
    """A stream as its last run left it: batches in order, the plan of that run, and the run (None: there was none)."""

    stream: Stream
    results: tuple[BatchResult, ...]
    plan: Plan | None
    last: kept.Run | None

    @property
    def reading(self) -> Any:
        """How the columns of the last file were named, as it was kept; None where nothing was said."""
        return None if self.last is None else self.last.settings.get("reading")


@dataclass(frozen=True, eq=False)
class Recorded:
    """A run that was confirmed; ``new`` are its alerts that no run found before, ``open`` those nobody acknowledged."""

    run: kept.Run
    new: tuple[Alert, ...]
    open: tuple[Alert, ...]


def earlier_runs(store: Store, name: str) -> Earlier:
    """What the stream ``name`` holds; it is created where there is none. Raises InputError where it is damaged."""
    stream = store.stream(name)
    results = tuple(from_document(batch.record.document) for batch in store.batches(stream))
    runs = store.runs(stream)
    last = runs[-1] if runs else None
    return Earlier(stream, results, None if last is None else plan_from_document(last.settings["plan"]), last)


def agreed(earlier: Earlier, wanted: Plan) -> Plan:
    """The plan of the next run: ``wanted``, with the centre that the stream began with.

    Raises InputError where its batches would be others than those that are kept.
    """
    if earlier.plan is None:
        return wanted
    if wanted.batching != earlier.plan.batching:
        raise InputError(
            f'The stream "{earlier.stream.name}" is kept by {_said(earlier.plan)} and cannot go on by '
            f"{_said(wanted)}; keep its batches, or begin another stream."
        )
    centre = earlier.plan.centre if wanted.bins == earlier.plan.bins else None
    return replace(wanted, centre=centre)


def _said(plan: Plan) -> str:
    batching = plan.batching
    by = f'the column "{batching.column}"' if batching.by == "column" else batching.by
    size = f" ({batching.size:,} at a time)" if batching.by == "rows" else ""
    return f"{by}{size}, at least {batching.min_rows:,} rows each"


def usable(earlier: Earlier, plan: Plan) -> tuple[BatchResult, ...]:
    """The kept batches under ``plan``: those that were measured on other terms count without their bets."""
    return fitting(earlier.results, plan)


def record(
    store: Store,
    earlier: Earlier,
    ingested: Ingested,
    found: Watch,
    new: Sequence[BatchResult],
    meaning: dict[str, Any],
    at: datetime | None = None,
    *,
    reading: dict[str, Any] | None = None,
) -> Recorded:
    """Keep a run: the fingerprint of its file, its ``new`` batches as they stand in ``found``, and all its alerts.

    ``meaning`` says what the labels mean, ``reading`` how columns were named (None: as before). A file that is measured again on the same plan changes nothing.
    """
    stream, report = earlier.stream, ingested.report
    before = {alert.key for alert in store.alerts(stream)}
    dataset = store.add_dataset(
        stream,
        sha256=report.sha256,
        filename=report.filename,
        rows=report.rows_kept,
        columns=[column.name for column in report.columns],
        at=at,
    )
    mine = {id(one) for one in earlier.results}
    keys = {one.key for one in new}
    settings = {"plan": plan_to_document(found.plan), "labels": meaning}
    reading = earlier.reading if reading is None else reading
    if reading:
        settings["reading"] = reading
    batches = [_record(one) for one in found.results if one.key in keys and id(one) not in mine]
    alerts = [_alert(alert) for alert in found.alerts]
    everything = [
        report.sha256,
        settings,
        [one.document for one in batches],
        [one.document for one in alerts],
    ]
    run = store.add_run(
        stream,
        dataset,
        settings,
        batches,
        alerts,
        None,
        at or datetime.now(UTC),
        key=fingerprint(everything),
    )
    acknowledged = {alert.key for alert in store.alerts(stream) if alert.acknowledged is not None}
    return Recorded(
        run,
        tuple(alert for alert in found.alerts if alert.key not in before),
        tuple(alert for alert in found.alarming if alert.key not in acknowledged),
    )


def fingerprint(document: Any) -> str:
    """A name for a run by what it found: the same file measured again on the same plan is the same run."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _record(one: BatchResult) -> BatchRecord:
    return BatchRecord(
        key=one.key,
        label=one.label,
        start=_time(one.start),
        end=_time(one.end),
        rows=one.rows,
        labelled=one.labelled,
        kind="measured" if one.measured else "estimated",
        document=to_document(one),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def _alert(alert: Alert) -> AlertRecord:
    return AlertRecord(
        key=alert.key,
        level=alert.severity,
        batch_key=alert.batch,
        document={
            "kind": alert.kind,
            "since": alert.since,
            "group": alert.group,
            "sentence": alert.sentence,
        },
    )
