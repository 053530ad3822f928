"""A process that writes to a history, and says what was confirmed: python writer.py URL NAME RUNS [barrier]

After each confirmed run it prints its key. With a barrier it says "ready" and waits for the file to appear.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from calcore.monitoring.store import AlertRecord, BatchRecord, Store

AT = datetime(2025, 3, 1, tzinfo=UTC)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(url: str, name: str, runs: int, barrier: str | None = None) -> None:
    if barrier is not None:
        say("ready")
        while not Path(barrier).exists():
            time.sleep(0.0005)
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
            say(run.key)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
