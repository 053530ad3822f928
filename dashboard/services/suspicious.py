"""Labels to check first, as a table for people."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from calcore.ingest import LIST
from calcore.suspicious import SuspiciousLabels, suspicious_labels
from dashboard.services.memory import once
from dashboard.services.results import Analysis, gate_of
from dashboard.services.returned import CORRECTED, beside, corrections_name, free_name, list_csv

SHOWN_SUSPICIOUS = 500


@dataclass(frozen=True, eq=False)
class Suspicious:
    """Rows whose label contradicts the score, the least trusted first: ``total`` of them, ``table`` the first."""

    total: int
    table: pd.DataFrame


def suspicious_of(found: Analysis, most: int | None = SHOWN_SUSPICIOUS) -> Suspicious:
    """The labels to check first, with their line in the file, loss and weight."""

    def compute() -> Suspicious:
        fitted = gate_of(found)
        assert fitted is not None
        ranked = suspicious_labels(found.evidence, fitted.audit_)
        return Suspicious(len(ranked.position), _with_lines(found, ranked, most))

    return once(("suspicious", *found.key, most), compute)


def _with_lines(found: Analysis, ranked: SuspiciousLabels, most: int | None) -> pd.DataFrame:
    position = ranked.position[:most]
    rows = position if found.evidence.row is None else found.evidence.row[position]
    table = pd.DataFrame(
        {
            found.ingested.report.place: found.ingested.columns.line[rows],
            "recorded label": found.evidence.label[position].astype(int),  # type: ignore[index]
            "score": found.evidence.score[position],
            "loss": ranked.loss[:most],
            "weight": ranked.weight[:most],
        }
    )
    roles = found.ingested.roles
    return beside(table, found.ingested, rows, [name for name in (roles.score, roles.label) if name])


def suspicious_csv(found: Analysis) -> bytes:
    """The whole list, laid out as the file and safe to open in a spreadsheet, with an empty column for corrections."""

    def compute() -> bytes:
        table = suspicious_of(found, None).table.copy()
        # what the list needs to find back, beside the line number; columns of the file give way
        taken = {LIST, CORRECTED}
        table.columns = pd.Index([free_name(str(name), taken) for name in table.columns])
        table.insert(1, LIST, corrections_name(found.ingested))
        table.insert(2, CORRECTED, "")
        return list_csv(table, found.ingested)

    return once(("suspicious-csv", *found.key), compute)
