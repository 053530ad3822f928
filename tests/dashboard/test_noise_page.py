"""The label noise page for every kind of file: nothing breaks, and what cannot be said is said."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.state import Settings
from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.weak_files import weak_file


def noise_page(app, data, labels="noisy"):
    upload(app, data)
    if labels:
        of_file(app, "radio", "labels-mean").set_value(labels).run()
    app.button(key="analyse").click().run()
    assert not app.exception
    app.switch_page("views/noise.py").run()
    assert not app.exception, app.exception
    # the only errors are verdicts
    assert all("Too many contradictions" in box.value for box in app.error)
    return app


def headings(app):
    return [one.value for one in app.subheader]


def flipped(n=3000, groups=4, planted=0.0, rho1=0.2, seed=0):
    """A calibrated score whose positives are missed at ``rho1``, more so in region 0."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.6, 0.6, n)
    region = rng.integers(0, groups, n)
    missed = rng.random(n) < rho1 + planted * (region == 0)
    label = ((rng.random(n) < score) & ~missed).astype(int)
    rows = [f"{s:.4f},{y},r{r}" for s, y, r in zip(score, label, region, strict=True)]
    return "\n".join(["score,label,region", *rows, ""]).encode()


def test_with_groups_everything_is_there(app):
    noise_page(app, flipped(planted=0.4))
    assert headings(app) == [
        "Where the contradictions come from",
        "What the paper recommends",
        "Whose labels look worse?",
        "How many are positive",
        "How often labels are flipped",
        "How much each label counts",
        "Labels to check first",
    ]
    assert len(app.get("plotly_chart")) == 4
    text = messages(app)
    assert "Labels of region = r0 look worse" in text
    assert "comes out too low" in text
    assert "forward Platt" in text
    tables = [table.value for table in app.dataframe]
    assert any("95 % interval" in table for table in tables)
    assert "weight" in next(table for table in tables if "recorded label" in table)


def test_the_protocol_marks_where_the_labels_are_and_warns_of_harm(app):
    noise_page(app, flipped())
    lines = [one.value for one in app.markdown if "of labels contradict" in one.value]
    assert len(lines) == 3
    assert sum("These labels" in line for line in lines) == 1
    assert "LWCal sharpens" in messages(app)


def test_without_groups_the_page_says_how_to_choose_some(app):
    rows = flipped(600).decode().splitlines()
    data = "\n".join(",".join(row.split(",")[:2]) for row in rows).encode()
    noise_page(app, data)
    assert "No subgroup columns are chosen" in messages(app)
    assert len(app.get("plotly_chart")) == 3


def test_noisy_labels_alone_show_the_gates_settings_without_a_metric(app):
    noise_page(app, flipped())
    text = " ".join(one.value for one in app.markdown)
    assert "cannot be measured here" in text
    grid = next(table.value for table in app.dataframe if "Centre" in table.value)
    assert len(grid) == 12
    assert set(grid["Brier"]) == {"n/a"}


def test_known_rates_measure_the_gates_settings(app):
    upload(app, flipped())
    of_file(app, "radio", "labels-mean").set_value("noisy").run()
    of_file(app, "toggle", "rates-known").set_value(True).run()
    app.button(key="analyse").click().run()
    app.switch_page("views/noise.py").run()
    assert not app.exception
    grid = next(table.value for table in app.dataframe if "Centre" in table.value)
    assert "n/a" not in set(grid["Brier"])


@pytest.mark.parametrize("kind", ["uu", "posterior"])
def test_weak_labels_without_rows_labels_have_no_gate(app, kind):
    upload(app, weak_file(kind, 300))
    app.session_state["calcore"].settings = Settings(
        labels=kind, prior=0.35, theta1=0.65, theta2=0.22, source_values=("A", "B") if kind == "uu" else ()
    )
    app.session_state["calcore"].analysed = True
    app.switch_page("views/noise.py").run()
    assert not app.exception
    assert "do not exist under" in messages(app)
    assert not headings(app)


def test_known_positives_have_no_gate(app):
    upload(app, csv_bytes())
    of_file(app, "radio", "labels-mean").set_value("pu").run()
    of_file(app, "number_input", "prior").set_value(50.0).run()
    app.button(key="analyse").click().run()
    app.switch_page("views/noise.py").run()
    assert not app.exception
    assert "do not exist under PU" in messages(app)
    assert not headings(app)


@pytest.mark.parametrize("n", [2, 5, 30])
@pytest.mark.parametrize("labels", ["clean", "noisy"])
def test_tiny_files(app, n, labels):
    noise_page(app, csv_bytes(n), labels)
    assert "Labels to check first" in headings(app)
    assert "nan" not in messages(app).split()


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("labels", ["clean", "noisy"])
def test_one_class(app, label, labels):
    rows = "\n".join(f"{(i % 50) / 50:.3f},{label},{'ab'[i % 2]}" for i in range(200))
    noise_page(app, f"score,label,g\n{rows}\n".encode(), labels)
    assert "one class of labels only" in messages(app)


@pytest.mark.parametrize("score", [0.5, 0.0, 1.0])
def test_equal_scores(app, score):
    rows = "\n".join(f"{score},{i % 2},{'ab'[i // 2 % 2]}" for i in range(200))
    noise_page(app, f"score,label,g\n{rows}\n".encode())
    assert "All losses are equal" in messages(app) or score != 0.5


def test_fifty_subgroups_show_fifteen_and_the_rest_in_the_table(app):
    noise_page(app, flipped(6000, groups=50))
    table = next(table.value for table in app.dataframe if "Mean LWCal weight" in table.value)
    assert len(table) == 50
    assert "50 subgroups" in messages(app)


def test_a_random_audit_sample_is_the_best_answer_on_prevalence(app):
    app.switch_page("views/noise.py").run()
    app.button(key="sample-from-guard").click().run()
    app.switch_page("views/noise.py").run()
    assert not app.exception
    text = messages(app)
    assert "clean audit sample" in text
    assert "Wrong labels hidden by unsure scores" in text
    assert any("On clean audit labels" in list(table.value.iloc[:, 0]) for table in app.dataframe)


@pytest.mark.parametrize("view", ["overview", "noise"])
def test_right_labels_of_unsure_scores_are_not_accused(app, view):
    """The labels are said to be the outcomes: flips that a forward Platt model finds in them are no flips."""
    rng = np.random.default_rng(0)
    score = rng.uniform(0.3, 0.7, 3000)
    label = rng.random(3000) < score**4 / (score**4 + (1 - score) ** 4)
    rows = "\n".join(f"{s:.4f},{int(y)}" for s, y in zip(score, label, strict=True))
    noise_page(app, f"score,label\n{rows}\n".encode(), "clean")
    app.switch_page(f"views/{view}.py").run()
    text = messages(app)
    assert "No more contradictions than expected" in text
    assert "hidden by unsure scores" not in text


def test_estimated_rates_come_with_their_interval(app):
    upload(app, flipped())
    app.session_state["calcore"].settings = Settings(
        labels="noisy", rho0=0.01, rho1=0.2, rates_origin="estimated"
    )
    app.session_state["calcore"].analysed = True
    app.switch_page("views/noise.py").run()
    assert not app.exception
    table = next(table.value for table in app.dataframe if "How it is known" in table.value)
    row = table.set_index("What").loc["Expected with flips"]
    assert "estimated from these scores" in row["How it is known"]
    assert "–" in row["95 % interval"]


def test_weights_move_the_estimated_flip_rates(app):
    """Positives weighted three times as much: those that were missed are then a smaller share."""
    lines = flipped().decode().splitlines()
    found = []
    for weight in (1, 3):
        rows = [f"{line},{weight if line.split(',')[1] == '1' else 1}" for line in lines[1:] if line]
        app.switch_page("views/data.py").run()
        noise_page(app, "\n".join([f"{lines[0]},weight", *rows, ""]).encode())
        table = next(table.value for table in app.dataframe if "Found by" in table.value)
        found.append(float(table["Positives recorded negative"].iloc[0].split("\u00a0")[0].split(" ")[0]))
    assert found[1] < found[0] - 3


def test_units_are_cautioned_about_and_weights_count(app):
    lines = csv_bytes(400).decode().splitlines()
    data = "\n".join(
        [
            f"{lines[0]},weight,customer_id",
            *(f"{line},{1 + i % 3},{i // 2}" for i, line in enumerate(lines[1:])),
        ]
    )
    noise_page(app, data.encode())
    text = messages(app)
    assert "whatever its weight" not in text
    assert "rows of one unit as independent" in text


def test_the_reason_against_auditing_corrections_is_there(app):
    noise_page(app, flipped(500))
    assert [box.label for box in app.expander].count("Why corrections never become the audit column") == 1
