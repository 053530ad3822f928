"""Opening a history: created, brought up to date, or refused with one sentence that holds no password."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, create_engine, insert, inspect, select, text, update

from calcore.errors import InputError
from calcore.monitoring.store import Store, engine, failures, migrations, schema
from tests.calcore.monitoring.postgresql_server import PASSWORD

KEPT = Path(__file__).with_name("history_v1.sql")


def refused(url: object) -> str:
    with pytest.raises(InputError) as caught:
        Store.open(url)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


# where a history can be


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_file_by_path_or_url(tmp_path, form):
    path = tmp_path / "a history, ünï.db"
    with Store.open(form.format(path)) as store:
        store.stream("a")
        assert repr(store) == f'<Store "{path}">'
    with Store.open(path) as store:
        assert [stream.name for stream in store.streams()] == ["a"]
    assert sorted(found.name for found in tmp_path.iterdir()) == [path.name]


@pytest.mark.parametrize(
    "url, why",
    [
        ("", "cannot be read"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///a.db?mode=ro", "names no file"),
        ("sqlite://a.db", "names no file"),
        ("mysql://u:hunter2@h/d", "cannot be kept in 'mysql'"),
        ("postgresql+psycopg2://u:hunter2@h/d", "cannot be kept in 'postgresql\\+psycopg2'"),
        ("postgresql://u:hunter2@h", "names no database"),
        ("postgresql://u:hun@hunter2@h/d", "more than one @"),
        ("postgresql://u:hunter2@h:port/d", "cannot be read"),
        ("postgresql://u:x@y:hunter2@h/d", "cannot be read"),
        ("://hunter2", "cannot be read"),
        ("/nowhere/at/all/history.db", "does not exist"),
        ("a\0b.db", "is no file"),
        ("/tmp", "is no file"),
        ("/proc/history.db", "cannot be opened"),
    ],
)
def test_urls_that_name_no_history(url, why):
    message = refused(url)
    assert re.search(why, message), message
    assert "hunter2" not in message


def test_without_psycopg_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(engine.importlib.util, "find_spec", lambda name: None)
    assert "pip install 'psycopg[binary]'" in refused("postgresql://u:hunter2@h/d")


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("score,label\n" * 1000)
    assert "is no SQLite database" in refused(path)
    assert path.read_text() == "score,label\n" * 1000


def test_the_database_of_another_program(tmp_path):
    path = tmp_path / "mlflow.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
    connection.close()
    assert "is a database of another program" in refused(path)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "history.db"
    with Store.open(path) as store:
        store.stream("a")
    data = bytearray(path.read_bytes())
    data[100:12_000] = os.urandom(11_900)
    path.write_bytes(data)
    assert "is damaged" in refused(path)


def test_a_damaged_name_of_a_table(tmp_path):
    path = tmp_path / "history.db"
    with Store.open(path):
        pass
    data = path.read_bytes()
    # the driver cannot even say what is wrong where the text of the schema is none
    path.write_bytes(data.replace(b"CREATE TABLE calcore_runs", b"CREATE TA\xff\xfe calcore_runs"))
    assert "is damaged" in refused(path)


AS_NOBODY = """
import os, sys
from calcore.errors import InputError
from calcore.monitoring.store import Store
if os.getuid() == 0:  # permissions do not count for root
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        Store.open(path).stream("b")
    except InputError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_read_only_folder_and_file():
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own folders are closed to others
    inner = folder / "inner"
    inner.mkdir()
    file = folder / "history.db"
    with Store.open(file) as store:
        store.stream("a")
    for path, mode in (file, 0o444), (inner, 0o555), (folder, 0o555):
        path.chmod(mode)
    said = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, inner / "new.db", file],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    ).stdout.splitlines()
    for path in folder, inner:
        path.chmod(0o755)
    shutil.rmtree(folder)
    assert said == [
        f'The history "{inner / "new.db"}" cannot be opened; check that its folder exists and that this user '
        "may write there.",
        f'The history "{file}" may not be written by this user; change its permissions or give another place.',
    ]


def test_a_locked_file_is_waited_for_and_then_refused(tmp_path, monkeypatch):
    path = tmp_path / "history.db"
    monkeypatch.setattr(engine, "_LOCK_WAIT", 0.05)
    monkeypatch.setattr(failures, "PATIENCE", 0.3)
    with Store.open(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="is in use by other programs"):
            store.stream("a")
        assert store.streams() == ()  # readers are not held up
        other.execute("COMMIT")
        other.close()
        assert store.stream("a").name == "a"


# PostgreSQL


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_a_server_by_url(server, scheme, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    url = server.create(f"by_{scheme}").replace("postgresql+psycopg", scheme)
    with Store.open(url) as store:
        store.stream("a")
        assert repr(store) == f'<Store "by_{scheme}" on the PostgreSQL server {server.folder}>'
        assert PASSWORD not in repr(store.__dict__)
    assert PASSWORD not in caplog.text + "".join(capfd.readouterr())


def test_an_unreachable_server(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    message = refused(f"postgresql://me:hunter2@127.0.0.1:{port}/history")
    assert message == (
        f'The history "history" on the PostgreSQL server 127.0.0.1:{port} cannot be reached; check that it runs, '
        "and the host and port in the URL."
    )


def test_a_server_that_refuses(server):
    message = refused(server.url("postgres", password="hunter2"))
    assert "refused the user or the password" in message
    assert "hunter2" not in message
    assert "has no database or user of this name" in refused(server.url("nowhere"))
    assert "cannot hold every character" in refused(server.create("latin", encoding="LATIN1"))


def test_a_server_whose_user_may_not_create_tables(server):
    url = server.create("narrow")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text("CREATE ROLE reader LOGIN PASSWORD 'hunter2'"))
        connection.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    admin.dispose()
    narrow = admin.url.set(username="reader", password="hunter2").render_as_string(hide_password=False)
    message = refused(narrow)
    assert "does not let this user create or change the tables" in message
    assert "hunter2" not in message


def test_other_tables_of_a_server_are_left_alone(server):
    url = server.create("shared")
    other = create_engine(url)
    with other.begin() as connection:
        connection.execute(text("CREATE TABLE runs (id INTEGER)"))
    with Store.open(url) as store:
        store.stream("a")
    assert inspect(other).has_table("runs")
    other.dispose()


@pytest.mark.slow
def test_a_server_that_restarts_is_connected_to_again(own_server):
    with Store.open(own_server.create("history")) as store:
        store.stream("a")
        own_server.stop(signal.SIGQUIT)
        with pytest.raises(InputError, match=r"cannot be reached|closed the connection"):
            store.stream("b")
        own_server.start()
        assert store.stream("b").name == "b"
        assert [stream.name for stream in store.streams()] == ["a", "b"]


def test_a_server_that_confirms_too_early_is_told_not_to(server):
    url = server.create("early")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text("ALTER DATABASE early SET synchronous_commit = off"))
    admin.dispose()
    with Store.open(url) as store, store._database.writer.begin() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == "on"


def test_a_file_confirms_what_is_on_disk(tmp_path):
    with Store.open(tmp_path / "history.db") as store, store._database.writer.begin() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}


# versions of the schema


def columns(url: str) -> dict[str, list[str]]:
    found = create_engine(url)
    inspector = inspect(found)
    result = {
        name: [column["name"] for column in inspector.get_columns(name)]
        for name in inspector.get_table_names()
    }
    found.dispose()
    return result


def test_a_newer_schema_is_refused(url):
    Store.open(url).close()
    other = create_engine(url)
    with other.begin() as connection:
        connection.execute(update(schema.version).values(version=99))
    other.dispose()
    assert "was written by a newer calcore (schema 99, this one knows 1); update calcore" in refused(url)


def test_a_history_of_version_1_is_read(tmp_path):
    path = tmp_path / "history.db"
    connection = sqlite3.connect(path)
    connection.executescript(KEPT.read_text("utf-8"))
    connection.close()
    with Store.open(path) as store:
        (stream,) = store.streams()
        assert stream.name == "credit model, weekly 😀"
        assert store.datasets(stream)[0].columns == ("score", "label")
        assert store.runs(stream)[0].at == datetime(2025, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
        first, second = store.batches(stream)
        assert (first.record.kind, first.record.document["ece"]) == ("measured", 0.1 + 0.2)
        assert str(second.record.document["upper"]) == "nan"
        assert len(store.batch_history(stream, first.record.key)) == 2
        assert store.last_state(stream).document == {"e-value": 1.25}
        (alert,) = store.alerts(stream)
        assert alert.acknowledged.by == "ann"
        assert store.live_map(stream) == store.maps(stream)[0]
        assert store.load_map(store.maps(stream)[0]).calibrator == "Platt"
        assert store.stream("new").id > stream.id
    Store.open(tmp_path / "new.db").close()
    assert columns(f"sqlite:///{path}") == columns(f"sqlite:///{tmp_path / 'new.db'}")


def add_column(connection):
    """As a step to version 2 would."""
    column = Column("colour", Integer)
    kind = column.type.compile(connection.dialect)
    connection.execute(text(f"ALTER TABLE calcore_streams ADD COLUMN {column.name} {kind}"))


def test_an_older_schema_is_brought_up_to_date(url, monkeypatch):
    with Store.open(url) as store:
        stream = store.stream("a")
    monkeypatch.setattr(migrations, "STEPS", [add_column])
    for _ in range(2):
        with Store.open(url) as store:
            assert store.streams() == (stream,)
    assert columns(url)["calcore_streams"][-1] == "colour"
    monkeypatch.setattr(migrations, "STEPS", [])
    assert "newer calcore (schema 2, this one knows 1)" in refused(url)


def test_a_step_that_fails_leaves_the_older_schema(url, monkeypatch):
    with Store.open(url) as store:
        stream = store.stream("a")

    def fail(connection):
        connection.execute(insert(schema.streams).values(name="b", name_digest="b", at=stream.at))
        raise KeyboardInterrupt

    monkeypatch.setattr(migrations, "STEPS", [add_column, fail])
    with pytest.raises(KeyboardInterrupt):
        Store.open(url)
    monkeypatch.setattr(migrations, "STEPS", [])
    with Store.open(url) as store:
        assert store.streams() == (stream,)
        with store._database.reader.begin() as connection:
            assert connection.execute(select(schema.version.c.version)).scalar_one() == 1
    assert "colour" not in columns(url)["calcore_streams"]
