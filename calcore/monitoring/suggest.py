"""How a file is split into batches where nobody said how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.monitoring.batches import CALENDAR, Batching

#: So many batches show a course; more than that are hard to look at, and are split only where a unit asks for it.
FEWEST, USUAL = 12, 20
#: With fewer rows a batch says next to nothing.
FEWEST_ROWS = (30, 100)
REFERENCE = 4


def suggested_batching(rows: int, labelled: int, time: NDArray[Any] | None = None) -> Batching:
    """The longest calendar unit of which ``time`` (rows,) holds at least twelve, else as many rows at a time.

    Where there are few different times (years, say), each of them is a batch. ``labelled`` of the ``rows`` have a label;
    a batch has at least a twentieth of them, within 30 to 100.
    """
    fewest = int(np.clip(labelled // USUAL, *FEWEST_ROWS))
    by = None if time is None else _calendar_unit(np.asarray(time).astype("datetime64[ns]"))
    if by is not None:
        return Batching(by=by, size=_round_size(rows, fewest), min_rows=fewest)
    return Batching(by="rows", size=_round_size(rows, fewest), min_rows=fewest)


def suggested_reference(batches: int) -> int:
    """How many of the first batches are the reference period: four, and never more than a third."""
    return int(np.clip(batches // 3, 1, REFERENCE))


def _calendar_unit(time: NDArray[np.datetime64]) -> str | None:
    known = pd.Series(time[~np.isnat(time)])
    if known.empty:
        return None
    distinct = pd.Series(known.unique())
    counts = {unit: distinct.dt.to_period(CALENDAR[unit]).nunique() for unit in reversed(CALENDAR)}
    enough = next((unit for unit, count in counts.items() if count >= FEWEST), None)
    if enough is not None:
        return enough
    most = max(counts.values())
    if most < 2 or len(distinct) > most:
        return None
    return next(unit for unit, count in counts.items() if count == most)


def _round_size(rows: int, fewest: int) -> int:
    """About a twentieth of the rows, as 1, 2 or 5 times a power of ten."""
    wanted = max(rows / USUAL, fewest, 1)
    power = 10 ** int(np.floor(np.log10(wanted)))
    return int(next((step * power for step in (1, 2, 5) if step * power >= wanted), 10 * power))
