"""WLMC's rounds as a chart."""

from __future__ import annotations

import numpy as np

from calcore.calibrators import WLMC, PatchedWLMC
from calcore.observation import Clean
from dashboard.charts import theme
from dashboard.charts.trajectory import trajectory_chart


def fitted(method, shift):
    rng = np.random.default_rng(0)
    score, group = rng.uniform(0.2, 0.8, 4000), rng.random(4000) < 0.4
    label = rng.random(4000) < score + shift * group
    return method.fit(Clean().evidence(score, label, groups=np.column_stack([group, ~group])))


def test_every_round_is_drawn_and_in_the_table():
    audit = fitted(WLMC(), 0.15).audit_
    chart = trajectory_chart(audit)
    assert len(chart.figure.data[0].x) == len(audit.rounds) == len(chart.table)
    assert chart.figure.data[0].line.color in theme.LINES
    assert "The violation falls from" in chart.alt


def test_nothing_to_correct_is_said():
    chart = trajectory_chart(fitted(PatchedWLMC(noise=20.0), 0.0).audit_)
    assert "changes nothing" in chart.alt
    assert chart.table.empty


def test_names_of_subgroups_are_not_markup():
    audit = fitted(WLMC(), 0.15).audit_
    renamed = type(audit)(
        tuple(type(r)(**{**r.__dict__, "name": "<b>$x$</b>"}) for r in audit.rounds),
        audit.stopped,
        audit.max_violation,
        audit.score,
    )
    assert "<b>" not in trajectory_chart(renamed).figure.data[0].hovertext[0]
