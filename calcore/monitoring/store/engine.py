"""From a URL or a path to a connected engine: the settings under which "confirmed" means "on disk"."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from calcore.errors import InputError
from calcore.maps.fields import shown
from calcore.monitoring.store import checks

_LOCK_WAIT = 10  # seconds that the database itself waits for a lock before it gives up
_BEGIN = "calcore_begin"  # execution option: how a transaction of SQLite begins
_HOW = 'give a file such as history.db, or a URL such as "postgresql://user:password@host/database"'


@dataclass(frozen=True)
class Database:
    """Two views of one pool of connections; `place` names it for people, without credentials."""

    reader: Engine
    writer: Engine
    place: str

    @property
    def is_sqlite(self) -> bool:
        return self.reader.dialect.name == "sqlite"


def connect(url: str | Path) -> Database:
    """The database at a URL or a path of a SQLite file; nothing is opened yet. InputError for any other URL."""
    given = _parsed(url)
    return _sqlite(given) if given.get_backend_name() == "sqlite" else _postgresql(given)


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path) or (isinstance(url, str) and url and "://" not in url):
        return URL.create("sqlite", database=str(url))
    try:
        parsed = make_url(url)
        # "@" in a password that was not written as %40 would move a part of it into the host, and so into messages
        if parsed.host and "@" in parsed.host:
            raise InputError(
                "The URL of the history has more than one @; write those in the user or password as %40."
            )
    except (ArgumentError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"The URL of the history cannot be read; {_HOW}.") from None
    if parsed.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        return parsed
    raise InputError(f"The history cannot be kept in {shown(parsed.drivername)}; {_HOW}.")


def _sqlite(url: URL) -> Database:
    path = url.database
    if not path or path == ":memory:" or url.query or url.host:
        raise InputError(
            f"The URL of the history names no file; {_HOW}, with three slashes in sqlite:///history.db."
        )
    place = checks.named(path, most=500)
    if "\0" in path or Path(path).is_dir():
        raise InputError(f"The history {place} is no file; {_HOW}.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"The folder of the history {place} does not exist; create it or give another file.")
    engine = create_engine(url, connect_args={"timeout": _LOCK_WAIT}, hide_parameters=True)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    # a transaction that reads first and writes later fails at once where another one wrote meanwhile: take the lock first
    return Database(engine, engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"}), place)


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself: `_begin_sqlite` does
    cursor = connection.cursor()
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",  # a commit returns when it is on disk
        "foreign_keys = ON",
        "secure_delete = ON",
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))


def _postgresql(url: URL) -> Database:
    if importlib.util.find_spec("psycopg") is None:
        raise InputError(
            "PostgreSQL needs the package psycopg, which is not installed; run pip install 'psycopg[binary]'."
        )
    if not url.database:
        raise InputError(f"The URL of the history names no database; {_HOW}.")
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    place = f"{checks.named(url.database)} on the PostgreSQL server {host if isinstance(host, str) else host[0]}{port}"
    waits = {} if "connect_timeout" in url.query else {"connect_timeout": _LOCK_WAIT}
    try:
        # a connection that the server closed meanwhile is replaced before it is used
        engine = create_engine(url, connect_args=waits, pool_pre_ping=True, hide_parameters=True)
    except ImportError:
        raise InputError(
            "The package psycopg finds no PostgreSQL client library; run pip install 'psycopg[binary]'."
        ) from None
    event.listen(engine, "connect", _set_up_postgresql)
    return Database(engine, engine, place)


def _set_up_postgresql(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('TimeZone', 'UTC', false), set_config('lock_timeout', %s, false)",
            [f"{_LOCK_WAIT}s"],
        )
        # off: the server confirms what it would lose in a crash; settings that are stronger than "on" stay
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
    connection.commit()
