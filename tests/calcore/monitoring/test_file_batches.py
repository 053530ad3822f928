"""Files that follow each other: no row is bet on twice, and labels that come late are used."""

from __future__ import annotations

import numpy as np

from calcore.monitoring import Batching, Plan, joined, measure_batches, parts
from tests.calcore.monitoring.streams import clean, weekly


def measured(table, plan, kept=()):
    results, plan, _ = measure_batches(
        plan, table.score.to_numpy(), clean(table), time=table.time.to_numpy(), earlier=kept
    )
    return results, plan


def test_batches_are_not_joined_for_want_of_labels_and_are_measured_when_they_come():
    table = weekly(9, 300)
    few = np.random.default_rng(0).random(len(table)) < 0.25
    early = table.assign(label=table.label.where((table.time < "2024-02-12") | few))
    first, plan = measured(early, Plan(Batching("week", min_rows=100)))
    assert [(one.key, one.rows, one.kind) for one in first[-2:]] == [
        ("2024-W08", 300, "estimated"),
        ("2024-W09", 300, "estimated"),
    ]
    assert "labels of 7" in first[-1].reason
    assert "too few to measure: estimated" in first[-1].reason
    second, _ = measured(table, plan, first)
    together = joined(first, second)
    assert [(one.key, one.rows) for one in together] == [(f"2024-W0{week}", 300) for week in range(1, 10)]
    assert all(one.growth is not None for one in together)
    assert parts(first, second) == ()


def test_files_that_overlap_are_bet_on_once():
    """By rows, the last eight weeks at a time: batches begin elsewhere in each file, at rows seen before."""
    table = weekly(12, 100)
    plan = Plan(Batching("rows", size=200))
    first, plan = measured(table[table.time < "2024-02-26"], plan)
    assert all(one.growth is not None for one in first)
    second, _ = measured(table[table.time >= "2024-01-31"], plan, first)
    tested = [one for one in second if one.growth is not None]
    assert all(one.start >= max(old.end for old in first) for one in tested)
    assert tested
    assert "was tested before: not in the test" in second[0].reason


def test_a_batch_that_comes_again_counts_once_in_the_reference_period():
    table = weekly(8, 300)
    first, plan = measured(table[table.time < "2024-01-15"], Plan(Batching("week")))
    second, _ = measured(table, plan, first)
    assert second[-1].reference == ("2024-W01", "2024-W02", "2024-W03", "2024-W04")


def test_values_of_a_column_may_overlap_in_time():
    table = weekly(8, 300)
    plan = Plan(Batching("column", column="region"))

    def of(part, kept=()):
        return measure_batches(
            plan,
            part.score.to_numpy(),
            clean(part),
            time=part.time.to_numpy(),
            column=part.region,
            earlier=kept,
        )[0]

    first = of(table[table.region == "north"])
    assert of(table[table.region == "south"], first)[0].growth is not None
