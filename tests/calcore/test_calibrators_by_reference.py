"""The classical calibrators against scikit-learn, a slow reference and known truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calcore import metrics
from calcore.calibrators import Beta, Isotonic, Platt, Temperature
from calcore.observation import Clean, Noisy
from tests.calcore.samples import sample

GRID = np.linspace(0, 1, 101)


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_is_scikit_learns(weighted):
    score, label, weight = sample(2000, decimals=3)
    weight = weight if weighted else None
    expected = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
        score, label, sample_weight=weight
    )
    fitted = Isotonic().fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(fitted.predict(GRID), expected.predict(GRID), atol=1e-12)


def test_isotonic_by_hand():
    """Equal scores are added up first."""
    x, y = np.array([0, 0.25, 0.25, 0.5, 1]), [0, 0, 1, 0, 1]
    np.testing.assert_allclose(Isotonic().fit(x, y).predict(x), [0, 1 / 3, 1 / 3, 1 / 3, 1])


def test_isotonic_beyond_its_knots_takes_the_end_values():
    fitted = Isotonic().fit([0.2, 0.6], [0, 1])
    np.testing.assert_array_equal(fitted.predict([0.1, 0.9]), [0, 1])


def slow_minorant(evidence):
    """Slopes of the greatest convex minorant by trying every pair of corners."""
    x = np.unique(evidence.score)
    mass = np.r_[0, np.cumsum([evidence.mass[evidence.score == v].sum() for v in x])]
    up = np.r_[0, np.cumsum([evidence.positive[evidence.score == v].sum() for v in x])]
    slopes = np.empty(x.size)
    for i in range(x.size):
        slopes[i] = max(
            min((up[k] - up[j]) / (mass[k] - mass[j]) for k in range(i + 1, x.size + 1)) for j in range(i + 1)
        )
    return x, np.clip(slopes, 0, 1)


@pytest.mark.parametrize("model", [Clean(), Noisy(0.2, 0.1)], ids=str)
def test_isotonic_is_the_slope_of_the_minorant(model):
    score, label, _ = sample(120, decimals=2)
    x, expected = slow_minorant(model.evidence(score, label))
    np.testing.assert_allclose(Isotonic().fit(model.evidence(score, label)).predict(x), expected, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [None, 1.0, 0.05])
def test_platt_is_scikit_learns(C, weighted):
    score, label, weight = sample()
    z = special.logit(np.clip(score, 1e-6, 1 - 1e-6))[:, None]
    reference = LogisticRegression(C=np.inf if C is None else C, tol=1e-12, max_iter=10_000)
    reference.fit(z, label, sample_weight=weight if weighted else None)
    fitted = Platt(C=C).fit(score, label, sample_weight=weight if weighted else None)
    assert fitted.a_ == pytest.approx(reference.coef_[0, 0], abs=1e-5)
    assert fitted.b_ == pytest.approx(reference.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_beta_is_a_logistic_regression(weighted):
    score, label, weight = sample()
    p = np.clip(score, 1e-6, 1 - 1e-6)
    features = np.column_stack([np.log(p), -np.log1p(-p)])
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=100_000)
    reference.fit(features, label, sample_weight=weight if weighted else None)
    fitted = Beta().fit(score, label, sample_weight=weight if weighted else None)
    np.testing.assert_allclose([fitted.a_, fitted.b_], reference.coef_[0], atol=1e-4)
    assert fitted.c_ == pytest.approx(reference.intercept_[0], abs=1e-4)


def test_monotone_beta_never_decreases():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    label = rng.random(300) < 4 * score * (1 - score) * 0.8 + 0.1  # up, then down
    free, monotone = Beta().fit(score, label), Beta(monotone=True).fit(score, label)
    assert min(free.a_, free.b_) < 0
    assert any("decreases" in warning for warning in free.warnings_)
    assert (np.diff(monotone.predict(GRID)) >= -1e-12).all()
    assert min(monotone.a_, monotone.b_) >= 0


def test_platt_recovers_the_true_slope():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200_000)
    label = rng.random(200_000) < special.expit(z)
    fitted = Platt().fit(special.expit(2.5 * z), label)
    middle = np.linspace(-3, 3, 61)
    distance = np.abs(fitted.predict(special.expit(2.5 * middle)) - special.expit(middle))
    assert np.average(distance, weights=np.exp(-(middle**2) / 2)) < 0.002


def test_temperature_minimises_the_log_loss():
    score, label, _ = sample(1000)
    evidence = Clean().evidence(score, label)
    fitted = Temperature().fit(evidence)
    best = metrics.log_loss(evidence.with_score(fitted.predict(score))).value
    for factor in (0.98, 1.02):
        other = special.expit(special.logit(np.clip(score, 1e-6, 1 - 1e-6)) / (fitted.temperature_ * factor))
        assert metrics.log_loss(evidence.with_score(other)).value > best
