"""How a file is split into batches where nobody said how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.monitoring.batches import CALENDAR, Batching

#: So many batches show a course; more than that are hard to look at, and are split only where a unit asks for it.
FEWEST, USUAL = 12, 20
FEWEST_LONGER = 4
#: With fewer rows a batch says next to nothing.
FEWEST_ROWS = (30, 100)
REFERENCE = 4


def suggested_batching(rows: int, labelled: int, time: NDArray[Any] | None = None) -> Batching:
    """The longest calendar unit of which ``time`` (rows,) holds at least twelve, else a twentieth of the rows at a time.

    Where its batches would hold too few labels, the next longer one is taken if at least four of it are left. Where
    there are few different times (years, say), each of them is a batch. ``labelled`` of the ``rows`` have a label; a
    batch has at least a twentieth of them, within 30 to 100.
    """
    fewest = int(np.clip(labelled // USUAL, *FEWEST_ROWS))
    by = (
        None if time is None else _calendar_unit(np.asarray(time).astype("datetime64[ns]"), labelled / fewest)
    )
    if by is not None:
        return Batching(by=by, size=_round_size(rows, fewest), min_rows=fewest)
    return Batching(by="rows", size=_round_size(rows, fewest), min_rows=fewest)


def suggested_reference(batches: int) -> int:
    """How many of the first batches are the reference period: four, and never more than a third."""
    return int(np.clip(batches // 3, 1, REFERENCE))


def _calendar_unit(time: NDArray[np.datetime64], enough_for: float) -> str | None:
    """``enough_for`` batches there are labels enough."""
    known = pd.Series(time[~np.isnat(time)])
    if known.empty:
        return None
    distinct = pd.Series(known.unique())
    counts = {unit: distinct.dt.to_period(CALENDAR[unit]).nunique() for unit in reversed(CALENDAR)}
    found = next((unit for unit, count in counts.items() if count >= FEWEST), None)
    if found is not None:
        units = list(counts)
        longer = units[max(units.index(found) - 1, 0)]
        return longer if counts[found] > enough_for and counts[longer] >= FEWEST_LONGER else found
    most = max(counts.values())
    if most < 2 or len(distinct) > most:
        return None
    return next(unit for unit, count in counts.items() if count == most)


def _round_size(rows: int, fewest: int) -> int:
    """About a twentieth of the rows, as 1, 2 or 5 times a power of ten."""
    wanted = max(rows / USUAL, fewest, 1)
    power = 10 ** int(np.floor(np.log10(wanted)))
    return int(next((step * power for step in (1, 2, 5) if step * power >= wanted), 10 * power))
