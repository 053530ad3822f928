"""Parquet in every type that tools write: the same answer as from plain text."""

from __future__ import annotations

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calcore import ingest
from calcore.errors import InputError


def written(columns) -> bytes:
    stream = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), stream)
    return stream.getvalue()


SCORES = [0.25, 0.5, None, 0.75]


@pytest.mark.parametrize(
    "score",
    [
        pa.array(SCORES, pa.float64()),
        pa.array(SCORES, pa.float32()),
        pa.array([None if s is None else np.float16(s) for s in SCORES], pa.float16()),
        pa.array(["0.25", "0.5", None, "0.75"], pa.large_string()),
        pa.array(["0.25", "0.5", None, "0.75"]).dictionary_encode(),
        pa.array(["0.25", "0.5", None, "0.75"], pa.string_view()),
        pa.array([0.25, 0.5, None, 0.75]).cast(pa.decimal128(5, 2)),
    ],
)
@pytest.mark.parametrize(
    "label",
    [
        pa.array([1, 0, 1, None], pa.int8()),
        pa.array([1, 0, 1, None], pa.uint64()),
        pa.array([1.0, 0.0, 1.0, float("nan")], pa.float64()),
        pa.array([True, False, True, None]),
        pa.array(["1", "0", "1", ""]),
        pa.array(["1", "0", "1", None]).dictionary_encode(),
    ],
)
def test_types_do_not_change_the_answer(score, label):
    ingested = ingest.read(
        written({"score": score, "label": label, "g": pa.array(["a", None, "b", "NA"])}), "x.csv"
    )
    assert ingested.columns.score.tolist() == [0.25, 0.5, 0.75]
    assert np.array_equal(ingested.columns.label, [1, 0, np.nan], equal_nan=True)
    assert ingested.columns.groups["g"].tolist() == ["a", "(missing)", "NA"]
    assert ingested.report.refused == (ingest.Refused("score is missing", 1, (3,)),)
    assert "(row 3)" in ingested.report.sentence()
    assert ingested.report.unlabelled == 1


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int64[pyarrow]", "boolean", "str", "category"])
def test_pandas_nullable_types(dtype):
    label = pd.Series([1, 0, 1]).astype(dtype if dtype != "boolean" else "boolean")
    stream = io.BytesIO()
    pd.DataFrame({"score": pd.array([0.1, 0.2, 0.3], "Float32"), "label": label}).to_parquet(stream)
    assert ingest.read(stream).columns.label.tolist() == [1, 0, 1]


def test_nan_and_infinity_in_float_columns_are_refused():
    data = written({"score": pa.array([0.1, float("nan"), float("inf"), None]), "label": [1, 0, 1, 0]})
    ingested = ingest.read(data)
    assert {r.reason: r.lines for r in ingested.report.refused} == {
        "score is missing": (4,), "score is not a number": (2, 3)
    }  # fmt: skip


def test_timestamps_and_dates_come_out_in_utc():
    zone = pa.timestamp("ns", "Europe/Zurich")
    when = [dt.datetime(2026, 1, 5, 0, 0, tzinfo=dt.UTC), None]
    for column in (pa.array(when, zone), pa.array([dt.date(2026, 1, 5), None])):
        ingested = ingest.read(written({"score": [0.25, 0.5], "label": [1, 0], "when": column}))
        assert ingested.roles.time == "when"
        assert ingested.report.date_range == ("2026-01-05", "2026-01-05")
        assert str(ingested.table["when"].dtype) == "datetime64[ns, UTC]"


def test_nested_columns_are_left_out_with_a_warning():
    ingested = ingest.read(written({"score": [0.25, 0.5], "label": [1, 0], "list": [[1], [2, 3]]}))
    assert list(ingested.table.columns) == ["score", "label"]
    assert '"list"' in ingested.report.warnings[0]


def test_many_row_groups_are_one_column():
    stream = io.BytesIO()
    table = pa.table(
        {"score": np.linspace(0, 1, 1000), "label": [0, 1] * 500, "g": ["a", "b", "c", "a"] * 250}
    )
    pq.write_table(table, stream, row_group_size=100)
    ingested = ingest.read(stream)
    assert np.array_equal(ingested.columns.score, np.linspace(0, 1, 1000))
    assert ingested.columns.groups["g"].tolist() == ["a", "b", "c", "a"] * 250


def test_damaged_empty_and_doubled_parquet_are_sentences():
    good = written({"score": [0.5], "label": [1]})
    with pytest.raises(InputError, match="damaged Parquet"):
        ingest.read(good[:-20], "f")
    with pytest.raises(InputError, match="but no rows"):
        ingest.read(written({"score": pa.array([], pa.float64())}), "f")
    doubled = pa.Table.from_arrays([pa.array([0.5]), pa.array([1])], names=["a", "a"])
    with pytest.raises(InputError, match="Two columns"):
        ingest.read(written(doubled), "f")
