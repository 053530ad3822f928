"""The history of calibration monitoring, in a SQLite file or on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Connection

from calcore.maps import CalibrationMap
from calcore.monitoring.store import alerts, checks, deletion, lineage, migrations, runs, streams
from calcore.monitoring.store.engine import Database, connect
from calcore.monitoring.store.failures import patiently
from calcore.monitoring.store.records import (
    Acknowledgement,
    Alert,
    AlertRecord,
    Batch,
    BatchRecord,
    Dataset,
    Deleted,
    Document,
    LivePeriod,
    MapRecord,
    Run,
    SavedState,
    Stream,
)

T = TypeVar("T")


class Store:
    """What was measured when, on which data, and which map was live; made by `Store.open`.

    May be shared by threads. Every method that writes is one transaction: what it returned is on disk, and
    what raised left nothing behind. Every method raises `InputError`, one sentence without credentials, where
    the database fails. `at` is a time with a zone; None is now.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str | Path) -> Store:
        """The history at `url`, created or brought up to date where needed.

        url: the path of a SQLite file, "sqlite:///history.db", or "postgresql://user:password@host/database".
        Only whoever runs the program may choose it (secrets, environment, command line): never pass what a
        user of a web page typed, because it names any file or server that this machine can reach.

        Raises `InputError` for a URL that cannot be read, a server that cannot be reached or refuses, a file
        that cannot be written or is no history, and a history that a newer calcore wrote.
        """
        database = connect(url)
        try:
            if patiently(lambda: migrations.prepare(database), database.place):
                deletion.erase_freed(database)
        except BaseException:
            database.reader.dispose()
            raise
        return cls(database)

    def close(self) -> None:
        """Close every connection."""
        self._database.reader.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self._database.place}>"

    # streams and datasets

    def stream(self, name: str, at: datetime | None = None) -> Stream:
        """The stream of this name, created on first use."""
        found = self._read(lambda connection: streams.find(connection, name))
        if found is not None:
            return found
        created = checks.at_or_now("time of the stream", at)
        return self._write(lambda connection: streams.stream(connection, name, created))

    def streams(self) -> tuple[Stream, ...]:
        """Every stream, in the order of their creation."""
        return self._read(streams.streams)

    def add_dataset(
        self,
        stream: Stream,
        *,
        sha256: str,
        filename: str,
        rows: int,
        columns: Sequence[str],
        at: datetime | None = None,
    ) -> Dataset:
        """The dataset with this SHA-256 in the stream; what it was first added with stays."""
        checks.sha256("SHA-256 of the dataset", sha256)
        checks.text("name of the file", filename, empty=True)
        checks.whole("number of rows", rows)
        names = tuple(checks.text("name of a column", name, empty=True) for name in columns)
        when = checks.at_or_now("time of the dataset", at)
        return self._write(lambda c: streams.add_dataset(c, stream, sha256, filename, rows, names, when))

    def datasets(self, stream: Stream) -> tuple[Dataset, ...]:
        """The datasets of the stream, in the order in which they came."""
        return self._read(lambda c: streams.datasets(c, stream))

    def keep_rows(self, dataset: Dataset, parquet: bytes) -> None:
        """Keep the rows of a dataset, as the bytes of a Parquet file of at most 500 MB, until it is deleted.

        Only where the owner of the data asked for it. What was kept first stays.
        """
        streams.check_parquet(parquet)
        self._write(lambda c: streams.keep_rows(c, dataset, parquet))

    def rows(self, dataset: Dataset) -> bytes | None:
        """The bytes that `keep_rows` was given, None where there are none."""
        return self._read(lambda c: streams.rows(c, dataset))

    # runs and batches

    def add_run(
        self,
        stream: Stream,
        dataset: Dataset,
        settings: Document,
        results: Sequence[BatchRecord],
        alerts: Sequence[AlertRecord] = (),
        state: Document | None = None,
        at: datetime | None = None,
        *,
        key: str | None = None,
        continues: Run | None = None,
    ) -> Run:
        """Store a run with everything it found, or nothing of it.

        key: names the run, so that a call that is repeated stores nothing and returns the run with
        `repeated`; without one, a call with the same arguments, `at` among them, is a repeated one.
        state: what the next run goes on from (`last_state`). continues: the run whose state this one went
        on from; InputError where another run has left a state since, which would be lost otherwise.
        """
        when = checks.at_or_now("time of the run", at)
        new = runs.NewRun.of(dataset, settings, results, alerts, state, when, key)
        return self._write(lambda c: runs.add_run(c, stream, new, continues))

    def runs(self, stream: Stream) -> tuple[Run, ...]:
        """The runs of the stream, in the order in which they were confirmed."""
        return self._read(lambda c: runs.runs(c, stream))

    def last_state(self, stream: Stream) -> SavedState | None:
        """The state of the last run that left one."""
        return self._read(lambda c: runs.last_state(c, stream))

    def batches(self, stream: Stream) -> tuple[Batch, ...]:
        """The latest record of each batch, by start; measured ones replace estimates and never the reverse."""
        return self._read(lambda c: runs.batches(c, stream))

    def batch_history(self, stream: Stream, key: str) -> tuple[Batch, ...]:
        """Every record of one batch, the replaced ones too, in the order in which they were confirmed."""
        return self._read(lambda c: runs.batch_history(c, stream, key))

    # alerts

    def alerts(self, stream: Stream, open_only: bool = False) -> tuple[Alert, ...]:
        """The alerts of the stream, each once; `open_only`: those that nobody has acknowledged."""
        return self._read(lambda c: alerts.alerts(c, stream, open_only))

    def acknowledge(
        self, alert: Alert, by: str, note: str = "", at: datetime | None = None
    ) -> Acknowledgement:
        """Note that `by` has seen the alert; an earlier acknowledgement stays, and `kept_earlier` says so."""
        checks.text("name of who acknowledges", by)
        checks.text("note", note, empty=True)
        when = checks.at_or_now("time of the acknowledgement", at)
        return self._write(lambda c: alerts.acknowledge(c, alert, by, note, when))

    # maps

    def put_map(
        self,
        stream: Stream,
        map_json: str | bytes,
        name: str,
        parent: MapRecord | None = None,
        at: datetime | None = None,
    ) -> MapRecord:
        """Store a map, from its JSON; a map that is there already keeps its name, parent and time."""
        checks.text("name of the map", name)
        map_ = CalibrationMap.from_json(map_json)
        json, when = map_.to_json(), checks.at_or_now("time of the map", at)
        return self._write(lambda c: lineage.put_map(c, stream, map_, json, name, parent, when))

    def maps(self, stream: Stream) -> tuple[MapRecord, ...]:
        """The maps of the stream, in the order in which they came."""
        return self._read(lambda c: lineage.maps(c, stream))

    def load_map(self, record: MapRecord) -> CalibrationMap:
        """The map itself; InputError where what is stored does not match its checksum."""
        return self._read(lambda c: lineage.load_map(c, record))

    def set_live(
        self,
        stream: Stream,
        map: MapRecord | None,
        since: datetime,
        by: str,
        *,
        replaces: LivePeriod | None,
    ) -> LivePeriod:
        """Note that from `since` on this map is live (None: the scores as they are).

        replaces: the last entry of `lineage` as the caller knows it, None for the first: of two who replace
        the same one, the second gets an `InputError` that names what the first did. `since` is later than
        that of the entry replaced. A repeated call changes nothing.
        """
        checks.text("name of who sets the map live", by)
        when = checks.utc("time from which the map is live", since)
        return self._write(lambda c: lineage.set_live(c, stream, map, when, by, replaces))

    def lineage(self, stream: Stream) -> tuple[LivePeriod, ...]:
        """Which map was live when: each period ends where the next begins, only the last is open."""
        return self._read(lambda c: lineage.lineage(c, stream))

    def live_map(self, stream: Stream, at: datetime | None = None) -> MapRecord | None:
        """The map that was live at a time, None where there was none."""
        when = checks.at_or_now("time", at)
        past = [period for period in self.lineage(stream) if period.since <= when]
        return past[-1].map if past else None

    # deletion

    def delete_dataset(self, dataset: Dataset) -> Deleted:
        """Delete a dataset, its kept rows and its runs, with their batches and the alerts that only they found."""
        deleted = self._write(lambda c: deletion.delete_dataset(c, dataset))
        return replace(deleted, erased=deletion.erase_freed(self._database))

    def delete_stream(self, stream: Stream) -> Deleted:
        """Delete a stream and everything in it."""
        deleted = self._write(lambda c: deletion.delete_stream(c, stream))
        return replace(deleted, erased=deletion.erase_freed(self._database))

    def _read(self, work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with self._database.reader.begin() as connection:
                return work(connection)

        return patiently(once, self._database.place)

    def _write(self, work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with self._database.writer.begin() as connection:
                return work(connection)

        return patiently(once, self._database.place)
