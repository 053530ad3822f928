"""What goes into the history comes out again: from SQLite and PostgreSQL alike, to the last bit, once."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.monitoring.store import AlertRecord, BatchRecord, Store
from calcore.monitoring.store.documents import decoded, encoded

AT = datetime(2025, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
ODD_NAMES = [
    "credit model, weekly",
    "😀 Grüße, 模型",
    "'; DROP TABLE calcore_streams; --",
    '"double" `back` %s :name \\ {x}',
    " spaces and\nlines\t",
    "x" * 10_000,
    "é" * 10_000,
    "ﬁ",  # a ligature, which some would equate with "fi"
]


def batch(key: str = "w1", **changes) -> BatchRecord:
    return replace(BatchRecord(key, f"week {key}", AT, AT + DAY, 100, 40), **changes)


@pytest.fixture
def stream(store):
    return store.stream("weekly", AT)


@pytest.fixture
def dataset(store, stream):
    return store.add_dataset(stream, sha256="a" * 64, filename="a.csv", rows=100, columns=["s", "y"], at=AT)


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


# names and numbers


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: ascii(name)[:20])
def test_odd_names_come_back_as_they_were_typed(store, name):
    stream = store.stream(name, AT)
    assert store.stream(name) == stream
    assert stream.name == name
    dataset = store.add_dataset(stream, sha256="b" * 64, filename=name, rows=1, columns=[name, ""], at=AT)
    assert (dataset.filename, dataset.columns) == (name, (name, ""))
    record = batch(name, label=name, document={name: name, "$" + name: [name]})
    store.add_run(stream, dataset, {name: 1}, [record], [AlertRecord(name, name, name)], {name: name}, AT)
    assert [found.record for found in store.batches(stream)] == [record]
    assert [found.record for found in store.batch_history(stream, name)] == [record]
    (alert,) = store.alerts(stream)
    assert (alert.key, alert.level, alert.batch_key) == (name, name, name)
    assert store.acknowledge(alert, name, name, AT).by == name
    assert store.alerts(stream)[0].acknowledged.note == name


def test_names_are_different_where_a_letter_is(store):
    names = ["a", "A", "a ", "ä", "a\u0308", "x" * 9_999, "x" * 10_000]
    assert len({store.stream(name).id for name in names}) == len(names)
    assert [stream.name for stream in store.streams()] == names


@pytest.mark.parametrize(
    "name, why", [("a\0b", "NUL"), ("\ud800", "Unicode"), ("", "is empty"), (3, "give text")]
)
def test_what_no_database_keeps_is_refused(store, stream, dataset, name, why):
    with pytest.raises(InputError, match=why):
        store.stream(name)
    with pytest.raises(InputError, match=why):
        store.add_run(stream, dataset, {}, [batch(name)])
    with pytest.raises(InputError, match=why):
        store.add_run(stream, dataset, {}, [], [AlertRecord(name, "wrong")])
    assert store.runs(stream) == ()


FLOATS = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3, 2.0**53 + 2, math.nan, math.inf, -math.inf]


def test_floats_come_back_to_the_last_bit(store, stream, dataset):
    document = {"values": FLOATS, "int": 2**80, "true": True, "none": None, "$float": {"$float": "nan"}}
    run = store.add_run(stream, dataset, document, [batch(document=document)], at=AT)
    for found in (store.batches(stream)[0].record.document, store.runs(stream)[0].settings, run.settings):
        assert [bits(value) for value in found["values"]] == [bits(value) for value in FLOATS]
        assert found["int"] == 2**80
        assert found["true"] is True
        assert found["none"] is None
        assert found["$float"] == {"$float": "nan"}


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
documents = st.dictionaries(
    st.text(),
    st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["$float", "$", "a"]), inner)
    ),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(documents)
def test_any_document_comes_back(document):
    text = encoded(document, "document")
    assert text.isascii()
    assert repr(decoded(text, "document")) == repr(document)  # repr: NaN is itself, -0.0 is not 0.0


def test_numpy_numbers_are_numbers(store, stream, dataset):
    document = {"a": np.float64(0.1), "b": np.int64(3), "c": np.bool_(True), "d": (np.float64("nan"),)}
    store.add_run(stream, dataset, {}, [batch(document=document)])
    found = store.batches(stream)[0].record.document
    assert (found["a"], found["b"], found["c"]) == (0.1, 3, True)
    assert math.isnan(found["d"][0])


def test_counts_of_numpy_and_times_of_pandas(store, stream, dataset):
    time = pd.Timestamp("2025-03-01 12:00:00.123456789", tz="Europe/Berlin")
    record = batch(rows=np.int64(100), labelled=np.int32(40), start=time, end=None)
    store.add_run(stream, dataset, {}, [record], at=pd.Timestamp(AT))
    found = store.batches(stream)[0].record
    assert (found.rows, found.labelled) == (100, 40)
    assert found.start == datetime(2025, 3, 1, 11, 0, 0, 123456, tzinfo=UTC)
    with pytest.raises(InputError, match="is 'NaT', without a time zone"):
        store.add_run(stream, dataset, {}, [batch(start=pd.NaT)])


@pytest.mark.parametrize(
    "document, why", [({1: 2}, "no text"), ({"a": {1}}, "a set"), ([1], "an object"), ({"a": AT}, "datetime")]
)
def test_what_is_no_json_is_refused(store, stream, dataset, document, why):
    with pytest.raises(InputError, match=why):
        store.add_run(stream, dataset, {}, [batch(document=document)])


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1}', "damaged"),
        ('{"version": 1, "document": NaN}', "damaged"),
        ('{"version": true, "document": 3}', "damaged"),
        ('{"version": 1, "document": {"a": {"$float": "x"}}}', "damaged"),
        ('{"version": 2, "document": {}}', "newer calcore"),
    ],
)
def test_a_damaged_document_is_said_to_be_one(text, why):
    with pytest.raises(InputError, match=why):
        decoded(text, "document")


def test_times_come_back_in_utc(store, stream, dataset):
    far = timezone(timedelta(hours=5, minutes=45))
    times = [
        AT,
        AT.astimezone(far),
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(9999, 12, 30, 23, 59, 59, 999999, UTC),
    ]
    for i, at in enumerate(times):
        store.add_run(stream, dataset, {}, [batch(str(i), start=at, end=None)], at=at)
    assert [run.at for run in store.runs(stream)] == times
    assert all(run.at.tzinfo is UTC for run in store.runs(stream))
    assert sorted(found.record.start for found in store.batches(stream)) == sorted(times)
    with pytest.raises(InputError, match="without a time zone"):
        store.add_run(stream, dataset, {}, [], at=datetime(2025, 1, 1))


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"start": AT + 2 * DAY}, "ends before"),
        ({"labelled": 101}, "more labels than rows"),
        ({"rows": -1}, "whole number"),
        ({"rows": 2**63}, "whole number"),
        ({"kind": "guessed"}, "measured or estimated"),
        ({"start": datetime(2025, 1, 1)}, "without a time zone"),
    ],
)
def test_a_batch_that_cannot_be_is_refused(store, stream, dataset, changes, why):
    with pytest.raises(InputError, match=why):
        store.add_run(stream, dataset, {}, [batch("w0"), batch(**changes)])
    assert store.batches(stream) == ()


# datasets and runs


def test_a_dataset_is_known_by_its_content(store, stream, dataset):
    again = store.add_dataset(stream, sha256="a" * 64, filename="copy.csv", rows=100, columns=[], at=AT + DAY)
    assert again == dataset
    other = store.stream("other")
    assert store.add_dataset(other, sha256="a" * 64, filename="a.csv", rows=1, columns=[]).id != dataset.id
    assert store.datasets(stream) == (dataset,)
    with pytest.raises(InputError, match="64 lower-case"):
        store.add_dataset(stream, sha256="A" * 64, filename="a.csv", rows=1, columns=[])


def test_rows_are_kept_only_when_asked_for(store, dataset):
    assert store.rows(dataset) is None
    parquet = b"PAR1" + bytes(range(256)) * 5_000 + b"PAR1"
    store.keep_rows(dataset, parquet)
    store.keep_rows(dataset, b"PAR1PAR1")
    assert store.rows(dataset) == parquet
    with pytest.raises(InputError, match="no Parquet"):
        store.keep_rows(dataset, b"score,label")


def test_a_repeated_run_is_stored_once(store, stream, dataset):
    def call(**changes):
        values = {"results": [batch()], "alerts": [AlertRecord("k", "wrong")], "state": {"e": 1.5}, "at": AT}
        return store.add_run(stream, dataset, {"bins": 15}, **{**values, **changes})

    first, second = call(), call()
    assert second == first
    assert (first.repeated, second.repeated) == (False, True)
    assert len(store.runs(stream)) == len(store.batch_history(stream, "w1")) == len(store.alerts(stream)) == 1
    assert call(at=AT + DAY).id != first.id
    assert call(state=None).id != first.id
    named = call(key="2025-09")
    assert call(key="2025-09", at=AT + DAY) == named
    with pytest.raises(InputError, match='"2025-09" is in the history with other results'):
        call(key="2025-09", results=[batch("w2")])
    assert len(store.runs(stream)) == 4


def test_a_run_that_cannot_be_stored_leaves_nothing(store, stream, dataset):
    for results, alerts in ([batch(), batch()], []), ([batch()], [AlertRecord("k", "wrong")] * 2):
        with pytest.raises(InputError, match="twice"):
            store.add_run(stream, dataset, {}, results, alerts)
    other = store.stream("other")
    with pytest.raises(InputError, match="not one of the stream"):
        store.add_run(other, dataset, {}, [batch()])
    assert store.runs(stream) == store.runs(other) == store.alerts(stream) == store.batches(stream) == ()


def test_the_state_is_that_of_the_last_run_which_left_one(store, stream, dataset):
    assert store.last_state(stream) is None
    first = store.add_run(stream, dataset, {}, [], state={"e": 1.0}, at=AT)
    store.add_run(stream, dataset, {}, [], at=AT + DAY)
    assert store.last_state(stream).run == first
    second = store.add_run(stream, dataset, {}, [], state={"e": 2.0}, at=AT + 2 * DAY, continues=first)
    with pytest.raises(InputError, match="Another run was stored"):
        store.add_run(stream, dataset, {}, [], state={"e": 3.0}, at=AT + 3 * DAY, continues=first)
    assert store.last_state(stream).run == second
    assert store.last_state(stream).document == {"e": 2.0}


# batches


def test_estimates_are_replaced_by_measurements_and_stay_in_history(store, stream, dataset):
    def run(record, day):
        store.add_run(stream, dataset, {}, [record], at=AT + day * DAY)

    guess, later_guess = (batch(kind="estimated", labelled=0, document={"ece": x}) for x in (0.1, 0.2))
    found, corrected = batch(document={"ece": 0.3}), batch(document={"ece": 0.4})
    latest = []
    for day, record in enumerate([guess, later_guess, found, guess, corrected]):
        run(record, day)
        latest += [entry.record for entry in store.batches(stream)]
    assert latest == [guess, later_guess, found, found, corrected]
    history = [entry.record for entry in store.batch_history(stream, "w1")]
    assert history == [guess, later_guess, found, guess, corrected]
    assert [entry.run_id for entry in store.batch_history(stream, "w1")] == [r.id for r in store.runs(stream)]


def test_batches_come_by_start_and_without_times_as_they_came(store, stream, dataset):
    later, earlier = batch("z", start=AT), batch("y", start=AT - DAY)
    timeless = [batch(key, start=None, end=None) for key in ("c", "a", "b")]
    store.add_run(stream, dataset, {}, [later, *timeless, earlier], at=AT)
    store.add_run(stream, dataset, {}, [timeless[0]], at=AT + DAY)
    assert [entry.record.key for entry in store.batches(stream)] == ["y", "z", "c", "a", "b"]
    other = store.stream("other")
    assert store.batches(other) == store.batch_history(other, "c") == ()


# alerts


def test_the_same_alert_of_a_later_run_is_the_same_alert(store, stream, dataset):
    for day, level in enumerate(["watch", "wrong"]):
        found = [AlertRecord("w1: ece", level, "w1", {"value": day / 10}), AlertRecord(f"day {day}", "watch")]
        store.add_run(stream, dataset, {}, [], found, at=AT + day * DAY)
    same, first, second = store.alerts(stream)
    assert (same.level, same.batch_key, same.document) == ("wrong", "w1", {"value": 0.1})
    assert (same.first_seen, same.last_seen) == (AT, AT + DAY)
    assert (first.first_seen, first.last_seen) == (AT, AT)
    assert (second.first_run_id, second.key) == (store.runs(stream)[1].id, "day 1")


def test_an_alert_is_acknowledged_once(store, stream, dataset):
    store.add_run(stream, dataset, {}, [], [AlertRecord("k", "wrong"), AlertRecord("l", "wrong")], at=AT)
    alert, other = store.alerts(stream)
    first = store.acknowledge(alert, "ann", "seen", AT)
    second = store.acknowledge(alert, "bob", "me too", AT + DAY)
    assert second == first
    assert (first.kept_earlier, second.kept_earlier) == (False, True)
    assert [entry.key for entry in store.alerts(stream, open_only=True)] == [other.key]
    store.add_run(stream, dataset, {}, [], [AlertRecord("k", "wrong")], at=AT + DAY)
    assert store.alerts(stream)[0].acknowledged == first
    assert len(store.alerts(stream, open_only=True)) == 1


# the store


def test_what_comes_out_cannot_be_changed(stream):
    with pytest.raises(FrozenInstanceError):
        stream.name = "other"


def test_another_store_finds_everything(url):
    with Store.open(url) as store:
        stream = store.stream("weekly", AT)
        dataset = store.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=["s"], at=AT)
        run = store.add_run(stream, dataset, {"a": 1}, [batch()], [AlertRecord("k", "wrong")], {"e": 1}, AT)
    with Store.open(url) as store:
        assert store.streams() == (stream,)
        assert store.datasets(stream) == (dataset,)
        assert store.runs(stream) == (run,)
        assert store.last_state(stream).document == {"e": 1}
        assert json.dumps(store.batches(stream)[0].record.document) == "{}"
