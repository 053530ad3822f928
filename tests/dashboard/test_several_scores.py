"""Several score columns on the page: the user says what they are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calcore.ingest.test_several_scores import rivals
from tests.dashboard.conftest import messages, of_file, upload
from tests.dashboard.test_views import go


def classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1, 1], n)
    kinds = np.array(["cat", "dog", "cow"])
    label = [kinds[rng.choice(3, p=row)] for row in p]
    lines = [",".join([*(f"{value:.5f}" for value in row), kind]) for row, kind in zip(p, label, strict=True)]
    return "\n".join(["p_cat,p_dog,p_cow,kind", *lines, ""]).encode()


def test_rival_models_are_compared(app):
    upload(app, rivals())
    of_file(app, "radio", "several-scores").set_value("rivals").run()
    assert not app.exception
    app.button(key="analyse").click().run()
    go(app, "compare")
    assert not app.exception
    assert any(header.value == "Which model?" for header in app.subheader)
    table = next(frame.value for frame in app.dataframe if "Model" in frame.value.columns)
    assert list(table["Model"]) == ["score", "challenger_score"]
    assert "score has the lowest Brier" in messages(app)


@pytest.mark.parametrize("view", ["top", "p_dog"])
def test_classes_are_looked_at_one_by_one_or_by_the_likeliest(app, view):
    upload(app, classes())
    of_file(app, "radio", "several-scores").set_value("classes").run()
    of_file(app, "selectbox", "class-label").set_value("kind").run()
    of_file(app, "selectbox", "class-view").set_value(view).run()
    assert not app.exception
    assert not app.error
    app.button(key="analyse").click().run()
    assert not app.exception
    go(app, "overview")
    assert not app.exception
    rate = next(metric.value for metric in app.metric if metric.label == "Event rate")
    assert rate == ("33\xa0%" if view == "p_dog" else "58\xa0%")
    # and back to one score
    go(app, "data")
    of_file(app, "radio", "several-scores").set_value("one").run()
    assert not app.exception


def test_one_score_column_asks_nothing(app):
    upload(app, b"score,label\n0.2,0\n0.7,1\n")
    assert not [radio for radio in app.radio if "several-scores" in str(radio.key)]
