"""Streams, and the datasets that their runs were made on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from calcore.errors import InputError
from calcore.monitoring.store import checks, schema
from calcore.monitoring.store.records import Dataset, Stream

_LARGEST = 500_000_000  # bytes; both databases hold a value of twice that, but copy it on the way


def stream(connection: Connection, name: str, at: datetime) -> Stream:
    """The stream of this name, created on first use."""
    found = find(connection, name)
    if found is not None:
        return found
    values = {"name": name, "name_digest": checks.digest(name), "at": at}
    # where another process creates it in this moment, this fails and is tried again
    connection.execute(insert(schema.streams).values(**values))
    created = find(connection, name)
    assert created is not None
    return created


def find(connection: Connection, name: str) -> Stream | None:
    """The stream of this name where there is one."""
    table = schema.streams
    query = select(table).where(table.c.name_digest == checks.digest(checks.text("name of the stream", name)))
    row = connection.execute(query).one_or_none()
    return None if row is None else Stream(row.id, row.name, row.at)


def streams(connection: Connection) -> tuple[Stream, ...]:
    table = schema.streams
    rows = connection.execute(select(table.c.id, table.c.name, table.c.at).order_by(table.c.id))
    return tuple(Stream(row.id, row.name, row.at) for row in rows)


def lock(connection: Connection, stream_id: int, name: str | None = None) -> None:
    """Let nobody else write to the stream until the transaction ends; InputError where it was deleted.

    SQLite has locked the whole file already. Everything that writes to a stream comes through here first,
    so that ids within a stream rise in the order of commits and no two writers can wait for each other.
    """
    table = schema.streams
    query = select(table.c.id).where(table.c.id == stream_id).with_for_update()
    if connection.execute(query).one_or_none() is None:
        which = "of this entry" if name is None else checks.named(name)
        raise InputError(f"The stream {which} is not in the history any more; create it again.")


def add_dataset(
    connection: Connection,
    owner: Stream,
    sha256: str,
    filename: str,
    rows: int,
    columns: Sequence[str],
    at: datetime,
) -> Dataset:
    table = schema.datasets
    lock(connection, owner.id, owner.name)
    known = select(table).where(table.c.stream_id == owner.id, table.c.sha256 == sha256)
    row = connection.execute(known).one_or_none()
    if row is None:
        values = {"filename": filename, "rows": rows, "columns": json.dumps(list(columns)), "at": at}
        connection.execute(insert(table).values(stream_id=owner.id, sha256=sha256, **values))
        row = connection.execute(known).one()
    return _dataset(row)


def datasets(connection: Connection, owner: Stream) -> tuple[Dataset, ...]:
    table = schema.datasets
    rows = connection.execute(select(table).where(table.c.stream_id == owner.id).order_by(table.c.id))
    return tuple(_dataset(row) for row in rows)


def require_dataset(connection: Connection, dataset: Dataset, owner_id: int) -> None:
    """InputError where the dataset was deleted or is one of another stream."""
    table = schema.datasets
    query = select(table.c.id).where(table.c.id == dataset.id, table.c.stream_id == owner_id)
    if connection.execute(query).one_or_none() is None:
        raise InputError(
            f"The dataset {checks.named(dataset.filename)} is not one of the stream; add it first."
        )


def keep_rows(connection: Connection, dataset: Dataset, parquet: bytes) -> None:
    table = schema.kept_rows
    lock(connection, dataset.stream_id)
    require_dataset(connection, dataset, dataset.stream_id)
    if (
        connection.execute(select(table.c.dataset_id).where(table.c.dataset_id == dataset.id)).one_or_none()
        is None
    ):
        digest = hashlib.sha256(parquet).hexdigest()
        connection.execute(insert(table).values(dataset_id=dataset.id, sha256=digest, parquet=parquet))


def rows(connection: Connection, dataset: Dataset) -> bytes | None:
    table = schema.kept_rows
    query = select(table.c.sha256, table.c.parquet).where(table.c.dataset_id == dataset.id)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    parquet = bytes(row.parquet)
    if hashlib.sha256(parquet).hexdigest() != row.sha256:
        raise InputError(
            f"The kept rows of {checks.named(dataset.filename)} are damaged; delete the dataset and read the file again."
        )
    return parquet


def check_parquet(parquet: bytes) -> bytes:
    if not isinstance(parquet, bytes) or parquet[:4] != b"PAR1" or parquet[-4:] != b"PAR1":
        raise InputError("The rows to keep are no Parquet file; write them as one.")
    if len(parquet) > _LARGEST:
        raise InputError(
            f"The rows to keep take {len(parquet):,} bytes, more than the {_LARGEST:,} that the history takes; "
            "keep the file elsewhere."
        )
    return parquet


def _dataset(row: Row[Any]) -> Dataset:
    columns = tuple(json.loads(row.columns))
    return Dataset(row.id, row.stream_id, row.sha256, row.filename, row.rows, columns, row.at)
