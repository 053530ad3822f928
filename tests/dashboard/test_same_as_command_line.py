"""A file gives the same numbers and sentences in the dashboard and on the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from calcore.cli import main
from calcore.maps import CalibrationMap
from calcore.samples import digits_with_flipped_labels
from tests.dashboard.conftest import csv_bytes, upload


def printed(*arguments):
    return json.loads(CliRunner().invoke(main, [*map(str, arguments), "--format", "json"]).stdout)


def kept(app, kind):
    """The result of a kind that the session holds."""
    return next(value for key, value in app.session_state["calcore"].results.items() if key[0] == kind)


@pytest.mark.parametrize("sample", [False, True], ids=["outcomes", "noisy labels with a checked sample"])
def test_verdict_comparison_and_map_are_the_same(app, tmp_path, sample, few_calibrators):
    path = tmp_path / "scores.csv"
    path.write_bytes(digits_with_flipped_labels() if sample else csv_bytes(2_000, power=1.5))
    options = ("--audit-label", "audit_label") if sample else ()
    if sample:
        app.button(key="sample").click().run()
    else:
        upload(app, path.read_bytes())
        app.button(key="analyse").click().run()
    app.switch_page("views/overview.py").run()
    audit, found = kept(app, "audit"), printed("audit", path, *options)
    assert found["metrics"]["ECE"]["value"] == audit.error.value
    assert found["metrics"]["Brier"]["value"] == kept(app, "headline")["Brier"].value
    assert [group["name"] for group in found["subgroups"]] == [group.group for group in audit.groups]
    assert found["gaps"][0]["gap"] == audit.largest.residual
    app.switch_page("views/compare.py").run()
    comparison, found = kept(app, "comparison"), printed("compare", path, *options)
    assert found["winner"] == comparison.winner
    assert [entry["name"] for entry in found["calibrators"]] == [entry.name for entry in comparison.entries]
    for entry in found["calibrators"]:
        ours = comparison.entry(entry["name"])
        assert {name: one["value"] for name, one in entry["metrics"].items()} == {
            name: one.value for name, one in ours.metrics.items()
        }
        assert entry["harm"]["at_n"] == ours.harm.at_n
    app.switch_page("views/export.py").run()
    exported = kept(app, "export").map
    out = tmp_path / "map.json"
    CliRunner().invoke(
        main, ["fit", str(path), *options, "--calibrator", exported.calibrator, "--out", str(out)]
    )
    fitted = CalibrationMap.from_json(out.read_bytes())
    assert fitted.function == exported.function
    assert fitted.metrics == exported.metrics
    assert fitted.warnings == exported.warnings
    assert fitted.data_sha256 == exported.data_sha256
