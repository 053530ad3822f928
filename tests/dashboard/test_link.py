"""Links: settings in the address, good ones used, bad ones said."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from calcore.meanings import MEANINGS
from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.test_saved_session import ALL, analysed_of, fresh, said, verdict
from tests.dashboard.test_views import go


def link_in(at: AppTest) -> str:
    at.session_state["save-or-share"] = True
    at.run()
    return next(one.value for one in at.code if "labels=" in one.value).split("?", 1)[1]


def test_a_link_brings_the_settings_and_the_view_to_its_file(app):
    data = analysed_of(app, "noisy")
    go(app, "reliability")
    app.slider(key="bins").set_value(17).run()
    query = link_in(app)
    before = verdict(app)
    again = fresh(query)
    assert not again.exception
    assert "This link brings settings, not data: drop the file that they are for" in messages(again)
    upload(again, data)
    assert again.session_state["calcore"].settings == app.session_state["calcore"].settings
    assert again.session_state["calcore"].notice.good
    assert again.slider(key="bins-1").value == 17
    assert verdict(again) == before


@pytest.mark.parametrize("kind", ALL)
def test_a_link_holds_the_numbers_of_every_meaning(app, kind):
    analysed_of(app, kind)
    old = app.session_state["calcore"].settings
    again = fresh(link_in(app))
    assert again.session_state["calcore"].waiting.problems == ()
    new = replace(old, **again.session_state["calcore"].waiting.settings)
    assert new == old
    named = {name: getattr(old, name) for name in MEANINGS[kind].parameters}
    assert named.items() <= dict(again.session_state["calcore"].waiting.settings).items()


BAD = [
    ("labels=pu&prior=7", ['prior is "7"', "from 0 to 1", "none is used"]),
    ("labels=pu&prior=0.3&rho0=0.1", ["rho0 is 0.1", "left out"]),
    ("bins=9999", ['bins is "9999"', "2 to 40", "10 is used"]),
    ("tolerance=nan", ['tolerance is "nan"', "0.02 is used"]),
    ("labels=noisy&rho0=0.7&rho1=0.6", ["rho0 is 0.7 and rho1 is 0.6", "left out"]),
    ("labels=wrong", ['labels is "wrong"', "what the file suggests is used"]),
    ("measure_on=audit", ["measure_on=audit", "no clean audit labels", "recorded labels"]),
    ("calibrators=Identity,Platte", ["Platte", "Identity is used"]),
    ("group=region+%3D+east", ['no subgroup "region = east"', "everyone is shown"]),
    ("tolerance=0.03&tolerance=0.05", ["tolerance is there 2 times", "the first is used"]),
    ("colour=red&%3Cb%3E=1", ["colour: there is no such parameter", "<b>"]),
    ("data=0123456789ab", ["this is another file"]),
    ("view=..%2Fetc", ["view is"]),
    ("view=nowhere", ['no page "nowhere"', "Overview"]),
]


@pytest.mark.parametrize(
    ("query", "words"),
    [pytest.param(*one, marks=[] if i < 3 else pytest.mark.slow) for i, one in enumerate(BAD)],
)
def test_what_a_link_cannot_bring_is_said_in_one_notice(query, words):
    at = fresh(query)
    assert not at.exception
    upload(at, csv_bytes(300))
    assert not at.exception
    boxes = [one.value.replace("\\", "") for one in at.warning if "link" in one.value]
    assert len(boxes) == 1
    for one in words:
        assert one in boxes[0]


def test_bad_settings_of_a_link_are_said_before_any_file_is_open():
    at = fresh("labels=pu&prior=7&tolerance=0.03")
    assert 'prior is "7"' in at.warning[0].value.replace("\\", "")
    assert len(at.warning) == 1


@pytest.mark.slow
def test_a_link_to_a_file_that_was_read_in_another_way_stays_on_the_data_page(app):
    data = csv_bytes(300)
    upload(app, data)
    of_file(app, "multiselect", "role-groups").set_value([]).run()
    at = fresh(link_in(app))
    upload(at, data)
    assert "read in another way" in said(at)
    assert not at.session_state["calcore"].analysed


@pytest.mark.slow
def test_a_link_waits_for_its_file_while_the_sample_is_looked_at(app):
    at = fresh(urlencode({"labels": "pu", "prior": 0.3, "data": "0123456789ab"}))
    at.button(key="sample").click().run()
    assert not at.exception
    assert at.session_state["calcore"].settings.labels == "noisy"


def test_the_notice_can_be_put_away():
    at = fresh("bins=9999")
    at.button(key="close-notice").click().run()
    assert not at.warning
