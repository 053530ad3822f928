"""Calibration maps of a stream, and which of them was live when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.monitoring.store import checks, schema, streams
from calcore.monitoring.store.records import LivePeriod, MapRecord, Stream

_MAP = [column for column in schema.maps.c if column.name != "json"]


def put_map(
    connection: Connection,
    owner: Stream,
    map_: CalibrationMap,
    json: str,
    name: str,
    parent: MapRecord | None,
    at: datetime,
) -> MapRecord:
    table = schema.maps
    streams.lock(connection, owner.id, owner.name)
    query = select(*_MAP).where(table.c.stream_id == owner.id, table.c.sha256 == map_.checksum)
    row = connection.execute(query).one_or_none()
    if row is None:
        if parent is not None:
            _require(connection, owner, parent)
        values = {"name": name, "parent_id": None if parent is None else parent.id, "json": json, "at": at}
        connection.execute(insert(table).values(stream_id=owner.id, sha256=map_.checksum, **values))
        row = connection.execute(query).one()
    return _record(row)


def maps(connection: Connection, owner: Stream) -> tuple[MapRecord, ...]:
    query = select(*_MAP).where(schema.maps.c.stream_id == owner.id).order_by(schema.maps.c.id)
    return tuple(_record(row) for row in connection.execute(query))


def load_map(connection: Connection, record: MapRecord) -> CalibrationMap:
    table = schema.maps
    query = select(table.c.json).where(table.c.id == record.id, table.c.sha256 == record.sha256)
    text = connection.execute(query).scalar_one_or_none()
    if text is None:
        raise InputError(f"The map {checks.named(record.name)} is not in the history any more.")
    found = CalibrationMap.from_json(text)
    if found.checksum != record.sha256:
        raise InputError(
            f"The map {checks.named(record.name)} in the history was exchanged; restore it from a backup."
        )
    return found


def lineage(connection: Connection, owner: Stream) -> tuple[LivePeriod, ...]:
    table = schema.live_periods
    known = {record.id: record for record in maps(connection, owner)}
    rows = connection.execute(
        select(table).where(table.c.stream_id == owner.id).order_by(table.c.number)
    ).all()
    ends = [row.since for row in rows[1:]] + [None] * bool(rows)
    return tuple(
        LivePeriod(row.id, row.stream_id, row.number, known.get(row.map_id), row.since, until, row.by)
        for row, until in zip(rows, ends, strict=True)
    )


def set_live(
    connection: Connection,
    owner: Stream,
    map_: MapRecord | None,
    since: datetime,
    by: str,
    replaces: LivePeriod | None,
) -> LivePeriod:
    streams.lock(connection, owner.id, owner.name)
    if map_ is not None:
        _require(connection, owner, map_)
    past = lineage(connection, owner)
    last = past[-1] if past else None
    if last is not None and (last.map, last.since, last.by) == (map_, since, by):
        return last  # the call was repeated
    if (None if last is None else last.id) != (None if replaces is None else replaces.id):
        raise InputError(_overtaken(last))
    if last is not None and since <= last.since:
        raise InputError(
            f"The last change of the live map was at {last.since:%Y-%m-%d %H:%M:%S} UTC, and the past is not "
            "rewritten; give a later time."
        )
    number = 1 if last is None else last.number + 1
    values = {"map_id": None if map_ is None else map_.id, "since": since, "by": by}
    connection.execute(insert(schema.live_periods).values(stream_id=owner.id, number=number, **values))
    return lineage(connection, owner)[-1]


def _overtaken(last: LivePeriod | None) -> str:
    if last is None:
        return "No map is live in this stream any more; look at it again before you set one."
    which = "no map" if last.map is None else f"the map {checks.named(last.map.name)}"
    return (
        f"{checks.named(last.by)} set {which} live from {last.since:%Y-%m-%d %H:%M:%S} UTC meanwhile; look at it before "
        "you set another."
    )


def _require(connection: Connection, owner: Stream, record: MapRecord) -> None:
    table = schema.maps
    query = select(table.c.id).where(table.c.id == record.id, table.c.stream_id == owner.id)
    if connection.execute(query).one_or_none() is None:
        raise InputError(
            f"The map {checks.named(record.name)} is not one of the stream {checks.named(owner.name)}; add it first."
        )


def _record(row: Row[Any]) -> MapRecord:
    return MapRecord(row.id, row.stream_id, row.sha256, row.name, row.parent_id, row.at)
