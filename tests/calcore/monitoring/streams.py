"""Streams with a known answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calcore.evidence import Evidence
from calcore.observation import Clean
from calcore.subgroups import Membership, Subgroup


def weekly(weeks: int, rows: int = 1_000, *, seed: int = 0, off=None, group_share: float = 0.3):
    """``weeks`` of scores, labels, times (Mondays on) and a region; ``off(week, score, region)`` is event rate - score."""
    rng = np.random.default_rng(seed)
    n = weeks * rows
    week = np.repeat(np.arange(weeks), rows)
    score = rng.random(n)
    region = np.where(rng.random(n) < group_share, "north", "south")
    shift = np.zeros(n) if off is None else off(week, score, region)
    label = (rng.random(n) < np.clip(score + shift, 0, 1)).astype(float)
    time = np.datetime64("2024-01-01") + week * 7 + rng.integers(0, 7, n)
    return pd.DataFrame(
        {"score": score, "label": label, "region": region, "time": time.astype("datetime64[ns]")}
    )


def clean(table: pd.DataFrame) -> Evidence:
    """Its evidence, with a subgroup for each region."""
    groups = [Subgroup.equals("region", name) for name in ("north", "south")]
    return Clean().evidence(table.score, table.label, groups=Membership.of_subgroups(groups, table))
