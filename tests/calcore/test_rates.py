"""One interval for every rate of labels: effective rows, units as draws, none from hardly any."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.contradictions import contradictions
from calcore.metrics.rates import rate_interval
from calcore.metrics.reliability import wilson
from calcore.observation import Clean, Noisy
from calcore.prevalence import prevalence


def drawn(n=300, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return score, (rng.random(n) < score).astype(float), rng


def test_weights_count_as_their_effective_number_whatever_their_scale():
    score, label, rng = drawn()
    weight = rng.uniform(0.5, 4, 300)
    trials = weight.sum() ** 2 / (weight**2).sum()
    low, high = wilson(np.array([weight @ label / weight.sum() * trials]), np.array([trials]))
    for scale in (1, 50):
        found = rate_interval(Clean().evidence(score, label, weight=scale * weight), label)
        assert found == pytest.approx((low[0], high[0]))


def test_copies_of_a_row_are_one_draw():
    score, label, _ = drawn()
    once = rate_interval(Clean().evidence(score, label), label)
    rows = np.repeat(np.arange(300), 10)
    copied = rate_interval(Clean().evidence(score[rows], label[rows], unit=rows), label[rows])
    assert copied == pytest.approx(once, rel=0.01)


def test_the_rate_covers_where_units_share_their_label_and_not_their_score():
    """The design effect is that of the labels: scores that vary within units must not hide how they depend."""
    inside = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        unit = np.repeat(np.arange(60), 8)
        label = (rng.random(60) < 0.3).astype(float)[unit]
        evidence = Noisy().evidence(rng.random(480), label, unit=unit)
        low, high = rate_interval(evidence, label)
        inside += low <= 0.3 <= high
    assert inside / 300 >= 0.92


def test_observed_and_recorded_are_computed_alike():
    """A score of 0 everywhere is contradicted by every 1: both tables give the same rate."""
    _, label, rng = drawn()
    evidence = Noisy().evidence(
        np.zeros(300), label, weight=rng.uniform(0.5, 4, 300), unit=rng.integers(0, 50, 300)
    )
    split, recorded = contradictions(evidence), prevalence(evidence).of("recorded")
    assert split.observed == pytest.approx(recorded.value)
    assert split.interval == pytest.approx(recorded.interval)


@pytest.mark.parametrize("n", [1, 3])
def test_hardly_any_rows_have_none(n):
    assert rate_interval(Clean().evidence(np.full(n, 0.5), np.ones(n)), np.ones(n)) is None
