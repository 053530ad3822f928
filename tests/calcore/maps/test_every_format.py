"""Every calibrator in every format: fitted, exported, run on 10,000 scores and edges, compared."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from calcore.maps import (
    ONNX_TOLERANCE,
    SQL_TOLERANCE,
    CalibrationMap,
    as_sklearn,
    to_onnx,
    to_python,
    to_sql,
)
from calcore.maps.onnx_model import run_onnx
from calcore.observation import Clean
from calcore.subgroups import Membership, Subgroup

from .engines import DATABASES
from .examples import hard_scores

each_calibrator = pytest.mark.parametrize("name", sorted(REGISTRY))
ROWS = 3000


@cache
def fitted(name: str) -> tuple[CalibrationMap, np.ndarray, pd.DataFrame]:
    """The calibrator's map of under-confident scores that are worse for some; hard scores with their rows."""
    rng = np.random.default_rng(0)
    score = rng.random(ROWS)
    table = _rows(rng, ROWS)
    wrong = 0.2 * (table["region"] == "north") - 0.15 * (table["age"] >= 40)
    rate = np.clip(score + 0.3 * (score - 0.5) + wrong, 0.0, 1.0)
    label = (rng.random(ROWS) < rate).astype(float)
    groups = [Subgroup.equals("region", level) for level in ("north", "south", "it's west")]
    groups.append(Subgroup.between("age", 40, None))
    member = Membership.of_subgroups(groups, table)
    map_ = REGISTRY[name]().fit(Clean().evidence(score, label, groups=member)).map_
    scores = np.concatenate([hard_scores(map_.function), *_jumps(map_)])
    assert len(scores) > 10_000
    return map_, scores, _rows(rng, len(scores))


def _jumps(map_: CalibrationMap) -> list[np.ndarray]:
    """Where the map of each kind of row jumps or bends, found by halving, with the neighbours."""
    if not map_.function.needs_groups:
        return []  # these name their breakpoints
    grid, kinds = (
        np.linspace(0.0, 1.0, 401),
        [(r, a) for r in ("north", "south", "it's west", None) for a in (30.5, 50.5)],
    )
    low, high = np.tile(grid[:-1], len(kinds)), np.tile(grid[1:], len(kinds))
    region, age = (
        np.repeat(np.array(values, dtype=object), len(grid) - 1) for values in zip(*kinds, strict=True)
    )
    table = pd.DataFrame({"region": pd.Series(region, dtype="str"), "age": age.astype(float)})
    member = Membership.of_subgroups(map_.definitions(), table)
    below, above = map_.predict(low, member), map_.predict(high, member)
    for _ in range(55):
        middle = (low + high) / 2
        at = map_.predict(middle, member)
        left = np.abs(at - below) > np.abs(above - at)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        below, above = np.where(left, below, at), np.where(left, at, above)
    return [low, high]


def _rows(rng: np.random.Generator, n: int) -> pd.DataFrame:
    regions = np.array(["north", "south", "it's west", None], dtype=object)
    return pd.DataFrame(
        {"region": pd.Series(rng.choice(regions, n), dtype="str"), "age": rng.integers(20, 60, n) + 0.5}
    )


@each_calibrator
def test_json_and_scikit_learn_give_every_bit(name: str) -> None:
    map_, scores, table = fitted(name)
    back = CalibrationMap.from_json(map_.to_json())
    assert np.array_equal(back.predict(scores, table), map_.predict(scores, table))
    assert np.array_equal(as_sklearn(back).predict(scores, table), map_.predict(scores, table))


@each_calibrator
def test_the_python_module_gives_every_bit_or_a_sentence(name: str) -> None:
    map_, scores, _ = fitted(name)
    if map_.function.needs_groups:
        with pytest.raises(InputError, match="differs between subgroups"):
            to_python(map_)
        return
    module: dict = {}
    exec(to_python(map_), module)
    assert module["calibrate_many"](scores.tolist()) == map_.predict(scores).tolist()


#: Maps of subgroups that are trees, lines of each pattern, or patches on steps.
JSON_ONLY = {"GroupPlatt", "HJZ", "HKRR", "MCGrad"}


@each_calibrator
@pytest.mark.parametrize("run", DATABASES.values(), ids=DATABASES)
def test_sql_gives_the_numbers_or_a_sentence(name: str, run) -> None:
    map_, scores, table = fitted(name)
    if name in JSON_ONLY:
        with pytest.raises(InputError, match="SQL text cannot hold"):
            to_sql(map_)
        return
    text = to_sql(map_)
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed (requirements-dev.txt)")
    for dialect in ("duckdb", "sqlite", "postgres"):
        assert len(sqlglot.parse(f"SELECT {text} AS r FROM t", read=dialect)) == 1
    found = run(text, scores, table)
    np.testing.assert_allclose(found, map_.predict(scores, table), rtol=0, atol=SQL_TOLERANCE)


@each_calibrator
def test_onnx_gives_the_numbers_or_a_sentence(name: str) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed (requirements-dev.txt)")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (requirements-dev.txt)")
    map_, scores, _ = fitted(name)
    if map_.function.needs_groups:
        with pytest.raises(InputError, match="differs between subgroups"):
            to_onnx(map_)
        return
    found = run_onnx(to_onnx(map_), scores)
    np.testing.assert_allclose(found, map_.predict(scores), rtol=0, atol=ONNX_TOLERANCE)


#: What feeding float32 scores may cost, away from the edges of bins: said in the README.
FLOAT32 = 1e-4


@each_calibrator
def test_float32_scores_are_taken_as_the_doubles_that_they_are(name: str) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed (requirements-dev.txt)")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (requirements-dev.txt)")
    map_, scores, _ = fitted(name)
    if map_.function.needs_groups:
        return
    narrow = scores[:10_000].astype(np.float32)
    found = run_onnx(to_onnx(map_), narrow.astype(np.float64))
    np.testing.assert_allclose(found, map_.predict(narrow), rtol=0, atol=ONNX_TOLERANCE)
    assert np.abs(found - map_.predict(scores[:10_000])).max() <= FLOAT32


def test_maps_of_subgroups_are_among_those_tried() -> None:
    for name in ("WLMC", "PatchedWLMC", "HKRR", "HJZ", "GroupPlatt", "MCGrad"):
        if name in REGISTRY:
            assert fitted(name)[0].function.needs_groups, name
