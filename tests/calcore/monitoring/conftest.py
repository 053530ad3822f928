"""A history in each database: a SQLite file, and a PostgreSQL server of Debian's package, started for the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, text

from calcore.monitoring.store import Store

PASSWORD = "s3cret/p@ss:word"  # with every letter that a careless URL trips over


def _programs() -> Path | None:
    """The folder of initdb and postgres: Debian keeps it out of the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    folders = [*reversed(debian), *([Path(found).parent] if found else [])]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """A PostgreSQL server in a folder of its own, reached through a socket there and nowhere else."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        # the server refuses to run as root
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(folder, "postgres", "postgres")
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        initdb = [
            *(programs / "initdb", "--pgdata", folder / "data", "--username", "owner", "--encoding", "UTF8"),
            *("--auth", "scram-sha-256", "--pwfile", folder / "password", "--locale", "C.UTF-8", "--no-sync"),
        ]
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **self.user)
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder),
                    *("-c", "listen_addresses=", "-c", "max_connections=40"),
                ],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self.user,
            )
        deadline = time.monotonic() + 30
        engine = create_engine(self.url("postgres"))
        try:
            while True:
                try:
                    with engine.connect():
                        return
                except Exception:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)
        finally:
            engine.dispose()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGQUIT: at once, as a crash would; the next start recovers from the server's log."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(30)

    def url(self, database: str, password: str = PASSWORD, **query: str) -> str:
        url = URL.create("postgresql+psycopg", "owner", password, None, None, database)
        return url.update_query_dict({"host": str(self.folder), **query}).render_as_string(
            hide_password=False
        )

    def create_schema(self, name: str) -> str:
        """An empty schema in the database postgres, which is made faster than a database; its URL."""
        self._administer(f'CREATE SCHEMA "{name}"')
        return self.url("postgres", options=f"-csearch_path={name}")

    def create(self, database: str, encoding: str = "UTF8") -> str:
        """A new, empty database; its URL."""
        self._administer(
            f"CREATE DATABASE \"{database}\" ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
        return self.url(database)

    def _administer(self, statement: str) -> None:
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


def _start() -> Iterator[Server]:
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path has at most 107 letters
    folder.chmod(0o755)
    server = Server(programs, folder)
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    yield from _start()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """One that a test may stop."""
    yield from _start()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history may be created, in each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.db'}"
    server: Server = request.getfixturevalue("server")
    return server.create_schema(f"history_{os.getpid()}_{time.monotonic_ns()}")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


class Child:
    """Another Python process that runs `tests/calcore/monitoring/writer.py`."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(Path(__file__).with_name("writer.py")), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )

    def kill(self) -> list[str]:
        """kill -9; what it had said was confirmed."""
        self.process.kill()
        said, _ = self.process.communicate()
        return said.decode().split("\n")[:-1]  # a last line without an end was cut off

    def finish(self) -> list[str]:
        said, errors = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, errors.decode()
        return said.decode().splitlines()


@pytest.fixture
def child() -> Iterator[type[Child]]:
    return Child
