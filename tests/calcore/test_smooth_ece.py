"""Smooth ECE against its definition by quadrature, and its interval and noise floor by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import PU, Clean, Noisy


def slow_smooth(score, residual, sigma):
    """The integral of |sum of residuals x Gaussians|, each with its images beyond 0 and 1."""
    t = np.linspace(0, 1, 8001)
    density = np.zeros_like(t)
    for k in range(-4, 5):
        for place in (2 * k + score, 2 * k - score):
            density += stats.norm.pdf(t[:, None], place, sigma) @ residual
    return integrate.trapezoid(np.abs(density), t)


@pytest.mark.parametrize("sigma", [0.01, 0.05, 0.3])
def test_a_bandwidth_gives_the_integral_of_the_reflected_kernel(sigma):
    rng = np.random.default_rng(0)
    score = np.r_[rng.random(30), 0.0, 1.0]
    label = (rng.random(32) < score**2).astype(float)
    found = metrics.smooth_ece(Clean().evidence(score, label), sigma)
    assert found.value == pytest.approx(slow_smooth(score, (label - score) / 32, sigma), rel=3e-4)


def test_the_bandwidth_is_the_error_itself():
    rng = np.random.default_rng(1)
    score = rng.random(40)
    label = (rng.random(40) < score**3).astype(float)
    found = metrics.smooth_ece(Clean().evidence(score, label))
    expected = optimize.brentq(lambda s: slow_smooth(score, (label - score) / 40, s) - s, 0.01, 0.9)
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.bandwidth == pytest.approx(found.value, abs=1e-12)


def test_one_score_has_the_error_of_its_mean():
    found = metrics.smooth_ece(Clean().evidence([0.5] * 4, [0, 1, 1, 1]))
    assert found.value == pytest.approx(0.25, abs=1e-9)
    assert metrics.smooth_ece(Clean().evidence([0.5] * 4, [0, 0, 1, 1])).value == pytest.approx(0, abs=1e-12)
    assert metrics.smooth_ece(Clean().evidence([0.0, 1.0], [0, 1])).value == 0


def test_scores_on_both_sides_of_an_edge_cost_nothing():
    """Binned errors jump where scores cross an edge; this one does not."""
    label = np.tile([0.0, 1.0], 100)
    near = np.where(label == 1, 0.5 - 1e-9, 0.5)
    assert metrics.ece(Clean().evidence(near, label), 10).value == pytest.approx(0.5, abs=1e-6)
    assert metrics.smooth_ece(Clean().evidence(near, label)).value < 0.002


@pytest.mark.parametrize("bandwidth", [0, 1, -0.1, float("nan")])
def test_a_bandwidth_out_of_range_is_a_sentence(bandwidth):
    with pytest.raises(InputError, match="the bandwidth must be"):
        metrics.smooth_ece(Clean().evidence([0.5], [1]), bandwidth)


def draw(kind, seed, n=600, bend=0.0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    y = rng.random(n) < np.clip(score + bend, 0, 1)
    if kind == "PU":
        known = rng.random(3 * n)
        known = known[rng.random(3 * n) < np.clip(known + bend, 0, 1)][: n // 2]
        prior = np.clip(np.linspace(0, 1, 10_001) + bend, 0, 1).mean()
        return PU(prior).evidence(np.r_[known, score], source=["positive"] * known.size + ["unlabelled"] * n)
    if kind == "Noisy":
        return Noisy(0.2, 0.1).evidence(score, rng.random(n) < np.where(y, 0.9, 0.2))
    return Clean().evidence(score, y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU"])
@pytest.mark.parametrize("bend", [0.0, 0.1])
def test_the_interval_covers_and_chance_is_exceeded_by_chance_only(kind, bend):
    at = (np.arange(20_000) + 0.5) / 20_000
    rate = np.clip(at + bend, 0, 1)
    exact = Clean().evidence(np.r_[at, at], np.repeat([1, 0], at.size), weight=np.r_[rate, 1 - rate])
    truth = metrics.smooth_ece(exact).value if bend else 0.0
    found = [metrics.smooth_ece(draw(kind, seed, bend=bend)) for seed in range(80)]
    assert np.mean([one.interval[0] <= truth <= one.interval[1] for one in found]) > 0.9
    beyond = np.mean([one.beyond_chance for one in found])
    assert beyond < 0.12 if not bend else beyond > 0.5
