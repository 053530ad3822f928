"""The history store: what was measured when, on which data, under which map; in a SQLite file or PostgreSQL.

    with Store.open("history.db") as store:
        stream = store.stream("credit model, weekly")
        dataset = store.add_dataset(stream, sha256=..., filename="week-12.csv", rows=5_000, columns=["score", "label"])
        store.add_run(stream, dataset, settings={}, results=[BatchRecord(...)], alerts=[], state=None, at=now)
        store.batches(stream)  # the latest record of every batch

Everything that comes out is a frozen dataclass. What a call returned is on disk: neither a killed process nor
a second writer loses it, and a call that is repeated with the same values stores nothing twice.
"""

from calcore.monitoring.store.records import (
    Acknowledgement,
    Alert,
    AlertRecord,
    Batch,
    BatchRecord,
    Dataset,
    Deleted,
    LivePeriod,
    MapRecord,
    Run,
    SavedState,
    Stream,
)
from calcore.monitoring.store.store import Store

__all__ = [
    "Acknowledgement",
    "Alert",
    "AlertRecord",
    "Batch",
    "BatchRecord",
    "Dataset",
    "Deleted",
    "LivePeriod",
    "MapRecord",
    "Run",
    "SavedState",
    "Store",
    "Stream",
]
