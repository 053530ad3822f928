"""A table watched in one call."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from calcore.errors import InputError
from calcore.monitoring import Batching, Plan, table, watch_table
from tests.calcore.monitoring.streams import weekly


def test_the_example_runs():
    assert doctest.testmod(table) == (0, 7)


def test_missing_labels_are_estimated_and_subgroups_are_told():
    def off(week, f, region):
        return np.where((region == "north") & (week >= 10), -0.2, 0)

    rows = weekly(20, off=off)
    rows["label"] = rows.label.where(rows.time < "2024-05-06")
    shuffled = rows.sample(frac=1, random_state=1)
    found = watch_table(shuffled, time="time", groups=["region"], plan=Plan(Batching("week")))
    assert [one.kind for one in found.results].count("estimated") == 2
    assert any(alert.group == "region = north" for alert in found.alarming)


@pytest.mark.parametrize(
    "changes, arguments, words",
    [
        ({}, {"time": "when"}, 'no column "when"'),
        ({"label": "yes"}, {}, "convert it to numbers"),
        ({"day": "soon"}, {"time": "day"}, "pandas.to_datetime"),
        ({"score": 1.5}, {}, "1.5"),
    ],
)
def test_what_cannot_be_is_said(changes, arguments, words):
    with pytest.raises(InputError, match=words):
        watch_table(weekly(2).assign(**changes), **arguments)
