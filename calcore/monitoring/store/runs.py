"""Runs and what they say of batches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, case, func, insert, select

from calcore.errors import InputError
from calcore.monitoring.store import alerts, checks, schema, streams
from calcore.monitoring.store.documents import decoded, encoded
from calcore.monitoring.store.records import (
    AlertRecord,
    Batch,
    BatchRecord,
    Dataset,
    Document,
    Run,
    SavedState,
    Stream,
)


@dataclass(frozen=True)
class NewRun:
    """A run that was checked and is ready to be stored: everything slow is done before the lock is taken."""

    dataset: Dataset
    key: str
    content: str
    at: datetime
    settings: str
    state: str | None
    batches: list[dict[str, Any]]
    alerts: list[tuple[str, dict[str, Any]]]

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        settings: Document,
        results: Sequence[BatchRecord],
        found: Sequence[AlertRecord],
        state: Document | None,
        at: datetime,
        key: str | None,
    ) -> NewRun:
        checks.batches(results)
        checks.alerts(found)
        settings_text = encoded(settings, "settings of the run")
        state_text = None if state is None else encoded(state, "state of the run")
        batch_rows = [_batch_row(record) for record in results]
        alert_rows = [(record.key, alerts.sighting_row(record)) for record in found]
        content = _digest([dataset.sha256, settings_text, state_text, batch_rows, alert_rows])
        name = _digest([content, at]) if key is None else checks.text("key of the run", key)
        return cls(dataset, name, content, at, settings_text, state_text, batch_rows, alert_rows)


def add_run(connection: Connection, owner: Stream, new: NewRun, continues: Run | None) -> Run:
    streams.lock(connection, owner.id, owner.name)
    table = schema.runs
    digest = checks.digest(new.key)
    mine = select(table).where(table.c.stream_id == owner.id, table.c.key_digest == digest)
    there = connection.execute(mine).one_or_none()
    if there is not None:
        if there.content_digest != new.content:
            raise InputError(
                f"The run {checks.named(new.key)} is in the history with other results; give a run of its own a key of its own."
            )
        return replace(_run(there), repeated=True)
    streams.require_dataset(connection, new.dataset, owner.id)
    if continues is not None:
        _require_last_state(connection, owner, continues)
    connection.execute(
        insert(table).values(
            stream_id=owner.id,
            dataset_id=new.dataset.id,
            key=new.key,
            key_digest=digest,
            content_digest=new.content,
            settings=new.settings,
            state=new.state,
            at=new.at,
        )
    )
    run = _run(connection.execute(mine).one())
    if new.batches:
        same = {"stream_id": owner.id, "run_id": run.id}
        connection.execute(insert(schema.batch_records), [{**row, **same} for row in new.batches])
    for key, sighting in new.alerts:
        alerts.sight(connection, owner.id, run.id, key, sighting)
    return run


def runs(connection: Connection, owner: Stream) -> tuple[Run, ...]:
    table = schema.runs
    rows = connection.execute(select(table).where(table.c.stream_id == owner.id).order_by(table.c.id))
    return tuple(_run(row) for row in rows)


def last_state(connection: Connection, owner: Stream) -> SavedState | None:
    table = schema.runs
    row = connection.execute(
        select(table)
        .where(table.c.stream_id == owner.id, table.c.state.is_not(None))
        .order_by(table.c.id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else SavedState(_run(row), decoded(row.state, f"state of run {row.id}"))


def batches(connection: Connection, owner: Stream) -> tuple[Batch, ...]:
    """The latest record of every key; a measured one is never replaced by an estimate."""
    table = schema.batch_records
    order = (case((table.c.kind == "measured", 0), else_=1), table.c.id.desc())
    rank = func.row_number().over(partition_by=table.c.key_digest, order_by=order).label("rank")
    first = func.min(table.c.id).over(partition_by=table.c.key_digest).label("first_id")
    ranked = select(*table.c, rank, first).where(table.c.stream_id == owner.id).subquery()
    query = select(ranked).where(ranked.c.rank == 1).order_by(ranked.c.start.nulls_last(), ranked.c.first_id)
    return tuple(_batch(row) for row in connection.execute(query))


def batch_history(connection: Connection, owner: Stream, key: str) -> tuple[Batch, ...]:
    table = schema.batch_records
    digest = checks.digest(checks.text("key of a batch", key))
    query = (
        select(table).where(table.c.stream_id == owner.id, table.c.key_digest == digest).order_by(table.c.id)
    )
    return tuple(_batch(row) for row in connection.execute(query))


def _require_last_state(connection: Connection, owner: Stream, continues: Run) -> None:
    table = schema.runs
    newest = connection.execute(
        select(func.max(table.c.id)).where(table.c.stream_id == owner.id, table.c.state.is_not(None))
    ).scalar_one()
    if newest != continues.id:
        raise InputError(
            f"Another run was stored in the stream {checks.named(owner.name)} meanwhile; run again from its state."
        )


def _digest(values: list[Any]) -> str:
    text = json.dumps(values, sort_keys=True, default=lambda value: value.isoformat())
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _batch_row(record: BatchRecord) -> dict[str, Any]:
    return {
        "key": record.key,
        "key_digest": checks.digest(record.key),
        "label": record.label,
        "start": None if record.start is None else checks.utc("start of a batch", record.start),
        "end": None if record.end is None else checks.utc("end of a batch", record.end),
        "rows": record.rows,
        "labelled": record.labelled,
        "kind": record.kind,
        "document": encoded(record.document, f"document of batch {checks.named(record.key)}"),
    }


def _run(row: Row[Any]) -> Run:
    settings = decoded(row.settings, f"settings of run {row.id}")
    return Run(row.id, row.stream_id, row.dataset_id, row.key, row.at, settings)


def _batch(row: Row[Any]) -> Batch:
    document = decoded(row.document, f"document of batch {checks.named(row.key)}")
    record = BatchRecord(row.key, row.label, row.start, row.end, row.rows, row.labelled, row.kind, document)
    return Batch(row.id, row.run_id, record)
