"""A random sample: drawn on Compare, filled in, brought back, and ranked on."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.lists import N, as_csv, bring, buttons, compared, filled, noisy, opened, the_list
from tests.dashboard.test_label_meanings import opened as opened_weak
from tests.dashboard.test_views import go
from tests.dashboard.weak_files import weak_file

pytestmark = pytest.mark.usefixtures("few_calibrators")


def test_draw_fill_bring_back_and_rank(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    assert "Not ranked" in messages(app)
    table = the_list(app)
    # 384.1 / (1 + 383.1 / 1200) = 291.2: five points at worst
    assert len(table) == 292
    assert any("Check 292 of 1,200 rows" in part.value for part in app.markdown)
    assert "an average gap of 5 points over the score ranges from chance takes about 800 rows" in messages(
        app
    ).replace("\u00a0", " ")
    assert list(table.columns) == ["line", "list", "audit_label", "region"]
    assert table["audit_label"].isna().all()
    assert table["line"].is_unique
    assert table["line"].between(2, N + 1).all()
    assert table["line"].tolist() != sorted(table["line"])
    bring(app, "sample", as_csv(filled(table, truth)))
    assert not app.error
    assert "Ranked on a random sample of 292 clean audit labels" in messages(app)
    assert "All 292 rows of the random sample are filled in" in messages(app)
    go(app, "overview")
    assert app.get("segmented_control") or app.get("button_group")
    assert "Against the noisy labels" not in messages(app)
    assert app.session_state["calcore"].settings.measure_on == "audit"


def test_the_sample_measures_as_an_audit_column_would(app):
    """The same labels as an audit column of the file give the same numbers."""
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth)
    bring(app, "sample", as_csv(table))
    ours = compared(app)
    whole = pd.read_csv(io.BytesIO(data))
    known = dict(zip(table["line"], table["audit_label"], strict=True))
    whole["audit_label"] = [known.get(line) for line in range(2, N + 2)]
    go(app, "data")
    upload(app, whole.to_csv(index=False).encode(), "with_audit.csv")
    of_file(app, "checkbox", "audit-random").set_value(True).run()
    app.button(key="analyse").click().run()
    go(app, "compare")
    pd.testing.assert_frame_equal(compared(app), ours)


def test_a_smaller_precision_goes_on_with_the_same_sample(app):
    data, _ = noisy()
    go(opened(app, data), "compare")
    first = the_list(app)["line"].tolist()
    of_file(app, "number_input", "sample-precision").set_value(3.0).run()
    more = the_list(app)["line"].tolist()
    assert len(more) > len(first)
    assert more[: len(first)] == first
    go(app, "overview")
    go(app, "compare")
    of_file(app, "number_input", "sample-precision").set_value(5.0).run()
    assert the_list(app)["line"].tolist() == first


def test_a_list_that_a_spreadsheet_mangled_comes_back_whole(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth).sample(frac=1, random_state=0).iloc[1:]
    table["audit_label"] = np.where(table["audit_label"] == 1, "Yes", "no ")
    table["checked on"], table["hours"] = "13.01.2026", 0.75
    mangled = table[["hours", "audit_label", "region", "line", "checked on", "list"]].to_csv(
        index=False, sep=";", decimal=","
    )
    bring(app, "sample", b"\xef\xbb\xbf" + mangled.replace("\n", "\r\n").encode() + b";;;;;\r\n")
    assert not app.error
    # one row was deleted: it is missing, and said to be
    assert "291 of 292 rows filled in: if the gaps are not random" in messages(app)
    assert "Read yes as positive and no as negative" in messages(app)
    assert "Ranked on a random sample of 291" in messages(app)


@pytest.mark.slow
def test_half_filled_is_counted_and_can_go_on(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth).astype({"audit_label": "Int64"})
    some = table.copy()
    some.loc[some.index % 2 == 1, "audit_label"] = pd.NA
    bring(app, "sample", as_csv(some))
    assert "146 of 292 rows filled in: if the gaps are not random" in messages(app)
    bring(app, "sample", as_csv(table), "all.csv")
    assert "all.csv: All 292 rows" in messages(app)
    assert "Ranked on a random sample of 292" in messages(app)


def test_who_stops_early_has_checked_a_random_sample(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth).astype({"audit_label": "Int64"})
    table.loc[100:, "audit_label"] = pd.NA
    bring(app, "sample", as_csv(table))
    assert "100 of 292 rows filled in, from the top of the list" in messages(app)
    assert not any("if the gaps" in box.value for box in app.warning)


def test_the_sample_can_be_forgotten(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    before = compared(app)
    bring(app, "sample", as_csv(filled(the_list(app), truth)))
    app.button(key="forget-sample").click().run()
    assert not app.exception
    assert "Not ranked" in messages(app)
    pd.testing.assert_frame_equal(compared(app), before)
    go(app, "overview")
    assert "Against the noisy labels" in messages(app)


def test_one_changed_label_of_the_sample_changes_the_answer(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth)
    bring(app, "sample", as_csv(table))
    before = compared(app)
    table.loc[0, "audit_label"] = 1 - table.loc[0, "audit_label"]
    app.button(key="forget-sample").click().run()
    bring(app, "sample", as_csv(table))
    assert not compared(app).equals(before)


def test_few_or_no_labels_rank_nothing(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth).astype({"audit_label": "Int64"})
    table.loc[10:, "audit_label"] = pd.NA
    bring(app, "sample", as_csv(table))
    assert "at least 30 rows with both outcomes are needed" in messages(app)
    app.button(key="forget-sample").click().run()
    table["audit_label"] = pd.NA
    bring(app, "sample", as_csv(table))
    assert "No row of filled.csv is filled in" in app.error[0].value.replace("\\", "")


def _wrong_lists():
    def edited(**cells):
        return lambda table: table.assign(**{name: cells[name](table) for name in cells})

    return {
        "unknown line": (edited(line=lambda t: t["line"] + N), "speaks of lines"),
        "not drawn": (
            lambda t: t.assign(
                line=[next(x for x in range(2, N + 2) if x not in set(t["line"])), *t["line"][1:]]
            ),
            "not in the sample that was drawn",
        ),
        "twice": (lambda t: pd.concat([t, t.iloc[:1]]), "more than once"),
        "unreadable": (
            edited(audit_label=lambda t: ["certainly", *t["audit_label"][1:].astype(str)]),
            "is no label",
        ),
        "no list": (lambda t: t.drop(columns="list"), 'has no column "list"'),
        "another draw": (
            edited(list=lambda t: t["list"].str.replace("292", "9999")),
            "is no sample of this file",
        ),
        "another kind": (
            edited(list=lambda t: "labels-abcdefgh"),
            "rows picked that way are no random sample",
        ),
    }


@pytest.mark.parametrize("kind", _wrong_lists())
def test_a_list_that_does_not_fit_is_refused_in_one_sentence(app, kind):
    change, message = _wrong_lists()[kind]
    data, truth = noisy()
    go(opened(app, data), "compare")
    bring(app, "sample", as_csv(change(filled(the_list(app), truth))))
    assert len(app.error) == 1
    assert message in app.error[0].value.replace("\\", "")
    assert "Not ranked" in messages(app)
    assert app.session_state["calcore"].sample is None


def test_a_list_of_another_file_is_refused_and_another_file_forgets_the_sample(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    table = filled(the_list(app), truth)
    bring(app, "sample", as_csv(table))
    go(app, "data")
    go(opened(app, noisy(seed=4)[0], name="other.csv"), "compare")
    assert "Not ranked" in messages(app)
    assert "Forget this sample" not in buttons(app)
    bring(app, "sample", as_csv(table))
    assert "is no sample of this file" in app.error[0].value


def test_looking_at_the_data_page_keeps_the_sample(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    bring(app, "sample", as_csv(filled(the_list(app), truth)))
    go(app, "data")
    go(app, "compare")
    assert "Ranked on a random sample" in messages(app)
    assert app.session_state["calcore"].settings.measure_on == "audit"


@pytest.mark.slow
def test_a_sample_of_other_rows_is_not_used_and_said_so(app):
    """As known positives among unchecked rows, only the unchecked ones are a sample of the population."""
    data, truth = noisy()
    go(opened(app, data), "compare")
    bring(app, "sample", as_csv(filled(the_list(app), truth)))
    go(app, "data")
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "number_input", "prior").set_value(50.0).run()
    app.button(key="analyse").click().run()
    go(app, "compare")
    assert "filled.csv is not used" in messages(app)
    drawn = the_list(app)["line"]
    label = pd.read_csv(io.BytesIO(data))["label"].to_numpy()
    assert (label[drawn.to_numpy() - 2] == 0).all()


@pytest.mark.parametrize("kind", ["clean", "uu", "pconf", "pcomp"])
def test_no_sample_is_offered_where_none_can_help(app, kind):
    """Outcomes need none; of two groups, positives alone or pairs no rows are a sample of the population."""
    if kind == "clean":
        opened(app, csv_bytes(300), "clean")
    else:
        opened_weak(app, kind)
        app.button(key="analyse").click().run()
    go(app, "compare")
    assert not any("Draw a random sample" in box.label for box in app.expander)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["su", "posterior"])
def test_weak_labels_are_ranked_on_a_sample_of_the_population(app, kind):
    opened_weak(app, kind)
    app.button(key="analyse").click().run()
    go(app, "compare")
    table = the_list(app)
    assert "confidence" not in table.columns
    if kind == "su":  # members of pairs that are alike are no sample of the population
        source = pd.read_csv(io.BytesIO(weak_file(kind)))["source"].to_numpy()
        assert (source[table["line"].to_numpy() - 2] == "unlabelled").all()
    bring(app, "sample", as_csv(table.assign(audit_label=np.arange(len(table)) % 3 == 0)))
    assert not app.error
    assert f"Ranked on a random sample of {len(table)}" in messages(app)


def test_a_clean_audit_sample_of_the_file_needs_no_other(app):
    go(app, "overview")
    app.button(key="sample-from-guard").click().run()
    go(app, "compare")
    assert not any("Draw a random sample" in box.label for box in app.expander)


def test_columns_called_like_ours_give_way_and_hidden_ones_stay_hidden(app):
    lines = noisy(400)[0].decode().splitlines()
    head = f"{lines[0]},Line,LIST,checked,audit_label"
    rows = [f"{line},{i},b{i % 3},{'1' if i % 5 == 0 else ''},{i % 2}" for i, line in enumerate(lines[1:])]
    opened(app, "\n".join([head, *rows, ""]).encode())
    state = app.session_state["calcore"]
    go(app, "compare")
    table = the_list(app)
    hidden = {state.ingested.roles.score, state.ingested.roles.label, state.ingested.roles.audit}
    assert not hidden & set(table.columns[3:])
    assert list(table.columns[:3]) == ["line", "list", "audit_label"]
    assert {"Line (file)", "LIST (file)"} <= set(table.columns)
    bring(app, "sample", as_csv(table.assign(audit_label=np.arange(len(table)) % 2)))
    assert not app.error


def test_rows_of_a_parquet_file_are_found_by_their_numbers(app, tmp_path):
    data, truth = noisy()
    pd.read_csv(io.BytesIO(data)).to_parquet(tmp_path / "scores.parquet")
    go(opened(app, (tmp_path / "scores.parquet").read_bytes(), name="scores.parquet"), "compare")
    table = the_list(app)
    assert table.columns[0] == "row"
    # the first line of the CSV file is its header
    bring(app, "sample", as_csv(table.assign(audit_label=[truth[row + 1] for row in table["row"]])))
    assert "Ranked on a random sample of 292" in messages(app)


@pytest.mark.slow
def test_another_layout_of_the_same_file_keeps_the_sample(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    bring(app, "sample", as_csv(filled(the_list(app), truth)))
    go(app, "data")
    of_file(app, "selectbox", "encoding").set_value("utf-8").run()
    app.button(key="analyse").click().run()
    go(app, "compare")
    assert "Ranked on a random sample of 292" in messages(app)
