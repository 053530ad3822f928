"""BBQ against a slow obvious reference and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calcore.calibrators import BBQ
from calcore.errors import DoesNotExist, InputError
from calcore.metrics.binning import Bins
from calcore.observation import PU, Noisy
from tests.calcore.samples import sample

GRID = np.linspace(0, 1, 401)


def slow(score, label, points, spread=10.0, prior_size=2.0):
    """Every binning in turn, every bin in turn (Naeini et al. 2015, Eq. 3)."""
    n, models = len(score), {}
    most = min(int(spread * n ** (1 / 3)), len(np.unique(score)))
    for bins in range(math.ceil(n ** (1 / 3) / spread), most + 1):
        inner = [e for e in Bins.equal_mass(score, bins).edges[1:-1] if e > score.min()]
        edges = [0.0, *inner, 1.0]
        log_score, rates = 0.0, []
        for b in range(len(edges) - 1):
            last = b == len(edges) - 2
            inside = (score >= edges[b]) & ((score < edges[b + 1]) | last)
            size, positive = inside.sum(), label[inside].sum()
            prior = prior_size / (len(edges) - 1)
            alpha = prior * (edges[b] + edges[b + 1]) / 2
            beta = prior - alpha
            log_score += math.lgamma(prior) - math.lgamma(size + prior)
            log_score += math.lgamma(positive + alpha) - math.lgamma(alpha)
            log_score += math.lgamma(size - positive + beta) - math.lgamma(beta)
            rates.append((positive + alpha) / (size + prior))
        models[tuple(edges)] = (log_score, rates)
    top = max(value for value, _ in models.values())
    total, mean = 0.0, np.zeros(len(points))
    for edges, (value, rates) in models.items():
        weight = math.exp(value - top)
        total += weight
        for i, point in enumerate(points):
            mean[i] += weight * rates[sum(point >= edge for edge in edges[1:-1])]
    return mean / total


@pytest.mark.parametrize("n, decimals", [(30, 1), (200, 2), (300, 6)])
def test_it_is_the_slow_average(n, decimals):
    score, label, _ = sample(n, decimals=decimals)
    np.testing.assert_allclose(BBQ().fit(score, label).predict(GRID), slow(score, label, GRID), atol=1e-9)


def test_by_hand():
    """Two scores, labels 0 and 1: one bin (prior 1, 1) scores 1/6; two, at .5 and .9 with an edge at .7, 3/4 x ..."""
    fitted = BBQ().fit([0.5, 0.9], [0, 1])
    # one bin: B(2, 2) / B(1, 1) = 1/6, rate 1/2. Two bins [0, .7) and [.7, 1]: each prior of 1 row in all, middles
    # .35 and .85, so P(0) P(1) = .65 x .85; rates .35/2 and 1.85/2
    one, two = 1 / 6, 0.65 * 0.85
    expected = np.array([0.5 * one + 0.175 * two, 0.5 * one + 0.925 * two]) / (one + two)
    np.testing.assert_allclose(fitted.predict([0.5, 0.9]), expected, atol=1e-12)
    np.testing.assert_allclose(fitted.probabilities_, np.array([one, two]) / (one + two))


def test_labels_that_do_not_depend_on_the_score_ask_for_few_bins():
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    flat = BBQ().fit(score, rng.random(5000) < 0.3)
    steep = BBQ().fit(score, rng.random(5000) < score)
    mean = [float(fitted.bins_ @ fitted.probabilities_) for fitted in (flat, steep)]
    assert mean[0] < 3 < mean[1]
    assert np.abs(flat.predict(GRID) - 0.3).max() < 0.03
    assert np.abs(steep.predict(GRID) - GRID).mean() < 0.03


def test_rates_of_recorded_labels_are_corrected_for_known_flips():
    score, label, _ = sample(1000)
    plain = BBQ().fit(score, label).predict(GRID)
    fitted = BBQ().fit(Noisy(0.1, 0.2).evidence(score, label))
    np.testing.assert_allclose(fitted.predict(GRID), np.clip((plain - 0.1) / 0.7, 0, 1), atol=1e-12)


def test_weak_labels_have_no_likelihood():
    evidence = PU(0.3).evidence([0.1, 0.5, 0.9], source=["unlabelled", "unlabelled", "positive"])
    with pytest.raises(DoesNotExist, match="no recorded label"):
        BBQ().fit(evidence)


@pytest.mark.parametrize("method", [BBQ(spread=0.5), BBQ(prior_size=0), BBQ(spread=float("nan"))], ids=str)
def test_parameters_out_of_range_are_refused(method):
    with pytest.raises(InputError):
        method.fit(*sample()[:2])
