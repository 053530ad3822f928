"""Cumulative errors: by hand, against a slow walk, and their p-values by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.metrics.brownian import largest_size_exceeds, range_exceeds
from calcore.observation import PU, Clean, Noisy, PosteriorConfidence


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0]])
@pytest.mark.parametrize("metric", [metrics.ecce, metrics.ecce_range])
def test_equal_scores_have_no_order(metric, labels):
    found = metric(Clean().evidence([0.5] * 4, labels))
    assert found.value == 0
    assert found.p_value == 1


def slow_walk(score, label, weight):
    """Totals of residuals up to each distinct score, from 0 on."""
    reached = [0.0]
    for t in sorted(set(score)):
        upto = score <= t
        reached.append((weight * (label - score))[upto].sum() / weight.sum())
    return np.array(reached)


def test_values_are_those_of_the_walk():
    rng = np.random.default_rng(0)
    score, weight = rng.random(200).round(1), rng.gamma(2, size=200)
    label = (rng.random(200) < score**2).astype(float)
    walk = slow_walk(score, label, weight)
    evidence = Clean().evidence(score, label, weight=weight)
    assert metrics.ecce(evidence).value == pytest.approx(np.abs(walk).max(), abs=1e-14)
    assert metrics.ecce_range(evidence).value == pytest.approx(walk.max() - walk.min(), abs=1e-14)
    spread = np.sqrt(weight**2 @ (score * (1 - score))) / weight.sum()
    assert metrics.ecce(evidence).normalised == pytest.approx(np.abs(walk).max() / spread)


def test_distributions_of_brownian_motion():
    """Random walks agree; 2.2414 is the 97.5 % point of a two-sided normal: P(max |B| > x) is near 2 P(|B(1)| > x)."""
    assert largest_size_exceeds(2.241403) == pytest.approx(0.05, abs=1e-5)
    assert range_exceeds(2.4977) == pytest.approx(0.05, abs=1e-5)
    steps = np.random.default_rng(0).standard_normal((4000, 2000)) / np.sqrt(2000)
    walk = np.cumsum(steps, axis=1)
    for x in (0.8, 1.2, 1.6, 2.2):
        # a walk of 2,000 steps stays below the continuous one
        assert (np.abs(walk).max(axis=1) > x).mean() == pytest.approx(
            largest_size_exceeds(x + 0.013), abs=0.025
        )
        reach = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
        assert (reach > x).mean() == pytest.approx(range_exceeds(x + 0.026), abs=0.025)
    for exceeds in (largest_size_exceeds, range_exceeds):
        assert exceeds(1.5 - 1e-9) == pytest.approx(exceeds(1.5 + 1e-9), abs=1e-7)
        assert exceeds(0.0) == exceeds(0.01) == 1
        assert exceeds(50.0) == 0


def calibrated(kind, seed, n=400):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    y = rng.random(n) < score
    if kind == "Noisy":
        return Noisy(0.2, 0.1).evidence(score, rng.random(n) < np.where(y, 0.9, 0.2))
    if kind == "PU":
        known = rng.beta(2, 2, n // 2)  # density of positives: f x that of f
        source = ["positive"] * known.size + ["unlabelled"] * n
        return PU(1 / 3).evidence(np.r_[known, score], source=source)
    if kind == "PosteriorConfidence":
        return PosteriorConfidence().evidence(score, confidence=rng.beta(4 * score, 4 * (1 - score)))
    if kind == "units":
        score = np.repeat(rng.beta(1, 2, n // 4), 4)
        return Clean().evidence(
            score, np.repeat(rng.random(n // 4), 4) < score, unit=np.repeat(np.arange(n // 4), 4)
        )
    return Clean().evidence(score, y, weight=rng.gamma(3, size=n) if kind == "weights" else None)


KINDS = ["Clean", "weights", "Noisy", "PU", "PosteriorConfidence", "units"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", [metrics.ecce, metrics.ecce_range])
def test_a_calibrated_score_is_rejected_in_one_of_twenty_samples(metric, kind):
    found = [metric(calibrated(kind, seed)) for seed in range(200)]
    assert np.mean([one.p_value < 0.05 for one in found]) < 0.095
    assert np.mean([one.interval[0] == 0 for one in found]) > 0.9


def test_a_shift_is_found_and_its_size_is_in_the_interval():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(100):
        score = 0.2 + 0.6 * rng.random(1000)
        found.append(metrics.ecce(Clean().evidence(score, rng.random(1000) < score - 0.1)))
    assert np.mean([one.p_value < 0.05 for one in found]) > 0.99
    assert np.mean([one.interval[0] <= 0.1 <= one.interval[1] for one in found]) > 0.95


def test_nothing_random_and_right_is_no_error():
    found = metrics.ecce(Clean().evidence([0.0, 1.0, 1.0, 0.0], [0, 1, 1, 0]))
    assert (found.value, found.p_value) == (0, 1)
    assert metrics.ecce(Clean().evidence([0.0, 1.0], [1, 0])).p_value == 0
