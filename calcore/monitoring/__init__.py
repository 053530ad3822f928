"""Calibration over time: batches, limits, a test that may be looked at every day, alerts and their history.

``watch_table(table, time="day").alerts`` is the short way; ``measure_batches`` and ``watch`` take any kind of label.
"""

from calcore.monitoring.alerts import Alert
from calcore.monitoring.batches import Batch, Batching, split
from calcore.monitoring.file_batches import batches_of_file, fitting, joined, parts
from calcore.monitoring.limits import FixedLimit, Limits
from calcore.monitoring.results import BatchResult
from calcore.monitoring.table import watch_table
from calcore.monitoring.watch import Plan, Watch, measure_batches, watch

__all__ = [
    "Alert",
    "Batch",
    "BatchResult",
    "Batching",
    "FixedLimit",
    "Limits",
    "Plan",
    "Watch",
    "batches_of_file",
    "fitting",
    "joined",
    "measure_batches",
    "parts",
    "split",
    "watch",
    "watch_table",
]
