"""Lists that leave, are filled in and come back: a random sample on Compare, corrections on Label noise."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.test_label_meanings import opened as opened_weak
from tests.dashboard.test_views import go
from tests.dashboard.weak_files import weak_file

N = 1200


def noisy(n=N, seed=3, flips=0.25):
    """A file of calibrated scores whose labels are partly flipped, and the truth by line."""
    clean, flipped = csv_bytes(n, seed), csv_bytes(n, seed, flips=flips)
    truth = pd.read_csv(io.BytesIO(clean))["label"].to_numpy()
    return flipped, dict(zip(range(2, n + 2), truth.tolist(), strict=True))


def opened(app, data, labels="noisy", name="scores.csv"):
    upload(app, data, name)
    if labels != "clean":
        of_file(app, "radio", "labels-mean").set_value(labels).run()
    app.button(key="analyse").click().run()
    assert not app.exception
    return app


def held(app, kind):
    """What a download button of the page holds: the newest result of its kind."""
    results = app.session_state["calcore"].results
    return next(value for key, value in reversed(results.items()) if key[0] == kind)


def the_list(app):
    return pd.read_csv(io.BytesIO(held(app, "sample-list").csv))


def filled(table, truth, column="audit_label"):
    return table.assign(**{column: [truth[line] for line in table["line"]]})


def as_csv(table):
    return table.to_csv(index=False).encode()


def bring(app, name, data, filename="filled.csv"):
    of_file(app, "file_uploader", f"{name}-upload").upload(filename, data, "text/csv").run()
    assert not app.exception
    return app


def compared(app):
    """The table of the comparison, the first on its page."""
    return app.dataframe[0].value


def buttons(app):
    return [button.label for button in app.button]


# --- a random sample


def test_draw_fill_bring_back_and_rank(app):
    data, truth = noisy()
    go(opened(app, data), "compare")
    assert "Not ranked" in messages(app)
    table = the_list(app)
    # 384.1 / (1 + 383.1 / 1200) = 291.2: five points at worst
    assert len(table) == 292
    assert any("Check 292 of 1,200 rows" in part.value for part in app.markdown)
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


# --- corrections


def corrected_list(app):
    go(app, "noise")
    return pd.read_csv(io.BytesIO(held(app, "suspicious-csv")))


def test_corrections_change_what_is_fitted_and_nothing_that_is_measured(app):
    data, truth = noisy()
    go(opened(app, data), "overview")
    verdict = messages(app)
    go(app, "compare")
    before = compared(app)
    table = corrected_list(app)
    noise = [part.value for part in app.markdown]
    assert table["corrected_label"].isna().all()
    some = filled(table, truth, "corrected_label").astype({"corrected_label": "Int64"})
    some.loc[200:, "corrected_label"] = pd.NA
    changed = int((some["corrected_label"] != some["recorded label"]).sum())
    bring(app, "corrections", as_csv(some), "fixed.csv")
    assert not app.error
    said = messages(app)
    assert (
        f"200 corrections applied, {len(table) - 200} of {len(table)} rows left open; {changed} change a label"
        in said
    )
    assert "Nothing is measured on them" in said
    assert "still noisy" in said
    assert [part.value for part in app.markdown] == noise
    go(app, "overview")
    assert messages(app) == verdict
    go(app, "compare")
    after = compared(app)
    assert "Not ranked" in messages(app)
    pd.testing.assert_frame_equal(after.iloc[:1], before.iloc[:1])  # the score itself is measured as it was
    assert not after.equals(before)
    go(app, "noise")
    app.button(key="forget-corrections").click().run()
    go(app, "compare")
    pd.testing.assert_frame_equal(compared(app), before)


def test_a_calibrated_score_stays_calibrated_when_its_suspicious_labels_are_corrected(app):
    """Turning every suspicious label of a right score would make it look wrong if anything were measured on it."""
    go(opened(app, csv_bytes(4000, seed=8), "noisy"), "overview")
    verdict = [box.value for box in app.success]
    assert any("largest gap" in text.lower() for text in verdict)
    table = corrected_list(app)
    bring(app, "corrections", as_csv(table.assign(corrected_label=1 - table["recorded label"])))
    assert not app.error
    go(app, "overview")
    assert [box.value for box in app.success] == verdict
    assert not any("Not calibrated" in box.value for box in app.error)


def test_corrections_never_reach_the_audit_sample(app):
    data, truth = noisy(2000)
    go(opened(app, data), "compare")
    bring(app, "sample", as_csv(filled(the_list(app), truth)))
    go(app, "overview")
    verdict = messages(app)
    table = corrected_list(app)
    bring(app, "corrections", as_csv(table.assign(corrected_label=1 - table["recorded label"])))
    go(app, "overview")
    assert messages(app) == verdict
    go(app, "compare")
    assert "Ranked on a random sample" in messages(app)
    state = app.session_state["calcore"]
    built = next(value for key, value in reversed(state.results.items()) if key[0] == "analysis")
    audited = built[1]
    assert {line: truth[line] for line in (audited.row + 2).tolist()} == dict(
        zip((audited.row + 2).tolist(), audited.label.tolist(), strict=True)
    )


def test_given_flip_rates_are_not_applied_to_corrected_labels(app):
    data, truth = noisy()
    upload(app, data)
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "rates-known").set_value(True).run()
    app.button(key="analyse").click().run()
    table = corrected_list(app)
    bring(app, "corrections", as_csv(filled(table, truth, "corrected_label")))
    assert "flip rates describe the recorded labels and no longer hold" in messages(app)
    go(app, "compare")
    assert "noise-corrected" in messages(app).lower()
    built = next(
        value for key, value in reversed(app.session_state["calcore"].results.items()) if key[0] == "analysis"
    )
    assert not built[3].model.known
    assert built[0].model.known


def test_a_map_that_was_fitted_on_corrections_says_so(app):
    data, truth = noisy()
    opened(app, data)
    table = corrected_list(app)
    bring(app, "corrections", as_csv(filled(table, truth, "corrected_label")))
    go(app, "compare")
    app.button(key="to-export").click().run()
    go(app, "export")
    assert "recorded labels were corrected by hand" in messages(app)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: t.assign(list="labels-abcdefgh"), "not the list of labels to check of this file"),
        (lambda t: t.assign(list="sample-abcdefgh-5"), "not the list of labels to check of this file"),
        (lambda t: t.assign(line=t["line"] + 10_000), "not labelled in this file"),
        (lambda t: pd.concat([t, t]), "more than once"),
        (lambda t: t.assign(corrected_label="?"), "is filled in"),
        (lambda t: t.drop(columns="corrected_label"), 'has no column "corrected_label"'),
    ],
)
def test_corrections_that_do_not_fit_are_refused(app, change, message):
    data, truth = noisy(500)
    opened(app, data)
    table = filled(corrected_list(app), truth, "corrected_label")
    bring(app, "corrections", as_csv(change(table)))
    assert len(app.error) == 1
    assert message in app.error[0].value.replace("\\", "")
    assert app.session_state["calcore"].corrections is None


def test_the_newest_corrections_count_and_another_file_forgets_them(app):
    data, truth = noisy(500)
    opened(app, data)
    table = corrected_list(app).assign(corrected_label=pd.array([pd.NA] * 1, "Int64")[0])
    first = table.copy()
    first.loc[:4, "corrected_label"] = 1
    bring(app, "corrections", as_csv(first))
    assert "5 corrections applied" in messages(app)
    bring(app, "corrections", as_csv(filled(table, truth, "corrected_label")), "second.csv")
    assert f"second.csv: {len(table)} corrections applied" in messages(app)
    go(app, "data")
    opened(app, noisy(510, seed=9)[0], name="other.csv")
    go(app, "noise")
    assert "Forget corrections" not in buttons(app)
