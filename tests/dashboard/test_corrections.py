"""Corrected labels: brought back on Label noise, fitted on, and never measured on."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.lists import as_csv, bring, buttons, compared, filled, held, noisy, opened, the_list
from tests.dashboard.test_views import go

pytestmark = pytest.mark.usefixtures("few_calibrators")


def corrected_list(app):
    go(app, "noise")
    return pd.read_csv(io.BytesIO(held(app, "suspicious-csv")))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
