"""The functions of maps: right values, stable arithmetic, strict fields, no way to change them."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.special import expit, logit, xlog1py, xlogy

from calcore.errors import InputError
from calcore.maps import (
    BetaFunction,
    BlendFunction,
    ConstantFunction,
    IdentityFunction,
    LogisticFunction,
    PiecewiseLinearFunction,
    StepFunction,
    checked_scores,
    function_from_dict,
)
from calcore.maps.elementary import SCALAR_SOURCE, exp, log, sigmoid
from calcore.maps.map_function import KINDS

from .examples import FUNCTIONS, GROUPED, hard_scores

each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def test_elementary_functions_stay_within_an_ulp_and_equal_their_scalar_source() -> None:
    scalar = {"frexp": math.frexp, "ldexp": math.ldexp}
    exec(SCALAR_SOURCE, scalar)
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.random(5000), 10.0 ** rng.uniform(-307, 300, 5000), [5e-324, 0.5, 1.0, 0.7071067811865476]]
    )
    true = np.array([math.log(v) for v in x])
    assert np.abs(log(x) - true).max() <= np.spacing(np.abs(true)).max()
    assert (np.abs(log(x) - true) <= np.spacing(np.abs(true))).all()
    assert log(x).tolist() == [scalar["_log"](v) for v in x.tolist()]
    z = -np.concatenate([rng.uniform(0, 746, 5000), rng.random(5000), [0.0, 745.2, 746.0]])
    true = np.array([math.exp(v) for v in z])
    assert (np.abs(exp(z) - true) <= np.spacing(true)).all()
    assert exp(z).tolist() == [scalar["_exp"](v) for v in z.tolist()]
    z = np.concatenate([z, -z, [1e100, -1e100]])
    assert sigmoid(z).tolist() == [scalar["_sigmoid"](v) for v in z.tolist()]


@each_function
def test_values_stay_in_the_unit_interval_without_overflow_warnings(function) -> None:
    out = function(hard_scores(function))
    assert out.dtype == np.float64
    assert (out >= 0.0).all()
    assert (out <= 1.0).all()


def test_logistic_and_beta_equal_their_formulas() -> None:
    p = np.linspace(0, 1, 1001)
    q = np.clip(p, 1e-6, 1 - 1e-6)
    np.testing.assert_allclose(LogisticFunction(1.3, -0.4, 1e-6)(p), expit(1.3 * logit(q) - 0.4), rtol=1e-13)
    np.testing.assert_allclose(
        BetaFunction(1.2, 0.7, -0.3, 1e-6)(p), expit(xlogy(1.2, q) - xlog1py(0.7, -q) - 0.3), rtol=1e-13
    )


def test_piecewise_linear_is_np_interp_to_the_last_bit() -> None:
    function = FUNCTIONS["isotonic"]
    p = hard_scores(function)
    assert np.array_equal(function(p), np.interp(p, function.x, function.y))


def test_an_infinite_slope_between_close_knots_stays_between_them() -> None:
    function = PiecewiseLinearFunction([0.0, 1e-310, 1.0], [0.1, 0.2, 0.3])
    assert np.isinf(np.interp(5e-311, function.x, function.y))
    assert function([5e-311]).tolist() == [0.2]


def test_step_bins_are_closed_on_the_left_and_the_last_on_both_sides() -> None:
    function = StepFunction([0.0, 0.5, 1.0], [0.25, 0.75])
    assert function([0.0, np.nextafter(0.5, 0), 0.5, 1.0]).tolist() == [0.25, 0.25, 0.75, 0.75]


def test_blend_is_the_weighted_sum() -> None:
    p = np.linspace(0, 1, 11)
    function = BlendFunction([0.25, 0.75], [IdentityFunction(), ConstantFunction(0.5)])
    assert np.array_equal(function(p), 0.25 * p + 0.75 * 0.5)


def test_blocks_do_not_change_results_or_shapes() -> None:
    function = FUNCTIONS["nested"]
    p = np.random.default_rng(1).random(40_000)
    assert np.array_equal(function(p)[16_000:17_000], function(p[16_000:17_000]))
    assert function(p.reshape(200, 200)).shape == (200, 200)
    assert function(0.3).shape == ()
    assert function([]).shape == (0,)


@pytest.mark.parametrize(
    "scores, said",
    [
        ([0.1, float("nan"), 2.0], "2 of 3 scores are not in [0, 1], the first at position 1 (nan)"),
        ([0.1, -1e-5], "1 of 2 scores are not in [0, 1], the first at position 1 (-1e-05)"),
        ([float("inf")], "position 0 (inf)"),
        ([0.1, None], "position 1 (nan)"),
        (["0.1"], "not numbers"),
        ([1j], "not numbers"),
        ([[0.1], [0.2, 0.3]], "not numbers"),
        (np.array(["0.5", 0.1], dtype=object), "not numbers"),
        (np.array(["2025-01-01"], "M8[D]"), "not numbers"),
    ],
)
def test_unusable_scores_are_counted_and_located(scores, said: str) -> None:
    with pytest.raises(InputError) as caught:
        IdentityFunction()(scores)
    assert said in str(caught.value)


def test_rounding_errors_are_clipped_and_the_input_is_left_alone() -> None:
    scores = np.array([-1e-7, 0.5, 1 + 1e-7])
    assert IdentityFunction()(scores).tolist() == [0.0, 0.5, 1.0]
    assert scores[0] == -1e-7
    out = IdentityFunction()(scores := np.array([0.5]))
    out[0] = 1.0
    assert scores[0] == 0.5
    assert checked_scores(np.array([0.5], np.float32)).dtype == np.float64


@each_function
def test_every_function_survives_dict_pickle_and_copy(function) -> None:
    for other in (
        function_from_dict(function.to_dict()),
        pickle.loads(pickle.dumps(function)),
        copy.deepcopy(function),
    ):
        assert other == function
        assert hash(other) == hash(function)
        assert other(hard_scores(function)).tobytes() == function(hard_scores(function)).tobytes()


def test_different_functions_are_not_equal() -> None:
    values = list(FUNCTIONS.values())
    assert len(set(values)) == len(values)


def test_arrays_cannot_be_changed_through_any_door() -> None:
    x = np.array([0.0, 1.0])
    function = PiecewiseLinearFunction(x, [0.0, 1.0])
    x[0] = 0.5
    assert function.x[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        function.x[0] = 0.5
    with pytest.raises(ValueError, match="WRITEABLE"):
        function.x.flags.writeable = True
    with pytest.raises(AttributeError):
        function.x = x  # type: ignore[misc]


def _changed(function, **changes):
    return {**function.to_dict(), **changes}


@pytest.mark.parametrize(
    "given, said",
    [
        (_changed(FUNCTIONS["logistic"], slope="1"), '"slope"'),
        (_changed(FUNCTIONS["logistic"], slope=True), '"slope"'),
        (_changed(FUNCTIONS["logistic"], slope=float("nan")), '"slope"'),
        (_changed(FUNCTIONS["logistic"], intercept=10**400), '"intercept"'),
        (_changed(FUNCTIONS["logistic"], clip=0.0), '"clip"'),
        (_changed(FUNCTIONS["logistic"], clip=0.5), '"clip"'),
        (_changed(FUNCTIONS["beta"], a=None), '"a"'),
        (_changed(FUNCTIONS["beta"], more=1), "'more'"),
        (_changed(FUNCTIONS["constant"], value=1.5), '"value"'),
        ({"kind": "constant"}, '"value"'),
        (_changed(FUNCTIONS["one_knot"], x=[0.5, 0.5], y=[0.1, 0.2]), '"x"'),
        (_changed(FUNCTIONS["one_knot"], x=[0.5, 0.6]), "one y for each x"),
        (_changed(FUNCTIONS["one_knot"], x=[]), '"x"'),
        (_changed(FUNCTIONS["one_knot"], x="ab"), '"x"'),
        (_changed(FUNCTIONS["one_knot"], y=[[0.5]]), '"y[0]"'),
        (_changed(FUNCTIONS["one_knot"], y=[float("nan")]), '"y[0]"'),
        (_changed(FUNCTIONS["step_one_bin"], values=[0.1, 0.2]), "one edge more"),
        (_changed(FUNCTIONS["step_one_bin"], edges=[0.0, 2.0]), '"edges[1]"'),
        ({"kind": "blend", "weights": [0.5], "parts": [{"kind": "identity"}]}, "sum to 0.5"),
        ({"kind": "blend", "weights": [1.0], "parts": []}, "one weight a part"),
        ({"kind": "blend", "weights": [1.0], "parts": [3]}, '"kind"'),
        ({"kind": "blend", "weights": [1.0], "parts": {"kind": "identity"}}, '"parts"'),
        ({"kind": "blend", "weights": [-0.5, 1.5], "parts": [{"kind": "identity"}] * 2}, '"weights[0]"'),
        ({"kind": "magic"}, "'magic'"),
        ({"kind": ["identity"]}, "unknown kind"),
        ([], '"kind"'),
        (None, '"kind"'),
    ],
)
def test_an_unusable_field_is_named(given, said: str) -> None:
    with pytest.raises(InputError) as caught:
        function_from_dict(given)
    assert said in str(caught.value)


def test_blends_nest_four_deep_and_no_deeper() -> None:
    function = IdentityFunction()
    for _ in range(4):
        function = BlendFunction((1.0,), (function,))
    assert function([0.3]).tolist() == [0.3]
    with pytest.raises(InputError, match="more than 4 blends"):
        BlendFunction((1.0,), (function,))


def test_every_kind_is_exercised_here() -> None:
    assert set(KINDS) == {function.kind for function in (*FUNCTIONS.values(), *GROUPED.values())}
