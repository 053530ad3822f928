"""A run of a watched stream as plain values, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from calcore.cli import output
from calcore.cli.opened import Opened
from calcore.monitoring import Alert, BatchResult, Watch
from calcore.monitoring.history import Recorded


def document(
    opened: Opened,
    name: str,
    found: Watch,
    new: Sequence[BatchResult],
    kept: Recorded,
    notes: Sequence[str],
    code: int,
) -> dict[str, Any]:
    """The run as plain values: ``batches`` are those of this file, ``alerts`` all open ones of the stream."""
    keys = {one.key for one in new}
    return {
        "command": "monitor",
        "stream": name,
        "file": output.report(opened.ingested.report),
        "repeated": kept.run.repeated,
        "notes": list(notes),
        "batches_kept": len(found.results),
        "reference": None if found.reference is None else list(found.reference.labels),
        "batches": [_batch(one) for one in found.results if one.key in keys],
        "log_evidence": float(found.test.log_evidence[-1]) if len(found.results) else 0.0,
        "threshold": found.test.threshold,
        "alerts": [_alert(alert, alert in kept.new) for alert in kept.open],
        "notices": [_alert(alert, True) for alert in kept.new if alert.severity == "notice"],
        "exit_code": code,
    }


def _batch(one: BatchResult) -> dict[str, Any]:
    return {
        "key": one.key,
        "label": one.label,
        "start": one.start,
        "end": one.end,
        "rows": one.rows,
        "labelled": one.labelled,
        "kind": one.kind,
        "reason": one.reason,
        "basis": one.basis,
        "metrics": {
            metric: {"value": value.value, "interval": [value.low, value.high]}
            for metric, value in one.values.items()
        },
        "noise_floor": one.noise_floor,
        "noise_limit": one.noise_limit,
    }


def _alert(alert: Alert, new: bool) -> dict[str, Any]:
    return asdict(alert) | {"new": new}
