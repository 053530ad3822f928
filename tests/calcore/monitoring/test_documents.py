"""Results and plans survive being written down, to the last bit; what is damaged is refused."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.errors import InputError
from calcore.monitoring import Batching, FixedLimit, Plan, watch
from calcore.monitoring.documents import from_document, to_document
from calcore.monitoring.plan_document import plan_from_document, plan_to_document
from calcore.monitoring.watch import measure_batches
from calcore.observation import Clean
from tests.calcore.monitoring.streams import weekly
from tests.calcore.monitoring.test_limits import measured


@pytest.fixture(scope="module")
def results():
    return measured(weekly(10, 300, off=lambda week, f, region: np.where(week >= 6, 0.2, 0.0)))


def test_a_stream_comes_back_as_it_was(results):
    text = json.dumps([to_document(one) for one in results], allow_nan=False)
    back = [from_document(document) for document in json.loads(text)]
    assert json.dumps([to_document(one) for one in back]) == text
    plan = Plan(Batching("week"), centre=5)
    first, second = watch(results, plan), watch(back, plan)
    assert first.alerts == second.alerts
    assert first.alerts
    assert (first.test.log_evidence == second.test.log_evidence).all()


def test_another_version_is_refused(results):
    with pytest.raises(InputError, match="version 99"):
        from_document(to_document(results[0]) | {"version": 99})


@settings(deadline=None)
@given(st.data())
def test_damage_is_told_and_breaks_nothing(results, data):
    document = json.loads(json.dumps(to_document(results[8])))
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = data.draw(
        st.none()
        | st.integers()
        | st.text(max_size=5)
        | st.lists(st.none() | st.text(max_size=2), max_size=3)
    )
    with contextlib.suppress(InputError):
        from_document(document)


def test_a_batch_without_subgroups_comes_back():
    table = weekly(1, 400)
    one = measure_batches(
        Plan(Batching("week")),
        table.score.to_numpy(),
        Clean().evidence(table.score, table.label),
        time=table.time,
    )[0][0]
    assert one.growth is not None
    back = from_document(json.loads(json.dumps(to_document(one))))
    assert back.growth.groups.shape == one.growth.groups.shape
    assert np.array_equal(back.growth.whole, one.growth.whole)


@pytest.mark.parametrize(
    "place, value",
    [
        (("bins", "rows", 0), 10**30),
        (("bins", "error"), []),
        (("bins", "mean_score"), [0.5]),
        (("growth", "whole", 0, 0), float("nan")),
        (("growth", "groups", 0, 0, 0), float("inf")),
    ],
)
def test_numbers_that_no_batch_has_are_damage(results, place, value):
    document = json.loads(json.dumps(to_document(results[8])))
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError, match="is damaged"):
        from_document(document)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(),
        Plan(
            Batching("column", column="season", min_rows=5),
            bins=15,
            tolerance=0.05,
            reference=("a", "b"),
            centre=3,
        ),
        Plan(
            Batching("rows", size=50),
            fixed=(FixedLimit("ECE", high=0.05), FixedLimit("AUC", low=0.7)),
            complete=0.5,
        ),
    ],
)
def test_plans_come_back(plan):
    assert plan_from_document(json.loads(json.dumps(plan_to_document(plan)))) == plan


@pytest.mark.parametrize(
    "change",
    [
        {"bins": 1},
        {"bins": "x"},
        {"batching": {}},
        {"batching": None},
        {"fixed": [{"metric": "x"}]},
        {"alpha": 2},
        {"centre": "5"},
        {"centre": [None]},
        {"centre": 99},
    ],
)
def test_a_damaged_plan_is_refused(change):
    document = plan_to_document(Plan()) | change
    if change == {"batching": {}}:
        assert plan_from_document(document) == Plan()  # nothing said: the defaults
        return
    with pytest.raises(InputError):
        plan_from_document(document)
