"""Which map was live when: known for every moment, never two at once, never rewritten."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from calcore.errors import InputError
from calcore.maps import CalibrationMap, IdentityFunction, LogisticFunction
from calcore.monitoring.store import schema

AT = datetime(2025, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def a_map(slope: float = 1.1) -> CalibrationMap:
    observation = {"name": "Clean", "parameters": {}, "assumptions": []}
    return CalibrationMap(
        function=LogisticFunction(slope, 0.1 + 0.2, 1e-6), calibrator="Platt", observation=observation, n=10
    )


@pytest.fixture
def stream(store):
    return store.stream("weekly", AT)


def test_a_map_is_known_by_what_it_holds(store, stream):
    first = store.put_map(stream, a_map().to_json(), "Platt, März", at=AT)
    again = store.put_map(stream, a_map().to_json(indent=2).encode(), "renamed", at=AT + DAY)
    assert again == first
    assert (first.sha256, first.name, first.at) == (a_map().checksum, "Platt, März", AT)
    child = store.put_map(stream, a_map(1.2).to_json(), "Platt, April", parent=first, at=AT)
    assert child.parent_id == first.id
    assert store.maps(stream) == (first, child)
    assert store.load_map(child) == a_map(1.2)
    scores = [0.0, 0.1, 1 / 3, 1.0]
    assert (store.load_map(child).predict(scores) == a_map(1.2).predict(scores)).all()


def test_only_a_map_of_the_stream_can_be_its_parent_or_live(store, stream):
    foreign = store.put_map(store.stream("other"), a_map().to_json(), "m")
    with pytest.raises(InputError, match='"m" is not one of the stream "weekly"'):
        store.put_map(stream, a_map(1.2).to_json(), "n", parent=foreign)
    with pytest.raises(InputError, match="not one of the stream"):
        store.set_live(stream, foreign, AT, "ann", replaces=None)
    with pytest.raises(InputError, match="no JSON object"):
        store.put_map(stream, "score,label", "n")
    assert store.maps(stream) == ()
    assert store.lineage(stream) == ()


@pytest.mark.parametrize("values", [{"json": "{}"}, {"json": a_map(1.3).to_json()}])
def test_a_map_that_was_exchanged_is_not_given_out(store, stream, values):
    record = store.put_map(stream, a_map().to_json(), "m")
    with store._database.writer.begin() as connection:
        connection.execute(update(schema.maps).values(values))
    with pytest.raises(InputError, match=r"exchanged|no calibration map"):
        store.load_map(record)


def test_the_lineage_says_which_map_was_live_when(store, stream):
    one, two = (store.put_map(stream, a_map(slope).to_json(), f"{slope}", at=AT) for slope in (1.1, 1.2))
    first = store.set_live(stream, one, AT, "ann", replaces=None)
    second = store.set_live(stream, two, AT + DAY, "bob", replaces=first)
    none = store.set_live(stream, None, AT + 2 * DAY, "ann", replaces=second)
    last = store.set_live(stream, one, AT + 3 * DAY, "cy", replaces=none)
    assert [
        (p.map and p.map.name, p.since - AT, p.until and p.until - AT, p.by) for p in store.lineage(stream)
    ] == [
        ("1.1", 0 * DAY, DAY, "ann"),
        ("1.2", DAY, 2 * DAY, "bob"),
        (None, 2 * DAY, 3 * DAY, "ann"),
        ("1.1", 3 * DAY, None, "cy"),
    ]
    assert last == store.lineage(stream)[-1]
    assert store.live_map(stream, AT - DAY) is None
    assert store.live_map(stream, AT) == one
    assert store.live_map(stream, AT + DAY - timedelta(microseconds=1)) == one
    assert store.live_map(stream, AT + DAY) == two
    assert store.live_map(stream, AT + 2.5 * DAY) is None
    assert store.live_map(stream) == one


def test_the_past_is_not_rewritten(store, stream):
    one = store.put_map(stream, a_map().to_json(), "m")
    first = store.set_live(stream, one, AT, "ann", replaces=None)
    for since in (AT, AT - DAY):
        with pytest.raises(InputError, match="give a later time"):
            store.set_live(stream, None, since, "bob", replaces=first)
    assert store.lineage(stream) == (first,)


def test_of_two_who_replace_the_same_map_the_second_is_told(store, stream):
    one, two = (store.put_map(stream, a_map(slope).to_json(), f"m{slope}", at=AT) for slope in (1.1, 1.2))
    first = store.set_live(stream, one, AT, "ann", replaces=None)
    with pytest.raises(
        InputError, match=r'"ann" set the map "m1\.1" live from 2025-03-01 00:00:00 UTC meanwhile'
    ):
        store.set_live(stream, two, AT + DAY, "bob", replaces=None)
    second = store.set_live(stream, two, AT + DAY, "bob", replaces=first)
    assert store.set_live(stream, two, AT + DAY, "bob", replaces=first) == second  # a repeated call
    with pytest.raises(InputError, match="meanwhile"):
        store.set_live(stream, one, AT + 2 * DAY, "ann", replaces=first)
    assert len(store.lineage(stream)) == 2


def test_a_map_of_any_kind_is_stored(store, stream):
    plain = replace(a_map(), function=IdentityFunction(), metrics={"ECE": {"value": 0.1, "interval": None}})
    assert store.load_map(store.put_map(stream, plain.to_json(), "m")) == plain
