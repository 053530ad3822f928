"""The other functions that differ between subgroups: log-odds patches and group-wise logistic curves."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calcore.errors import InputError
from calcore.maps import (
    BoostedTreesFunction,
    CalibrationMap,
    GroupLogisticFunction,
    IdentityFunction,
    LogOddsPatchesFunction,
    json_schema,
    to_python,
    verify_json,
)
from calcore.subgroups import Membership

from .examples import GROUPED, document_of, example, hard_scores
from .test_patches import TWO


def memberships(rows):
    masks = np.random.default_rng(0).random((rows, 2)) < 0.5
    return masks, Membership.of_masks(masks)


def slow_logistic(function, score, groups):
    slope = function.slope + sum(v for v, inside in zip(function.slopes, groups, strict=True) if inside)
    shift = function.intercept + sum(
        v for v, inside in zip(function.intercepts, groups, strict=True) if inside
    )
    return expit(slope * logit(np.clip(score, function.clip, 1 - function.clip)) + shift)


def slow_patches(function, score, groups):
    for group, place, step in function.patches:
        here = min(int(np.searchsorted(np.arange(1, 10) / 10, score, side="right")), 9)
        if (group == -1 or groups[group]) and here == place:
            score = expit(logit(np.clip(score, 1e-6, 1 - 1e-6)) + step)
    return score


@pytest.mark.parametrize(
    "name, slow", [("group_logistic", slow_logistic), ("log_odds_patches", slow_patches)]
)
def test_values_are_the_formulas_row_by_row(name, slow):
    function = GROUPED[name]
    scores = hard_scores(function, 300)
    # patches that stop at an edge may round to either side of it: leave out what is that near
    if name != "group_logistic":
        scores = scores[np.abs(scores * 10 - np.round(scores * 10)) > 1e-9]
    masks, member = memberships(scores.size)
    expected = [slow(function, score, row) for score, row in zip(scores, masks, strict=True)]
    found = function(scores, masks)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    np.testing.assert_array_equal(found, function(scores, member))
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("name", ["group_logistic", "log_odds_patches", "boosted_trees"])
def test_saving_loading_and_new_rows(name):
    map_ = example(GROUPED[name], subgroups=TWO)
    assert CalibrationMap.from_json(map_.to_json()) == map_
    jsonschema.validate(document_of(map_), json_schema())
    assert verify_json(map_, np.linspace(0, 1, 50)).ok
    table = pd.DataFrame({"region": ["north", "south", "north"], "age": [20, 50, 60]})
    masks = np.array([[True, False], [False, True], [True, True]])
    scores = np.array([0.35, 0.25, 0.95])
    np.testing.assert_array_equal(map_.predict(scores, table), map_.predict(scores, masks))
    with pytest.raises(InputError, match="no groups were given"):
        map_.predict(scores)
    with pytest.raises(InputError, match="export it as JSON"):
        to_python(map_)


@pytest.mark.parametrize(
    "slopes, intercepts, said",
    [
        ((), (), '"slopes"'),
        ((1.0,), (1.0, 2.0), "one of each"),
        (("a",), (1.0,), "slopes\\[0\\]"),
        ((1.0,), (float("nan"),), "intercepts\\[0\\]"),
        (3, (1.0,), '"slopes"'),
    ],
)
def test_unusable_coefficients_are_named(slopes, intercepts, said):
    with pytest.raises(InputError, match=said):
        GroupLogisticFunction(1.0, 0.0, slopes, intercepts, 1e-6)


@pytest.mark.parametrize(
    "tree",
    [(), ((0, 0.5, 0, 1), (-2, 1.0, 0, 0)), ((0, 0.5, 1, 5), (-2, 1.0, 0, 0)), ((-3, 0.5, 0, 0),), ((-2, 1.0, 0),),
     ((0.5, 0.5, 1, 1), (-2, 1.0, 0, 0)), ((-2, float("nan"), 0, 0),), 3],
)  # fmt: skip
def test_trees_that_do_not_end_or_are_not_numbers_are_refused(tree):
    with pytest.raises(InputError, match="rounds"):
        BoostedTreesFunction(1e-9, (1.0,), ((tree,),))


def test_log_odds_patches_are_checked_as_patches_are():
    with pytest.raises(InputError, match="patches"):
        LogOddsPatchesFunction(IdentityFunction(), 10, ((0, 10, 0.1),))


@pytest.mark.parametrize("name", sorted(GROUPED))
def test_many_rows_get_the_bits_that_each_row_gets_alone(name):
    """Many rows are looked at in blocks, and trees once for each step: neither is seen in the numbers."""
    function = GROUPED[name]
    scores = np.concatenate([hard_scores(function, 70_000), np.full(3, 0.3)])
    masks, member = memberships(scores.size)
    found = function(scores, masks)
    assert np.array_equal(found, function(scores, member))
    for row in [*range(0, scores.size, 997), scores.size - 1]:
        assert function(scores[[row]], masks[[row]])[0] == found[row]


def test_trees_of_a_document_that_overflow_still_give_shares():
    huge = ((-2, 1e100, 0, 0),)
    function = BoostedTreesFunction(1e-9, (10.0,) * 250 + (0.0,), ((huge,),) * 251)
    found = function(np.linspace(0, 1, 50), np.zeros((50, 0), dtype=bool))
    assert ((found >= 0) & (found <= 1)).all()
