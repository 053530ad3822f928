"""Spiegelhalter, Hosmer-Lemeshow, slope and intercept: by slow references, and how often each rejects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from calcore import metrics
from calcore.metrics.uncertainty import SourceSums, covariance_of_sums
from calcore.observation import PU, Clean, Noisy
from tests.calcore.samples import sample
from tests.calcore.test_cumulative import KINDS, calibrated

TESTS = [metrics.spiegelhalter, metrics.hosmer_lemeshow, metrics.recalibration_test]


@pytest.mark.parametrize("kind", KINDS)
def test_a_covariance_of_one_column_is_the_variance_of_its_sum(kind):
    evidence = calibrated(kind, 0)
    key = np.zeros(len(evidence), dtype=int)
    found = covariance_of_sums(evidence, evidence.residual[:, None])
    expected = SourceSums.of(evidence, evidence.residual, key, 1).variance()
    assert found[0, 0] == pytest.approx(expected[0], rel=1e-9)


def test_a_covariance_in_a_subgroup_is_that_of_means_over_its_mass():
    rng = np.random.default_rng(0)
    source = np.repeat(["positive", "unlabelled"], [100, 300])
    inside = (rng.random(400) < 0.4)[:, None]
    part = PU(0.4).evidence(rng.random(400), source=source, groups=inside).group(0)
    found = covariance_of_sums(part, part.residual[:, None])
    assert np.sqrt(found[0, 0]) == pytest.approx(
        metrics.scores.linear_estimate(part, "x", part.residual).standard_error, rel=1e-9
    )


def test_spiegelhalter_is_brier_against_its_expectation():
    score, label, _ = sample()
    expected = (score * (1 - score)).mean()
    brier = ((score - label) ** 2).mean()
    spread = np.sqrt(((1 - 2 * score) ** 2 * score * (1 - score)).sum()) / score.size
    found = metrics.spiegelhalter(Clean().evidence(score, label))
    assert found.value == pytest.approx((brier - expected) / spread)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.value)))


def test_hosmer_lemeshow_is_pearsons_chi_square_over_both_outcomes():
    rng = np.random.default_rng(0)
    score = rng.random(500)
    label = (rng.random(500) < score).astype(float)
    group = np.argsort(np.argsort(score)) * 10 // 500
    expected = 0.0
    for g in range(10):
        for seen, chance in ((label, score), (1 - label, 1 - score)):
            at = group == g
            expected += (seen[at].sum() - chance[at].sum()) ** 2 / chance[at].sum()
    evidence = Clean().evidence(score, label)
    found = metrics.hosmer_lemeshow(evidence)
    assert (found.value, found.degrees) == (pytest.approx(expected), 10)
    assert found.p_value == pytest.approx(stats.chi2.sf(expected, 10))
    fitted = metrics.hosmer_lemeshow(evidence, fitted_here=True)
    assert (fitted.degrees, fitted.p_value) == (8, pytest.approx(stats.chi2.sf(expected, 8)))


def test_no_flips_are_clean_labels():
    score, label, _ = sample()
    for test in TESTS:
        one, other = (test(model.evidence(score, label)) for model in (Clean(), Noisy(0.0, 0.0)))
        assert one.value == pytest.approx(other.value)
        assert one.p_value == pytest.approx(other.p_value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_a_calibrated_score_is_rejected_in_one_of_twenty_samples(test, kind):
    p_values = [test(calibrated(kind, seed)).p_value for seed in range(300)]
    assert np.mean(np.array(p_values) < 0.05) < 0.09


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "units"])
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_a_score_that_is_too_extreme_is_rejected(test, kind):
    found = []
    for seed in range(60):
        evidence = calibrated(kind, seed, 2000)
        odds = (evidence.score / (1 - evidence.score)) ** 2
        found.append(test(evidence.with_score(odds / (1 + odds))).p_value < 0.05)
    assert np.mean(found) > 0.8


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_impossible_outcomes_are_told(test):
    found = test(Clean().evidence([0.0, 1.0] * 10, [1, 0] * 10))
    if test is metrics.recalibration_test:  # clipped scores allow anything, with a small probability
        assert found.p_value < 1e-6
        return
    assert found.p_value == 0
    assert "impossible" in found.notes[-1]


@pytest.mark.parametrize("test", TESTS[:2], ids=lambda test: test.__name__)
def test_nothing_to_test_is_absent_with_a_reason(test):
    found = test(Clean().evidence([0.0, 1.0], [0, 1]))
    assert np.isnan(found.value)
    assert np.isnan(found.p_value)
    assert found.notes[-1].startswith("n/a")


# --- slope and intercept


def test_the_slope_is_the_logistic_regression_on_log_odds():
    score, label, weight = sample()
    score = np.clip(score, 0.01, 0.99)
    x = np.log(score / (1 - score))[:, None]
    fitted = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(x, label, sample_weight=weight)
    found = metrics.calibration_slope(Clean().evidence(score, label, weight=weight))
    assert found.value == pytest.approx(fitted.coef_[0, 0], abs=1e-6)
    assert found.joint_intercept == pytest.approx(fitted.intercept_[0], abs=1e-6)


def test_the_intercept_makes_means_agree():
    score, label, weight = sample()
    found = metrics.calibration_intercept(Clean().evidence(score, label, weight=weight)).value
    score = np.clip(score, 1e-6, 1 - 1e-6)
    moved = 1 / (1 + (1 - score) / score * np.exp(-found))
    assert weight @ moved == pytest.approx(weight @ label, rel=1e-10)


def shifted(kind, seed, n=500):
    """Labels of 0.5 + 0.8 logit f."""
    rng = np.random.default_rng(seed)
    score = 1 / (1 + np.exp(-rng.normal(size=n)))
    rate = 1 / (1 + np.exp(-0.5) * ((1 - score) / score) ** 0.8)
    if kind == "units":
        score, rate = (np.repeat(one[: n // 4], 4) for one in (score, rate))
        label = np.repeat(rng.random(n // 4), 4) < rate
        return Clean().evidence(score, label, unit=np.repeat(np.arange(n // 4), 4))
    y = rng.random(n) < rate
    if kind == "Noisy":
        return Noisy(0.2, 0.1).evidence(score, rng.random(n) < np.where(y, 0.9, 0.2))
    return Clean().evidence(score, y, weight=rng.gamma(3, size=n) if kind == "weights" else None)


@pytest.mark.parametrize("kind", ["Clean", "weights", "Noisy", "units"])
def test_intervals_of_slope_and_intercepts_cover(kind):
    x = np.linspace(-8, 8, 4001)
    density = stats.norm.pdf(x)
    rate = 1 / (1 + np.exp(-0.5 - 0.8 * x))
    score = 1 / (1 + np.exp(-x))
    exact = Clean().evidence(
        np.r_[score, score], np.repeat([1, 0], x.size), weight=np.r_[rate, 1 - rate] * np.r_[density, density]
    )
    shift = metrics.calibration_intercept(exact).value
    slopes = [metrics.calibration_slope(shifted(kind, seed)) for seed in range(250)]
    shifts = [metrics.calibration_intercept(shifted(kind, seed)) for seed in range(250)]
    for truth, intervals in (
        (0.8, [one.interval for one in slopes]),
        (0.5, [one.joint_interval for one in slopes]),
        (shift, [one.interval for one in shifts]),
    ):
        assert 0.9 < np.mean([low <= truth <= high for low, high in intervals]) < 0.985


@pytest.mark.parametrize(
    "scores, labels, reason",
    [
        ([0.5] * 4, [0, 1, 1, 1], "constant"),
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], "apart"),
        ([0.1, 0.2], [0, 0], "one has no mass"),
    ],
)
def test_a_slope_that_does_not_exist_has_a_reason(scores, labels, reason):
    found = metrics.calibration_slope(Clean().evidence(scores, labels))
    assert np.isnan(found.value)
    assert reason in found.notes[-1]


def test_a_shift_that_does_not_exist_has_a_reason():
    found = metrics.calibration_intercept(Clean().evidence([0.1, 0.2], [0, 0]))
    assert np.isnan(found.value)
    assert "no finite shift" in found.notes[-1]


def test_a_constant_score_leaves_one_degree_of_freedom():
    found = metrics.recalibration_test(Clean().evidence([0.5] * 100, [0, 1, 1, 1] * 25))
    assert found.degrees == 1
    assert found.value == pytest.approx(25)
