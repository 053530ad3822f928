"""Deleting what was stored, from the tables and from the bytes of the files."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, text, update
from sqlalchemy.exc import DBAPIError

from calcore.monitoring.store import checks, schema, streams
from calcore.monitoring.store.engine import Database
from calcore.monitoring.store.records import Dataset, Deleted, Stream


def delete_stream(connection: Connection, owner: Stream) -> Deleted:
    streams.lock(connection, owner.id, owner.name)
    mine = select(schema.datasets.c.id).where(schema.datasets.c.stream_id == owner.id)
    kept = _delete(connection, schema.kept_rows, schema.kept_rows.c.dataset_id.in_(mine))
    _delete_sightings(connection, schema.runs.c.stream_id == owner.id)
    alerts = _delete_unseen_alerts(connection, owner.id)
    batches = _delete(connection, schema.batch_records, schema.batch_records.c.stream_id == owner.id)
    runs = _delete(connection, schema.runs, schema.runs.c.stream_id == owner.id)
    datasets = _delete(connection, schema.datasets, schema.datasets.c.stream_id == owner.id)
    periods = _delete(connection, schema.live_periods, schema.live_periods.c.stream_id == owner.id)
    # a parent may go before its child within one statement only in PostgreSQL: cut the ties first
    connection.execute(update(schema.maps).where(schema.maps.c.stream_id == owner.id).values(parent_id=None))
    maps = _delete(connection, schema.maps, schema.maps.c.stream_id == owner.id)
    _delete(connection, schema.streams, schema.streams.c.id == owner.id)
    note_unfinished(connection, True)
    what = f"the stream {checks.named(owner.name)}"
    return Deleted(what, datasets, runs, batches, alerts, maps, periods, kept)


def delete_dataset(connection: Connection, dataset: Dataset) -> Deleted:
    streams.lock(connection, dataset.stream_id)
    streams.require_dataset(connection, dataset, dataset.stream_id)
    made_on_it = schema.runs.c.dataset_id == dataset.id
    of_runs = select(schema.runs.c.id).where(made_on_it)
    kept = _delete(connection, schema.kept_rows, schema.kept_rows.c.dataset_id == dataset.id)
    _delete_sightings(connection, made_on_it)
    alerts = _delete_unseen_alerts(connection, dataset.stream_id)
    batches = _delete(connection, schema.batch_records, schema.batch_records.c.run_id.in_(of_runs))
    runs = _delete(connection, schema.runs, made_on_it)
    datasets = _delete(connection, schema.datasets, schema.datasets.c.id == dataset.id)
    note_unfinished(connection, True)
    return Deleted(
        f"the dataset {checks.named(dataset.filename)}", datasets, runs, batches, alerts, rows_kept=kept
    )


def note_unfinished(connection: Connection, unfinished: bool) -> None:
    """Whether bytes of deleted rows may still lie in the files; kept, so that a killed process is made up for."""
    connection.execute(update(schema.version).values(erasing=unfinished))


def erase_freed(database: Database) -> bool:
    """Rewrite the files without what was deleted; False where another program is using them.

    SQLite: the file is rebuilt and the write-ahead log emptied. PostgreSQL: the tables are rewritten; the
    server's own log and its backups keep copies for as long as it was told to.
    """
    try:
        erased = _erase_sqlite(database) if database.is_sqlite else _erase_postgresql(database)
        if erased:
            with database.writer.begin() as connection:
                note_unfinished(connection, False)
    except DBAPIError:
        return False
    return erased


def _erase_sqlite(database: Database) -> bool:
    dbapi = database.reader.dialect.loaded_dbapi
    raw = database.reader.raw_connection()  # outside of a transaction, which SQLAlchemy would begin
    try:
        cursor = raw.cursor()
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy: int = cursor.fetchall()[0][0]
        cursor.close()
    except dbapi.Error:
        return False
    finally:
        raw.close()
    return busy == 0


def _erase_postgresql(database: Database) -> bool:
    with database.reader.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in schema.metadata.sorted_tables:
            connection.execute(text(f"VACUUM (FULL) {table.name}"))
    return True


def _delete_sightings(connection: Connection, of_runs: ColumnElement[bool]) -> None:
    which = select(schema.runs.c.id).where(of_runs)
    _delete(connection, schema.sightings, schema.sightings.c.run_id.in_(which))


def _delete_unseen_alerts(connection: Connection, stream_id: int) -> int:
    """Alerts of the stream that no run that is left has found."""
    unseen = (schema.alerts.c.stream_id == stream_id) & schema.alerts.c.id.not_in(
        select(schema.sightings.c.alert_id)
    )
    which = select(schema.alerts.c.id).where(unseen)
    _delete(connection, schema.acknowledgements, schema.acknowledgements.c.alert_id.in_(which))
    return _delete(connection, schema.alerts, unseen)


def _delete(connection: Connection, table: Table, which: ColumnElement[bool]) -> int:
    number: int = connection.execute(select(func.count()).select_from(table).where(which)).scalar_one()
    connection.execute(delete(table).where(which))
    return number
