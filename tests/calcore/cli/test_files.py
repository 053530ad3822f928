"""Files that break tools of this kind, and options that do not fit: one sentence, or the same numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calcore import ingest
from tests.calcore.cli.runs import refused, run
from tests.dashboard.conftest import csv_bytes

BODY = csv_bytes(400).decode()


@pytest.mark.parametrize(
    "content",
    [
        BODY.replace(",", ";").replace("0.", "0,"),
        b"\xef\xbb\xbf" + BODY.encode(),
        BODY.encode("utf-16"),
        BODY.replace("\n", "\r\n"),
        BODY.replace(",", "\t"),
        BODY.replace("north", "Zürich").encode("windows-1252"),
    ],
    ids=["decimal comma", "byte-order mark", "UTF-16", "CRLF", "tabs", "Windows-1252"],
)
def test_odd_files_give_the_same_numbers_and_can_be_scored(file, content, tmp_path):
    plain = file(BODY, "plain.csv")
    odd = file(content, "odd.csv")
    one, two = (json.loads(run("audit", path, "--format", "json").stdout) for path in (plain, odd))
    assert one["metrics"] == two["metrics"]
    map_ = tmp_path / "map.json"
    run("fit", plain, "--calibrator", "platt", "--out", map_, code=0)
    scored = []
    for path in (plain, odd):
        run("apply", map_, path, "--out", path.with_suffix(".scored.csv"), code=0)
        scored.append(
            ingest.parse(path.with_suffix(".scored.csv")).columns["calibrated_score"].numbers.values
        )
    np.testing.assert_array_equal(*scored)


@pytest.mark.parametrize(
    "content, options, said",
    [
        ("score,label\n0.9,1\n0.2,2\n", (), "--positive 1 or --positive 2"),
        ("score,label\n0.9,1\n0.2,2\n", ("--positive", "3"), 'holds "1" and "2"'),
        ("score,label\n", (), "no rows"),
        ("", (), "is empty"),
        ("score,label\n91,1\n20,0\n55,1\n", (), "--scale percent"),
        ("score,label\n2.3,1\n-1.2,0\n-0.4,1\n", (), "--scale logit"),
        ("a,b\nx,y\nz,w\n", (), "--score"),
        ("score,score\n0.9,1\n", (), 'Two columns are called "score"'),
        ("score,label\n0.9,1\n", ("--label", "y"), 'no column "y"'),
        ("score,text\n0.9,a\n", ("--labels", "clean"), "--label"),
        ("score,label\n0.9,1\n", ("--prior", "0.2"), "--labels"),
        ("score,label\n0.9,1\n", ("--labels", "noisy", "--rho0", ".6", "--rho1", ".4"), "not identifiable"),
        ("score,label\n0.9,1\n", ("--labels", "noisy", "--rho0", ".6"), "both flip rates"),
        ("score,source\n0.9,a\n0.1,b\n", ("--labels", "uu", "--prior", ".3", "--theta1", ".5", "--theta2", ".1", "--source", "source"), "--source-value <first>"),
        (b"PK\x03\x04 xl/ and more", (), "Excel"),
        (b"PAR1 and nonsense", (), "damaged Parquet"),
        ("score,label\n0.9,1\n", ("--bins", "1"), "bins"),
        ("score,label\n0.9,1\n", ("--labels", "wrong"), "clean"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_sentence_that_says_what_to_do(file, content, options, said):
    assert said in refused("audit", file(content), *options)


def test_labels_of_one_and_two_are_read_when_the_positive_is_said(file, calibrated):
    text = "\n".join(
        line.replace(",1,", ",2,").replace(",0,", ",1,") if i else line
        for i, line in enumerate(calibrated.read_text().splitlines())
    )
    two = run("audit", file(text, "two.csv"), "--positive", 2, "--format", "json", code=0)
    one = run("audit", calibrated, "--format", "json", code=0)
    assert json.loads(one.stdout)["metrics"] == json.loads(two.stdout)["metrics"]


def test_a_missing_file_an_unknown_option_and_nothing_at_all_end_with_2(tmp_path, calibrated):
    assert "no file" in refused("audit", tmp_path / "none.csv")
    assert "--nonsense" in refused("audit", calibrated, "--nonsense")
    assert "FILE" in refused("audit")
    assert "cannot be read" in refused("audit", tmp_path)
    assert "Exit codes" in run(code=2).stderr


def test_named_columns_take_their_roles_from_guessed_ones(file):
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{b:.3f},{int(rng.random() < b)},{r}"
        for a, b, r in zip(rng.random(500), rng.random(500), "ns" * 250, strict=True)
    ]
    path = file("\n".join(["score,other,outcome,region", *rows]))
    found = run("audit", path, "--score", "other", "--group", "region").stdout
    assert 'Read score "other", label "outcome", subgroups "region"' in found
