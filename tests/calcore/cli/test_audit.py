"""``calcore audit``: its numbers, its sentences and its exit codes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calcore import ingest, metrics, verdicts
from calcore.audit import audit
from calcore.meanings import MEANINGS
from calcore.observation import Clean
from tests.calcore.cli.runs import refused, run
from tests.dashboard.conftest import csv_bytes
from tests.dashboard.weak_files import PRIOR, weak_file


def test_a_calibrated_score_ends_with_0_and_the_verdict(calibrated):
    result = run("audit", calibrated, code=0)
    assert result.stdout.startswith("scores.csv: Kept 8,000 of 8,000 rows.")
    assert "Calibrated within noise. Largest gap" in result.stdout
    assert "Largest gaps" in result.stdout
    assert "Worst subgroups" in result.stdout
    assert result.stderr == ""


def test_a_score_that_is_too_high_ends_with_1_and_one_within_the_tolerance_with_0(too_high):
    assert "Scores too high" in run("audit", too_high, code=1).stdout
    run("audit", too_high, "--tolerance", 40, "--no-groups", code=0)


def test_a_score_that_is_off_for_one_group_ends_with_1(file):
    rng = np.random.default_rng(0)
    score, group = rng.random(20_000), rng.random(20_000) < 0.1
    label = rng.random(20_000) < np.where(group, score**3, score)
    rows = [f"{s:.4f},{int(y)},{'ab'[int(g)]}" for s, y, g in zip(score, label, group, strict=True)]
    result = run("audit", file("\n".join(["score,label,g", *rows])), "--tolerance", 6, code=1)
    assert "Fine overall, not for g = b" in result.stdout


def test_too_few_rows_cannot_tell(file):
    result = run("audit", file(csv_bytes(30)), code=3)
    assert "Cannot tell. Only 30 rows" in result.stdout


def test_impossible_flip_rates_end_with_3(file):
    path = file("score,label\n" + "0.2,0\n" * 900 + "0.8,1\n" * 900)
    result = run("audit", path, "--labels", "noisy", "--rho0", 0.3, "--rho1", 0.3, code=3)
    assert "The stated rates contradict the data" in result.stdout
    assert "Data page" not in result.stdout


def test_the_numbers_are_those_of_the_library(too_high):
    found = json.loads(run("audit", too_high, "--format", "json", code=1).stdout)
    columns = ingest.read(too_high).columns
    groups = pd.DataFrame({"region": columns.groups["region"].astype(str)})
    evidence = Clean().evidence(columns.score, columns.label)
    expected = audit(evidence)
    assert found["metrics"]["ECE"]["value"] == expected.error.value
    assert found["metrics"]["ECE"]["interval"] == list(expected.error.interval)
    assert found["metrics"]["ECE"]["noise_limit"] == expected.error.noise_limit
    assert found["metrics"]["AUC"]["value"] == metrics.auc(evidence).value
    assert found["gaps"][0]["observed"] == expected.largest.event_rate
    assert [gap["wrong"] for gap in found["gaps"]].count(True) == len(expected.wrong_bins)
    verdict = verdicts.overall(expected, metrics.auc(evidence))
    assert found["verdict"]["sentence"] == verdict.sentence.replace("\u00a0", " ")
    assert {group["name"] for group in found["subgroups"]} == {f"region = {r}" for r in set(groups.region)}
    assert found["exit_code"] == 1
    assert found["tolerance"] == 0.02


def test_what_does_not_exist_is_null_and_keys_stay(file, calibrated):
    one_class = file("score,label\n" + "0.2,0\n" * 200, "one.csv")
    found = json.loads(run("audit", one_class, "--format", "json").stdout)
    assert found["metrics"]["AUC"]["value"] is None
    usual = json.loads(run("audit", calibrated, "--format", "json").stdout)
    assert list(found) == list(usual)
    assert list(found["gaps"][0]) == list(usual["gaps"][0])


def test_checked_labels_are_measured_on_only_when_they_are_called_a_random_sample(digits):
    result = run("audit", digits, code=0)
    assert "--audit-label" in result.stdout
    assert "Against the noisy labels" in result.stdout
    checked = run("audit", digits, "--audit-label", "audit_label", code=1)
    assert "against the checked labels" in checked.stdout
    assert "Underconfident" in checked.stdout


@pytest.mark.parametrize("kind", ["uu", "posterior", "pconf", "su", "du", "sd", "pcomp", "sconf"])
def test_every_kind_of_labels_can_be_said(file, kind):
    options = []
    shares = {"prior": PRIOR, "theta1": 0.653, "theta2": 0.168, "r_min": 0.001}
    for name in MEANINGS[kind].parameters:
        options += [f"--{name.replace('_', '-')}", shares[name]]
    for role, column in (("source", "source"), ("confidence", "confidence"), ("unit", "pair")):
        if role in MEANINGS[kind].columns:
            options += [f"--{role}", column]
    if kind == "uu":
        options += ["--source-value", "A", "--source-value", "B"]
    result = run("audit", file(weak_file(kind)), "--labels", kind, "--format", "json", *options)
    assert result.exit_code in (0, 1, 3), result.output
    assert json.loads(result.stdout)["labels"]["kind"] == kind


def test_known_positives_among_unchecked_rows(file):
    rng = np.random.default_rng(0)
    score = rng.random(6_000)
    known = (rng.random(6_000) < score) & (rng.random(6_000) < 0.4)
    path = file(
        "\n".join(
            ["score,label", *(f"{s:.4f},{int(k) if k else ''}" for s, k in zip(score, known, strict=True))]
        )
    )
    assert "needs --prior" in refused("audit", path, "--labels", "pu")
    found = json.loads(run("audit", path, "--labels", "pu", "--prior", 0.5, "--format", "json").stdout)
    assert found["labels"]["measured"] == "corrected for unlabelled rows"
