"""SQL text: the map's numbers in real databases, at every edge; names and levels that cannot become code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.maps import (
    BlendFunction,
    IdentityFunction,
    LogisticFunction,
    PatchesFunction,
    PiecewiseLinearFunction,
    sql_file,
    to_sql,
    verify_sql,
)
from calcore.maps.example_rows import example_rows
from calcore.maps.run_sql import run_in_sqlite
from calcore.maps.sql import SQL_TOLERANCE
from calcore.subgroups import Subgroup

from .engines import DATABASES
from .examples import FUNCTIONS, GROUPED, example, hard_scores

TWO = [Subgroup.equals("region", "north").to_dict(), Subgroup.between("age", 40, None).to_dict()]
EVERYONE = PatchesFunction(
    FUNCTIONS["logistic"], 10, ((-1, 9, 0.3), (-1, 3, -0.05), (-1, 0, -1.0), (-1, 2, 0.05), (-1, 3, 0.1))
)
ALL = {**FUNCTIONS, "patches for everyone": EVERYONE}
each_function = pytest.mark.parametrize("function", ALL.values(), ids=ALL)
each_database = pytest.mark.parametrize("run", DATABASES.values(), ids=DATABASES)


@each_database
@each_function
def test_databases_give_the_maps_numbers_on_scores_and_edges(function, run) -> None:
    scores = hard_scores(function)
    found = run(to_sql(example(function)), scores)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    np.testing.assert_allclose(found, function(scores), rtol=0, atol=SQL_TOLERANCE)


@each_database
def test_piecewise_maps_are_exact_even_between_knots_that_nearly_touch(run) -> None:
    for name in ("isotonic", "tiny_knots", "step", "one_knot"):
        scores = hard_scores(FUNCTIONS[name])
        assert np.array_equal(run(to_sql(example(FUNCTIONS[name])), scores), FUNCTIONS[name](scores))


@settings(deadline=None)
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
    found = run_in_sqlite(to_sql(example(function)), points)
    np.testing.assert_allclose(found, function(points), rtol=0, atol=1e-15)


@each_database
def test_thousands_of_knots_stay_a_shallow_tree(run) -> None:
    rng = np.random.default_rng(5)
    x = np.unique(rng.random(5000))
    function = PiecewiseLinearFunction(x, np.sort(rng.random(len(x))))
    text = to_sql(example(function))
    depth = deepest = 0
    for word in text.split():
        depth += (word == "CASE") - (word == "END")
        deepest = max(deepest, depth)
    assert deepest <= 6
    scores = hard_scores(function, 3000)
    assert np.array_equal(run(text, scores), function(scores))


def test_a_text_longer_than_databases_read_is_refused() -> None:
    x = np.arange(20_000) / 20_000
    with pytest.raises(InputError, match="export it in another format"):
        to_sql(example(PiecewiseLinearFunction(x, x**2)))


@each_database
def test_null_nan_and_scores_outside_become_null(run) -> None:
    scores = np.array([np.nan, -1e-9, 1.0 + 1e-9, 2.0, np.inf, 0.5])
    for function in ALL.values():
        assert np.isnan(run(to_sql(example(function)), scores)).tolist() == [True] * 5 + [False]


@each_database
def test_subgroups_are_told_apart_by_their_columns(run) -> None:
    map_ = example(GROUPED["patches"], subgroups=TWO)
    scores = hard_scores(map_.function)
    table = example_rows(map_.definitions(), len(scores))
    found = run(to_sql(map_), scores, table)
    np.testing.assert_allclose(found, map_.predict(scores, table), rtol=0, atol=SQL_TOLERANCE)


HOSTILE = [
    "a b",
    'q"uote',
    "it's",
    "été ✓",
    "x; DROP TABLE t; --",
    "select",
    "\\",
    "new\nline",
    "/* c */",
    "100%",
]


@each_database
@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_levels_from_users_stay_names_and_levels(name: str, run) -> None:
    group = Subgroup.any_of(
        Subgroup.all_of(Subgroup.equals(name, name), Subgroup.between("n", None, 3)),
        Subgroup.equals(name, "(missing)"),
    )
    map_ = example(PatchesFunction(IdentityFunction(), 10, ((0, 4, 0.5),)), subgroups=[group.to_dict()])
    scores = np.full(300, 0.45)
    table = example_rows(map_.definitions(), 300)
    assert len(table.drop_duplicates()) > 6
    found = run(to_sql(map_), scores, table)
    assert set(found) == {0.45, 0.95}
    assert np.array_equal(found, map_.predict(scores, table))


@each_database
def test_whole_numbers_are_levels_of_text_and_of_numeric_columns(run) -> None:
    map_ = example(
        PatchesFunction(IdentityFunction(), 10, ((0, 4, 0.5),)),
        subgroups=[Subgroup.any_of(Subgroup.equals("k", 3), Subgroup.between("k", 5, 6)).to_dict()],
    )
    table = pd.DataFrame({"k": [3.0, 4.0, 5.5, 6.0, np.nan]})
    scores = np.full(5, 0.45)
    found = run(to_sql(map_), scores, table)
    assert found.tolist() == [0.95, 0.45, 0.95, 0.45, 0.45]
    assert np.array_equal(found, map_.predict(scores, table))


def test_random_patches_are_followed_exactly() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        bins = int(rng.integers(1, 12))
        patches = tuple(
            (
                int(rng.integers(-1, 2)),
                int(rng.integers(bins)),
                float(rng.choice([-0.3, -0.1, 0.05, 0.1, 0.7])),
            )
            for _ in range(15)
        )
        map_ = example(PatchesFunction(IdentityFunction(), bins, patches), subgroups=TWO)
        check = verify_sql(map_, rng.random(500))
        assert check.largest_difference == 0.0, seed
        assert check.ok


@each_database
def test_subgroups_that_meet_one_after_the_other_do_not_overflow_a_parser(run) -> None:
    each = 15  # every patch moves the row into the bin of the next
    function = PatchesFunction(IdentityFunction(), 50, tuple((i, i, 0.02) for i in range(each)))
    map_ = example(function, subgroups=[Subgroup.equals(f"c{i}", "x").to_dict() for i in range(each)])
    scores = np.random.default_rng(0).random(2000) / 3
    table = example_rows(map_.definitions(), 2000).fillna("x")
    assert np.array_equal(run(to_sql(map_), scores, table), map_.predict(scores, table))


def test_what_sql_cannot_hold_is_refused_with_a_sentence() -> None:
    many = [Subgroup.equals(f"c{i}", "x").to_dict() for i in range(30)]
    overlapping = PatchesFunction(IdentityFunction(), 1, tuple((i, 0, 0.001) for i in range(30)))
    with pytest.raises(InputError, match="overlap in more than 5,000 ways, or 200 deep"):
        to_sql(example(overlapping, subgroups=many))
    with pytest.raises(InputError, match="at most 2,000 patches"):
        to_sql(example(PatchesFunction(IdentityFunction(), 10, ((-1, 0, 0.01),) * 2001)))
    with pytest.raises(InputError, match="no definition by columns"):
        to_sql(example(GROUPED["patches"], subgroups=[{"name": "A"}, {"name": "B"}]))
    with pytest.raises(InputError, match="long function of kind 'piecewise_linear'"):
        to_sql(example(PatchesFunction(FUNCTIONS["isotonic"], 10, ((-1, 0, 0.1),))))
    mixed = [Subgroup.equals("age", "old").to_dict(), Subgroup.between("age", 40, None).to_dict()]
    with pytest.raises(InputError, match="both as numbers and with 'old'"):
        to_sql(example(GROUPED["patches"], subgroups=mixed))
    for name in ("", "a\0b"):
        with pytest.raises(InputError, match="cannot name a column"):
            to_sql(example(IdentityFunction()), name)


def test_a_blend_whose_weights_exceed_one_by_rounding_stays_below_one() -> None:
    function = BlendFunction((0.7, 0.1, 0.1, 0.1 + 5e-13), (IdentityFunction(),) * 4)
    check = verify_sql(example(function), [1.0])
    assert check.ok
    assert 0.0 < check.largest_difference < SQL_TOLERANCE


@each_function
def test_the_text_is_read_by_four_dialects(function) -> None:
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed (requirements-dev.txt)")
    text = f"SELECT {to_sql(example(function), 'my score')} AS calibrated FROM t"
    for dialect in (None, "duckdb", "sqlite", "postgres"):
        assert len(sqlglot.parse(text, read=dialect)) == 1


def test_grouped_text_is_read_by_four_dialects() -> None:
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed (requirements-dev.txt)")
    text = f"SELECT {to_sql(example(GROUPED['patches'], subgroups=TWO))} AS calibrated FROM t"
    for dialect in (None, "duckdb", "sqlite", "postgres"):
        assert len(sqlglot.parse(text, read=dialect)) == 1


def test_the_file_says_where_the_map_comes_from_in_comments_alone() -> None:
    hostile = "x\n'; DROP TABLE t; --"
    map_ = example(FUNCTIONS["logistic"], calibrator=hostile, warnings=(hostile,), library_version=hostile)
    text = sql_file(map_)
    assert map_.checksum in text
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    assert code == to_sql(map_)


@each_function
def test_sql_verifies_without_any_package(function) -> None:
    check = verify_sql(example(function), np.random.default_rng(0).random(3000))
    assert check.ok
    assert check.largest_difference <= SQL_TOLERANCE
    assert f"{check.n:,} scores" in check.sentence


@pytest.mark.parametrize(
    "text, said",
    [('"score" + 1e-9', "by up to 1e-09"), ("NULL", "do not use it"), ("no such thing", "does not run")],
)
def test_a_wrong_text_is_not_called_right(text: str, said: str, monkeypatch) -> None:
    monkeypatch.setitem(verify_sql.__globals__, "to_sql", lambda map_, column: text)
    check = verify_sql(example(IdentityFunction()), [0.5])
    assert not check.ok
    assert said in check.sentence


def test_steep_maps_do_not_overflow() -> None:
    check = verify_sql(example(LogisticFunction(1e50, 0.0, 1e-12)), [0.1, 0.4, 0.6])
    assert check.ok
