"""The tables of the history. A change here is a new step in `migrations`.

Names begin with calcore_, because a PostgreSQL database may hold tables of others. Texts of users have no
length limit, which an index would have: what must be unique is unique by the digest of the text. Documents
are text, not the database's JSON type: PostgreSQL's would change numbers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData()


class UtcTime(TypeDecorator[datetime]):
    """An aware time: timestamptz in PostgreSQL, in SQLite its UTC as "2025-01-31 12:00:00.000000"."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _id() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _reference(table: str, name: str, **options: Any) -> Column[int]:
    return Column(name, BigInteger, ForeignKey(f"calcore_{table}.id"), **{"nullable": False, **options})


def _digest(name: str) -> Column[str]:
    return Column(name, String(64), nullable=False)


def _text(name: str, nullable: bool = False) -> Column[str]:
    return Column(name, Text, nullable=nullable)


def _time(name: str, nullable: bool = False) -> Column[datetime]:
    return Column(name, UtcTime, nullable=nullable)


def _table(name: str, *columns: Any) -> Table:
    # without AUTOINCREMENT SQLite gives the id of a deleted row to the next one, and a stale object to its data
    return Table(
        f"calcore_{name}", metadata, *columns, sqlite_autoincrement="id" in [c.name for c in columns]
    )


version = _table(
    "schema",
    Column("one", Integer, CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("erasing", Boolean, nullable=False),  # a deletion whose bytes may still lie in the files
)

streams = _table(
    "streams",
    _id(),
    _text("name"),
    Column("name_digest", String(64), nullable=False, unique=True),
    _time("at"),
)

datasets = _table(
    "datasets",
    _id(),
    _reference("streams", "stream_id"),
    _digest("sha256"),
    _text("filename"),
    Column("rows", BigInteger, nullable=False),
    _text("columns"),
    _time("at"),
    UniqueConstraint("stream_id", "sha256"),
)

kept_rows = _table(
    "kept_rows",
    _reference("datasets", "dataset_id", primary_key=True, autoincrement=False),
    _digest("sha256"),
    Column("parquet", LargeBinary, nullable=False),
)

runs = _table(
    "runs",
    _id(),
    _reference("streams", "stream_id"),
    _reference("datasets", "dataset_id", index=True),
    _text("key"),
    _digest("key_digest"),
    _digest("content_digest"),
    _text("settings"),
    _text("state", nullable=True),
    _time("at"),
    UniqueConstraint("stream_id", "key_digest"),
)

batch_records = _table(
    "batch_records",
    _id(),
    _reference("streams", "stream_id"),
    _reference("runs", "run_id"),
    _text("key"),
    _digest("key_digest"),
    _text("label"),
    _time("start", nullable=True),
    _time("end", nullable=True),
    Column("rows", BigInteger, nullable=False),
    Column("labelled", BigInteger, nullable=False),
    Column("kind", String(9), CheckConstraint("kind IN ('measured', 'estimated')"), nullable=False),
    _text("document"),
    UniqueConstraint("run_id", "key_digest"),
    Index("calcore_batch_records_by_key", "stream_id", "key_digest"),
)

alerts = _table(
    "alerts",
    _id(),
    _reference("streams", "stream_id"),
    _text("key"),
    _digest("key_digest"),
    UniqueConstraint("stream_id", "key_digest"),
)

sightings = _table(
    "sightings",
    _reference("alerts", "alert_id", primary_key=True, autoincrement=False),
    _reference("runs", "run_id", primary_key=True, autoincrement=False, index=True),
    _text("level"),
    _text("batch_key", nullable=True),
    _text("document"),
)

acknowledgements = _table(
    "acknowledgements",
    _reference("alerts", "alert_id", primary_key=True, autoincrement=False),
    _text("by"),
    _text("note"),
    _time("at"),
)

maps = _table(
    "maps",
    _id(),
    _reference("streams", "stream_id"),
    _digest("sha256"),
    _text("name"),
    _reference("maps", "parent_id", nullable=True),
    _text("json"),
    _time("at"),
    UniqueConstraint("stream_id", "sha256"),
)

live_periods = _table(
    "live_periods",
    _id(),
    _reference("streams", "stream_id"),
    Column("number", Integer, nullable=False),
    _reference("maps", "map_id", nullable=True),
    _time("since"),
    _text("by"),
    # a period ends where the next begins, so none can overlap; two writers cannot both add the same number
    UniqueConstraint("stream_id", "number"),
)
