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
    scores = hard_scores(map_.function)
    assert len(scores) > 10_000
    return map_, scores, _rows(rng, len(scores))


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
    found = run(to_sql(map_), scores, table)
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


def test_maps_of_subgroups_are_among_those_tried() -> None:
    assert any(fitted(name)[0].function.needs_groups for name in REGISTRY)
