"""The export page: every format verified before it is offered, or a sentence why it is not."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.maps import CalibrationMap
from dashboard.services.comparing import map_file_name

from .conftest import csv_bytes, messages
from .test_views import analysed, go

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (requirements-dev.txt)")
pytest.importorskip("onnx", reason="onnx is not installed (requirements-dev.txt)")


def disabled(app) -> dict[str, bool]:
    return {one.proto.label: one.proto.disabled for one in app.get("download_button")}


@pytest.fixture
def exporting(app, few_calibrators):
    analysed(app, csv_bytes(400))
    go(app, "compare")
    go(app, "export")
    assert not app.exception
    return app


def test_every_format_is_run_before_it_is_offered(exporting):
    said = [box.value.replace("\\", "") for box in exporting.success]
    for format in ("JSON", "Python", "SQL", "ONNX"):
        assert any(f"The {format} export gives" in sentence for sentence in said), format
    offered = disabled(exporting)
    for label in ("Map as JSON", "Python module", "SQL expression", "ONNX model"):
        assert offered[label] is False


def test_a_format_that_is_not_installed_says_what_to_install(app, few_calibrators, monkeypatch):
    monkeypatch.setattr("calcore.maps.onnx_model.find_spec", lambda name: None)
    analysed(app, csv_bytes(400))
    go(app, "compare")
    go(app, "export")
    assert not app.exception
    assert "pip install onnx onnxruntime" in messages(app)
    assert "ONNX model" not in disabled(app)


def test_an_export_that_differs_cannot_be_taken(app, few_calibrators, monkeypatch):
    monkeypatch.setattr("calcore.maps.run_sql.to_sql", lambda map_, column: "0.5")
    analysed(app, csv_bytes(400))
    go(app, "compare")
    go(app, "export")
    assert any("do not use it" in box.value for box in app.error)
    assert disabled(app)["SQL expression"]
    assert not disabled(app)["Map as JSON"]


def test_a_score_column_of_any_name_stays_a_name_in_sql(app, few_calibrators):
    analysed(app, csv_bytes(400, header="my score,label,region"))
    go(app, "compare")
    go(app, "export")
    assert any('"my score"' in part.value for part in app.code)


def test_the_scikit_learn_lines_run(exporting, tmp_path, monkeypatch):
    lines = next(part.value for part in exporting.code if "CalibratedClassifier" in part.value)
    document = next(part.value for part in exporting.code if part.value.startswith("{"))
    name = lines.split('open("')[1].split('"')[0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(document)
    lines = lines.replace("open(", "__import__('pathlib').Path(").replace(".read()", ".read_text()")
    found: dict = {"classifier": None}
    exec(lines, found)
    assert found["calibrated"].calibration_map == CalibrationMap.from_json(document)


@pytest.mark.slow
def test_a_map_of_subgroups_leaves_as_sql_and_says_where_it_cannot(app, monkeypatch):
    for choice in ("USUAL", "NOISE_AWARE"):
        monkeypatch.setattr(f"calcore.usual_calibrators.{choice}", ("Identity", "PatchedWLMC"))
    rng = np.random.default_rng(0)
    score = rng.random(2000).round(4)
    region = rng.choice(["north", "south"], 2000)
    rate = np.clip(score + np.where(region == "north", 0.2, -0.2), 0, 1)
    label = (rng.random(2000) < rate).astype(int)
    rows = [f"{s},{y},{r}" for s, y, r in zip(score, label, region, strict=True)]
    analysed(app, "\n".join(["score,label,region", *rows, ""]).encode())
    go(app, "compare")
    go(app, "export")
    app.selectbox(key="export-name").set_value("PatchedWLMC").run()
    assert not app.exception
    said = messages(app)
    assert "A Python module takes the score alone, but this map differs between subgroups" in said
    assert "An ONNX model takes the score alone, but this map differs between subgroups" in said
    assert "The SQL export gives" in said
    assert not disabled(app)["SQL expression"]
    assert any("\"region\" = 'north'" in part.value for part in app.code)


def test_files_of_a_map_are_called_alike_and_the_module_can_be_imported(exporting):
    code = "\n".join(part.value for part in exporting.code)
    assert '_calibration.json").read()' in code
    assert map_file_name("VennAbers", "json") == "vennabers_calibration.json"
    assert map_file_name("VennAbers", "py").removesuffix(".py").isidentifier()
