"""Alerts as a table for people and for other programs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from calcore.monitoring.alerts import Alert
from calcore.monitoring.results import BatchResult
from calcore.monitoring.sentences import KINDS

COLUMNS = ["What", "Since", "Noticed at", "Where", "Severity", "Kind", "Sentence"]


def alert_table(alerts: Sequence[Alert], results: Sequence[BatchResult]) -> pd.DataFrame:
    """One row an alert, in the order given; "Noticed at" is the label of the batch that raised it."""
    labels = {one.key: one.label for one in results}
    rows = [
        (
            KINDS[alert.kind],
            alert.since,
            labels.get(alert.batch, alert.batch),
            alert.group or "Everyone",
            alert.severity,
            alert.kind,
            alert.sentence,
        )
        for alert in alerts
    ]
    return pd.DataFrame(rows, columns=COLUMNS)
