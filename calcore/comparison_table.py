"""The comparison as a table for people."""

from __future__ import annotations

import pandas as pd

from calcore import wording as w
from calcore.comparison import Comparison, Entry

METRICS = ("ECE", "Brier", "log loss", "AUC")


def comparison_table(result: Comparison) -> pd.DataFrame:
    """One row a calibrator, sorted by the chosen metric; those that do not exist are left to their reason.

    Not sorted where the labels allow no ranking.
    """
    present = [entry for entry in result.entries if entry.missing is None]
    if result.basis.ranked != "no":
        present.sort(key=lambda entry: entry.metrics[result.ranked_on].value)
    if all(entry.fit is None for entry in present):
        # rival models: nothing was fitted
        return pd.DataFrame([_measured(entry, "Model") | _mean(entry) for entry in present])
    order = result.entry(result.reference).metrics["AUC"].value
    return pd.DataFrame([_row(entry, order) for entry in present]).fillna(w.MISSING)


def _measured(entry: Entry, what: str) -> dict[str, str]:
    row = {what: entry.title}
    for name in (*METRICS, "MC") if "MC" in entry.metrics else METRICS:
        found = entry.metrics[name]
        row[name] = w.error(found.value) + (f" ({w.interval(found.interval)})" if found.interval else "")
    return row


def _mean(entry: Entry) -> dict[str, str]:
    return {"Mean prediction": w.rate(entry.mean_prediction)}


def _row(entry: Entry, auc: float) -> dict[str, str]:
    """``auc``: that of the scores on the same rows; the change is out of fold, as the AUC beside it."""
    row = _measured(entry, "Calibrator")
    harm = entry.harm
    row["Harm"] = w.MISSING if harm is None else w.points(harm.at_n)
    if harm is not None and harm.with_flips is not None:
        row["Harm with flips"] = w.points(harm.with_flips)
    row["AUC change"] = w.signed(entry.metrics["AUC"].value - auc)
    row["Outputs 0 or 1"] = w.rate(entry.share_at_ends)
    row["Slope"] = w.MISSING if entry.slope != entry.slope else f"{entry.slope:.2f}"
    return row | _mean(entry)
