"""The dots of subgroups and the grid of the gate: the worst first, the present setting framed, all in the table."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.calibrators import GatedLWCal
from calcore.gate_grid import gate_grid
from calcore.group_contradictions import group_contradictions
from calcore.observation import Clean, Noisy
from calcore.subgroups import Membership
from dashboard.charts import theme
from dashboard.charts.gate import gate_chart
from dashboard.charts.gate_grid import gate_grid_chart
from dashboard.charts.group_contradictions import group_contradictions_chart


def search(groups=20, planted=0.3, n=8000):
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.5, n)
    group = rng.integers(0, groups, n)
    label = (rng.random(n) < score) ^ ((rng.random(n) < planted) & (group == 7))
    member = Membership.of_masks(group[:, None] == np.arange(groups), [f"team = {g}" for g in range(groups)])
    return group_contradictions(Noisy().evidence(score, label, groups=member))


def test_the_worst_come_first_and_the_rest_is_in_the_table():
    found = search()
    chart = group_contradictions_chart(found)
    assert chart.figure.layout.yaxis.ticktext[0] == "team = 7"
    assert len(chart.figure.layout.yaxis.ticktext) == 15
    assert len(chart.table) == 20
    assert list(chart.table["Stands out"]).count("yes") == 1
    assert "5 more are in the table only" in chart.alt
    flagged = next(trace for trace in chart.figure.data if trace.name == "Stands out")
    assert flagged.x[0] == pytest.approx(100 * found.groups[0].difference, abs=1e-3)
    assert flagged.x[0] + flagged.error_x.array[0] == pytest.approx(
        100 * found.groups[0].interval[1], abs=2e-3
    )


def test_no_group_that_can_be_compared_is_a_sentence():
    rng = np.random.default_rng(0)
    evidence = Noisy().evidence(rng.random(20), rng.random(20) < 0.5, groups=np.arange(20)[:, None] < 5)
    chart = group_contradictions_chart(group_contradictions(evidence))
    assert "enough rows" in chart.alt
    assert list(chart.table["Stands out"]) == ["too few"]


@pytest.mark.parametrize("model", [Clean(), Noisy()], ids=str)
def test_the_grid_has_every_setting_and_frames_the_present_one(model):
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.5, 1000)
    label = (rng.random(1000) < score) ^ (rng.random(1000) < 0.25)
    chart = gate_grid_chart(gate_grid(model.evidence(score, label)))
    (cells,) = chart.figure.data
    assert np.shape(cells.z) == (4, 3)
    (frame,) = chart.figure.layout.shapes
    assert (frame.x0, frame.y0) == (pytest.approx(1 - 0.48), pytest.approx(1 - 0.46))
    assert frame.line.color == theme.GOOD
    assert len(chart.table) == 12
    assert ("Brier" in cells.text[0][0]) == isinstance(model, Clean)


def test_the_recommendation_beside_the_gate_is_said_to_be_that_of_the_paper():
    rng = np.random.default_rng(0)
    score = rng.random(2000)
    label = (rng.random(2000) < score).astype(float)
    audit = GatedLWCal().fit(Noisy().evidence(score, label)).audit_
    chart = gate_chart(audit)
    assert (
        f"The paper's recommendation at this gate, by the contradiction rate alone: {audit.score}."
        in chart.alt
    )
    assert "Recommended" not in chart.alt + "".join(chart.table["What"])
