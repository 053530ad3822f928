"""The schema is created and brought up to date when a history is opened, in one transaction.

A new database gets the tables of `schema` at once; an older one the steps that it lacks. To change the
schema, change `schema` and append the step that brings yesterday's tables there; a history that version 1
wrote is kept in the tests.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import BigInteger, Connection, cast, func, insert, inspect, literal, select, update

from calcore.errors import InputError
from calcore.monitoring.store import schema
from calcore.monitoring.store.engine import Database

STEPS: list[Callable[[Connection], None]] = []
"""STEPS[0] leads from version 1 to 2, and so on. Steps call SQLAlchemy's DDL, for both databases."""

_LOCK = (
    4_170_226_501  # any number, but always the same: two processes that create at once wait for each other
)


def latest() -> int:
    return 1 + len(STEPS)


def prepare(database: Database) -> bool:
    """Create or update the schema; True where a deletion is unfinished. InputError for a newer or foreign one."""
    with database.reader.begin() as connection:
        found = _stored(connection, database)
    if found is None or found[0] < latest():
        with database.writer.begin() as connection:
            found = _brought_up_to_date(connection, database)
    return found[1]


def _stored(connection: Connection, database: Database) -> tuple[int, bool] | None:
    """Version and unfinished deletion; None where there is no schema yet."""
    tables = inspect(connection).get_table_names()
    if schema.version.name not in tables:
        if tables and database.is_sqlite:
            raise InputError(
                f"The history {database.place} is a database of another program; give the name of a new file."
            )
        return None
    row = connection.execute(select(schema.version.c.version, schema.version.c.erasing)).one()
    if row.version > latest():
        raise InputError(
            f"The history {database.place} was written by a newer calcore (schema {row.version}, this one knows "
            f"{latest()}); update calcore."
        )
    return row.version, row.erasing


def _brought_up_to_date(connection: Connection, database: Database) -> tuple[int, bool]:
    if not database.is_sqlite:
        connection.execute(select(func.pg_advisory_xact_lock(cast(literal(_LOCK), BigInteger))))
        if connection.execute(select(func.current_setting("server_encoding"))).scalar_one() != "UTF8":
            raise InputError(
                f"The history {database.place} cannot hold every character; create the database with the encoding UTF8."
            )
    found = _stored(connection, database)  # another process may have been here first
    if found is None:
        schema.metadata.create_all(connection)
        connection.execute(insert(schema.version).values(one=1, version=latest(), erasing=False))
        return latest(), False
    for step in STEPS[found[0] - 1 :]:
        step(connection)
    connection.execute(update(schema.version).values(version=latest()))
    return latest(), found[1]
