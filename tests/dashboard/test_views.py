"""Every view with data, without data, and with a broken file; nothing ever shows a traceback."""

from __future__ import annotations

import pytest

from tests.dashboard.conftest import VIEWS, csv_bytes, messages, of_file, upload


def go(at, view):
    at.switch_page(f"views/{view}.py").run()
    assert not at.exception, at.exception
    return at


def analysed(at, data=None):
    upload(at, data or csv_bytes())
    at.button(key="analyse").click().run()
    assert not at.exception
    return at


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_without_data_says_what_is_missing_and_offers_the_sample(app, view):
    go(app, view)
    labels = [button.label for button in app.button]
    assert "Try the sample" in labels


@pytest.mark.usefixtures("few_calibrators")
@pytest.mark.parametrize("view", VIEWS[1:])
def test_the_sample_can_be_opened_from_any_empty_view(app, view):
    go(app, view)
    app.button(key="sample-from-guard").click().run()
    assert not app.exception
    assert not any("No data yet" in box.value for box in app.info)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_with_data_draws_without_an_error(app, view):
    analysed(app)
    go(app, view)
    assert not app.error
    if view in ("overview", "reliability", "subgroups", "noise", "compare", "over_time"):
        assert app.get("plotly_chart")


@pytest.mark.parametrize("view", VIEWS)
def test_a_broken_file_gets_a_sentence_and_leaves_no_results(app, view):
    upload(app, b"PK\x03\x04" + bytes(200), "scores.csv")
    assert not app.exception
    assert len(app.error) == 1
    assert app.error[0].value
    go(app, view)
    assert "Try the sample" in [button.label for button in app.button]


@pytest.mark.parametrize(
    "data", [b"", b"score,label\n", b"score,score\n0.1,1\n", b"a,b\nx,y\nz,w\n", b"\x00\xff" * 50]
)
def test_unusable_files_get_one_clear_sentence(app, data):
    upload(app, data)
    assert not app.exception
    assert app.error or app.button(key="analyse").disabled


def test_the_file_that_is_replaced_takes_its_results_along(app):
    analysed(app, csv_bytes(400, seed=1))
    go(app, "compare")
    go(app, "data")
    upload(app, csv_bytes(300, seed=2), "other.csv")
    go(app, "export")
    assert any("press Analyse" in box.value for box in app.info)


@pytest.mark.slow
def test_one_changed_label_changes_the_answer(app):
    data = csv_bytes(3000)
    analysed(app, data)
    before = [metric.value for metric in app.metric]
    lines = data.decode().splitlines()
    changed = [line.replace(",0,", ",1,") if i > 2000 else line for i, line in enumerate(lines)]
    go(app, "data")
    analysed(app, "\n".join(changed).encode())
    assert [metric.value for metric in app.metric] != before


def test_switching_pages_keeps_the_file(app):
    analysed(app)
    go(app, "reliability")
    go(app, "data")
    go(app, "overview")
    assert app.metric


def test_two_sessions_do_not_see_each_other(app):
    from streamlit.testing.v1 import AppTest

    from tests.dashboard.conftest import ROOT

    analysed(app)
    other = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60).run()
    other.switch_page("views/overview.py").run()
    assert any("No data yet" in box.value for box in other.info)


def test_flip_rates_that_sum_to_one_are_refused_before_analysing(app):
    upload(app, csv_bytes())
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "rates-known").set_value(True).run()
    of_file(app, "number_input", "rho0").set_value(60.0).run()
    of_file(app, "number_input", "rho1").set_value(50.0).run()
    assert "not identifiable" in app.error[0].value
    assert app.button(key="analyse").disabled


def test_known_positives_need_a_prior_and_have_no_gate(app):
    upload(app, csv_bytes())
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    assert "class prior" in app.error[0].value
    of_file(app, "number_input", "prior").set_value(50.0).run()
    app.button(key="analyse").click().run()
    assert not app.exception
    go(app, "noise")
    assert "do not exist under PU" in messages(app)
    go(app, "compare")
    assert not app.error


@pytest.mark.usefixtures("few_calibrators")
def test_noisy_labels_are_named_and_not_ranked(app):
    upload(app, csv_bytes(flips=0.2))
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    app.button(key="analyse").click().run()
    assert "Against the noisy labels" in messages(app)
    go(app, "compare")
    assert "Not ranked" in messages(app)


def test_percentages_are_never_divided_silently(app):
    rows = "\n".join(f"{i % 101},{i % 2}" for i in range(300))
    upload(app, f"score,label\n{rows}\n".encode())
    assert not app.exception
    assert app.button(key="analyse").disabled
    question = next(radio for radio in app.radio if str(radio.key).startswith("question-"))
    question.set_value("percent").run()
    assert not app.button(key="analyse").disabled


def test_group_names_are_shown_as_typed(app):
    data = csv_bytes(2000).replace(b"north", b"$x^2$ *A* <b>").replace(b"south", b"A_B_C")
    analysed(app, data)
    shown = " ".join(part.value for part in app.markdown)
    assert "\\$x^2\\$" in shown or "A\\_B\\_C" in shown


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 5, 30])
@pytest.mark.parametrize("view", VIEWS)
def test_tiny_files_never_break_a_view(app, view, n):
    upload(app, csv_bytes(n))
    if app.button(key="analyse").disabled:
        return
    app.button(key="analyse").click().run()
    assert not app.exception
    go(app, view)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("view", VIEWS)
def test_one_class_of_labels_never_breaks_a_view(app, view, label):
    rows = "\n".join(f"{(i % 50) / 50:.3f},{label},{'ab'[i % 2]}" for i in range(200))
    upload(app, f"score,label,g\n{rows}\n".encode())
    app.button(key="analyse").click().run()
    go(app, view)


@pytest.mark.parametrize("view", VIEWS)
def test_scores_of_only_zero_and_one_are_called_decisions(app, view):
    rows = "\n".join(f"{i % 2},{(i // 2) % 2},{'ab'[i % 3 % 2]}" for i in range(200))
    upload(app, f"score,label,g\n{rows}\n".encode())
    app.button(key="analyse").click().run()
    go(app, view)
    if view == "overview":
        assert "decisions, not probabilities" in messages(app)


def test_a_partly_checked_column_becomes_the_audit_and_offers_its_flip_rates(app):
    rows = csv_bytes(2000, flips=0.15).decode().splitlines()
    true = csv_bytes(2000).decode().splitlines()
    checked = [line.split(",")[1] if i % 4 == 0 else "" for i, line in enumerate(true[1:])]
    data = "\n".join(
        [rows[0] + ",checked", *(f"{r},{c}" for r, c in zip(rows[1:], checked, strict=True)), ""]
    )
    upload(app, data.encode())
    assert of_file(app, "radio", "labels-mean").value == "noisy"
    assert any("with both labels they disagree on" in part.value for part in app.markdown)
    app.button(key="use-rates").click().run()
    assert of_file(app, "toggle", "rates-known").value
    app.button(key="analyse").click().run()
    assert not app.exception
    assert "Noise-corrected" in messages(app)


@pytest.mark.usefixtures("few_calibrators")
def test_the_advice_is_one_and_the_same_on_compare_and_export(app):
    go(app, "overview")
    app.button(key="sample-from-guard").click().run()
    go(app, "compare")
    advice = next(part.value for part in app.markdown if part.value.startswith("Take"))
    go(app, "export")
    assert app.selectbox(key="export-name").format_func(app.selectbox(key="export-name").value) in advice


@pytest.mark.parametrize("name", ["weight", "line", "loss", "recorded label", "row"])
def test_columns_called_like_ours_do_not_break_the_label_noise_page(app, name):
    lines = csv_bytes(300).decode().splitlines()
    data = "\n".join([f"{lines[0]},{name}", *(f"{line},{1 + i % 2}" for i, line in enumerate(lines[1:]))])
    upload(app, data.encode())
    app.button(key="analyse").click().run()
    go(app, "noise")
    assert app.dataframe


@pytest.mark.parametrize("view", VIEWS)
def test_vanishing_scores_never_break_a_view(app, view):
    rows = "\n".join(f"1e-200,0,{'ab'[i % 2]}\n1,1,{'ab'[i % 2]}" for i in range(100))
    upload(app, f"score,label,g\n{rows}\n".encode())
    app.button(key="analyse").click().run()
    go(app, view)


@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_one_unit_get_a_reason_and_no_crash(app, view):
    lines = csv_bytes(300).decode().splitlines()
    data = "\n".join([f"{lines[0]},customer_id", *(f"{line},c" for line in lines[1:])])
    upload(app, data.encode())
    app.button(key="analyse").click().run()
    go(app, view)
    if view == "reliability":
        app.multiselect(key="overlaid").set_value(["Identity", "Platt"]).run()
        assert not app.exception


@pytest.mark.parametrize("prior", [1.0, 30.0, 90.0])
@pytest.mark.parametrize("view", ["overview", "reliability", "subgroups", "compare", "export"])
def test_a_prior_that_contradicts_the_data_is_said_and_nothing_crashes(app, view, prior):
    upload(app, csv_bytes(300))
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "number_input", "prior").set_value(prior).run()
    app.button(key="analyse").click().run()
    go(app, view)
    if view == "overview" and prior == 90.0:
        assert "contradict the data" in messages(app)


def test_a_new_file_starts_with_fresh_answers(app):
    upload(app, csv_bytes(300))
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "rates-known").set_value(True).run()
    upload(app, csv_bytes(301, seed=9), "other.csv")
    assert of_file(app, "radio", "labels-mean").value == "clean"


def test_the_smallest_share_can_be_taken_back(app):
    analysed(app)
    go(app, "subgroups")
    app.slider(key="min-mass").set_value(10.0).run()
    assert app.slider(key="min-mass").value == 10.0
    app.slider(key="min-mass").set_value(1.0).run()
    assert app.get("plotly_chart")


@pytest.mark.slow
@pytest.mark.usefixtures("few_calibrators")
def test_a_comparison_outlives_many_other_results(app):
    analysed(app)
    go(app, "compare")
    go(app, "reliability")
    for bins in range(2, 40):
        app.slider(key="bins").set_value(bins).run()
    go(app, "export")
    assert app.selectbox(key="export-name")


def test_a_score_that_ranks_the_wrong_way_is_told(app):
    rows = "\n".join(f"{i / 500},{int(i < 250)}" for i in range(500))
    analysed(app, f"score,label\n{rows}\n".encode())
    assert "ranks the wrong way round" in messages(app)


def test_what_wlmc_would_change_is_shown_before_and_after(app):
    analysed(app, csv_bytes(3000, power=1.5))
    go(app, "subgroups")
    app.toggle(key="wlmc-show").set_value(True).run()
    assert not app.exception
    assert not app.error
    assert len(app.get("plotly_chart")) == 5


@pytest.mark.usefixtures("few_calibrators")
def test_estimated_flip_rates_are_shown_with_their_assumption_and_are_indicative_only(app):
    upload(app, csv_bytes(2000, flips=0.2))
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "estimate-rates").set_value(True).run()
    assert not app.exception
    assert "holds if" in messages(app)
    box = of_file(app, "selectbox", "use-estimate")
    box.set_value(box.options[0]).run()
    app.button(key="take-rates").click().run()
    assert of_file(app, "toggle", "rates-known").value
    app.button(key="analyse").click().run()
    go(app, "compare")
    assert "Indicative" in messages(app)


def test_the_class_prior_is_estimated_on_demand_only(app):
    upload(app, csv_bytes(2000))
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "toggle", "estimate-prior").set_value(True).run()
    assert not app.exception
    assert "far off where its assumption fails" in messages(app)
    assert of_file(app, "number_input", "prior").value is None
