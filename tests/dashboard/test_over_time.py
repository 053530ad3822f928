"""The Over time page: what it says first, with and without time, labels, rows enough."""

from __future__ import annotations

import pytest

from calcore import ingest
from calcore.calibrators import Platt
from calcore.session import Looked
from dashboard.services.sessions import link_of, session_of
from tests.dashboard.conftest import messages, of_file, upload
from tests.dashboard.streams import ODD, stream_bytes
from tests.dashboard.test_saved_session import fresh, open_session


def opened(app, data, name="stream.csv"):
    upload(app, data, name)
    app.button(key="analyse").click().run()
    app.switch_page("views/over_time.py").run()
    assert not app.exception, app.exception
    return app


def test_a_calibrated_stream_is_said_to_be_calibrated_in_all_its_batches(app):
    opened(app, stream_bytes(24, 1200))
    assert not app.error
    assert "Calibrated within 2\xa0points" in app.success[0].value
    assert "all 24 batches" in messages(app)
    assert len(app.get("plotly_chart")) == 4


def test_a_stream_that_breaks_says_so_first_and_since_when(app):
    opened(app, stream_bytes(14, 300, broken_from=8))
    first = app.error[0].value.replace("\\", "")
    assert first.startswith("**Alert.** Not calibrated within 2\xa0points since 2022-09")
    assert "too high" in first
    table = app.dataframe[-1].value
    assert {"What", "Since", "Noticed at", "Where", "Severity", "Kind"} <= set(table.columns)
    assert table["Severity"][0] == "alert"


def links(app):
    return [one.proto.label for one in app.get("page_link")]


def test_the_overview_asks_about_time_and_repeats_the_first_alert(app):
    upload(app, stream_bytes(14, 300, broken_from=12))
    app.button(key="analyse").click().run()
    app.switch_page("views/overview.py").run()
    assert "Has this changed over time?" in links(app)
    assert not any("Over time" in box.value for box in app.warning)
    app.switch_page("views/over_time.py").run()
    app.switch_page("views/overview.py").run()
    assert any("since 2023-01" in box.value.replace("\\", "") for box in app.warning)
    # judged by another tolerance that watch says nothing
    app.slider(key="tolerance").set_value(5.0).run()
    assert not any("Over time" in box.value for box in app.warning)


def test_the_overview_of_a_file_without_a_time_column_does_not_ask(app):
    upload(app, stream_bytes(6, 200, time=None))
    app.button(key="analyse").click().run()
    app.switch_page("views/overview.py").run()
    assert "Has this changed over time?" not in links(app)


def test_batches_without_labels_are_named_as_estimates(app):
    opened(app, stream_bytes(12, 400, unlabelled=1))
    said = messages(app)
    assert "1 batch has no labels yet (2022-12)" in said
    assert "estimates" in said
    assert "repeats the gaps of the reference period and cannot see a change" in said
    twin = app.dataframe[0].value
    assert twin["Is"].iloc[-1] == "estimated"


def test_a_stream_without_any_labels_says_that_nothing_can_be_said(app):
    text = stream_bytes(6, 200).decode().splitlines()
    # a file needs some labels to be analysed: two early rows have them
    rows = [line.split(",") for line in text[1:]]
    blank = [",".join([s, y if i < 8 else "", g, t]) for i, (s, y, g, t) in enumerate(rows)]
    opened(app, "\n".join([text[0], *blank, ""]).encode())
    assert "No batch" in messages(app)
    assert not app.error


def test_without_a_time_column_the_page_says_what_is_missing_and_makes_batches_of_rows(app):
    opened(app, stream_bytes(6, 200, time=None))
    said = messages(app)
    assert "No time column is chosen: batches are made of rows" in said
    assert of_file(app, "selectbox", "batches-by").value == "rows"
    of_file(app, "number_input", "batch-size").set_value(300).run()
    assert not app.exception
    assert len(app.dataframe[0].value) == 4


def test_the_way_to_the_time_column_opens_the_box_that_it_is_in(app):
    upload(app, stream_bytes(6, 200, time=None))
    assert not next(one for one in app.expander if one.label.startswith("More roles")).proto.expanded
    app.button(key="analyse").click().run()
    app.switch_page("views/over_time.py").run()
    app.button(key="choose-time").click().run()
    assert next(one for one in app.expander if one.label.startswith("More roles")).proto.expanded
    assert of_file(app, "selectbox", "role-time")


def test_days_are_days_and_sentences_of_alerts_are_whole(app):
    opened(app, stream_bytes(14, 300, broken_from=8))
    assert app.dataframe[0].value["From"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()
    sentences = app.table[0].value["Sentence"]
    assert any("since 2022-09" in text.replace("\\", "") for text in sentences)


def test_another_unit_gives_other_batches(app):
    opened(app, stream_bytes(12, 300))
    assert len(app.dataframe[0].value) == 12
    of_file(app, "selectbox", "batches-by").set_value("quarter").run()
    assert list(app.dataframe[0].value["Batch"]) == ["2022-Q1", "2022-Q2", "2022-Q3", "2022-Q4"]
    of_file(app, "selectbox", "batches-by").set_value("column").run()
    of_file(app, "selectbox", "batch-column").set_value("region").run()
    assert not app.exception
    assert set(app.dataframe[0].value["Batch"]) == {"north", "south"}


@pytest.mark.slow
def test_too_many_batches_get_a_sentence(app):
    opened(app, stream_bytes(12, 250))
    of_file(app, "selectbox", "batches-by").set_value("column").run()
    of_file(app, "selectbox", "batch-column").set_value("scored_at").run()
    assert not app.exception
    of_file(app, "number_input", "fewest-rows").set_value(1).run()
    assert not app.exception


@pytest.mark.parametrize("metric", ["gap", "event rate", "mean score", "Brier", "log loss", "AUC"])
def test_every_metric_is_drawn(app, metric):
    opened(app, stream_bytes(6, 200))
    of_file(app, "selectbox", "over-time-metric").set_value(metric).run()
    assert not app.exception
    assert not app.error


def test_a_fixed_limit_that_is_crossed_is_an_alert(app):
    opened(app, stream_bytes(8, 400))
    of_file(app, "selectbox", "over-time-metric").set_value("event rate").run()
    limit = next(one for one in app.number_input if str(one.key).startswith("limit-highest-event rate"))
    limit.set_value(20.0).run()
    assert not app.exception
    assert "above the limit" in app.error[0].value
    # it holds whatever is shown
    of_file(app, "selectbox", "over-time-metric").set_value("ECE").run()
    assert "above the limit" in app.error[0].value
    of_file(app, "selectbox", "over-time-metric").set_value("event rate").run()
    assert next(one for one in app.number_input if str(one.key).startswith("limit-highest")).value == 20.0


def test_the_reference_period_can_be_chosen(app):
    opened(app, stream_bytes(8, 300))
    of_file(app, "selectbox", "reference-kind").set_value("range").run()
    of_file(app, "selectbox", "reference-from").set_value(2).run()
    assert not app.exception
    assert "Reference period: 2022-03 to 2022-04" in messages(app)


@pytest.mark.slow
def test_what_is_chosen_is_there_again_after_another_page_and_in_a_session(app):
    data = stream_bytes(18, 300)
    opened(app, data)
    of_file(app, "selectbox", "batches-by").set_value("quarter").run()
    of_file(app, "selectbox", "over-time-metric").set_value("gap").run()
    of_file(app, "number_input", "fewest-rows").set_value(60).run()
    of_file(app, "number_input", "complete").set_value(75).run()
    next(one for one in app.number_input if str(one.key).startswith("limit-highest-gap")).set_value(7.0).run()
    of_file(app, "selectbox", "reference-kind").set_value("range").run()
    of_file(app, "selectbox", "reference-from").set_value(1).run()
    of_file(app, "selectbox", "reference-to").set_value(3).run()

    def as_chosen(at):
        assert not at.exception
        assert of_file(at, "selectbox", "batches-by").value == "quarter"
        assert of_file(at, "selectbox", "over-time-metric").value == "gap"
        assert of_file(at, "number_input", "fewest-rows").value == 60
        assert of_file(at, "number_input", "complete").value == 75
        limit = next(one for one in at.number_input if str(one.key).startswith("limit-highest-gap"))
        assert limit.value == 7.0
        assert "Reference period: 2022-Q2 to 2022-Q4" in messages(at)
        assert len(at.dataframe[0].value) == 6

    as_chosen(app)
    app.switch_page("views/reliability.py").run()
    app.switch_page("views/over_time.py").run()
    as_chosen(app)
    state = app.session_state["calcore"]
    file, link = session_of(state, "over_time").to_json().encode(), link_of(state, "over_time")
    again = fresh()
    open_session(again, file)
    upload(again, data, "stream.csv")
    again.switch_page("views/over_time.py").run()
    as_chosen(again)
    assert session_of(again.session_state["calcore"], "over_time").to_json().encode() == file
    followed = fresh(link)
    upload(followed, data, "stream.csv")
    followed.switch_page("views/over_time.py").run()
    as_chosen(followed)


def test_what_was_never_changed_is_left_to_the_next_file(app):
    opened(app, stream_bytes(8, 300))
    app.switch_page("views/overview.py").run()
    assert app.session_state["calcore"].looked == Looked()


def test_a_tiny_file_is_drawn_without_a_verdict_that_it_cannot_bear(app):
    opened(app, stream_bytes(3, 12))
    assert not app.success
    assert not app.error


def test_odd_names_of_columns_and_subgroups(app):
    data = stream_bytes(8, 300, broken_from=4, groups=ODD).replace(b"region", b"r<e>g|i*on")
    opened(app, data)
    assert app.error


def test_known_positives_among_unchecked_rows(app):
    upload(app, stream_bytes(8, 300))
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "number_input", "prior").set_value(60.0).run()
    app.button(key="analyse").click().run()
    app.switch_page("views/over_time.py").run()
    assert not app.exception, app.exception
    assert len(app.dataframe[0].value) == 8


@pytest.mark.slow
def test_a_map_from_a_date_on_is_drawn_beside_the_raw_score(app):
    data = stream_bytes(12, 300, broken_from=6)
    opened(app, data)
    columns = ingest.read(data, filename="stream.csv").columns
    late = columns.time >= columns.time.max() - 150 * 86_400 * 10**9
    map_ = Platt().fit(columns.score[late], columns.label[late]).map_
    of_file(app, "selectbox", "map-source").set_value("uploaded").run()
    # the date of the break is suggested
    start = next(one for one in app.date_input if str(one.key).startswith("map-since")).value
    assert (start.year, start.month) == (2022, 7)
    uploader = next(one for one in app.get("file_uploader") if str(one.key).startswith("map-upload"))
    uploader.upload("map.json", map_.to_json().encode(), "application/json").run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == 5
    twin = next(
        one.value for one in app.dataframe if any("with the map" in str(c) for c in one.value.columns)
    )
    raw, mapped = (
        twin[column].map(lambda text: float(str(text).lstrip("<"))) for column in twin.columns[2:4]
    )
    assert (raw[:6] == mapped[:6]).all()
    assert mapped[8:].mean() < 0.6 * raw[8:].mean()


def test_a_file_that_is_no_map_gets_a_sentence(app):
    opened(app, stream_bytes(6, 200))
    of_file(app, "selectbox", "map-source").set_value("uploaded").run()
    uploader = next(one for one in app.get("file_uploader") if str(one.key).startswith("map-upload"))
    uploader.upload("map.json", b"{}", "application/json").run()
    assert not app.exception
    assert app.error


def test_without_a_history_one_sentence_says_how_to_switch_it_on(app, monkeypatch):
    monkeypatch.delenv("CALCORE_HISTORY", raising=False)
    opened(app, stream_bytes(6, 200))
    assert "CALCORE_HISTORY" in messages(app)
    assert not [button for button in app.button if button.key == "save-run"]
