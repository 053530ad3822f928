"""Maps that differ between subgroups: saved, loaded, applied by the columns of new rows."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest

from calcore.calibrators import WLMC, PatchedWLMC
from calcore.errors import InputError
from calcore.maps import (
    CalibrationMap,
    IdentityFunction,
    PatchesFunction,
    json_schema,
    to_python,
    verify_json,
)
from calcore.observation import Clean
from calcore.subgroups import Membership, Subgroup, make_subgroups

from .examples import GROUPED, document_of, example, hard_scores

TWO = [
    {"kind": "equals", "column": "region", "value": "north"},
    {"kind": "between", "column": "age", "low": 40.0, "high": None},
]


def slow(function, scores, groups):
    """Patch by patch and row by row."""
    found = function.first(scores)
    for group, place, step in function.patches:
        for i, score in enumerate(found):
            here = min(
                int(np.searchsorted(np.arange(1, function.bins) / function.bins, score, side="right")), 9
            )
            if (group == -1 or groups[i, group]) and here == place:
                found[i] = min(max(score + step, 0.0), 1.0)
    return found


def test_patches_move_only_their_cell_one_after_the_other():
    function = GROUPED["patches"]
    scores = hard_scores(function, 300)
    groups = np.random.default_rng(0).random((scores.size, 2)) < 0.5
    np.testing.assert_array_equal(function(scores, groups), slow(function, scores, groups))


def test_saving_and_loading_keeps_every_bit_and_fits_the_schema():
    map_ = example(GROUPED["patches"], subgroups=TWO)
    back = CalibrationMap.from_json(map_.to_json())
    assert back == map_
    jsonschema.validate(document_of(map_), json_schema())
    assert verify_json(map_, np.linspace(0, 1, 50)).ok


def test_new_rows_are_told_apart_by_their_columns():
    map_ = example(GROUPED["patches"], subgroups=TWO)
    table = pd.DataFrame({"region": ["north", "south", "north"], "age": [20, 50, 60], "more": [1, 2, 3]})
    masks = np.array([[True, False], [False, True], [True, True]])
    scores = np.array([0.35, 0.25, 0.95])
    np.testing.assert_array_equal(map_.predict(scores, table), map_.predict(scores, masks))


def test_a_missing_column_is_named_instead_of_guessed():
    map_ = example(GROUPED["patches"], subgroups=TWO)
    with pytest.raises(InputError, match="'region'"):
        map_.predict([0.1], pd.DataFrame({"age": [20]}))
    with pytest.raises(InputError, match="no groups were given"):
        map_.predict([0.1])


def test_subgroups_known_by_name_alone_cannot_be_looked_up():
    map_ = example(GROUPED["patches"], subgroups=[{"name": "A"}, {"name": "B"}])
    with pytest.raises(InputError, match="no definition by columns"):
        map_.predict([0.1], pd.DataFrame({"A": ["x"]}))


def test_a_python_module_refuses_what_it_cannot_hold():
    with pytest.raises(InputError, match="export it as JSON"):
        to_python(example(GROUPED["patches"], subgroups=TWO))


@pytest.mark.parametrize(
    "patches",
    [
        [[0, 10, 0.1]],
        [[0, 1, 2.0]],
        [[0, 1]],
        [[0.5, 1, 0.1]],
        [[-2, 1, 0.1]],
        "abc",
        [[0, 1, float("nan")]],
        3,
    ],
)
def test_an_unusable_patch_is_named(patches):
    with pytest.raises(InputError, match="patches"):
        PatchesFunction(IdentityFunction(), 10, patches)


@pytest.mark.parametrize("method", [WLMC(), PatchedWLMC()])
def test_a_fitted_map_applies_to_new_rows_as_it_did_to_the_old(method):
    rng = np.random.default_rng(1)
    n = 5000
    table = pd.DataFrame({"region": rng.choice(["n", "s", "w"], n), "age": rng.integers(18, 80, n)})
    score = rng.uniform(0.1, 0.9, n)
    truth = np.clip(score + 0.15 * (table["region"] == "n"), 0, 1)
    label = (rng.random(n) < truth).astype(float)
    chosen = make_subgroups(table, ["region", "age"])
    fitted = method.fit(Clean().evidence(score, label, groups=chosen.membership))
    assert fitted.audit_.rounds
    back = CalibrationMap.from_json(fitted.map_.to_json())
    np.testing.assert_array_equal(back.predict(score, table), fitted.audit_.score)
    again = Membership.of_subgroups([Subgroup.from_dict(dict(g)) for g in back.subgroups], table)
    np.testing.assert_array_equal(back.predict(score, again), fitted.audit_.score)


def test_a_table_of_true_and_false_is_looked_up_by_its_columns():
    definitions = [{"kind": "equals", "column": "flag", "value": value} for value in ("False", "True")]
    map_ = example(GROUPED["patches"], subgroups=definitions)
    table = pd.DataFrame({"flag": [True, False, True], "other": [False, False, True]})
    masks = np.column_stack([~table["flag"], table["flag"]])
    scores = np.array([0.35, 0.25, 0.95])
    np.testing.assert_array_equal(map_.predict(scores, table), map_.predict(scores, masks))
    np.testing.assert_array_equal(map_.predict(scores, table[["flag"]]), map_.predict(scores, masks))


def test_a_column_that_was_read_in_another_way_is_refused_instead_of_left_uncorrected():
    definitions = [{"kind": "equals", "column": "flag", "value": value} for value in ("false", "true")]
    map_ = example(GROUPED["patches"], subgroups=definitions)
    with pytest.raises(InputError, match="has a value that the map knows"):
        map_.predict([0.1, 0.2], pd.DataFrame({"flag": [True, False]}))
    with pytest.raises(InputError, match="two columns"):
        map_.predict([0.1], pd.DataFrame([["true", "true"]], columns=["flag", "flag"]))
