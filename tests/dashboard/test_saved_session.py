"""Save a session, open it in a new one beside its file or another."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from calcore.meanings import MEANINGS
from calcore.session import Session
from dashboard.services.sessions import session_of
from tests.calcore.ingest.test_several_scores import rivals
from tests.dashboard.conftest import ROOT, csv_bytes, messages, of_file, upload
from tests.dashboard.lists import as_csv, bring, filled, noisy, the_list
from tests.dashboard.test_label_meanings import opened
from tests.dashboard.test_several_scores import classes
from tests.dashboard.test_ties_and_late_labels import bring as bring_labels
from tests.dashboard.test_ties_and_late_labels import games, two_files
from tests.dashboard.test_views import go
from tests.dashboard.weak_files import PRIOR, weak_file


def fresh(query: str = "") -> AppTest:
    """A new session, as after a reload."""
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
    for name, values in parse_qs(query, keep_blank_values=True).items():
        at.query_params[name] = values if len(values) > 1 else values[0]
    return at.run()


def saved(at: AppTest, view: str = "overview") -> bytes:
    """What "Save session" downloads."""
    return session_of(at.session_state["calcore"], view).to_json().encode()


def open_session(at: AppTest, data: bytes) -> AppTest:
    """Through the landing page, or the sidebar where a file is open."""
    place, name = ("coming-back", "coming-back-session")
    if at.session_state["calcore"].parsed is not None:
        place, name = ("save-or-share", "open-session")
    at.session_state[place] = True
    at.run()
    uploader = next(one for one in at.file_uploader if one.key.startswith(f"{name}-"))
    return uploader.upload("x.session.json", data, "application/json").run()


def verdict(at: AppTest) -> list[str]:
    """The boxes and numbers of the overview."""
    go(at, "overview")
    boxes = [one.value for kind in (at.success, at.warning, at.error, at.info) for one in kind]
    notice = at.session_state["calcore"].notice
    return [one for one in boxes if notice is None or notice.title[:20] not in one.replace("\\", "")] + [
        metric.value for metric in at.metric
    ]


def said(at: AppTest) -> str:
    notice = at.session_state["calcore"].notice
    return " ".join([notice.title, *notice.lines])


def analysed_of(app: AppTest, kind: str) -> bytes:
    """The app with an analysed file of this kind; its bytes."""
    if kind in ("clean", "noisy", "pu"):
        data = csv_bytes(500, power=1.6, flips=0.1 if kind == "noisy" else 0.0)
        upload(app, data)
        of_file(app, "radio", "labels-mean").set_value(kind).run()
        if kind == "pu":
            of_file(app, "number_input", "prior").set_value(57.0).run()
        if kind == "noisy":
            of_file(app, "toggle", "rates-known").set_value(True).run()
            of_file(app, "number_input", "rho0").set_value(7.0).run()
            of_file(app, "number_input", "rho1").set_value(13.0).run()
    else:
        data = weak_file(kind)
        opened(app, kind)
    app.slider(key="tolerance").set_value(3.5).run()
    app.button(key="analyse").click().run()
    assert not app.exception
    return data


ALL = [pytest.param(kind, marks=[] if kind == "noisy" else pytest.mark.slow) for kind in MEANINGS]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_a_session_and_its_file_bring_back_the_verdict_and_every_setting(app, kind):
    comes_back(app, kind, session_first=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clean", "uu"])
def test_the_file_may_come_before_the_session(app, kind):
    comes_back(app, kind, session_first=False)


def comes_back(app, kind, session_first):
    comes_back_as_it_was(app, analysed_of(app, kind), session_first)


def comes_back_as_it_was(app, data, session_first):
    before, file = verdict(app), saved(app)
    old = app.session_state["calcore"]
    again = fresh()
    if session_first:
        open_session(again, file)
        assert "Drop that file, and all is as it was" in messages(again)
    upload(again, data)
    if not session_first:
        open_session(again, file)
    assert not again.exception
    new = again.session_state["calcore"]
    assert "read, judged and shown as it was" in said(again)
    assert (new.choices, new.settings, new.looked) == (old.choices, old.settings, old.looked)
    assert new.analysed
    assert verdict(again) == before
    go(again, "data")
    # the widgets of the Data page say what was opened, and take nothing back
    new = again.session_state["calcore"]
    assert (new.choices, new.settings, new.analysed) == (old.choices, old.settings, True)
    assert saved(again) == file


@pytest.mark.slow
def test_what_was_looked_at_comes_back(app, few_calibrators):
    data = csv_bytes(500, power=2.0)
    upload(app, data)
    app.button(key="analyse").click().run()
    go(app, "reliability")
    app.slider(key="bins").set_value(17)
    app.button_group(key="strategy").set_value("mass")
    app.multiselect(key="overlaid").set_value(["Identity", "Platt"])
    app.selectbox(key="reliability-group").set_value(1).run()
    go(app, "subgroups")
    app.text_input(key="group-search").set_value("north").run()
    app.slider(key="min-mass").set_value(4.0).run()
    go(app, "compare")
    app.multiselect(key="compared").set_value(["Platt", "Temperature"])
    app.selectbox(key="ranked-on").set_value("log loss").run()
    table = app.dataframe[0].value
    go(app, "export")
    app.selectbox(key="export-name").set_value("Temperature").run()
    file = saved(app, "reliability")
    again = fresh()
    open_session(again, file)
    upload(again, data)
    go(again, "reliability")
    assert again.slider(key="bins-1").value == 17
    assert again.button_group(key="strategy-1").value == "mass"
    assert again.multiselect(key="overlaid-1").value == ["Identity", "Platt"]
    assert again.selectbox(key="reliability-group-1").value == 1
    go(again, "subgroups")
    assert again.text_input(key="group-search-1").value == "north"
    assert again.slider(key="min-mass-1").value == 4.0
    go(again, "compare")
    assert again.multiselect(key="compared-1").value == ["Platt", "Temperature"]
    assert again.dataframe[0].value.equals(table)
    go(again, "export")
    assert again.selectbox(key="export-name-1").value == "Temperature"


def test_pages_keep_what_they_were_looked_at_with(app):
    upload(app, csv_bytes(400))
    app.button(key="analyse").click().run()
    go(app, "reliability")
    app.slider(key="bins").set_value(23).run()
    go(app, "overview")
    go(app, "reliability")
    assert app.slider(key="bins").value == 23


@pytest.mark.slow
def test_next_weeks_file_gets_the_settings_and_is_said_to_be_another(app):
    analysed_of(app, "noisy")
    file = saved(app)
    again = fresh()
    open_session(again, file)
    upload(again, csv_bytes(450, seed=9, flips=0.1), "next_week.csv")
    assert not again.exception
    new = again.session_state["calcore"]
    assert "This is not the file of the session" in said(again)
    assert "All its settings fit" in said(again)
    assert "next_week.csv" in said(again)
    assert new.settings == app.session_state["calcore"].settings
    assert not new.analysed
    again.button(key="analyse").click().run()
    assert new.settings.rho1 == 0.13
    assert not again.exception


@pytest.mark.slow
def test_each_setting_that_does_not_fit_another_file_is_named(app):
    opened(app, "uu")
    app.button(key="analyse").click().run()
    file = saved(app)
    again = fresh()
    upload(again, csv_bytes(300, header="score,label,area"), "other.csv")
    open_session(again, file)
    assert not again.exception
    text = said(again)
    assert 'source: there is no column "source"' in text
    assert 'subgroups: there is no column "region"' in text
    assert "values of the source column A, B" in text
    assert again.session_state["calcore"].settings.prior == PRIOR
    assert again.session_state["calcore"].settings.labels == "uu"


@pytest.mark.slow
def test_a_session_that_was_used_for_another_file_still_knows_its_own(app):
    data = analysed_of(app, "noisy")
    before, file = verdict(app), saved(app)
    again = fresh()
    open_session(again, file)
    upload(again, csv_bytes(450, seed=9), "other.csv")
    go(again, "data")
    upload(again, csv_bytes(333, seed=4), "third.csv")
    assert again.session_state["calcore"].settings.labels == "clean"
    upload(again, data)
    assert verdict(again) == before


@pytest.mark.slow
def test_lists_that_came_back_are_named_and_not_stored(app, few_calibrators):
    data, truth = noisy()
    upload(app, data)
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    app.button(key="analyse").click().run()
    go(app, "compare")
    list_ = as_csv(filled(the_list(app), truth))
    bring(app, "sample", list_, "checked.csv")
    assert app.session_state["calcore"].settings.measure_on == "audit"
    file = saved(app)
    assert "audit_label" not in file.decode()
    again = fresh()
    open_session(again, file)
    upload(again, data)
    assert "checked.csv" in said(again)
    assert "bring back the random sample" in said(again)
    assert "measure_on=audit" in said(again)
    assert again.session_state["calcore"].settings.measure_on == "labels"
    go(again, "compare")
    bring(again, "sample", list_, "checked.csv")
    assert again.session_state["calcore"].settings == app.session_state["calcore"].settings


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"", "no JSON text"),
        (b"PK\x03\x04\xff", "no JSON text"),
        (b"[" * 60_000, "nested too deeply"),
        (b" " * 1_500_000, "1.5 MB"),
        (b'{"format": 1}', 'no "version"'),
    ],
)
def test_what_is_no_session_is_refused_with_a_sentence(app, bad, reason):
    open_session(app, bad)
    assert not app.exception
    assert reason in app.error[0].value.replace("\\", "")
    assert app.session_state["calcore"].waiting is None


def test_a_refused_session_leaves_the_open_file_alone(app):
    upload(app, csv_bytes(300))
    app.button(key="analyse").click().run()
    before = verdict(app)
    file = json.loads(saved(app))
    file["settings"]["tolerance"] = 5
    open_session(app, json.dumps(file).encode())
    assert "settings.tolerance" in app.error[0].value.replace("\\", "")
    assert verdict(app) == before or "settings.tolerance" in " ".join(verdict(app))


@pytest.mark.slow
def test_a_session_with_columns_that_are_not_there_opens_as_far_as_it_fits(app):
    """Edited by hand: the file's own SHA-256, and roles that it cannot have."""
    data = csv_bytes(300)
    upload(app, data)
    session = Session.from_json(saved(app))
    roles = replace(session.roles, score="nothing", label="score")
    edited = replace(session, roles=roles, choices=replace(session.choices, roles=roles))
    again = fresh()
    open_session(again, edited.to_json().encode())
    upload(again, data)
    assert not again.exception
    assert 'there is no column "nothing"' in said(again)


@pytest.mark.slow
def test_two_sessions_do_not_mix(app):
    data = analysed_of(app, "noisy")
    file = saved(app)
    one, other = fresh("labels=pu&prior=0.3"), fresh()
    open_session(other, file)
    upload(one, data)
    upload(other, data)
    one.run()
    other.run()
    assert one.session_state["calcore"].settings.labels == "pu"
    assert other.session_state["calcore"].settings.labels == "noisy"
    assert fresh().session_state["calcore"].waiting is None


def answered(app, kind, option):
    """Answer one of the questions about the file."""
    next(one for one in app.radio if f"-{kind}-" in str(one.key)).set_value(option).run()
    assert not app.exception


@pytest.mark.slow
@pytest.mark.parametrize("session_first", [True, False])
def test_answers_about_the_file_come_back(app, session_first):
    """Percentages with a decimal comma, and labels 1 and 2."""
    cells = [row.split(",") for row in csv_bytes(300).decode().splitlines()[1:]]
    lines = [f"{100 * float(s):.2f};{1 + int(y)};{r}".replace(".", ",") for s, y, r in cells]
    data = "\n".join(["score;label;region", *lines, ""]).encode()
    upload(app, data)
    answered(app, "score_scale", "percent")
    answered(app, "positive_label", "1")
    of_file(app, "selectbox", "decimal").set_value(",").run()
    app.button(key="analyse").click().run()
    choices = app.session_state["calcore"].choices
    assert (choices.score_scale, choices.label_mapping.positive) == ("percent", ("1",))
    comes_back_as_it_was(app, data, session_first)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "rivals"])
def test_what_several_scores_are_comes_back(app, kind):
    data = classes() if kind == "classes" else rivals()
    upload(app, data)
    of_file(app, "radio", "several-scores").set_value(kind).run()
    if kind == "classes":
        of_file(app, "selectbox", "class-label").set_value("kind").run()
        of_file(app, "selectbox", "class-view").set_value("p_dog").run()
    app.button(key="analyse").click().run()
    comes_back_as_it_was(app, data, True)
    assert vars(app.session_state["calcore"].choices)[kind]


@pytest.mark.slow
def test_an_audit_column_comes_back(app):
    rows = csv_bytes(400, flips=0.2).decode().splitlines()
    truth = csv_bytes(400).decode().splitlines()
    lines = [f"{row},{true.split(',')[1]}" for row, true in zip(rows[1:], truth[1:], strict=True)]
    data = "\n".join([f"{rows[0]},audit_label", *lines, ""]).encode()
    upload(app, data)
    of_file(app, "checkbox", "audit-random").set_value(True).run()
    app.button(key="analyse").click().run()
    assert app.session_state["calcore"].settings.measure_on == "audit"
    comes_back_as_it_was(app, data, True)


@pytest.mark.slow
def test_the_sample_comes_back_from_the_landing_page(app):
    app.button(key="sample").click().run()
    app.slider(key="tolerance").set_value(4.0).run()
    before, file = verdict(app), saved(app, "reliability")
    again = fresh()
    open_session(again, file)
    again.button(key="sample").click().run()
    assert not again.exception
    assert again.session_state["calcore"].settings.tolerance == 0.04
    assert again.session_state["calcore"].settings.measure_on == "audit"
    assert verdict(again) == before


@pytest.mark.slow
def test_labels_of_another_file_are_asked_for_and_then_all_is_as_it_was(app):
    scores, labels = two_files()
    upload(app, scores)
    bring_labels(app, labels)
    app.button(key="analyse").click().run()
    before, file = verdict(app), saved(app)
    again = fresh()
    open_session(again, file)
    upload(again, scores)
    assert "without its labels" in said(again)
    assert "labels.csv" in said(again)
    assert "scores.csv (SHA" not in said(again)
    assert not again.session_state["calcore"].analysed
    bring_labels(again, labels)
    assert not again.exception
    assert "read, judged and shown as it was" in said(again)
    assert verdict(again) == before
    assert again.session_state["calcore"].choices == app.session_state["calcore"].choices
    assert saved(again) == file


@pytest.mark.slow
def test_what_ties_count_as_comes_back(app):
    _, data = games()
    upload(app, data)
    of_file(app, "radio", "question").set_value("half").run()
    app.button(key="analyse").click().run()
    comes_back_as_it_was(app, data, True)
    assert app.session_state["calcore"].choices.label_mapping.half == ("0.5",)
