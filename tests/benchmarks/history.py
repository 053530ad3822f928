"""Runs confirmed a second by one writer: python -m tests.benchmarks.history [RUNS]

Each run has 3 batches with 10 numbers, 2 alerts and a state, and is on disk when the call returns. SQLite in
a temporary folder, PostgreSQL (fsync on) on a server started for it, where one is installed. Beside them what
the disk gives: the same bytes appended to a file and fsynced. Asserts nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from calcore.monitoring.store import AlertRecord, BatchRecord, Store
from tests.calcore.monitoring.postgresql_server import postgresql_programs, running

AT = datetime(2025, 3, 1, tzinfo=UTC)


def a_second(work: Callable[[int], object], runs: int) -> float:
    start = time.perf_counter()
    for i in range(runs):
        work(i)
    return runs / (time.perf_counter() - start)


def confirmed(url: str | Path, runs: int) -> float:
    document = {f"metric {k}": k / 7 for k in range(10)}
    with Store.open(url) as store:
        stream = store.stream("weekly")
        dataset = store.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=["x"])

        def add(i: int) -> None:
            batches = [BatchRecord(f"{i}-{j}", "b", AT, AT, 9, 9, document=document) for j in range(3)]
            alerts = [AlertRecord(f"{i}", "wrong"), AlertRecord("always", "wrong")]
            store.add_run(stream, dataset, {}, batches, alerts, {"i": i}, AT, key=str(i))

        return a_second(add, runs)


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "plain").open("ab") as file:

            def append(_: int) -> None:
                file.write(b"x" * 2000)
                file.flush()
                os.fsync(file.fileno())

            print(f"fsync alone {a_second(append, runs):8.0f} a second")
        print(f"SQLite      {confirmed(Path(folder) / 'history.db', runs):8.0f} a second")
    if postgresql_programs() is not None:
        with closing(running(fsync=True)) as servers:
            server = next(servers)
            print(f"PostgreSQL  {confirmed(server.create('history'), runs):8.0f} a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
