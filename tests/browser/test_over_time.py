"""Over time in a real browser: from the file to the alert, and other batches."""

from __future__ import annotations

import pytest

from tests.browser.conftest import settled
from tests.browser.test_click_path import choose_file, open_view
from tests.dashboard.streams import stream_bytes

pytestmark = pytest.mark.browser


def test_from_a_file_to_the_alert(server, page, tmp_path):
    file = tmp_path / "stream.csv"
    file.write_bytes(stream_bytes(12, 300, broken_from=6))
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, file)
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    settled(page)
    open_view(page, "Over time")
    page.get_by_text("since 2022-07").first.wait_for()
    page.locator(".st-key-over-time-series .js-plotly-plot").first.wait_for()
    page.get_by_role("combobox", name="A batch is").click()
    page.get_by_role("option", name="each quarter").click()
    settled(page)
    page.get_by_text("since 2022-Q3").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
