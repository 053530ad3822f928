"""A table of scores and labels watched in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.monitoring.suggest import suggested_batching
from calcore.monitoring.watch import Plan, Watch, measure_batches, watch
from calcore.observation import Clean, Noisy
from calcore.subgroups import make_subgroups


def watch_table(
    table: pd.DataFrame,
    *,
    score: str = "score",
    label: str = "label",
    time: str | None = None,
    groups: Sequence[str] = (),
    plan: Plan | None = None,
    model: Clean | Noisy | None = None,
) -> Watch:
    """The rows of ``table`` watched from its first batch to its last.

    ``score`` (within [0, 1]), ``label`` (0, 1, or missing while it has not come), ``time`` and ``groups`` name its
    columns. Without a ``plan`` batches are as long as the file suggests; without a ``time`` they follow the order of
    the rows. ``model`` says how the labels were observed (``Clean()``). For other models, and to go on from earlier
    runs, see ``measure_batches``. Raises InputError for columns that are not there or cannot be used.

    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> score, week = rng.random(20_000), np.repeat(np.arange(20), 1_000)
    >>> label = rng.random(20_000) < np.clip(score + 0.1 * (week >= 12), 0, 1)
    >>> days = pd.Timestamp("2024-01-01") + pd.to_timedelta(7 * week, "D")
    >>> found = watch_table(pd.DataFrame({"score": score, "label": label, "day": days}), time="day")
    >>> [alert.since for alert in found.alarming]
    ['2024-W13']
    """
    names = [name for name in (score, label, time, *groups) if name is not None]
    for name in names:
        if name not in table.columns:
            raise InputError(f'There is no column "{name}" in the table; name another.')
    rows = table.reset_index(drop=True)
    stamps = None if time is None else _times(rows[time])
    model = Clean() if model is None else model
    members = make_subgroups(rows, list(groups)).membership if groups else None
    scores = _numbers(rows[score])
    evidence = model.evidence(scores, _numbers(rows[label]), groups=members)
    if plan is None:
        plan = Plan(suggested_batching(len(rows), len(evidence), stamps))
    column = rows.get(plan.batching.column)
    results, plan, without_place = measure_batches(plan, scores, evidence, time=stamps, column=column)
    return watch(results, plan, without_place)


def _numbers(values: pd.Series) -> NDArray[np.float64]:
    try:
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        raise InputError(
            f'The column "{values.name}" holds text where numbers are needed; convert it to numbers first.'
        ) from None


def _times(values: pd.Series) -> NDArray[np.datetime64]:
    try:
        found = pd.to_datetime(values, utc=True)
    except (ValueError, TypeError):
        raise InputError(
            f'The column "{values.name}" cannot be read as times; convert it with pandas.to_datetime first.'
        ) from None
    return found.dt.tz_localize(None).to_numpy().astype("datetime64[ns]")
