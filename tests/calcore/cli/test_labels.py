"""``--ties`` and ``--labels-file``: labels between 0 and 1, and labels that arrived in another file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.calcore.cli.runs import refused, run
from tests.dashboard.conftest import csv_bytes


def games(n=600):
    rng = np.random.default_rng(0)
    score = rng.random(n)
    label = np.where(rng.random(n) < 0.1, 0.5, (rng.random(n) < score).astype(float))
    return (
        score,
        label,
        "score,result\n" + "".join(f"{s:.4f},{y:g}\n" for s, y in zip(score, label, strict=True)),
    )


def test_ties_are_left_out_with_a_word(file):
    _, label, text = games()
    result = run("audit", file(text), code=3)
    assert f"{(label == 0.5).sum()} rows with a tie (0.5) are left out." in result.stdout
    assert '"result" holds ties (0.5), which are left out; --ties says otherwise.' in result.stdout


@pytest.mark.parametrize(
    ("ties", "value", "rows"), [("half", 0.5, 600), ("positive", 1, 600), ("negative", 0, 600)]
)
def test_ties_count_as_they_are_told_to(file, ties, value, rows):
    _, label, text = games()
    result = run("audit", file(text), "--ties", ties, "--format", "json", code=None)
    found = json.loads(result.stdout)
    assert found["n"] == rows
    assert found["event_rate"] == pytest.approx(np.where(label == 0.5, value, label).mean())
    assert found["notes"] == []


def test_compare_and_fit_take_ties(file, tmp_path):
    path = file(games()[2])
    result = run("compare", path, "--ties", "half", "--calibrators", "platt,lwcal", code=0)
    assert "half a positive and half a negative" in result.stdout
    run("fit", path, "--ties", "half", "--calibrator", "isotonic", "--out", tmp_path / "map.json", code=0)
    assert json.loads((tmp_path / "map.json").read_text())["n"] == 600


def test_known_positives_have_no_halves(file):
    said = refused("audit", file(games()[2]), "--ties", "half", "--labels", "pu", "--prior", 0.5)
    assert "A tie cannot be half a known positive" in said


def split(n=2_000):
    """The same rows in one file and in two."""
    whole = csv_bytes(n).decode().splitlines()
    cells = [line.split(",") for line in whole[1:]]
    scores = ["case,score,region", *(f"{i},{s},{r}" for i, (s, _, r) in enumerate(cells))]
    labels = ["case;label", *(f"{i};{cells[i][1]}" for i in np.random.default_rng(1).permutation(n))]
    return "\n".join(whole), "\n".join(scores), "\n".join(labels)


def test_two_files_give_the_numbers_of_one(file):
    whole, scores, labels = split()
    one = json.loads(run("audit", file(whole), "--format", "json", code=None).stdout)
    pair = (file(scores, "s.csv"), "--labels-file", file(labels, "l.csv"))
    two = json.loads(run("audit", *pair, "--id", "case", "--format", "json", code=None).stdout)
    assert two["metrics"] == one["metrics"]
    assert two["gaps"] == one["gaps"]
    assert two["notes"] == ['l.csv gave 2,000 of 2,000 rows a label, by "case".']
    assert two["file"]["sha256"] != one["file"]["sha256"]
    guessed = json.loads(run("audit", *pair, "--format", "json", code=None).stdout)
    assert guessed["metrics"] == one["metrics"]


def test_every_command_that_needs_labels_takes_them_from_a_second_file(file, tmp_path):
    _, scores, labels = split(400)
    pair = (
        file(scores, "s.csv"),
        "--labels-file",
        file(labels.replace("case", "nr"), "l.csv"),
        "--id",
        "case",
        "--labels-id",
        "nr",
    )
    assert 'by "case" and "nr"' in run("compare", *pair, "--calibrators", "platt", code=0).stdout
    run("fit", *pair, "--calibrator", "platt", "--out", tmp_path / "map.json", code=0)
    assert json.loads((tmp_path / "map.json").read_text())["n"] == 400


def test_what_cannot_be_joined_is_refused_in_one_sentence(file):
    scores, labels = file("id,score\na,0.9\nb,0.2\n", "s.csv"), file("nr,label\nx,1\n", "l.csv")
    assert "s.csv and l.csv do not share one id column" in refused("audit", scores, "--labels-file", labels)
    assert "name its id column: it has nr, label, with --id (and --labels-id)." in refused(
        "audit", scores, "--labels-file", labels, "--id", "id"
    )
    assert "No id of l.csv is in s.csv" in refused(
        "audit", scores, "--labels-file", labels, "--id", "id", "--labels-id", "nr"
    )
    assert "name that file too" in refused("audit", scores, "--id", "id")
    assert "There is no file" in refused("audit", scores, "--labels-file", "nowhere.csv")
    assert 'There is no column "y" in s.csv or l.csv' in refused(
        "audit", scores, "--labels-file", labels, "--label", "y"
    )
