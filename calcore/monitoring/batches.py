"""Rows to batches: by calendar, by number of rows, or by a column; small ones joined until they are enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.validation import whole_number

#: Calendar units by name, as pandas writes them; weeks start on Monday.
CALENDAR = {"day": "D", "week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}
MOST_BATCHES = 2_000


@dataclass(frozen=True)
class Batching:
    """How rows are split: ``by`` is a key of ``CALENDAR``, "rows" (``size`` at a time) or "column" (its values).

    Fewer than ``min_rows`` rows make no batch of their own: consecutive ones are joined until they are enough.
    """

    by: str = "month"
    size: int = 1_000
    column: str | None = None
    min_rows: int = 100

    def __post_init__(self) -> None:
        if self.by not in (*CALENDAR, "rows", "column"):
            raise InputError(
                f'batches are by {", ".join(CALENDAR)}, "rows" or "column", got {self.by!r}; choose one of them'
            )
        if self.by == "column" and not self.column:
            raise InputError("batches by column need the name of the column")
        whole_number(self.size, "rows of a batch", 1, 10**9)
        whole_number(self.min_rows, "fewest rows of a batch", 1, 10**9)


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are looked at together.

    ``rows`` are positions (m,) in the arrays that were split; ``key`` names the batch for ever, ``label`` is for
    people; ``start`` and ``end`` are the first and last time in it, or None. ``parts`` counts the calendar units or
    values that were joined. ``complete`` is False for rows at the end that are not enough yet.
    """

    key: str
    label: str
    rows: NDArray[np.int64]
    start: np.datetime64 | None
    end: np.datetime64 | None
    parts: int = 1
    complete: bool = True

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Batches:
    """Batches in order, and how many rows had no place in them (no time, or nothing in the column)."""

    batches: tuple[Batch, ...]
    without_place: int
    batching: Batching

    def __len__(self) -> int:
        return len(self.batches)


def split(
    batching: Batching,
    rows: int,
    *,
    time: NDArray[Any] | None = None,
    column: Sequence[Any] | pd.Series | None = None,
    counted: NDArray[np.bool_] | None = None,
    prefix: str = "",
) -> Batches:
    """Split ``rows`` rows under ``batching``.

    ``time`` (rows,) datetime64 or None, ``column`` (rows,) the values of the batch column. ``counted`` (rows,) says
    which rows count towards ``min_rows`` where some batches hold any (those with a label); batches without any are
    counted by their rows. ``prefix`` begins the keys of batches by rows without a time. Raises InputError where what
    is needed is missing, or more than 2,000 batches would come out.
    """
    stamps = None if time is None else np.asarray(time).astype("datetime64[ns]")
    codes, names = _codes(batching, rows, stamps, column, prefix)
    if len(names) > MOST_BATCHES:
        raise InputError(
            f"{len(names):,} batches by {_said(batching)} are too many to look at (at most {MOST_BATCHES:,}); choose longer ones"
        )
    order = np.argsort(codes, kind="stable")
    placed = order[codes[order] >= 0]
    starts = np.searchsorted(codes[placed], np.arange(len(names) + 1))
    pieces = [placed[starts[j] : starts[j + 1]] for j in range(len(names))]
    return Batches(
        tuple(_joined(batching, names, pieces, stamps, counted)), int(rows - placed.size), batching
    )


def _said(batching: Batching) -> str:
    return f'"{batching.column}"' if batching.by == "column" else batching.by


def _codes(
    batching: Batching,
    rows: int,
    time: NDArray[np.datetime64] | None,
    column: Sequence[Any] | pd.Series | None,
    prefix: str,
) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """The batch of every row (-1: none), and key and label of each batch, in order."""
    if batching.by == "rows":
        return _by_rows(batching.size, rows, time, prefix)
    if batching.by == "column":
        if column is None:
            raise InputError(f'There is no column "{batching.column}" to make batches of; name another.')
        return _by_column(pd.Series(column).reset_index(drop=True), time)
    if time is None or np.isnat(time).all():
        raise InputError(
            f"Batches by {batching.by} need a time column, and none is chosen; choose one, or make batches by rows."
        )
    periods = pd.Series(time).dt.to_period(CALENDAR[batching.by])
    distinct = pd.PeriodIndex(np.sort(periods.dropna().unique()))
    names = [_calendar_name(batching.by, period) for period in distinct]
    codes = distinct.get_indexer(pd.PeriodIndex(periods.array))
    return codes.astype(np.int64), [(name, name) for name in names]


def _calendar_name(by: str, period: pd.Period) -> str:
    if by == "week":
        year, week, _ = period.start_time.isocalendar()
        return f"{year}-W{week:02d}"
    if by == "quarter":
        return f"{period.year}-Q{period.quarter}"
    return str(period)


def _by_rows(
    size: int, rows: int, time: NDArray[np.datetime64] | None, prefix: str
) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    if time is None:
        place, first = np.arange(rows), None
        dated = rows
    else:
        order = np.argsort(time, kind="stable")  # rows without a time come last, and have no place
        dated = int((~np.isnat(time)).sum())
        place, first = np.full(rows, -1), time[order]
        place[order[:dated]] = np.arange(dated)
    codes = np.where(place >= 0, place // size, -1)
    names, begun = [], Counter[str]()
    for j, low in enumerate(range(0, dated, size)):
        high = min(low + size, dated)
        label = f"rows {low + 1:,} to {high:,}"
        if first is None:
            key = f"{prefix}{j + 1:06d}"
        else:
            key = f"{str(first[low])[:19]}Z"
            begun[key] += 1
            if begun[key] > 1:  # more rows at one time than a batch holds
                key += f"+{begun[key]:06d}"
        names.append((key, label))
    return codes, names


def _by_column(
    values: pd.Series, time: NDArray[np.datetime64] | None
) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    text = values.astype("str").str.strip()
    missing = values.isna() | text.isin(["", "(missing)"])
    codes, distinct = pd.factorize(text.where(~missing))
    numbers = pd.to_numeric(pd.Series(distinct), errors="coerce")
    if time is not None and not np.isnat(time).all():
        first = np.full(len(distinct), np.datetime64("NaT", "ns"))
        known = ~np.isnat(time) & (codes >= 0)
        seen = pd.Series(time[known]).groupby(codes[known]).min()
        first[seen.index] = seen.to_numpy()
        order = np.argsort(first, kind="stable")
    elif len(distinct) and numbers.notna().all():
        order = np.argsort(numbers.to_numpy(), kind="stable")
    else:
        order = np.arange(len(distinct))  # as they first appear
    place = np.empty(len(distinct) + 1, dtype=np.int64)
    place[order] = np.arange(len(distinct))
    place[-1] = -1
    return place[codes], [(str(distinct[k]), str(distinct[k])) for k in order]


def _joined(
    batching: Batching,
    names: list[tuple[str, str]],
    pieces: list[NDArray[np.int64]],
    time: NDArray[np.datetime64] | None,
    counted: NDArray[np.bool_] | None,
) -> list[Batch]:
    """Consecutive pieces joined until they are enough; those at the end that are not are left incomplete.

    Only what came before decides where a batch ends, so that a batch that was looked at once stays as it was.
    """
    made: list[Batch] = []
    first, parts = 0, []
    for j, piece in enumerate(pieces):
        parts.append(piece)
        together = np.concatenate(parts)
        labelled = together.size if counted is None else int(counted[together].sum())
        enough = (labelled or together.size) >= batching.min_rows
        if not enough and j + 1 < len(pieces):
            continue
        key, label = names[first]
        if j > first:
            label = f"{label}–{names[j][1]}" if batching.by != "rows" else _rows_label(label, names[j][1])
        start, end = _range(time, together)
        made.append(Batch(key, label, np.sort(together), start, end, j - first + 1, enough))
        first, parts = j + 1, []
    return made


def _rows_label(first: str, last: str) -> str:
    return f"{first.split(' to ')[0]} to {last.split(' to ')[1]}"


def _range(
    time: NDArray[np.datetime64] | None, rows: NDArray[np.int64]
) -> tuple[np.datetime64 | None, np.datetime64 | None]:
    if time is None or np.isnat(time[rows]).all():
        return None, None
    known = time[rows][~np.isnat(time[rows])]
    return known.min(), known.max()
