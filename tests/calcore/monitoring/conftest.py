"""A history in each database: a SQLite file and a PostgreSQL server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from calcore.monitoring.store import Store, schema
from tests.calcore.monitoring.postgresql_server import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    yield from running(fsync=False)


@pytest.fixture
def own_server() -> Iterator[Server]:
    """One that a test may stop."""
    yield from running(fsync=True)


DATABASES = ["sqlite", "postgresql"]


def _new_url(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'history.db'}"
    server: Server = request.getfixturevalue("server")
    return server.create_schema(f"history_{os.getpid()}_{time.monotonic_ns()}")


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history may be created, in each database."""
    return _new_url(request.param, request, tmp_path)


@pytest.fixture(scope="module", params=DATABASES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(_new_url(request.param, request, tmp_path_factory.mktemp("history"))) as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    """An empty history in each database; it is emptied rather than created, which takes a server long."""
    with opened._database.writer.begin() as connection:
        connection.execute(update(schema.maps).values(parent_id=None))
        for table in reversed(schema.metadata.sorted_tables):
            if table is not schema.version:
                connection.execute(delete(table))
    return opened
