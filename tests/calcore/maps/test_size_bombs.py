"""Documents that would take minutes or all memory are refused at once; the file of one is not even read."""

from __future__ import annotations

import time

import numpy as np
import pytest

from calcore.errors import InputError
from calcore.maps import CalibrationMap, PiecewiseLinearFunction
from calcore.maps.documents import LARGEST
from tests.calcore.cli.runs import refused

from .examples import FUNCTIONS, document_of, example, signed

#: Of the processor's time, on any machine; most take less than a tenth of it.
SECONDS = 1.0
START = '{"format": "calcore.calibration-map", "version": 1, "function": '


def _function(**fields) -> str:
    return signed({**document_of(example(FUNCTIONS["identity"])), "function": fields})


BOMBS = {
    "more bytes than allowed": lambda: "1" * (LARGEST + 1),
    "digits": lambda: START + "1" * 40_000_000 + "}",
    "digits behind a point": lambda: START + "0." + "1" * 40_000_000 + "}",
    "digits of an exponent": lambda: START + "1e" + "1" * 40_000_000 + "}",
    "a million open lists": lambda: START + "[" * 1_000_000,
    "a million open objects": lambda: START + '{"a":' * 1_000_000,
    "lists in lists": lambda: START + "[" * 150_000 + "]" * 150_000 + "}",
    "ten million knots": lambda: START + '{"kind": "piecewise_linear", "x": [' + "0," * 10_000_000 + "1]}}",
    "knots beyond the most": lambda: START + '{"kind": "piecewise_linear", "x": [' + "0," * 2_100_000 + "1]}}",
    "patches": lambda: _function(kind="patches", first={"kind": "identity"}, bins=10, patches=[[0, 1, 0.1]] * 120_000),
    "trees": lambda: _function(kind="boosted_trees", epsilon=1e-9, factors=[1.0], rounds=[[[]] * 120_000]),
    "rounds": lambda: _function(kind="boosted_trees", epsilon=1e-9, factors=[1.0] * 120_000, rounds=[]),
    "subgroups": lambda: _function(kind="group_logistic", slope=1.0, intercept=0.0, clip=1e-6,
                                   slopes=[0.0] * 120_000, intercepts=[0.0] * 120_000),
    "strings": lambda: START + "[" + '"",' * 4_000_000 + '""]}',
    "fields": lambda: "{" + ",".join(f'"{i}":1' for i in range(2_500_000)) + "}",
    "a file of something else": lambda: '{"x": [' + ",".join(["[0,1]"] * 150_000) + "]," + " " * 1_000_000 + "}",
    "spaces": lambda: " " * 40_000_000,
    "bytes that are no text": lambda: b"{" + b"\xff" * 40_000_000,
    "null bytes": lambda: b"\x00" * 40_000_000,
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_at_once(bomb) -> None:
    document = bomb()
    start = time.process_time()
    with pytest.raises(InputError) as refusal:
        CalibrationMap.from_json(document)
    assert time.process_time() - start < SECONDS
    assert len(str(refusal.value)) < 300


def test_of_a_file_of_gigabytes_no_more_is_read_than_a_map_has(tmp_path) -> None:
    path, scores = tmp_path / "map.json", tmp_path / "scores.csv"
    with open(path, "wb") as file:
        file.truncate(5_000_000_000)  # a hole: it takes no room on the disk
    scores.write_text("score\n0.5\n0.25\n")
    start = time.process_time()
    assert "more than the 50,000,000 bytes" in refused("apply", path, scores, "--out", tmp_path / "o.csv")
    assert time.process_time() - start < 5 * SECONDS


def test_a_map_of_many_knots_is_no_bomb() -> None:
    x = np.unique(np.random.default_rng(0).random(100_000))
    map_ = example(PiecewiseLinearFunction(x, x))
    assert CalibrationMap.from_json(map_.to_json()) == map_


@pytest.mark.parametrize("name", ["", "folder", "nul\0"])
def test_a_path_that_is_no_file_is_a_sentence(tmp_path, name: str) -> None:
    with pytest.raises(InputError, match="check"):
        CalibrationMap.from_file(tmp_path / name)
