"""From bytes in hand to verdict, against pyarrow.csv alone: python -m tests.benchmarks.million_rows [ROWS]

1,000,000 rows x 8 columns: a score, a label, four group columns, an id and a number. Prints medians of
interleaved runs and their ratio; asserts nothing.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyarrow import csv

from calcore import ingest
from calcore.audit import audit
from calcore.observation import Clean
from calcore.subgroups import make_subgroups
from calcore.verdicts import overall


def made(rows: int, seed: int = 0) -> bytes:
    """A CSV as most tools write it: text without quotes."""
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 3, rows)
    groups = {"region": 6, "product": 8, "channel": 4, "age_band": 7}
    columns = {"id": np.arange(rows), "score": score, "label": (rng.random(rows) < score).astype(int)}
    columns |= {
        name: np.array([f"{name}_{k}" for k in range(size)])[rng.integers(size, size=rows)]
        for name, size in groups.items()
    }
    columns["amount"] = rng.gamma(2, 100, rows).round(2)
    buffer = io.BytesIO()
    csv.write_csv(pa.table(columns), buffer, csv.WriteOptions(quoting_style="none"))
    return buffer.getvalue()


def to_verdict(data: bytes) -> str:
    """The whole way of the page: read, subgroups, evidence, audit, sentence."""
    read = ingest.read(data, filename="million.csv")
    columns = read.columns
    chosen = make_subgroups(columns.groups, list(columns.groups.columns))
    evidence = Clean().evidence(columns.score, columns.label, groups=chosen.membership)
    return overall(audit(evidence)).sentence


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(rows: int, repeats: int = 9) -> None:
    data = made(rows)
    print(f"{rows:,} rows, {len(data) / 1e6:.0f} MB; {to_verdict(data)}")
    ours, theirs = [], []
    for _ in range(repeats):
        theirs.append(timed(lambda: csv.read_csv(io.BytesIO(data))))
        ours.append(timed(lambda: to_verdict(data)))
    print(f"pyarrow.csv alone  {np.median(theirs):.3f} s (median of {repeats})")
    print(f"bytes to verdict   {np.median(ours):.3f} s")
    print(f"ratio              {np.median(ours) / np.median(theirs):.2f}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
