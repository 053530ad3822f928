"""The main job in a real browser: upload, roles, overview, compare, download; the map gives the same numbers."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest

from calcore import ingest
from calcore.calibrators import REGISTRY
from calcore.maps import CalibrationMap
from calcore.observation import Clean
from tests.browser.conftest import settled
from tests.dashboard.conftest import csv_bytes

pytestmark = pytest.mark.browser


def open_view(page, name: str) -> None:
    """Follow the navigation, which is folded away on a phone."""
    folded = page.get_by_test_id("stExpandSidebarButton")
    if folded.count():
        folded.click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_role("heading", name=name, exact=True).wait_for()
    settled(page)


def choose_file(page, path) -> None:
    settled(page)  # while a rerun replaces the page, the drop zone of the last one stands beside the new one
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)


def test_from_file_to_map_in_four_actions(server, page, tmp_path):
    data = csv_bytes(1200, seed=5, power=2.0)
    file = tmp_path / "scores.csv"
    file.write_bytes(data)
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, file)
    page.get_by_text("Kept 1,200 of 1,200 rows").wait_for()
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    page.locator(".st-key-overview-reliability .js-plotly-plot").first.wait_for()
    page.get_by_role("button", name="Compare calibrators").click()
    page.get_by_role("heading", name="Compare", exact=True).wait_for()
    button = page.get_by_test_id("stDownloadButton").get_by_role("button").first
    button.wait_for()
    settled(page)
    with page.expect_download() as waiting:
        button.click()
    saved = tmp_path / "map.json"
    waiting.value.save_as(saved)
    loaded = CalibrationMap.from_json(saved.read_bytes())
    columns = ingest.read(data, filename="scores.csv").columns
    fitted = REGISTRY[loaded.calibrator]().fit(Clean().evidence(columns.score, columns.label))
    np.testing.assert_array_equal(loaded.predict(columns.score), fitted.predict(columns.score))
    assert loaded.n == 1200
    assert json.loads(saved.read_text())["data_sha256"] == ingest.read(data, filename="x").report.sha256


def test_the_exported_python_module_gives_the_maps_numbers(server, page, tmp_path):
    page.goto(server)
    page.get_by_role("button", name="Try the sample").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    open_view(page, "Compare")
    page.get_by_test_id("stDownloadButton").first.wait_for()
    settled(page)
    open_view(page, "Export")
    saved = {}
    for label in ("Map as JSON", "Python module"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=label).click()
        saved[label] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(saved[label])
    loaded = CalibrationMap.from_json(saved["Map as JSON"].read_bytes())
    spec = importlib.util.spec_from_file_location("exported", saved["Python module"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scores = np.linspace(0, 1, 1001)
    np.testing.assert_array_equal(module.calibrate_many(scores.tolist()), loaded.predict(scores))


def test_every_view_fits_the_width_and_draws(server, page):
    page.goto(server)
    page.get_by_role("button", name="Try the sample").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    for view in ("Reliability", "Subgroups", "Label noise", "Compare", "Export", "Data", "Overview"):
        open_view(page, view)
        wide = page.evaluate(
            "() => document.querySelector('[data-testid=stMain]').scrollWidth"
            " - document.querySelector('[data-testid=stMain]').clientWidth"
        )
        assert wide <= 1, f"{view} scrolls sideways by {wide} pixels"
        assert page.get_by_test_id("stException").count() == 0


def test_a_click_on_a_cell_shows_its_rows(server, page):
    page.goto(server)
    page.get_by_role("button", name="Try the sample").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    open_view(page, "Subgroups")
    chart = page.locator(".st-key-cell-heatmap .js-plotly-plot")
    chart.wait_for()
    settled(page)
    chart.scroll_into_view_if_needed()
    place = page.evaluate(
        """() => {
            const chart = document.querySelector('.st-key-cell-heatmap .js-plotly-plot');
            const traces = chart._fullData;
            const trace = traces.findLast(t => t.type === 'scatter' && t.customdata);
            const layout = chart._fullLayout, box = chart.getBoundingClientRect();
            const x = layout.xaxis.d2p(trace.x[0]) + layout.xaxis._offset;
            const y = layout.yaxis.d2p(trace.y[0]) + layout.yaxis._offset;
            return [box.left + x, box.top + y];
        }"""
    )
    page.mouse.click(*place)
    page.locator(".st-key-cell-rows").wait_for()
    settled(page)


def test_the_same_file_can_be_opened_twice(server, page, tmp_path):
    file = tmp_path / "again.csv"
    file.write_bytes(csv_bytes(300))
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, file)
    page.get_by_text("Kept 300 of 300 rows").wait_for()
    settled(page)
    other = page.get_by_test_id("stExpander").filter(has_text="Open another file")
    other.get_by_text("Open another file").click()
    other.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(str(file))
    settled(page)
    page.get_by_text("Kept 300 of 300 rows").wait_for()


def test_a_broken_file_shows_one_sentence(server, page, tmp_path):
    file = tmp_path / "sheet.csv"
    file.write_bytes(b"PK\x03\x04" + bytes(100))
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, file)
    page.get_by_test_id("stAlert").wait_for()
    assert page.get_by_test_id("stAlert").count() == 1
    assert page.get_by_test_id("stException").count() == 0


def test_nothing_is_asked_of_another_machine(server, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server)
    page.get_by_role("button", name="Try the sample").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    for view in ("Reliability", "Export", "Data"):
        open_view(page, view)
    outside = [
        url for url in asked if not url.startswith((server, "data:", "blob:", server.replace("http", "ws")))
    ]
    assert outside == []
