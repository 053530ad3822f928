"""Subgroups: the same rows from JSON, from masks and from distinct combinations, whatever the values are called."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import Clean
from calcore.subgroups import MISSING, Membership, Subgroup, level_names, make_subgroups

TABLE = pd.DataFrame(
    {
        "country": ["NA", None, "DE", "DE", "$x^2$"],
        "age": [10.0, np.nan, 30.0, 40.0, 50.0],
        "A*B": ["(missing)", "x", 'say "hi"', "é=ß", ""],
    }
)
GROUPS = [
    Subgroup.equals("country", "NA"),
    Subgroup.equals("country", MISSING),
    Subgroup.equals("country", "$x^2$"),
    Subgroup.between("age", 20, 40),
    Subgroup.between("age", None, 30),
    Subgroup.between("age", 30, None),
    Subgroup.equals("A*B", 'say "hi"'),
    Subgroup.equals("A*B", ""),
    Subgroup.all_of(Subgroup.equals("country", "DE"), Subgroup.between("age", 35, None)),
    Subgroup.any_of(
        Subgroup.equals("country", "NA"),
        Subgroup.all_of(Subgroup.equals("A*B", "x"), Subgroup.equals("country", None)),
    ),
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_json_round_trip(group):
    again = Subgroup.from_dict(json.loads(json.dumps(group.to_dict())))
    assert again == group
    assert again.name == group.name
    np.testing.assert_array_equal(again.mask(TABLE), group.mask(TABLE))


def test_a_group_called_NA_is_not_missing():
    np.testing.assert_array_equal(
        Subgroup.equals("country", "NA").mask(TABLE), [True, False, False, False, False]
    )
    np.testing.assert_array_equal(
        Subgroup.equals("country", MISSING).mask(TABLE), [False, True, False, False, False]
    )


def test_ranges_are_closed_below_and_open_above():
    np.testing.assert_array_equal(
        Subgroup.between("age", 10, 40).mask(TABLE), [True, False, True, False, False]
    )


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "like", "column": "a", "value": "b"},
        {"kind": "equals", "column": "a"},
        {"kind": "equals", "column": "a", "value": 3},
        {"kind": "equals", "column": 3, "value": "b"},
        {"kind": "equals", "column": "a", "value": "b", "more": 1},
        {"kind": "between", "column": "a", "low": None, "high": None},
        {"kind": "between", "column": "a", "low": "1", "high": None},
        {"kind": "between", "column": "a", "low": float("nan"), "high": None},
        {"kind": "all_of", "parts": []},
        {"kind": "all_of", "parts": "ab"},
        {"kind": "any_of", "parts": [{"kind": "equals"}]},
        "equals",
        None,
    ],
)
def test_damaged_definitions_are_refused(data):
    with pytest.raises(InputError):
        Subgroup.from_dict(data)


def test_a_missing_column_is_a_sentence():
    with pytest.raises(InputError, match="needs a column 'city'"):
        Subgroup.equals("city", "x").mask(TABLE)
    with pytest.raises(InputError, match="'city'"):
        Membership.of_subgroups([Subgroup.equals("city", "x")], TABLE)


def test_the_name_of_a_level_does_not_depend_on_what_else_is_in_the_column():
    """A batch with one 2.5 in it must not turn the group "1" into "1.0"."""
    for values in ([1.0, 2.0], [1.0, 2.5], [1.0, None]):
        assert Subgroup.equals("a", "1").mask(pd.DataFrame({"a": values}))[0]
    for value in (1, 1.0, "1", np.float32(1)):
        assert Subgroup.equals("a", value).value == "1"
    assert Subgroup.equals("a", np.nan).value == MISSING


@pytest.mark.parametrize(
    "values, expected",
    [
        (pd.Series(["a", None]), ["a", MISSING]),
        (pd.Series([1, 2]), ["1", "2"]),
        (pd.Series([1.0, 2.5, None]), ["1", "2.5", MISSING]),
        (pd.Series([1, None], dtype="Int64"), ["1", MISSING]),
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series([True, None], dtype="boolean"), ["True", MISSING]),
        (pd.Series(["1.0", "b"]), ["1.0", "b"]),
        (pd.Series(["a", None], dtype="string[pyarrow]"), ["a", MISSING]),
        (pd.Series(["a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(pd.Categorical.from_codes([0, -1, 1], [5, 6])), ["5", MISSING, "6"]),
        (pd.Series(pd.Categorical.from_codes([0, -1], ["x", "y"])), ["x", MISSING]),
        (pd.Series(pd.Categorical.from_codes([0, 1], [0.5, 2.0])), ["0.5", "2"]),
    ],
)
def test_level_names_of_every_kind_of_column(values, expected):
    assert list(level_names(values)) == expected


def random_table(rng, n):
    return pd.DataFrame(
        {
            "text": rng.choice(np.array(["a", "b", "NA", "", None], dtype=object), n),
            "whole": rng.choice([1.0, 2.0, np.nan], n),
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "category": pd.Categorical.from_codes(rng.integers(-1, 3, n), ["u", "v", "w"]),
            "flag": rng.random(n) < 0.5,
        }
    )


def random_group(rng, table, depth=0):
    kind = rng.integers(4 if depth < 2 else 2)
    if kind == 0:
        column = rng.choice(table.columns)
        return Subgroup.equals(str(column), rng.choice(level_names(table[column]).astype(object)))
    if kind == 1:
        low, high = np.sort(rng.normal(size=2))
        column = str(rng.choice(["number", "whole"]))
        return Subgroup.between(column, None if rng.random() < 0.3 else low, high)
    parts = [random_group(rng, table, depth + 1) for _ in range(rng.integers(1, 4))]
    return (Subgroup.all_of if kind == 2 else Subgroup.any_of)(*parts)


@pytest.mark.parametrize("seed", range(40))
def test_membership_equals_the_masks_of_each_subgroup(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(1, 300)))
    groups = [random_group(rng, table) for _ in range(rng.integers(1, 12))]
    member = Membership.of_subgroups(groups, table)
    expected = np.column_stack([group.mask(table) for group in groups])
    np.testing.assert_array_equal(member.masks(), expected)
    for j in range(len(groups)):
        np.testing.assert_array_equal(member.mask(j), expected[:, j])
    assert len({row.tobytes() for row in member.masks()}) == len(np.unique(member.pattern))
    np.testing.assert_array_equal(Membership.of_masks(expected).masks(), expected)


def test_patterns_are_as_few_as_they_can_be():
    """Two groups over a column of many values: four patterns, not one for each value."""
    table = pd.DataFrame({"id": np.arange(5000), "flag": np.arange(5000) % 2})
    member = Membership.of_subgroups([Subgroup.equals("id", 7), Subgroup.equals("flag", 1)], table)
    assert member.table.shape[0] == 3


@pytest.mark.parametrize("groups", [[0, 1], [[0, 2], [1, 0]], np.zeros((3, 1))])
def test_bad_masks_are_refused(groups):
    with pytest.raises(InputError, match="groups"):
        Clean().evidence([0.1, 0.2], [0, 1], groups=groups)


def test_subgroups_need_their_table():
    with pytest.raises(InputError, match="table"):
        Clean().evidence([0.1, 0.2], [0, 1], groups=[Subgroup.equals("a", "b")])


def test_an_empty_list_of_subgroups_is_no_subgroups():
    evidence = Clean().evidence([0.1, 0.2], [0, 1], groups=[])
    assert metrics.cells(evidence).groups == (metrics.EVERYONE,)


# --- making them


def made(n=1000, **options):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": np.where(np.arange(n) < 5, "tiny", rng.choice(["north", "south"], n)),
            "age": np.where(np.arange(n) % 10 == 0, np.nan, rng.integers(18, 90, n)),
        }
    )
    return table, make_subgroups(table, ["sex", "region", "age"], **options)


def test_all_levels_quarters_missing_and_pairs_are_made():
    table, choice = made(min_mass=0.01)
    names = [group.name for group in choice.subgroups]
    assert {"sex = f", "sex = m", "region = north", "region = south"} <= set(names)
    assert "region = tiny" not in names
    assert sum(name.count("age") == 1 and " and " not in name for name in names) == 5
    assert "age = (missing)" in names
    assert "sex = f and region = north" in names
    quarters = [group.mask(table) for group in choice.subgroups if group.column == "age"]
    np.testing.assert_array_equal(np.sum(quarters, axis=0), 1)


def test_every_subgroup_is_heavier_than_the_minimum_and_the_rest_is_counted():
    table, choice = made(min_mass=0.06)
    shares = [group.mask(table).mean() for group in choice.subgroups]
    assert min(shares) > 0.06
    _, everything = made(min_mass=0.0)
    assert len(choice.subgroups) + choice.too_small == len(everything.subgroups)
    assert everything.too_small == 0


def test_the_cap_keeps_the_largest():
    table, choice = made(cap=5)
    _, everything = made()
    assert len(choice.subgroups) == 5
    assert choice.over_cap == len(everything.subgroups) - 5
    shares = sorted((group.mask(table).mean() for group in everything.subgroups), reverse=True)
    assert min(group.mask(table).mean() for group in choice.subgroups) >= shares[4] - 1e-12


def test_without_intersections():
    _, choice = made(intersections=False)
    assert all(not group.parts for group in choice.subgroups)


def test_levels_that_are_too_many_are_counted():
    table = pd.DataFrame({"city": [f"c{i}" for i in range(60)] * 3})
    choice = make_subgroups(table, ["city"], min_mass=0)
    assert len(choice.subgroups) == 50
    assert choice.over_cap == 10


def test_columns_of_many_levels_do_not_blow_up():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{j}": rng.integers(0, 50, 50_000).astype(str) for j in range(6)})
    choice = make_subgroups(table, list(table.columns), min_mass=0.0001, cap=100)
    assert len(choice.subgroups) == 100
    assert choice.over_cap > 10_000


@pytest.mark.parametrize(
    "values",
    [[np.nan] * 60, [np.inf, *range(99)], pd.array([None, *range(99)], dtype="Int64"), list(range(60))],
)
def test_odd_numeric_columns(values):
    table = pd.DataFrame({"x": values})
    choice = make_subgroups(table, ["x"], min_mass=0)
    total = np.sum([group.mask(table) for group in choice.subgroups], axis=0)
    assert total.max() == 1


def test_no_columns_and_no_rows():
    assert make_subgroups(TABLE, []).subgroups == ()
    assert make_subgroups(TABLE.iloc[:0], ["country"]).subgroups == ()


def test_subgroups_below_the_minimum_give_an_empty_answer_with_a_reason():
    groups = np.zeros((100, 1), dtype=bool)
    groups[:3] = True
    rng = np.random.default_rng(0)
    found = metrics.max_ece(
        Clean().evidence(rng.random(100), rng.random(100) < 0.5, groups=groups), min_mass=0.05
    )
    assert np.isnan(found.value)
    assert found.notes == ("no subgroup has a mass above 0.05",)
