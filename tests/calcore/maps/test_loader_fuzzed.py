"""Whatever is fed to the loader, it loads a map that round-trips or refuses with `InputError`."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap, PiecewiseLinearFunction

from .examples import FUNCTIONS, document_of, example, signed

EXAMPLE = example(FUNCTIONS["nested"])

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
    out = map_.predict(np.linspace(0, 1, 7))
    assert ((out >= 0.0) & (out <= 1.0)).all()


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200) | JSON_VALUES.map(json.dumps))
def test_fuzzed_bytes_text_and_json_never_crash_the_loader(document) -> None:
    _loads_or_refuses(document)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 60), st.binary(max_size=20))
def test_fuzzed_edits_of_a_real_file_never_load_as_something_else(at: int, cut: int, new: bytes) -> None:
    text = EXAMPLE.to_json().encode()
    at %= len(text)
    edited = text[:at] + new + text[at + cut :]
    with contextlib.suppress(InputError):
        assert CalibrationMap.from_json(edited) == EXAMPLE


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_fuzzed_fields_with_a_fitting_checksum_never_crash_the_loader(data) -> None:
    document = document_of(EXAMPLE)
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(JSON_VALUES)
    _loads_or_refuses(signed(document))


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
