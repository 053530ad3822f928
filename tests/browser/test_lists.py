"""Lists that leave and come back, in a real browser: what is downloaded is what is taken."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from tests.browser.conftest import settled
from tests.browser.test_click_path import choose_file, open_view
from tests.dashboard.lists import as_csv, filled, noisy

pytestmark = pytest.mark.browser


def downloaded(page, label):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).click()
    return pd.read_csv(io.BytesIO(waiting.value.path().read_bytes()))


def test_a_sample_is_drawn_refused_taken_and_corrections_come_back(server, page, tmp_path):
    data, truth = noisy()
    for name in ("scores", "wrong", "filled", "fixed"):
        (tmp_path / f"{name}.csv").write_bytes(data)
    page.goto(server)
    page.get_by_text("Can these scores be trusted?").wait_for()
    choose_file(page, tmp_path / "scores.csv")
    page.get_by_text("Kept 1,200 of 1,200 rows").wait_for()
    page.get_by_text("They are outcomes, some recorded wrong").first.click()
    settled(page)
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    open_view(page, "Compare")
    page.get_by_text("Draw a random sample to check").click()
    table = filled(downloaded(page, "Download the list to check"), truth)
    (tmp_path / "wrong.csv").write_bytes(as_csv(pd.concat([table, table[:1]])))
    choose_file(page, tmp_path / "wrong.csv")
    # the expander stays open, so that what is wrong can be read
    page.get_by_text("more than once").wait_for()
    (tmp_path / "filled.csv").write_bytes(as_csv(table))
    choose_file(page, tmp_path / "filled.csv")
    page.get_by_text("Ranked on a random sample of 292 clean audit labels").wait_for()
    open_view(page, "Label noise")
    fixed = filled(downloaded(page, "Download the list"), truth, "corrected_label")
    (tmp_path / "fixed.csv").write_bytes(as_csv(fixed))
    choose_file(page, tmp_path / "fixed.csv")
    page.get_by_text(f"{len(fixed):,} corrections applied").wait_for()
    settled(page)
    assert page.get_by_test_id("stException").count() == 0
