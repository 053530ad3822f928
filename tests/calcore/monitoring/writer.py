"""A process that writes to a history, and says what was confirmed."""

from __future__ import annotations

from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from calcore.monitoring.store import AlertRecord, BatchRecord, Store

AT = datetime(2025, 3, 1, tzinfo=UTC)


def write(url: str, name: str, runs: int, say: Connection, together: Barrier | None) -> None:
    """Send the key of each run when it is confirmed, and None at the end."""
    if together is not None:
        together.wait()
    with Store.open(url) as store:
        stream = store.stream("weekly")
        dataset = store.add_dataset(stream, sha256="a" * 64, filename="a.csv", rows=1, columns=["x"], at=AT)
        for i in range(runs):
            # three batches and an alert in each, so that a run that was cut in two would show
            results = [
                BatchRecord(f"{name}-{i}-{j}", "b", AT, AT, 10, 10, document={"ece": i / 7}) for j in range(3)
            ]
            found = [AlertRecord(f"{name}-{i}", "wrong"), AlertRecord("always", "wrong")]
            run = store.add_run(stream, dataset, {}, results, found, {"i": i}, AT, key=f"{name}-{i}")
            say.send(run.key)
    say.send(None)
