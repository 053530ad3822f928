"""A PostgreSQL server of Debian's package, started for the tests in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import OperationalError

PASSWORD = "s3cret/p@ss:word"  # with every letter that a careless URL trips over


def postgresql_programs() -> Path | None:
    """The folder of initdb and postgres: Debian keeps it out of the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    folders = [*reversed(debian), *([Path(found).parent] if found else [])]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """A PostgreSQL server in a folder of its own, reached through a socket there and nowhere else."""

    def __init__(self, programs: Path, folder: Path, fsync: bool) -> None:
        self.programs, self.folder, self.fsync = programs, folder, fsync
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
                    *("-c", "listen_addresses=", "-c", "max_connections=40", "-c", f"fsync={self.fsync}"),
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
                except OperationalError:
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


def running(fsync: bool) -> Iterator[Server]:
    """A server, or a reason to skip. fsync: it writes through to the disk, which takes long."""
    programs = postgresql_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path has at most 107 letters
    folder.chmod(0o755)
    server = Server(programs, folder, fsync)
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)
