"""Estimates without labels hold for the labels that come, while nothing changes; they cannot see a change."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.metrics import brier, log_loss
from calcore.monitoring.batches import Batching
from calcore.monitoring.watch import Plan, measure_batches
from calcore.observation import Clean
from tests.calcore.monitoring.streams import clean, weekly


def bent(week, f, region):
    return 0.2 * (0.5 - f)


def with_labels_missing(table, after):
    """Results where no label has come after the week ``after``."""
    known = np.flatnonzero(table.week < after)
    evidence = clean(table.assign(label=table.label.where(table.week < after)))
    assert len(evidence) == known.size
    results, _, _ = measure_batches(
        Plan(Batching("week"), reference=after), table.score.to_numpy(), evidence, time=table.time.to_numpy()
    )
    return results


def stream(seed, off=bent, rows=400):
    table = weekly(8, rows, seed=seed, off=off)
    return table.assign(week=np.repeat(np.arange(8), rows))


@pytest.mark.slow
def test_intervals_hold_for_the_labels_that_come():
    inside = {"Brier": [], "log loss": [], "event rate": []}
    for seed in range(25):
        table = stream(seed)
        results = with_labels_missing(table, 6)
        for week in (6, 7):
            result = results[week]
            assert result.kind == "estimated"
            truth = clean(table[table.week == week])
            for name, value in (
                ("Brier", brier(truth).value),
                ("log loss", log_loss(truth).value),
                ("event rate", truth.base_rate),
            ):
                found = result.value(name)
                inside[name].append(found.low <= value <= found.high)
    for name, held in inside.items():
        assert 0.88 <= np.mean(held) <= 1.0, name


def test_the_ece_is_that_of_the_reference_at_the_new_scores():
    table = stream(3)
    result = with_labels_missing(table, 6)[7]
    reference = clean(table[table.week < 6])
    place = np.minimum((reference.score * 10).astype(int), 9)
    gap = np.bincount(place, reference.label - reference.score, 10) / np.bincount(place, minlength=10)
    new = table.score[table.week == 7].to_numpy()
    expected = np.abs(gap)[np.minimum((new * 10).astype(int), 9)].mean()
    assert result.value("ECE").value == pytest.approx(expected, abs=1e-9)
    assert result.value("ECE").low <= 0.05 <= result.value("ECE").high  # the truth: mean of .2 |.5 - f|


def test_they_are_marked_and_say_what_they_assume():
    result = with_labels_missing(stream(1), 6)[7]
    assert result.labelled == 0
    assert result.basis == "estimated without labels"
    assert "cannot see" in result.assumptions[0]
    assert "AUC" not in result.values


def test_scores_where_the_reference_has_none_are_said():
    table = stream(2)
    table.loc[table.week < 6, "score"] *= 0.5
    result = with_labels_missing(table, 6)[7]
    assert "lie where the reference has none" in result.reason


def test_without_any_labels_there_is_no_estimate():
    rng = np.random.default_rng(0)
    score, label = rng.random(400), np.full(400, np.nan)
    label[:5] = 1.0
    results, _, _ = measure_batches(
        Plan(Batching("rows", size=200)), score, Clean().evidence(score, label), prefix="x:"
    )
    assert [(one.kind, one.reason) for one in results] == [
        ("no labels", "labels of 5 rows so far, too few to measure"),
        ("no labels", "no labels yet"),
    ]
