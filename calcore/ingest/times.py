"""Columns of dates and times to UTC, one reading for the whole column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .choices import Question
from .columns import Column

ORDERS = ("day first", "month first")
_PARTS = r"^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[ T,]+(.*))?$"
#: Whole dates, with a year of four digits: neither 2024-Q1, nor 2024-03, nor version 1.2.34.
_WHOLE_DATE = (
    r"^(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}"
    r"|\d{1,2}[ .-]+[A-Za-z]{3,9}[ ,.-]+\d{4}|[A-Za-z]{3,9}[ .]+\d{1,2}[ ,]+\d{4})"
    r"(?:[ T,]+\d{1,2}:\d{2}.*)?$"
)
_NEARLY_ALL = 0.95
_EPOCHS = (
    ("epoch seconds", 1.0),
    ("epoch milliseconds", 1e3),
    ("epoch microseconds", 1e6),
    ("epoch nanoseconds", 1e9),
)
_EARLIEST, _LATEST = np.datetime64("1677-09-22"), np.datetime64("2262-04-11")  # whole days of datetime64[ns]
_FIRST, _LAST = 3.0e8, 5.0e9  # seconds: 1979 to 2128


@dataclass(frozen=True)
class Times:
    """`values` are datetime64[ns] in UTC, None while the order of day and month is open; `bad` marks
    cells that could not be read.
    """

    values: np.ndarray | None
    bad: np.ndarray
    question: Question | None = None
    reason: str = ""
    found: str = ""
    """How the column was read, where that is worth saying ("epoch milliseconds")."""


def read_times(column: Column, day_first: bool | None = None) -> Times:
    """Read a column as times. Values without a time zone are taken as UTC."""
    nobody = np.zeros(len(column.data), bool)
    if column.is_time:
        values = np.asarray(column.data.to_numpy())
        times = _nanoseconds(values)
        return Times(times, np.isnat(times) & ~np.isnat(values), None, "time is not a date")
    numbers = column.numbers
    if numbers.bad.mean() < 0.5 and not numbers.blank.all():
        return _from_numbers(numbers.values, numbers.blank)
    codes, texts = column.categories.codes, pd.Series(column.categories.values, dtype="str")
    parsed, question, reason = _from_texts(texts, column.name, day_first)
    if parsed is None:
        return Times(None, nobody, question)
    values = np.append(parsed, np.datetime64("NaT", "ns"))[codes]
    return Times(values, np.isnat(values) & (codes >= 0), question, reason)


def looks_like_time(column: Column) -> bool:
    """Whether most of a column's sample reads as a time (the order of day and month may be open)."""
    sample = column.sample
    if sample.is_time:
        return True
    if not len(sample.data) or sample.is_boolean:
        return False
    times = read_times(sample)
    filled = sum(len(c) for c in sample.data.chunks) - sample.missing
    return times.values is None or (filled > 0 and bool((~np.isnat(times.values)).sum() > 0.5 * filled))


def dates_in(column: Column) -> str | None:
    """Whether nearly all filled cells of a sample of texts are whole dates: "settled", "order open", or None.

    "order open": day and month could be either. Numbers are never taken for dates here: they could be ids, or years.
    """
    sample = column.sample
    if not sample.is_text:
        return None
    categories = sample.categories
    texts, counts = pd.Series(categories.values, dtype="str"), categories.counts()
    total = int(counts.sum())
    for some in (slice(20), slice(None)):  # most columns of texts are told by their first values
        like = texts[some].str.match(_WHOLE_DATE).to_numpy(bool)
        if not total or counts[some][like].sum() < _NEARLY_ALL * counts[some].sum():
            return None
    parsed, _, _ = _from_texts(texts, column.name, None)
    if parsed is None:
        return "order open"
    return "settled" if counts[~np.isnat(parsed)].sum() >= _NEARLY_ALL * total else None


def _from_numbers(values: np.ndarray, blank: np.ndarray) -> Times:
    middle = float(np.nanmedian(np.abs(values)))
    whole = np.nanmax(np.abs(values - np.round(values)), initial=0.0) == 0
    out = np.full(len(values), np.datetime64("NaT", "ns"))
    ok = ~blank & np.isfinite(values)
    found = ""
    if whole and 1800 <= middle <= 2200:
        ok &= (values >= 1678) & (values <= 2261)
        out[ok] = (values[ok].astype(np.int64) - 1970).astype("datetime64[Y]").astype("datetime64[ns]")
        found = "years"
    elif whole and 18000101 <= middle <= 22001231:
        text = pd.Series(values[ok].astype(np.int64)).astype("str")
        out[ok] = _nanoseconds(pd.to_datetime(text, format="%Y%m%d", errors="coerce").to_numpy())
        found = "days written as YYYYMMDD"
    else:
        for name, per_second in _EPOCHS:
            if _FIRST * per_second <= middle < _LAST * per_second:
                ok &= (np.abs(values) < _LAST * per_second) & (values > 0)
                out[ok] = np.round(values[ok] * (1e9 / per_second)).astype(np.int64).astype("datetime64[ns]")
                found = name
    return Times(out, ~blank & np.isnat(out), None, "time is not a date", found)


def _from_texts(
    texts: pd.Series, name: str, day_first: bool | None
) -> tuple[np.ndarray | None, Question | None, str]:
    out = np.full(len(texts), np.datetime64("NaT", "ns"))
    reason = "time is not a date"
    parts = texts.str.extract(_PARTS)
    numeric = parts[0].notna().to_numpy()
    if numeric.any():
        first = pd.to_numeric(parts[0][numeric]).to_numpy()
        second = pd.to_numeric(parts[1][numeric]).to_numpy()
        order, question = _order(first, second, name, texts[numeric].iloc[0], day_first)
        if order is None:
            return None, question, reason
        day, month = (first, second) if order else (second, first)
        out[numeric] = _assemble(parts[numeric], day, month)
        wrong = np.isnat(out[numeric])
        if wrong.any() and not np.isnat(_assemble(parts[numeric][wrong], month[wrong], day[wrong])).all():
            reason = f"time is not a date with the {ORDERS[0 if order else 1]}"
    else:
        question = None
    rest = ~numeric
    if rest.any():
        out[rest] = _written_out(texts[rest])
    return out, question, reason


def _order(
    first: np.ndarray, second: np.ndarray, name: str, example: str, day_first: bool | None
) -> tuple[bool | None, Question | None]:
    """Whether the day comes first, for the whole column; None when only the user can say."""
    if day_first is not None:
        return day_first, None
    day_votes, month_votes = int((first > 12).sum()), int((second > 12).sum())
    sentence = f'"{name}" holds dates like {example}: does the day or the month come first?'
    if day_votes and month_votes:
        order = day_votes >= month_votes
        return order, Question("date_order", name, sentence, ORDERS, ORDERS[0 if order else 1])
    if day_votes or month_votes:
        return bool(day_votes), None
    if (first == second).all():
        return True, None
    return None, Question("date_order", name, sentence, ORDERS, None)


def _assemble(parts: pd.DataFrame, day: np.ndarray, month: np.ndarray) -> np.ndarray:
    year = pd.to_numeric(parts[2]).to_numpy()
    year = np.where(year < 100, np.where(year < 70, 2000 + year, 1900 + year), year)
    dates = pd.Series(
        [f"{y:04d}-{m:02d}-{d:02d}" for y, m, d in zip(year, month, day, strict=True)], dtype="str"
    )
    clock = parts[3].fillna("").reset_index(drop=True)
    written = dates.where(clock == "", dates + " " + clock)
    return _written_out(written)


def _written_out(texts: pd.Series) -> np.ndarray:
    """Texts that have one reading only: ISO 8601 (also with /), or with the month in letters."""
    iso = texts.str.replace(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-\2-\3", regex=True)
    iso = iso.str.replace(r"^(\d{4})-(\d)(?=-)", r"\1-0\2", regex=True)
    iso = iso.str.replace(r"^(\d{4}-\d{2})-(\d)(?!\d)", r"\1-0\2", regex=True)
    parsed = pd.to_datetime(iso, format="ISO8601", errors="coerce", utc=True)
    left = parsed.isna().to_numpy() & texts.str.contains(r"\d.*(?:[A-Za-z]{3}|:)|[A-Za-z]{3}.*\d").to_numpy(
        bool
    )
    values = _nanoseconds(parsed.dt.tz_localize(None).to_numpy())
    if left.any():
        mixed = pd.to_datetime(texts[left], format="mixed", errors="coerce", utc=True)
        values[left] = _nanoseconds(mixed.dt.tz_localize(None).to_numpy())
    return values


def _nanoseconds(values: np.ndarray) -> np.ndarray:
    """As datetime64[ns]; what it cannot hold, such as 9999-12-31 for "never", is no time instead of another one."""
    out = np.full(values.shape, np.datetime64("NaT", "ns"))
    held = (values >= _EARLIEST) & (values <= _LATEST)
    out[held] = values[held].astype("datetime64[ns]")
    return out
