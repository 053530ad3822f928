"""Estimates and tests as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calcore.metrics import CalibrationError, CalibrationTest, Estimate
from dashboard import wording as w


def number_table(rows: Mapping[str, Estimate | str]) -> pd.DataFrame:
    """One row a number: value, 95 % interval, p-value or what chance would show, and what there is to know of it."""
    return pd.DataFrame([_row(title, one) for title, one in rows.items()])


def _row(title: str, one: Estimate | str) -> dict[str, str]:
    if isinstance(one, str):
        return {"number": title, "value": w.MISSING, "95 % interval": w.MISSING, "by chance": "", "note": one}
    chance = f"perfect: {one.ideal:g}"
    if isinstance(one, CalibrationTest):
        chance = f"p {w.p_value(one.p_value)}" if np.isfinite(one.p_value) else w.MISSING
    elif isinstance(one, CalibrationError):
        chance = f"up to {w.error(one.noise_limit)}"
    return {
        "number": title,
        "value": f"{one.value:.3g}" if np.isfinite(one.value) else w.MISSING,
        "95 % interval": w.MISSING if one.interval is None else "{:.3g} to {:.3g}".format(*one.interval),
        "by chance": chance,
        "note": "; ".join(one.notes),
    }
