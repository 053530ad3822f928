"""The Learn page: on the user's analysis, on the sample where there is none, and on files that say little."""

from __future__ import annotations

import pytest

from calcore import metrics
from calcore.calibrators import Isotonic, Platt
from calcore.lessons import calibration_set_growth, platt_by_hand
from calcore.observation import Clean, Noisy
from dashboard import lesson_words as words
from dashboard import services
from dashboard import wording as w
from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.test_label_meanings import opened as opened_weak
from tests.dashboard.test_views import analysed, go


def table(at, column):
    """The table of the page that has this column."""
    return next(one.value for one in at.dataframe if column in one.value)


def learn(at, data=None):
    if data is not None:
        analysed(at, data)
    return go(at, "learn")


def constant(n=200):
    rows = "\n".join(f"0.3,{int(i % 10 < 3)}" for i in range(n))
    return f"score,label\n{rows}\n".encode()


def one_class(n=200):
    rows = "\n".join(f"{(i % 50) / 50:.3f},1" for i in range(n))
    return f"score,label\n{rows}\n".encode()


def test_without_a_file_the_page_shows_the_sample_and_says_so(app):
    learn(app)
    assert not app.error
    assert "Shown on the sample (899 rows, against its clean labels). Open a file" in messages(app)
    assert len(app.get("plotly_chart")) == 2


def test_a_file_that_is_not_analysed_yet_is_not_shown(app):
    upload(app, csv_bytes())
    learn(app)
    assert "Press Analyse on the Data page" in messages(app)


def test_the_sample_opened_is_measured_on_its_audit_labels(app):
    go(app, "overview")
    app.button(key="sample-from-guard").click().run()
    learn(app)
    assert "Shown on the open file: 899 rows, measured against the clean audit labels." in messages(app)
    app.segmented_control(key="measure-on").set_value("labels").run()
    assert "measured against the noisy labels" in messages(app)
    assert "ECE against the noisy labels" in messages(app)


def test_the_printed_sum_is_the_ece_of_the_same_bins(app):
    data = csv_bytes(600, power=1.6)
    learn(app, data)
    score, label = scores_of(data)
    shown = table(app, "Contribution")
    error = metrics.ece(Clean().evidence(score, label), 10)
    assert shown["Contribution"].iloc[-1] == w.exact(error.value)
    assert shown["Rows"].iloc[-1] == "600"
    terms = shown.iloc[:-1]
    by_hand = sum(
        float(weight) * abs(float(gap)) for weight, gap in zip(terms["Weight"], terms["Gap"], strict=True)
    )
    assert by_hand == pytest.approx(error.value, abs=10 * 1e-4)
    assert sum(map(float, terms["Contribution"])) == pytest.approx(error.value, abs=10 * 0.5e-4 + 0.5e-4)


def scores_of(data):
    rows = [line.split(",") for line in data.decode().splitlines()[1:]]
    return [float(row[0]) for row in rows], [int(row[1]) for row in rows]


def test_the_five_scores_are_mapped_as_platt_maps_them(app):
    data = csv_bytes(600, power=1.6)
    learn(app, data)
    score, label = scores_of(data)
    fit = Platt().fit(score, label)
    shown = table(app, "logit(score)")
    assert len(shown) == 5
    predicted = fit.predict([float(value) for value in shown["Score"]])
    assert [float(value) for value in shown["Calibrated"]] == pytest.approx(predicted, abs=1e-4)
    formula = f"A = {fit.a_:.4f}, B = {fit.b_:.4f}"
    assert formula in " ".join(part.value for part in app.markdown).replace("\\", "")


def test_the_last_merge_is_the_isotonic_fit(app):
    learn(app, csv_bytes(300))
    app.segmented_control(key="pooling-points").set_value(words.EXAMPLE).run()
    slider = next(one for one in app.slider if "pooling" in str(one.key))
    assert slider.max == 3
    slider.set_value(3).run()
    assert "squared error 1.1667" in messages(app)
    shown = table(app, "Scores of the block")
    fitted = Isotonic().fit(*services.lessons.TEN).predict(services.lessons.TEN[0])
    assert sorted({float(value) for value in shown["Value"]}) == pytest.approx(
        sorted(set(fitted.round(4).tolist()))
    )


def test_ten_other_rows_start_from_the_first_merge(app):
    learn(app, csv_bytes(300))
    slider = next(one for one in app.slider if "pooling" in str(one.key))
    slider.set_value(slider.max).run()
    before = table(app, "Scores of the block")
    app.button(key="other-rows").click().run()
    assert not app.exception
    after = table(app, "Scores of the block")
    assert not before.equals(after)
    assert next(one for one in app.slider if "pooling" in str(one.key)).value == 0


@pytest.mark.slow
def test_models_are_trained_when_asked_for(app):
    learn(app)
    assert "Here" not in table(app, "Family")
    app.button(key="train-families").click().run()
    assert not app.exception
    here = table(app, "Family").set_index("Family")["Here"]
    assert here["Naive Bayes"].startswith("overconfident")
    assert here["SVM"] == "raw margin: underconfident; Platt-scaled: neither"
    assert len(app.get("plotly_chart")) == 3
    assert "train-families" not in [button.key for button in app.button]


def test_growing_sets_are_fitted_when_asked_for_and_end_at_the_size_of_the_file(app):
    data = csv_bytes(300)
    learn(app, data)
    app.button(key="grow").click().run()
    assert not app.exception
    assert "The data end the sizes at 200" in messages(app)
    shown = table(app, "Rows to fit on")
    score, label = scores_of(data)
    expected = calibration_set_growth(Clean().evidence(score, label), 10)
    assert shown["Rows to fit on"].tolist() == [w.count(size) for size in expected.sizes]
    mean = expected.line("Isotonic", "Brier").mean[0]
    assert shown["Brier, Isotonic"][0].startswith(w.error(float(mean)))


SMALL = {
    "five rows": csv_bytes(5),
    "one class": one_class(),
    "one row": csv_bytes(1),
    "vanishing scores": b"score,label\n" + b"1e-200,0\n1,1\n" * 100,
    "decisions": b"score,label\n" + b"\n".join(b"%d,%d" % (i % 2, i // 2 % 2) for i in range(200)) + b"\n",
}


@pytest.mark.parametrize("kind", SMALL)
def test_files_that_say_little_break_nothing_and_grow_on_the_sample(app, kind):
    learn(app, SMALL[kind])
    assert not app.error
    assert "Shown on the open file" in messages(app)
    app.button(key="grow").click().run()
    assert not app.exception
    said = "Shown on the sample, as the open file does not suffice" in messages(app)
    assert said == (kind not in ("decisions", "vanishing scores"))


def test_rows_of_one_unit_are_never_split_and_grow_on_the_sample(app):
    rows = "\n".join(f"{i / 200:.3f},{int(i % 3 == 0)},c" for i in range(200))
    upload(app, f"score,label,customer\n{rows}\n".encode())
    of_file(app, "selectbox", "role-unit").set_value("customer").run()
    app.button(key="analyse").click().run()
    learn(app)
    assert not app.error
    app.button(key="grow").click().run()
    assert not app.exception
    assert "Shown on the sample, as the open file does not suffice: 200 rows are too few" in messages(app)


def test_one_class_has_no_line_and_no_auc(app):
    learn(app, one_class())
    text = messages(app) + " ".join(part.value for part in app.markdown)
    assert "There is no AUC with one class of labels" in text
    assert "every score becomes 1" in text


def test_a_constant_score_teaches_both_methods_the_same(app):
    learn(app, constant())
    app.button(key="grow").click().run()
    assert not app.exception
    assert "too few values for the two methods to differ" in messages(app)
    assert len(table(app, "logit(score)")) == 1


def test_noisy_labels_are_named_wherever_a_number_is(app):
    upload(app, csv_bytes(400, flips=0.2))
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    app.button(key="analyse").click().run()
    learn(app)
    app.button(key="grow").click().run()
    said = messages(app)
    assert "measured against the noisy labels" in said
    assert "the ECE against the noisy labels" in said
    assert "By Brier against the noisy labels" in said
    assert "against the noisy labels" in " ".join(part.value for part in app.markdown)


def test_known_flip_rates_give_corrected_sums(app):
    data = csv_bytes(400, flips=0.2)
    upload(app, data)
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "rates-known").set_value(True).run()
    of_file(app, "number_input", "rho0").set_value(20.0).run()
    of_file(app, "number_input", "rho1").set_value(20.0).run()
    app.button(key="analyse").click().run()
    learn(app)
    score, label = scores_of(data)
    evidence = Noisy(rho0=0.2, rho1=0.2).evidence(score, label)
    assert table(app, "Contribution")["Contribution"].iloc[-1] == w.exact(metrics.ece(evidence, 10).value)
    assert "noise-corrected" in messages(app)
    found = platt_by_hand(evidence)
    assert [float(value) for value in table(app, "logit(score)")["Calibrated"]] == pytest.approx(
        found.steps.calibrated, abs=1e-4
    )


@pytest.mark.slow
def test_known_positives_have_the_worked_example_and_no_labels(app):
    upload(app, csv_bytes(400))
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "number_input", "prior").set_value(50.0).run()
    app.button(key="analyse").click().run()
    learn(app)
    assert words.NO_LABELS in messages(app)
    assert "corrected for unlabelled rows" in messages(app)
    app.button(key="grow").click().run()
    assert not app.exception
    assert not app.error


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uu", "su", "sconf", "posterior", "pconf"])
def test_every_kind_of_weak_labels_can_be_looked_at(app, kind):
    opened_weak(app, kind)
    app.button(key="analyse").click().run()
    learn(app)
    assert not app.error
    app.button(key="grow").click().run()
    assert not app.exception


def test_the_tendencies_are_those_of_the_paper():
    told = {one.family: (one.text, one.table) for one in words.TENDENCIES}
    assert told == {
        "Logistic regression": ("well calibrated", "underconfident (0.0357)"),
        "Naive Bayes": ("overconfident", "overconfident (0.1021)"),
        "Random forest": ("underconfident", "underconfident (0.0926)"),
        "Gradient boosting": ("the opposite of forests", "underconfident (0.0292)"),
        "SVM": ("the opposite of forests", "well calibrated (0.0181)"),
    }
