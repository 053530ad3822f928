"""ONNX models: the map's numbers in onnxruntime, in double precision, at every edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.maps import ONNX_TOLERANCE, PatchesFunction, PiecewiseLinearFunction, to_onnx, verify_onnx
from calcore.maps import onnx_model as module

from .examples import FUNCTIONS, GROUPED, example, hard_scores

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (requirements-dev.txt)")
onnx = pytest.importorskip("onnx", reason="onnx is not installed (requirements-dev.txt)")

EVERYONE = PatchesFunction(
    FUNCTIONS["logistic"], 10, ((-1, 9, 0.3), (-1, 3, -0.05), (-1, 0, -1.0), (-1, 2, 0.05), (-1, 3, 0.1))
)
ALL = {**FUNCTIONS, "patches for everyone": EVERYONE}
each_function = pytest.mark.parametrize("function", ALL.values(), ids=ALL)


@each_function
def test_the_model_gives_the_maps_numbers_on_scores_and_edges(function) -> None:
    scores = hard_scores(function)
    found = module.run_onnx(to_onnx(example(function)), scores)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    np.testing.assert_allclose(found, function(scores), rtol=0, atol=ONNX_TOLERANCE)


def test_piecewise_maps_are_exact_with_thousands_of_knots_too() -> None:
    rng = np.random.default_rng(5)
    x = np.unique(rng.random(8000))
    many = PiecewiseLinearFunction(x, np.sort(rng.random(len(x))))
    for function in [many, *(FUNCTIONS[name] for name in ("isotonic", "tiny_knots", "step", "one_knot"))]:
        scores = hard_scores(function)
        assert np.array_equal(module.run_onnx(to_onnx(example(function)), scores), function(scores))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=30,
        unique_by=lambda pair: pair[0] + 0.0,
    )
)
def test_any_knots_give_the_maps_numbers_to_the_last_bits(knots) -> None:
    x, y = zip(*sorted(knots), strict=True)
    function = PiecewiseLinearFunction(list(x), list(y))
    points = np.concatenate([x, np.nextafter(x, 0.0), np.nextafter(x, 1.0), np.linspace(0, 1, 50)])
    found = module.run_onnx(to_onnx(example(function)), points)
    np.testing.assert_allclose(found, function(points), rtol=0, atol=1e-15)


@each_function
def test_unusable_scores_become_nan_and_rounding_errors_are_clipped(function) -> None:
    scores = np.array([np.nan, -1e-5, 1.1, np.inf, -np.inf, -1e-7, 1 + 1e-7])
    found = module.run_onnx(to_onnx(example(function)), scores)
    assert np.isnan(found).tolist() == [True] * 5 + [False] * 2
    np.testing.assert_allclose(found[5:], function([0.0, 1.0]), rtol=0, atol=ONNX_TOLERANCE)


def test_the_model_says_its_tolerance_and_where_it_comes_from() -> None:
    map_ = example(FUNCTIONS["gated"], calibrator='x"\n✓')
    model = onnx.load_from_string(to_onnx(map_))
    onnx.checker.check_model(model, full_check=True)
    kept = {item.key: item.value for item in model.metadata_props}
    assert float(kept["tolerance"]) == ONNX_TOLERANCE
    assert kept["calibrator"] == map_.calibrator
    assert kept["map_checksum"] == map_.checksum
    assert [node.name for node in model.graph.input] == ["score"]
    assert [node.name for node in model.graph.output] == ["calibrated"]


def test_a_map_of_subgroups_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="differs between subgroups"):
        to_onnx(example(GROUPED["patches"]))


@pytest.mark.parametrize("absent", ["onnx", "onnxruntime"])
def test_without_the_packages_a_sentence_says_what_to_install(absent: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == absent else True)
    with pytest.raises(InputError, match=f"pip install.*{absent}"):
        verify_onnx(example(FUNCTIONS["logistic"]), [0.5])


@each_function
def test_models_verify_on_scores_and_edges(function) -> None:
    check = verify_onnx(example(function), np.random.default_rng(0).random(3000))
    assert check.ok
    assert f"{check.n:,} scores" in check.sentence


def test_a_wrong_model_is_not_called_right(monkeypatch) -> None:
    map_ = example(FUNCTIONS["logistic"])
    other = to_onnx(example(FUNCTIONS["beta"]))
    monkeypatch.setattr(module, "to_onnx", lambda map_: other)
    assert "do not use it" in verify_onnx(map_, [0.5]).sentence
    monkeypatch.setattr(module, "to_onnx", lambda map_: b"no model")
    assert "does not run" in verify_onnx(map_, [0.5]).sentence
