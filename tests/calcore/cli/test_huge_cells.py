"""Cells and names that would fill a page: read, and cut in every sentence."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.calibrators import Platt
from tests.calcore.cli.runs import run

HUGE = "x" * 150_000


def rows(header="score,label,region", label=None, group=None, score=None):
    rng = np.random.default_rng(0)
    s = rng.random(400).round(4)
    y = rng.random(400) < s
    lines = [header]
    for i in range(400):
        lines.append(
            f"{score if score and i == 5 else s[i]},{label if label and y[i] else int(y[i])},"
            f"{group if group and i % 2 else 'north'}"
        )
    return "\n".join([*lines, ""])


FILES = {
    "a subgroup": rows(group=HUGE),
    "a label": rows(label=HUGE),
    "a score": rows(score=HUGE),
    "the name of the score": rows(f"score{HUGE},label,region"),
    "the name of the label": rows(f"score,label{HUGE},region"),
    "the name of a column": rows(f"score,label,{HUGE}", group="south"),
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_no_sentence_is_filled_by_a_cell(file, tmp_path, text):
    source = file(text)
    rng = np.random.default_rng(0)
    score = rng.random(500)
    (tmp_path / "map.json").write_text(Platt().fit(score, rng.random(500) < score).map_.to_json())
    for command in (
        ("audit", source),
        ("compare", source, "--calibrators", "platt"),
        ("fit", source, "--calibrator", "platt", "--out", tmp_path / "m.json", "--force"),
        ("apply", tmp_path / "map.json", source, "--out", tmp_path / "out.csv", "--force"),
    ):
        result = run(*command)
        assert max(map(len, (result.stdout + result.stderr).splitlines())) < 500
