"""The history on the Over time page: streams, runs, acknowledgements, live maps, deletion."""

from __future__ import annotations

import pytest

import dashboard.services.history as service
from calcore.monitoring.store import Store
from tests.dashboard.conftest import messages, of_file, upload
from tests.dashboard.streams import stream_bytes


@pytest.fixture
def url(tmp_path, monkeypatch):
    """A history in a SQLite file, named to the page by the environment."""
    address = f"sqlite:///{tmp_path / 'history.db'}"
    monkeypatch.setenv("CALCORE_HISTORY", address)
    yield address
    service._open.clear()


def opened(app, data, name="stream.csv"):
    upload(app, data, name)
    app.button(key="analyse").click().run()
    app.switch_page("views/over_time.py").run()
    assert not app.exception, app.exception
    return app


def new_stream(app, name="loans <weekly>"):
    of_file(app, "selectbox", "stream").set_value("a new stream").run()
    of_file(app, "text_input", "stream-name").set_value(name).run()
    app.button(key="create-stream").click().run()
    assert not app.exception, app.exception
    return app


@pytest.mark.slow
def test_a_second_file_goes_on_from_the_first(app, url):
    opened(app, stream_bytes(8, 300))
    new_stream(app)
    app.button(key="save-run").click().run()
    assert "Saved as run 1" in messages(app)
    app.button(key="save-run").click().run()
    assert "saved already" in messages(app)
    app.switch_page("views/data.py").run()
    opened(app, stream_bytes(6, 300, start="2022-09", broken_from=2, seed=9), "later.csv")
    assert of_file(app, "selectbox", "stream").value == "loans <weekly>"
    assert app.dataframe[0].value["Batch"].iloc[0] == "2022-01"
    assert len(app.dataframe[0].value) == 14
    assert "since 2022-11" in app.error[0].value.replace("\\", "")
    app.button(key="save-run").click().run()
    with Store.open(url) as store:
        (stream,) = store.streams()
        assert len(store.runs(stream)) == 2
        assert len(store.batches(stream)) == 14


@pytest.mark.slow
def test_batches_of_which_the_file_has_a_part_are_one_box(app, url):
    data = stream_bytes(8, 300)
    opened(app, data)
    new_stream(app)
    app.button(key="save-run").click().run()
    rows = data.decode().splitlines()
    fewer = [row for i, row in enumerate(rows) if i == 0 or i % 10]
    app.switch_page("views/data.py").run()
    opened(app, "\n".join([*fewer, ""]).encode(), "fewer.csv")
    boxes = [box.value.replace("\\", "") for box in app.warning if "this file has" in box.value]
    assert len(boxes) == 1
    assert boxes[0].startswith("2022-01: this file has")
    assert boxes[0].endswith("And 7 more.")


def test_an_alert_is_acknowledged_by_name(app, url):
    opened(app, stream_bytes(12, 300, broken_from=6))
    new_stream(app)
    app.button(key="save-run").click().run()
    app.text_input(key="acknowledged-by").set_value("Ada").run()
    app.text_input(key="acknowledge-note").set_value("retraining").run()
    app.button(key="acknowledge").click().run()
    assert not app.exception
    assert "Acknowledged by Ada" in messages(app)
    with Store.open(url) as store:
        (stream,) = store.streams()
        seen = [one.acknowledged for one in store.alerts(stream) if one.acknowledged]
        assert [(one.by, one.note) for one in seen] == [("Ada", "retraining")]


@pytest.mark.slow
def test_an_acknowledged_alert_is_folded_away_and_says_who_has_seen_it(app, url):
    opened(app, stream_bytes(12, 300, broken_from=6))
    new_stream(app)
    app.button(key="save-run").click().run()
    while app.error:
        said = [box.value for box in app.error]
        app.text_input(key="acknowledged-by").set_value("Ada").run()
        app.text_input(key="acknowledge-note").set_value("retraining").run()
        app.button(key="acknowledge").click().run()
        assert not app.exception
        assert len(app.error) < len(said) or said != [box.value for box in app.error]
    assert any("Nothing new" in box.value for box in app.warning)
    folded = next(one for one in app.expander if one.label.startswith("Seen ("))
    assert "since 2022\\-07" in folded.markdown[0].value or "since 2022-07" in folded.markdown[0].value
    assert folded.caption[0].value.replace("\\", "").startswith("Seen by Ada, ")
    assert folded.caption[0].value.replace("\\", "").endswith("UTC: retraining")
    app.switch_page("views/overview.py").run()
    assert not any("Over time" in box.value for box in app.warning)


@pytest.mark.slow
def test_a_live_map_is_noted_and_offered(app, url, few_calibrators):
    opened(app, stream_bytes(8, 300, broken_from=0))
    app.switch_page("views/compare.py").run()
    app.switch_page("views/export.py").run()
    app.selectbox(key="export-name").set_value("Platt").run()
    app.switch_page("views/over_time.py").run()
    new_stream(app)
    app.button(key="save-run").click().run()
    app.selectbox(key="make-live-what").set_value("map")
    app.text_input(key="make-live-by").set_value("Ada").run()
    app.button(key="make-live").click().run()
    assert not app.exception, app.exception
    assert "Live from" in messages(app)
    with Store.open(url) as store:
        (stream,) = store.streams()
        assert store.lineage(stream)[0].map is not None
    of_file(app, "selectbox", "map-source").set_value("live").run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == 5
    assert any("fitted on rows of this file" in box.value for box in app.warning)


def test_deleting_asks_first_and_leaves_nothing(app, url):
    opened(app, stream_bytes(6, 200))
    new_stream(app)
    app.button(key="save-run").click().run()
    what = next(one for one in app.selectbox if str(one.key).startswith("delete-what"))
    assert what.value is None
    app.checkbox(key="delete-sure").check().run()
    assert app.button(key="delete-history").disabled
    what = next(one for one in app.selectbox if str(one.key).startswith("delete-what"))
    what.select_index(0).run()
    app.button(key="delete-history").click().run()
    assert not app.exception, app.exception
    assert any("eleted" in box.value for box in app.success)
    of_file(app, "selectbox", "over-time-metric").set_value("gap").run()
    assert any("eleted" in box.value for box in app.success)
    app.button(key="close-deleted").click().run()
    assert not any("eleted" in box.value for box in app.success)
    with Store.open(url) as store:
        assert store.streams() == ()


def test_a_history_that_cannot_be_opened_is_a_sentence_and_the_page_goes_on(app, tmp_path, monkeypatch):
    monkeypatch.setenv("CALCORE_HISTORY", f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    opened(app, stream_bytes(6, 200))
    assert app.error
    assert len(app.get("plotly_chart")) == 4
