"""A reload forgets everything: a saved session and its file bring it back, a link its settings and its view."""

from __future__ import annotations

import json

import pytest

from tests.browser.conftest import settled
from tests.browser.test_click_path import choose_file, open_view
from tests.dashboard.conftest import csv_bytes

pytestmark = pytest.mark.browser


def open_box(page) -> None:
    """The sidebar's box, on a phone too."""
    folded = page.get_by_test_id("stExpandSidebarButton")
    if folded.count():
        folded.click()
    page.get_by_text("Save or share").click()
    page.get_by_role("button", name="Save session").wait_for()
    settled(page)


def shut_sidebar(page) -> None:
    """On a phone it covers the page."""
    if page.viewport_size["width"] < 600 and not page.get_by_test_id("stExpandSidebarButton").count():
        page.get_by_test_id("stSidebarContent").hover()
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        page.get_by_test_id("stExpandSidebarButton").wait_for()


def verdict(page) -> str:
    settled(page)
    return page.get_by_test_id("stAlert").filter(has_text="alibrated").first.inner_text()


def test_a_session_survives_a_reload_and_a_link_opens_the_same_view(server, page, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_bytes(csv_bytes(1200, seed=5, power=2.0, flips=0.1))
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, file)
    page.get_by_text("Kept 1,200 of 1,200 rows").wait_for()
    page.get_by_text("They are outcomes, some recorded wrong").first.click()
    settled(page)
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    open_box(page)
    for _ in range(3):  # 2 points and 3 half points
        page.get_by_role("slider").first.press("ArrowRight")
    page.get_by_test_id("stSliderThumbValue").filter(has_text="3.50").wait_for()
    before = verdict(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save session").click()
    saved = tmp_path / "scores.session.json"
    waiting.value.save_as(saved)
    assert json.loads(saved.read_text())["settings"]["tolerance"] == 0.035
    shut_sidebar(page)

    open_view(page, "Reliability")
    page.get_by_text("equal number of rows").click()
    settled(page)
    open_box_again = page.get_by_role("button", name="Save session")
    if not open_box_again.count():
        open_box(page)
    link = page.get_by_test_id("stCode").filter(has_text="labels=noisy").inner_text().strip()
    assert "strategy=mass" in link

    page.goto(f"{server}/overview")
    page.get_by_text("If the page was reloaded").wait_for()
    page.goto(server)
    shut_sidebar(page)
    page.get_by_text("Reloaded, or coming back?").click()
    page.get_by_text("A reload or a closed tab forgets everything").wait_for()
    settled(page)
    page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(saved)
    page.get_by_text("Drop that file, and all is as it was").wait_for()
    settled(page)
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(file)
    page.get_by_text("is read, judged and shown as it was").wait_for()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    assert verdict(page) == before
    assert "3.50" in page.get_by_test_id("stSliderThumbValue").first.text_content()

    other = page.context.new_page()
    other.goto(link)
    other.get_by_text("This link brings settings, not data").wait_for()
    choose_file(other, file)
    other.get_by_role("heading", name="Reliability", exact=True).wait_for()
    settled(other)
    assert "3.50" in other.get_by_test_id("stSliderThumbValue").first.text_content()
    assert other.get_by_role("radio", name="equal number of rows").get_attribute("aria-checked") == "true"
    assert other.get_by_test_id("stException").count() == 0
    other.close()
