"""The command line: every command on a file, its numbers, its sentences and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from calcore import ingest, metrics, verdicts
from calcore.audit import audit
from calcore.calibrators import REGISTRY, Isotonic, Platt
from calcore.cli import main
from calcore.comparison import compare
from calcore.maps import CalibrationMap
from calcore.meanings import MEANINGS
from calcore.observation import Clean, Noisy
from calcore.samples import digits_with_flipped_labels
from tests.dashboard.conftest import csv_bytes
from tests.dashboard.weak_files import PRIOR, weak_file

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, code=None):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), (
        result.exception
    )
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    """The one sentence on stderr of a run that must end with 2."""
    result = run(*arguments, code=2)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, "one sentence"
    return result.stderr


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    def write(content, name="scores.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def calibrated(file):
    return file(csv_bytes(8_000))


@pytest.fixture
def too_high(file):
    return file(csv_bytes(8_000, power=2.0))


@pytest.fixture
def digits(file):
    return file(digits_with_flipped_labels(), "digits.csv")


# --- audit ---


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


# --- files that break tools of this kind ---


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


# --- compare ---


def test_compare_prints_the_table_and_is_the_librarys_comparison(too_high):
    options = ("--calibrators", "platt, Isotonic", "--no-groups")
    result = run("compare", too_high, *options, code=0)
    assert "No change" in result.stdout
    assert "Harm" in result.stdout
    found = json.loads(run("compare", too_high, *options, "--format", "json", code=0).stdout)
    columns = ingest.read(too_high).columns
    expected = compare(Clean().evidence(columns.score, columns.label), [Platt(), Isotonic()])
    assert found["winner"] == expected.winner
    for entry in found["calibrators"]:
        ours = expected.entry(entry["name"])
        assert entry["metrics"]["Brier"]["value"] == ours.metrics["Brier"].value
        assert entry["metrics"]["ECE"]["interval"] == list(ours.metrics["ECE"].interval)
        assert entry["harm"]["at_n"] == ours.harm.at_n
        assert entry["differences"]["Brier"]["upper"] == ours.differences["Brier"].upper


def test_noisy_labels_alone_are_not_ranked_and_end_with_3(digits):
    result = run("compare", digits, "--calibrators", "Platt", code=3)
    assert "Not ranked. These labels are noisy" in result.stdout
    run("compare", digits, "--calibrators", "Platt", "--audit-label", "audit_label", code=0)


def test_a_wrong_calibrator_is_answered_with_those_there_are(calibrated):
    assert "GatedLWCal" in refused("compare", calibrated, "--calibrators", "nope")
    assert "MC looks at subgroups" in refused("compare", calibrated, "--ranked-on", "mc", "--no-groups")


@pytest.mark.parametrize("name", list(REGISTRY))
def test_calibrators_go_by_name_and_title_in_any_case(name):
    from calcore.cli.compare import calibrator_named

    assert calibrator_named(name.upper()) is REGISTRY[name]
    assert calibrator_named(REGISTRY[name].title.lower()) is REGISTRY[name]


# --- fit ---


def test_a_fitted_map_carries_where_it_comes_from(too_high, tmp_path):
    out = tmp_path / "map.json"
    result = run("fit", too_high, "--calibrator", "PLATT", "--out", out, code=0)
    assert "Harm check" in result.stdout
    map_ = CalibrationMap.from_json(out.read_bytes())
    assert map_.calibrator == "Platt"
    assert map_.data_sha256 == ingest.read(too_high).report.sha256
    assert map_.created is not None
    assert map_.observation["name"] == "Clean"
    assert set(map_.metrics) >= {"ECE", "Brier", "log loss", "AUC", "harm", "ranking"}
    columns = ingest.read(too_high).columns
    np.testing.assert_array_equal(
        map_.predict(columns.score), Platt().fit(columns.score, columns.label).predict(columns.score)
    )


def test_a_map_is_never_replaced_unasked_and_may_go_to_stdout(calibrated, tmp_path):
    out = tmp_path / "map.json"
    out.write_text("precious")
    assert "--force" in refused("fit", calibrated, "--calibrator", "platt", "--out", out)
    assert out.read_text() == "precious"
    run("fit", calibrated, "--calibrator", "platt", "--out", out, "--force", code=0)
    result = run("fit", calibrated, "--calibrator", "platt", "--out", "-", code=0)
    assert CalibrationMap.from_json(result.stdout).calibrator == "Platt"
    assert "Harm check" in result.stderr
    assert "is the file that is read" in refused(
        "fit", calibrated, "--calibrator", "platt", "--out", calibrated, "--force"
    )
    assert "no folder" in refused(
        "fit", calibrated, "--calibrator", "platt", "--out", tmp_path / "no" / "map.json"
    )


def test_a_method_that_does_not_exist_under_the_labels_says_why(file, tmp_path):
    path = file(weak_file("posterior"))
    said = refused(
        "fit",
        path,
        "--labels",
        "posterior",
        "--confidence",
        "confidence",
        "--calibrator",
        "lwcal",
        "--out",
        tmp_path / "m.json",
    )
    assert "does not exist" in said
    assert not (tmp_path / "m.json").exists()


def test_flip_rates_are_in_the_map(digits, tmp_path):
    out = tmp_path / "map.json"
    run(
        "fit",
        digits,
        "--labels",
        "noisy",
        "--rho0",
        0.3,
        "--rho1",
        0.3,
        "--calibrator",
        "platt",
        "--out",
        out,
        code=0,
    )
    map_ = CalibrationMap.from_json(out.read_bytes())
    assert map_.observation["parameters"]["rho0"] == 0.3
    columns = ingest.read(digits).columns
    expected = Platt().fit(Noisy(0.3, 0.3).evidence(columns.score, columns.label)).predict(columns.score)
    np.testing.assert_array_equal(map_.predict(columns.score), expected)


# --- the program itself ---


def program(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-m", "calcore", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False, **options)


def test_the_program_runs_without_a_warning_and_ends_with_its_code(too_high):
    done = program("audit", too_high, "--format", "json")
    assert done.returncode == 1
    assert done.stderr == b""
    assert json.loads(done.stdout)["exit_code"] == 1


def test_the_program_says_how_it_is_used():
    for command in ((), ("audit",), ("fit",), ("apply",), ("compare",)):
        done = program(*command, "--help")
        assert done.returncode == 0
        assert b"xit code" in done.stdout


def test_a_reader_that_goes_away_is_no_verdict(too_high):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = (
        f'"{sys.executable}" -m calcore audit "{too_high}" --format json | true; exit ${{PIPESTATUS[0]}}'
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 141
    assert done.stderr == b""
