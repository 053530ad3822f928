"""The map as an artefact: the same after every round trip, unchangeable, and deaf to every other input."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from time import perf_counter
from typing import Any

import jsonschema
import numpy as np
import pytest

from calcore.errors import InputError
from calcore.maps import CalibrationMap, IdentityFunction, MapFunction, json_schema
from calcore.maps.map_function import KINDS

from .examples import CLEAN, FUNCTIONS, document_of, example, hard_scores, signed

EXAMPLE = example(FUNCTIONS["nested"])
VALIDATOR = jsonschema.Draft202012Validator(json_schema())
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@each_function
@pytest.mark.parametrize("indent", [None, 2])
def test_json_gives_back_the_same_map_and_the_same_bits(function, indent) -> None:
    map_ = example(function)
    text = map_.to_json(indent)
    for back in (
        CalibrationMap.from_json(text),
        CalibrationMap.from_json(text.encode()),
        CalibrationMap.from_json(b"\xef\xbb\xbf" + text.encode()),
    ):
        assert back == map_
        assert hash(back) == hash(map_)
        assert back.to_json(indent) == text
        scores = hard_scores(function)
        assert back.predict(scores).tobytes() == map_.predict(scores).tobytes()


@each_function
def test_every_exported_map_satisfies_the_published_schema(function) -> None:
    VALIDATOR.validate(json.loads(example(function).to_json()))
    minimal = CalibrationMap(function=function, calibrator="Identity", observation=CLEAN, n=0)
    VALIDATOR.validate(json.loads(minimal.to_json()))


def test_the_schema_is_valid_knows_every_kind_and_refuses_unknown_fields() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    refs = {item["$ref"].rsplit("/", 1)[1] for item in json_schema()["$defs"]["function"]["oneOf"]}
    assert refs == set(KINDS)
    for change in (
        {"extra": 1},
        {"version": 2},
        {"n": -1},
        {"function": {"kind": "magic"}},
        {"created": "today"},
        {"function": {"kind": "identity", "extra": 1}},
        {"data_sha256": "xyz"},
    ):
        assert not VALIDATOR.is_valid({**document_of(EXAMPLE), **change}), change


def test_a_map_written_by_the_first_version_still_loads_with_its_numbers() -> None:
    folder = Path(__file__).parent
    map_ = CalibrationMap.from_json((folder / "version1.json").read_bytes())
    kept = json.loads((folder / "version1_predictions.json").read_text())
    assert map_.predict(kept["scores"]).tolist() == kept["calibrated"]


def test_a_tool_that_reformats_the_json_changes_nothing() -> None:
    document = document_of(EXAMPLE)
    document["input_domain"] = [0, 1]  # as a tool without floats writes 0.0 and 1.0
    whole = example(FUNCTIONS["nested"], input_domain=(0.0, 1.0))
    document["checksum"] = whole.checksum
    assert CalibrationMap.from_json(json.dumps(document, indent=7, sort_keys=True)) == whole


def test_pickle_and_copy_keep_the_map_for_caches() -> None:
    assert pickle.loads(pickle.dumps(EXAMPLE)) == EXAMPLE
    assert copy.deepcopy(EXAMPLE) == EXAMPLE


def test_nothing_given_or_taken_can_change_the_map() -> None:
    parameters = {"deep": {"list": [1, 2]}}
    map_ = example(IdentityFunction(), parameters=parameters)
    parameters["deep"]["list"].append(3)
    assert map_.parameters == {"deep": {"list": (1, 2)}}
    for change in (
        lambda: map_.parameters.update(a=1),
        lambda: map_.parameters["deep"].clear(),
        lambda: map_.metrics.__setitem__("a", 1),
        lambda: map_.observation.pop("name"),
        lambda: map_.subgroups[0].__delitem__("column"),
        lambda: map_.metrics.__ior__({"a": 1}),
    ):
        with pytest.raises(TypeError, match="immutable"):
            change()
    with pytest.raises(AttributeError):
        map_.n = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"calibrator": ""}, '"calibrator"'),
        ({"n": -1}, '"n"'),
        ({"n": True}, '"n"'),
        ({"n": 1.0}, '"n"'),
        ({"observation": {"name": "x", "parameters": {}}}, '"assumptions"'),
        ({"observation": {**CLEAN, "assumptions": "one"}}, '"observation.assumptions"'),
        ({"parameters": {"a": float("nan")}}, '"parameters.a"'),
        ({"parameters": {"a": {1: 2}}}, '"a key of parameters.a"'),
        ({"parameters": {"a": object()}}, "a object"),
        ({"parameters": {"a": 10**5000}}, "very large"),
        ({"input_domain": (0.9, 0.1)}, '"input_domain"'),
        ({"input_domain": (0, 2)}, '"input_domain[1]"'),
        ({"input_domain": 3}, '"input_domain"'),
        ({"subgroups": {"a": 1}}, '"subgroups"'),
        ({"subgroups": ["a"]}, '"subgroups[0]"'),
        ({"data_sha256": "AB" * 32}, '"data_sha256"'),
        ({"metrics": {"ece": "low"}}, "'ece'"),
        ({"metrics": {"ece": True}}, "'ece'"),
        ({"warnings": "one"}, '"warnings"'),
        ({"warnings": ["\ud800"]}, "half of a character"),
        ({"created": "yesterday"}, '"created"'),
        ({"created": "2025-02-30T00:00:00Z"}, '"created"'),
        ({"created": "2025-01-01T00:00:00+02:00"}, '"created"'),
        ({"library_version": None}, '"library_version"'),
    ],
)
def test_what_cannot_be_stored_is_refused_when_the_map_is_made(changes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        example(IdentityFunction(), **changes)
    assert said in str(caught.value)


def test_a_bare_callable_is_no_function_of_a_map() -> None:
    with pytest.raises(InputError, match='"function"'):
        CalibrationMap(function=np.interp, calibrator="x", observation=CLEAN, n=0)  # type: ignore[arg-type]


def test_numpy_values_in_parameters_and_metrics_become_plain() -> None:
    map_ = example(
        IdentityFunction(),
        parameters={"a": np.int64(3), "b": np.array([0.5]), "c": np.bool_(True)},
        metrics={"ece": np.float64(0.25), "n": np.int32(4)},
        n=np.int64(7),
    )
    assert json.loads(map_.to_json())["parameters"] == {"a": 3, "b": [0.5], "c": True}


DEEP = "[" * 100_000


def _with(value: str) -> str:
    """A map with something else in the place of its number of rows."""
    return EXAMPLE.to_json().replace('"n": 1234', f'"n": {value}', 1)


@pytest.mark.parametrize(
    "document, said",
    [
        ("", "no JSON object"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        (b"\x80\x04N.", "not UTF-8"),
        (b"\xff\xfe{\x00", "not UTF-8"),
        ("{", "not valid JSON"),
        ("{}", '"format"'),
        ('{"a":1,"a":2}', "twice"),
        ('{"a":NaN}', "NaN"),
        ('{"a":-Infinity}', "-Infinity"),
        (_with("1e999"), "content.n"),
        ('{"a":' + "9" * 5000 + "}", "too long"),
        (_with("9" * 400), "very large"),
        ('{"a":' + DEEP, "too deep"),
        (_with('{"a":' * 40 + "1" + "}" * 40), "32 levels"),
        (_with('"\\ud800"'), "half of"),
        (_with('{"\\ud800":1}'), "half of"),
        ('{"format":"other"}', "'other'"),
        ('{"format":["x"]}', '"format"'),
        ('{"format":"calcore.calibration-map","version":2}', "version 2"),
        ('{"format":"calcore.calibration-map","version":true}', "version True"),
        ('{"format":"calcore.calibration-map","version":1}', '"function"'),
        ('{"format":"calcore.calibration-map"}', "version None"),
        (3, "text or bytes"),
        (None, "text or bytes"),
    ],
)
def test_foreign_and_damaged_files_get_one_sentence(document, said: str) -> None:
    with pytest.raises(InputError) as caught:
        CalibrationMap.from_json(document)
    message = str(caught.value)
    assert said in message
    assert message.endswith(".")
    assert len(message) < 400
    assert "\n" not in message


def test_every_missing_unknown_or_changed_field_is_refused_even_with_a_fitting_checksum() -> None:
    document = document_of(EXAMPLE)
    for name in document:
        rest = {key: value for key, value in document.items() if key != name}
        with pytest.raises(InputError, match=name):
            CalibrationMap.from_json(json.dumps(rest) if name == "checksum" else signed(rest))
        for other in ([1], "x", 3.5, {"a": None}):
            forged = {**document, name: other}
            if name == "checksum":
                with pytest.raises(InputError, match="checksum"):
                    CalibrationMap.from_json(json.dumps(forged))
            elif not (other == "x" and name in ("calibrator", "library_version")) and not (
                name in ("parameters", "metrics") and isinstance(other, dict)
            ):
                with pytest.raises(InputError):
                    CalibrationMap.from_json(signed(forged))
    with pytest.raises(InputError, match="'extra'"):
        CalibrationMap.from_json(signed({**document, "extra": 1}))


def test_a_changed_value_does_not_match_the_checksum() -> None:
    with pytest.raises(InputError, match="checksum"):
        CalibrationMap.from_json(EXAMPLE.to_json().replace('"n": 1234', '"n": 1235'))


@pytest.mark.parametrize(
    "bomb",
    ["x" * 50_000_001, b"{" * 50_000_001, b'{"a":[' + b"[]," * 16_000_000, '{"a":[' + "0," * 24_000_000],
    ids=["text", "bytes", "lists", "numbers"],
)
def test_a_size_bomb_is_refused_before_it_is_parsed(bomb) -> None:
    start = perf_counter()
    with pytest.raises(InputError, match="than"):
        CalibrationMap.from_json(bomb)
    assert perf_counter() - start < 1.0


def test_what_nests_as_deep_as_allowed_can_be_read_back() -> None:
    value: Any = 1
    for level in range(60):
        try:
            map_ = example(
                IdentityFunction(), parameters={"a": value}, observation={**CLEAN, "parameters": {"a": value}}
            )
        except InputError:
            assert level > 25
            return
        assert CalibrationMap.from_json(map_.to_json()) == map_
        value = [value]
    pytest.fail("no limit on levels")


class PerGroup(MapFunction):
    """A function that depends on groups, as a later kind will."""

    needs_groups = True

    def _apply(self, p, groups):
        return np.where(groups[:, 0], 1.0, p)


def test_groups_are_demanded_and_checked_where_they_matter_and_ignored_elsewhere() -> None:
    map_ = example(PerGroup())
    assert map_.predict([0.1, 0.2], [[True], [False]]).tolist() == [1.0, 0.2]
    for groups in (None, [True, False], [[1], [0]], [[True]]):
        with pytest.raises(InputError, match="groups"):
            map_.predict([0.1, 0.2], groups)
    assert EXAMPLE.predict([0.1], "anything").shape == (1,)
