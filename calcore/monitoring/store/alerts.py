"""Alerts: found by one run or by many, acknowledged once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from calcore.errors import InputError
from calcore.monitoring.store import checks, schema, streams
from calcore.monitoring.store.documents import decoded, encoded
from calcore.monitoring.store.records import Acknowledgement, Alert, AlertRecord, Stream


def sighting_row(record: AlertRecord) -> dict[str, Any]:
    document = encoded(record.document, f"document of alert {checks.named(record.key)}")
    return {"level": record.level, "batch_key": record.batch_key, "document": document}


def sight(connection: Connection, stream_id: int, run_id: int, key: str, sighting: dict[str, Any]) -> None:
    """Note that a run found the alert, which is a new one only where no run of the stream found it before."""
    table = schema.alerts
    digest = checks.digest(key)
    query = select(table.c.id).where(table.c.stream_id == stream_id, table.c.key_digest == digest)
    alert_id = connection.execute(query).scalar_one_or_none()
    if alert_id is None:
        connection.execute(insert(table).values(stream_id=stream_id, key=key, key_digest=digest))
        alert_id = connection.execute(query).scalar_one()
    connection.execute(insert(schema.sightings).values(alert_id=alert_id, run_id=run_id, **sighting))


def alerts(connection: Connection, owner: Stream, open_only: bool) -> tuple[Alert, ...]:
    table, seen, said = schema.alerts, schema.sightings, schema.acknowledgements
    first, last = schema.runs.alias("first_run"), schema.runs.alias("last_run")
    ends = (
        select(
            seen.c.alert_id,
            func.min(seen.c.run_id).label("first_id"),
            func.max(seen.c.run_id).label("last_id"),
        )
        .group_by(seen.c.alert_id)
        .subquery()
    )
    query = (
        select(
            table,
            seen.c.level,
            seen.c.batch_key,
            seen.c.document,
            ends.c.first_id,
            ends.c.last_id,
            first.c.at.label("first_seen"),
            last.c.at.label("last_seen"),
            said.c.by,
            said.c.note,
            said.c.at.label("said_at"),
        )
        .join(ends, ends.c.alert_id == table.c.id)
        .join(seen, (seen.c.alert_id == table.c.id) & (seen.c.run_id == ends.c.last_id))
        .join(first, first.c.id == ends.c.first_id)
        .join(last, last.c.id == ends.c.last_id)
        .outerjoin(said, said.c.alert_id == table.c.id)
        .where(table.c.stream_id == owner.id)
        .order_by(table.c.id)
    )
    if open_only:
        query = query.where(said.c.alert_id.is_(None))
    return tuple(_alert(row) for row in connection.execute(query))


def acknowledge(connection: Connection, alert: Alert, by: str, note: str, at: datetime) -> Acknowledgement:
    table = schema.acknowledgements
    streams.lock(connection, alert.stream_id)
    query = select(table).where(table.c.alert_id == alert.id)
    row = connection.execute(query).one_or_none()
    if row is not None:
        return replace(Acknowledgement(row.alert_id, row.by, row.note, row.at), kept_earlier=True)
    if (
        connection.execute(select(schema.alerts.c.id).where(schema.alerts.c.id == alert.id)).one_or_none()
        is None
    ):
        raise InputError(f"The alert {checks.named(alert.key)} is not in the history any more.")
    connection.execute(insert(table).values(alert_id=alert.id, by=by, note=note, at=at))
    return Acknowledgement(alert.id, by, note, at)


def _alert(row: Row[Any]) -> Alert:
    said = None if row.by is None else Acknowledgement(row.id, row.by, row.note, row.said_at)
    return Alert(
        id=row.id,
        stream_id=row.stream_id,
        key=row.key,
        level=row.level,
        batch_key=row.batch_key,
        document=decoded(row.document, f"document of alert {checks.named(row.key)}"),
        first_run_id=row.first_id,
        first_seen=row.first_seen,
        last_run_id=row.last_id,
        last_seen=row.last_seen,
        acknowledged=said,
    )
