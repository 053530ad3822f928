"""The Reliability page without bins: the isotonic curve, the table of numbers, the decision curve."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.observation import Clean
from dashboard.components.number_table import number_table
from tests.dashboard.conftest import csv_bytes
from tests.dashboard.test_views import analysed, go


@pytest.mark.parametrize("group", [None, 0])
def test_the_isotonic_curve_replaces_the_bins(app, group):
    analysed(app, csv_bytes(power=2.0))
    go(app, "reliability")
    app.button_group(key="strategy").set_value("isotonic").run()
    assert not app.exception
    app.selectbox(key="reliability-group").set_value(group).run()
    assert not app.exception
    assert not app.error
    assert len(app.get("plotly_chart")) == 2
    assert app.slider(key="bins").disabled
    table = next(one.value for one in app.dataframe if "number" in one.value.columns)
    assert table["number"].tolist()[:2] == ["Smooth ECE", "ECCE (largest cumulative error)"]


def test_a_table_has_values_tests_and_reasons():
    rng = np.random.default_rng(0)
    score = rng.random(200)
    evidence = Clean().evidence(score, rng.random(200) < score)
    rows = {
        "slope": metrics.calibration_slope(evidence),
        "z": metrics.spiegelhalter(evidence),
        "smooth": metrics.smooth_ece(evidence),
        "none": metrics.auc(Clean().evidence([0.1], [0])),
        "gone": "there is no such thing",
    }
    table = number_table(rows).set_index("number")
    assert table.loc["slope", "by chance"] == "perfect: 1"
    assert table.loc["z", "by chance"].startswith("p ")
    assert table.loc["smooth", "by chance"].startswith("up to ")
    assert table.loc["none", "value"] == "n/a"
    assert table.loc["gone", "note"] == "there is no such thing"
    assert " to " in table.loc["slope", "95 % interval"]
