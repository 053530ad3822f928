"""The Learn page in a browser: nothing blank, nothing wider than the screen, on a desktop and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.conftest import settled

pytestmark = pytest.mark.browser


def test_every_lesson_is_drawn_and_fits_the_screen(page, server):
    page.goto(f"{server}/learn")
    for chart in ("temperatures", "pooling"):
        page.locator(f".st-key-{chart} .js-plotly-plot").wait_for()
    settled(page)
    for button, chart in (("train-families", "families"), ("grow", "growth")):
        page.locator(f".st-key-{button} button").click()
        page.locator(f".st-key-{chart} .js-plotly-plot").wait_for()
        settled(page)
    assert page.locator(".js-plotly-plot").count() == 4
    wide = page.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
                 .some(part => part.scrollWidth > part.clientWidth + 1)"""
    )
    assert not wide
    slider = page.get_by_role("slider").last
    slider.focus()
    slider.press("ArrowRight")
    page.locator(".st-key-pooling .gtitle", has_text="Merge 1 of").wait_for()
