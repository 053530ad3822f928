"""Whatever is fed to the loader, it loads a map that round-trips or refuses with `InputError`."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap, PiecewiseLinearFunction

from .examples import FUNCTIONS, GROUPED, document_of, example, signed

#: One map of every kind; those of subgroups look at two of them.
_TWO = [{"kind": "equals", "column": "region", "value": one} for one in ("north", "south")]
EXAMPLES = {
    name: example(function, subgroups=_TWO)
    for name, function in {
        **{name: FUNCTIONS[name] for name in ("nested", "step", "constant")},
        **GROUPED,
    }.items()
}
each_example = st.sampled_from(sorted(EXAMPLES))
#: What tools write where JSON has nothing, and what no number is.
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "-0", "1" * 30, "9" * 500, "0." + "3" * 400, "[" * 50 + "]" * 50,
       "\u0000", '"\ud800"', "true", "null", '{"kind": "blend"}', "[]", '""', "01", "+1", ".5", "0x1")  # fmt: skip

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def _loads_or_refuses(document: str | bytes) -> None:
    try:
        map_ = CalibrationMap.from_json(document)
    except InputError:
        return
    assert CalibrationMap.from_json(map_.to_json()) == map_
    groups = np.zeros((7, len(map_.subgroups)), dtype=bool)
    if map_.function.needs_groups and len(map_.subgroups) < 2:
        return  # it speaks of subgroups that it does not define; whoever applies it is told
    out = map_.predict(np.linspace(0, 1, 7), groups)
    assert ((out >= 0.0) & (out <= 1.0)).all()


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200) | JSON_VALUES.map(json.dumps))
def test_fuzzed_bytes_text_and_json_never_crash_the_loader(document) -> None:
    _loads_or_refuses(document)


@settings(deadline=None)
@given(each_example, st.integers(0, 10**6), st.integers(0, 60), st.binary(max_size=20))
def test_fuzzed_edits_of_a_real_file_never_load_as_something_else(
    name: str, at: int, cut: int, new: bytes
) -> None:
    text = EXAMPLES[name].to_json().encode()
    at %= len(text)
    edited = text[:at] + new + text[at + cut :]
    with contextlib.suppress(InputError):
        assert CalibrationMap.from_json(edited) == EXAMPLES[name]


def _place(data: st.DataObject, document: Any) -> tuple[Any, Any]:
    """A container somewhere in the document, and a key of it."""
    place = document
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            return place, key
        place = inner


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_fuzzed_fields_with_a_fitting_checksum_never_crash_the_loader(data) -> None:
    document = document_of(EXAMPLES[data.draw(each_example)])
    place, key = _place(data, document)
    change = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
    if change == "replace":
        place[key] = data.draw(JSON_VALUES)
    elif change == "remove":
        del place[key]
    elif isinstance(place, list):
        place.append(place[key])
    else:
        place[f"{key} "] = place[key]
    _loads_or_refuses(signed(document))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_no_json_value_is_never_crashes_the_loader(data) -> None:
    document = document_of(EXAMPLES[data.draw(each_example)])
    del document["checksum"]  # it is made anew
    place, key = _place(data, document)
    place[key] = "here"
    text = signed(document).replace('"here"', data.draw(st.sampled_from(RAW)), 1)
    with pytest.raises(InputError):
        CalibrationMap.from_json(text)


@given(each_example)
def test_a_field_that_is_there_twice_is_refused(name: str) -> None:
    text = EXAMPLES[name].to_json()
    for field in ('"n": 1234', '"version": 1'):
        with pytest.raises(InputError, match="twice"):
            CalibrationMap.from_json(text.replace(field, f"{field}, {field}", 1))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, unique_by=lambda pair: pair[0] + 0.0),
    st.lists(st.floats(0, 1), max_size=20),
)
def test_any_knots_and_any_scores_survive_the_round_trip(knots, scores) -> None:
    x, y = zip(*sorted(knots), strict=True)
    map_ = example(PiecewiseLinearFunction(list(x), list(y)))
    back = CalibrationMap.from_json(map_.to_json())
    assert back == map_
    assert back.predict(scores).tobytes() == map_.predict(scores).tobytes()
