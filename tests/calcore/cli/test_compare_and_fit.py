"""``calcore compare`` and ``calcore fit``: the library's comparison, and maps with their provenance."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calcore import ingest
from calcore.calibrators import REGISTRY, Isotonic, Platt
from calcore.comparison import compare
from calcore.maps import CalibrationMap
from calcore.observation import Clean, Noisy
from tests.calcore.cli.runs import refused, run
from tests.dashboard.weak_files import weak_file


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


def test_a_calibrator_without_a_harm_check_under_flips_stands_in_the_table(digits):
    result = run("compare", digits, "--calibrators", "platt,wlmc", "--ranked-on", "MC", code=3)
    assert "Harm with flips" in result.stdout
    assert "n/a" in next(line for line in result.stdout.splitlines() if line.startswith("WLMC "))


def test_a_wrong_calibrator_is_answered_with_those_there_are(calibrated):
    assert "GatedLWCal" in refused("compare", calibrated, "--calibrators", "nope")
    assert "MC looks at subgroups" in refused("compare", calibrated, "--ranked-on", "mc", "--no-groups")


@pytest.mark.parametrize("name", list(REGISTRY))
def test_calibrators_go_by_name_and_title_in_any_case(name):
    from calcore.cli.compare import calibrator_named

    assert calibrator_named(name.upper()) is REGISTRY[name]
    assert calibrator_named(REGISTRY[name].title.lower()) is REGISTRY[name]


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
    assert "cannot be written" in refused(
        "fit", calibrated, "--calibrator", "platt", "--out", "/proc/map.json"
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
