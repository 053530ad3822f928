"""Every row has one place, batches end where only the past says so, and keys stay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.monitoring.batches import Batching, split


def days(*texts: str) -> np.ndarray:
    return np.array(texts, dtype="datetime64[ns]")


def test_weeks_start_on_monday_and_are_named_as_in_iso_8601():
    time = days("2024-12-29T23:59", "2024-12-30", "2025-01-05", "2025-01-06")
    made = split(Batching("week", min_rows=1), 4, time=time)
    assert [(one.key, one.rows.tolist()) for one in made.batches] == [
        ("2024-W52", [0]), ("2025-W01", [1, 2]), ("2025-W02", [3]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "by, keys",
    [
        ("day", ["1920-09-26", "1921-01-02"]),
        ("month", ["1920-09", "1921-01"]),
        ("quarter", ["1920-Q3", "1921-Q1"]),
        ("year", ["1920", "1921"]),
    ],
)
def test_calendar_units_also_long_ago(by, keys):
    made = split(Batching(by, min_rows=1), 2, time=days("1920-09-26", "1921-01-02"))
    assert [one.key for one in made.batches] == keys


def test_rows_without_a_time_are_counted_and_in_no_batch():
    made = split(Batching("day", min_rows=1), 3, time=days("2024-01-01", "NaT", "2024-01-02"))
    assert made.without_place == 1
    assert [one.rows.tolist() for one in made.batches] == [[0], [2]]
    by_rows = split(Batching("rows", size=2, min_rows=1), 3, time=days("2024-01-05", "NaT", "2024-01-02"))
    assert by_rows.without_place == 1
    assert by_rows.batches[0].rows.tolist() == [0, 2]


def test_small_batches_are_joined_with_those_after_them():
    time = days(*(["2024-01-01"] * 3 + ["2024-02-01"] * 8 + ["2024-03-01"] * 2))
    made = split(Batching("month", min_rows=5), 13, time=time)
    assert [(one.key, one.label, one.parts, one.complete) for one in made.batches] == [
        ("2024-01", "2024-01–2024-02", 2, True), ("2024-03", "2024-03", 1, False),
    ]  # fmt: skip


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=20), more=st.lists(st.integers(1, 30), max_size=5)
)
def test_batches_that_are_complete_stay_when_more_rows_come(sizes, more):
    def of(counts):
        months = np.repeat(np.arange(len(counts)), counts)
        time = (np.datetime64("2020-01", "M") + months).astype("datetime64[ns]")
        return split(Batching("month", min_rows=20), len(months), time=time).batches

    before, after = of(sizes), of(sizes + more)
    whole = [one for one in before if one.complete]
    assert [(one.key, one.rows.tolist()) for one in whole] == [
        (one.key, one.rows.tolist()) for one in after[: len(whole)]
    ]
    assert sum(len(one) for one in after) == sum(sizes + more)


def test_rows_with_labels_count_where_there_are_any():
    time = days(*(["2024-01-01"] * 50 + ["2024-02-01"] * 50))
    counted = np.zeros(100, bool)
    counted[:5] = True
    made = split(Batching("month", min_rows=20), 100, time=time, counted=counted)
    assert len(made) == 1  # January has 5 labels, February none: together still 5
    none = split(Batching("month", min_rows=20), 100, time=time, counted=np.zeros(100, bool))
    assert len(none) == 2


def test_a_column_in_the_order_of_time_of_numbers_or_of_appearance():
    values = pd.Series(["b", "a", "10", None, ""])
    assert [one.key for one in split(Batching("column", column="x", min_rows=1), 5, column=values).batches] == [
        "b", "a", "10",
    ]  # fmt: skip
    numbers = split(Batching("column", column="x", min_rows=1), 3, column=pd.Series([10, 9, 100]))
    assert [one.key for one in numbers.batches] == ["9", "10", "100"]
    time = days("2024-03-01", "2024-01-01", "2024-02-01")
    dated = split(Batching("column", column="x", min_rows=1), 3, column=pd.Series(["a", "b", "c"]), time=time)
    assert [one.key for one in dated.batches] == ["b", "c", "a"]


def test_rows_are_taken_in_the_order_of_time():
    time = days("2024-01-03", "2024-01-01", "2024-01-02")
    made = split(Batching("rows", size=2, min_rows=1), 3, time=time)
    assert [one.rows.tolist() for one in made.batches] == [[1, 2], [0]]
    assert [one.label for one in made.batches] == ["rows 1 to 2", "rows 3 to 3"]
    assert made.batches[0].key == "2024-01-01T00:00:00Z"
    assert split(Batching("rows", size=2, min_rows=1), 3, prefix="abc:").batches[1].key == "abc:000002"


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Batching("fortnight"), "choose one of them"),
        (lambda: Batching("column"), "name of the column"),
        (lambda: Batching("rows", size=0), "whole number from 1"),
        (lambda: split(Batching("day"), 2), "need a time column"),
        (lambda: split(Batching("day"), 2, time=days("NaT", "NaT")), "need a time column"),
        (lambda: split(Batching("column", column="x"), 2), 'no column "x"'),
        (
            lambda: split(Batching("day"), 3000, time=np.datetime64("2000-01-01") + np.arange(3000)),
            "3,000 batches by day are too many",
        ),
    ],
)
def test_what_cannot_be_is_said(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_no_rows_make_no_batches():
    assert len(split(Batching("rows"), 0)) == 0


def test_more_rows_at_one_time_than_a_batch_holds_are_all_there():
    time = days(*["2024-01-01"] * 1_000)
    made = split(Batching("rows", size=100, min_rows=1), 1_000, time=time)
    keys = [one.key for one in made.batches]
    assert len(set(keys)) == 10
    assert keys == sorted(keys)
    assert sum(map(len, made.batches)) == 1_000
