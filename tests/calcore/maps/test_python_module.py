"""The exported Python module: the map's numbers to the last bit, the standard library alone, no way in."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.maps import (
    BlendFunction,
    IdentityFunction,
    MapFunction,
    PatchesFunction,
    PiecewiseLinearFunction,
    StepFunction,
    to_python,
    verify_json,
    verify_python,
)
from calcore.maps import verify as verify_module
from calcore.maps.map_function import KINDS

from .examples import CLEAN, FUNCTIONS, example, hard_scores

each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)

_RUN = """
import json, sys
given = json.load(sys.stdin)
module = {}
exec(given["source"], module)
result = []
for score in given["scores"]:
    try:
        result.append(module["calibrate"](score))
    except ValueError as error:
        result.append("ValueError: " + str(error))
json.dump([result, sorted(set(sys.modules) & {"numpy", "calcore", "os.evil"}), module["__doc__"]], sys.stdout)
"""


def _run(source: str, scores: list) -> tuple[list, list, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN],
        input=json.dumps({"source": source, "scores": scores}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    result, modules, doc = json.loads(done.stdout)
    return result, modules, doc


@each_function
def test_the_module_gives_the_maps_numbers_to_the_last_bit(function) -> None:
    scores = hard_scores(function)
    result, modules, _ = _run(to_python(example(function)), scores.tolist())
    assert modules == []
    assert np.array_equal(np.array(result, dtype=float), function(scores))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=8,
        unique_by=lambda pair: pair[0] + 0.0,
    ),
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_any_knots_give_np_interp_to_the_last_bit(knots, scores) -> None:
    x, y = zip(*sorted(knots), strict=True)
    function = PiecewiseLinearFunction(list(x), list(y))
    module: dict = {}
    exec(to_python(example(function)), module)
    scores += [*x, *np.nextafter(x, 0.0).tolist(), *np.nextafter(x, 1.0).tolist()]
    assert module["calibrate_many"](scores) == function(scores).tolist()
    plain = np.interp(scores, x, y)
    kept = (plain >= 0.0) & (plain <= 1.0)  # elsewhere the map keeps to the knots
    assert function(scores)[kept].tolist() == plain[kept].tolist()


def test_patches_for_everyone_move_every_score_as_the_map_does() -> None:
    for patches in (
        (),
        ((-1, 9, 0.3), (-1, 3, -0.05), (-1, 0, -1.0), (-1, 2, 0.05), (-1, 3, 0.1), (-1, 9, -0.2)),
    ):
        function = PatchesFunction(FUNCTIONS["logistic"], 10, patches)
        scores = hard_scores(function)
        module: dict = {}
        exec(to_python(example(function)), module)
        assert module["calibrate_many"](scores.tolist()) == function(scores).tolist()


def test_unusable_scores_are_refused_and_rounding_errors_clipped() -> None:
    source = to_python(example(IdentityFunction()))
    bad = [float("nan"), float("inf"), -1e-5, 1.1, "0.5", None, [0.5]]
    result, _, _ = _run(source, [*bad, -1e-7, 1 + 1e-7, 1])
    assert all(str(item).startswith("ValueError: the score is") for item in result[: len(bad)])
    assert result[len(bad) :] == [0.0, 1.0, 1.0]


@each_function
def test_the_source_is_ascii_and_parses_on_python_3_8(function) -> None:
    source = to_python(example(function))
    assert source.isascii()
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert imported <= {"math", "bisect"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


def _shape(source: str) -> list[str]:
    return [type(node).__name__ for node in ast.walk(ast.parse(source))]


HOSTILE = [
    '"""\nimport os.evil\n"""',
    "'''",
    '\\"""',
    "\\",
    '\\\\"',
    'a"',
    "\x00",
    "\r\nimport os",
    "\u2028x",
    "\\N{DIGIT ONE}",
    "\\x41\\u0041",
    "{score}",
    "%s",
    "# \n",
    "RESULT",
    "\U0001f600",
    "\x1b[31m",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_users_cannot_become_code(text: str) -> None:
    def built(value: str) -> str:
        return to_python(
            example(
                FUNCTIONS["gated"],
                calibrator=value,
                warnings=(value,),
                library_version=value,
                parameters={value: value},
                subgroups=[{"column": value, "equals": value}],
                observation={"name": value, "parameters": {value: [value]}, "assumptions": [value]},
            )
        )

    source = built(text)
    assert source.isascii()
    assert all(character.isprintable() or character == "\n" for character in source)
    assert _shape(source) == _shape(built("harmless"))
    _, modules, doc = _run(source, [0.5])
    assert modules == []
    assert doc.count(json.dumps(text)) >= 9


@settings(deadline=None)
@given(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])))
def test_fuzzed_text_stays_inside_the_docstring(text: str) -> None:
    source = to_python(example(IdentityFunction(), calibrator=text, warnings=(text, text + '"')))
    assert _shape(source) == _shape(to_python(example(IdentityFunction())))
    assert json.dumps(text + '"') in (ast.get_docstring(ast.parse(source), clean=False) or "")


def test_the_docstring_says_where_the_map_comes_from() -> None:
    map_ = example(FUNCTIONS["isotonic"])
    doc = ast.get_docstring(ast.parse(to_python(map_))) or ""
    for item in (
        "GatedLWCal",
        "1234 rows",
        "ab" * 32,
        "few rows above 0.9",
        map_.checksum,
        CLEAN["assumptions"][0],
    ):
        assert item in doc


class Unknown(MapFunction):
    """A kind that the exporter does not know."""

    kind = "unknown-to-python"

    def _apply(self, p, groups):
        return p


del KINDS["unknown-to-python"]  # known to this file alone


def test_a_kind_that_a_module_cannot_hold_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="unknown-to-python"):
        to_python(example(BlendFunction((1.0,), (Unknown(),))))


@each_function
def test_exports_verify_on_scores_and_edges(function) -> None:
    scores = np.random.default_rng(0).random(30_000)
    for check in (verify_json, verify_python):
        result = check(example(function), scores)
        assert result.ok
        assert result.largest_difference == 0.0
        assert result.n > 20_000
        assert f"{result.n:,} scores" in result.sentence


@pytest.mark.parametrize(
    "source, said",
    [
        ("def calibrate_many(s): return [x + 1e-9 for x in s]", "by up to 1e-09"),
        ("def calibrate_many(s): return [float('nan') for x in s]", "do not use it"),
        ("def calibrate_many(s): return s[1:]", "numbers for"),
        ("def calibrate_many(s): return 1 / 0", "does not run"),
        ("syntax error", "does not run"),
        ("def calibrate_many(s): print('x'); return s", "does not run"),
        ("import time\ntime.sleep(60)", "does not run"),
    ],
)
def test_a_wrong_export_is_not_called_right(source: str, said: str, monkeypatch) -> None:
    monkeypatch.setattr(verify_module, "to_python", lambda map_: source)
    monkeypatch.setattr(verify_module, "SECONDS", 1)
    result = verify_python(example(IdentityFunction()), [0.5])
    assert not result.ok
    assert said in result.sentence


def test_a_json_export_that_reads_back_differently_is_not_called_right(monkeypatch) -> None:
    map_ = example(StepFunction([0.0, 1.0], [0.5]))
    other = example(StepFunction([0.0, 1.0], [0.25])).to_json()
    monkeypatch.setattr(verify_module.CalibrationMap, "to_json", lambda self: other)
    assert not verify_json(map_, [0.5]).ok
    monkeypatch.setattr(verify_module.CalibrationMap, "to_json", lambda self: "{}")
    assert "cannot be read back" in verify_json(map_, [0.5]).sentence


def test_scores_that_no_map_takes_are_refused_before_the_export_runs() -> None:
    with pytest.raises(InputError, match="position 1"):
        verify_python(example(IdentityFunction()), [0.5, float("nan")])
