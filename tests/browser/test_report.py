"""The report as a file on disk: drawn without a network, on any screen, and on paper."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.dashboard.reports import file_with_ids, fresh_session, opened, reported

pytestmark = pytest.mark.browser

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    data = file_with_ids(2000).decode().replace("north", EVIL).encode()
    place = tmp_path_factory.mktemp("report") / "scores.report.html"
    with fresh_session():
        place.write_text(reported(opened(data), "Platt"), "utf-8")
    return place


def test_it_is_drawn_from_disk_without_a_network(page, report):
    said, asked = [], []
    page.context.set_offline(True)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-figure]')].every(one => one.querySelector('.main-svg'))"
    )
    assert page.locator("[data-figure]").count() == 6
    assert page.locator("[data-figure] .plot-container").count() == 6
    assert not said
    assert asked == [report.as_uri()]
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


def test_it_prints_light_and_uncut_from_a_dark_screen(page, report):
    page.emulate_media(color_scheme="dark")
    page.goto(report.as_uri())
    page.locator("[data-figure='figure-map'] .main-svg").first.wait_for()
    ink = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    dark = page.evaluate(ink)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(ink) != dark
    # A4 less its margins of 15 mm, at 96 px an inch
    wide, tall = 180 / 25.4 * 96, 267 / 25.4 * 96
    for box in page.evaluate(
        "[...document.querySelectorAll('figure')].map(one => [one.querySelector('.svg-container').offsetWidth, one.offsetHeight])"
    ):
        assert box[0] <= wide + 1
        assert box[1] <= tall
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 4


def test_a_heading_is_printed_with_its_first_figure(page, report, tmp_path):
    reader = shutil.which("pdftotext")
    if reader is None:
        pytest.skip("pdftotext (poppler) is not here")
    page.goto(report.as_uri())
    page.locator("[data-figure='figure-map'] .main-svg").first.wait_for()
    page.pdf(path=tmp_path / "r.pdf", prefer_css_page_size=True, print_background=True)
    text = subprocess.run([reader, tmp_path / "r.pdf", "-"], capture_output=True, check=True).stdout.decode()
    (there,) = (
        one for one in text.split("\f") if "\nChosen calibrator: " in f"\n{one}" and "Harm check" in one
    )
    assert "Harm check: if these scores were right" in there
    assert "Mean score" in there.split("Chosen calibrator: ")[-1], "the axis of the diagram"
