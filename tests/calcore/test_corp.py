"""CORP curves and the decomposition of proper scores: by scikit-learn's isotonic fit, by hand, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import PU, Clean
from tests.calcore.samples import sample
from tests.calcore.test_cumulative import calibrated


def test_the_curve_is_the_isotonic_fit():
    score, label, weight = sample()
    found = metrics.corp(Clean().evidence(score, label, weight=weight))
    fit = IsotonicRegression().fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(found.score, np.unique(score))
    np.testing.assert_allclose(found.event_rate, fit.predict(np.unique(score)), atol=1e-12)
    assert found.mass.sum() == pytest.approx(1)
    blocks = found.blocks()
    assert blocks["mass"].sum() == pytest.approx(1)
    assert (np.diff(blocks["event_rate"]) > 0).all()
    assert (blocks["low"].to_numpy()[1:] > blocks["high"].to_numpy()[:-1]).all()


def test_a_curve_of_many_scores_is_given_at_some_of_them():
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    found = metrics.corp(Clean().evidence(score, rng.random(5000) < score))
    assert len(found) == 400
    assert (found.score[0], found.score[-1]) == (score.min(), score.max())
    assert found.mass.sum() == pytest.approx(1)
    assert set(found.score) <= set(score)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "units", "weights"])
def test_bands_hold_a_calibrated_score(kind):
    """Pointwise, at the inner scores: the consistency band holds the curve, the confidence band the diagonal."""
    inside, covered = [], []
    for seed in range(60):
        found = metrics.corp(calibrated(kind, seed, 800), level=0.9)
        inner = (found.score > 0.15) & (found.score < 0.6)
        inside.append(1 - found.outside[inner].mean())
        covered.append(((found.lower <= found.score) & (found.score <= found.upper))[inner].mean())
        assert (found.lower <= found.event_rate).all()
        assert (found.event_rate <= found.upper).all()
    assert np.mean(inside) > 0.85
    assert np.mean(covered) > 0.78


def test_a_shifted_score_leaves_its_consistency_band():
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    found = metrics.corp(Clean().evidence(score, rng.random(3000) < score**2))
    middle = (found.score > 0.3) & (found.score < 0.7)
    assert found.outside[middle].all()


def test_levels_give_different_bands():
    score, label, _ = sample()
    narrow, wide = (metrics.corp(Clean().evidence(score, label), level=level) for level in (0.8, 0.99))
    assert (wide.upper - wide.lower).mean() > 1.3 * (narrow.upper - narrow.lower).mean()


@pytest.mark.parametrize("decimals", [1, 6])
def test_the_parts_are_those_of_scikit_learns_isotonic_fit(decimals):
    score, label, weight = sample(decimals=decimals)
    score = np.clip(score, 0.05, 0.95)
    fitted = IsotonicRegression().fit(score, label, sample_weight=weight).predict(score)
    base = np.full(score.size, weight @ label / weight.sum())
    evidence = Clean().evidence(score, label, weight=weight)
    for name, loss in (("brier", brier_score_loss), ("log loss", sklearn_log_loss)):
        found = metrics.score_decomposition(evidence, name)
        of_score, of_fit, of_base = (loss(label, one, sample_weight=weight) for one in (score, fitted, base))
        assert found.miscalibration == pytest.approx(of_score - of_fit, abs=1e-9)
        assert found.discrimination == pytest.approx(of_base - of_fit, abs=1e-9)
        assert found.uncertainty == pytest.approx(of_base, abs=1e-9)
        assert found.score == pytest.approx(found.value - found.discrimination + found.uncertainty, abs=1e-12)


def test_the_parts_of_a_constant_score_by_hand():
    found = metrics.score_decomposition(Clean().evidence([0.5] * 4, [0, 1, 1, 1]))
    assert found.score == pytest.approx(0.25)
    assert found.miscalibration == pytest.approx(0.0625)
    assert found.discrimination == pytest.approx(0)
    assert found.uncertainty == pytest.approx(0.1875)


def test_a_perfect_score_is_discrimination_alone():
    for name, uncertainty in (("brier", 0.25), ("log loss", np.log(2))):
        found = metrics.score_decomposition(Clean().evidence([0.0, 1.0] * 5, [0, 1] * 5), name)
        assert found.miscalibration == pytest.approx(0, abs=2e-6)
        assert found.discrimination == pytest.approx(uncertainty)
        assert found.uncertainty == pytest.approx(uncertainty)


@pytest.mark.parametrize("name", ["brier", "log loss"])
@pytest.mark.parametrize("kind", ["Clean", "PU", "units"])
def test_miscalibration_of_a_calibrated_score_is_chance(kind, name):
    found = [metrics.score_decomposition(calibrated(kind, seed), name) for seed in range(60)]
    assert np.mean([one.beyond_chance for one in found]) < 0.15
    assert np.mean([one.interval[0] == 0 for one in found]) > 0.9
    if kind == "Clean":
        assert np.mean([one.value for one in found]) == pytest.approx(found[0].noise_floor, rel=0.25)


@pytest.mark.slow
def test_intervals_of_the_parts_cover():
    at = (np.arange(40_000) + 0.5) / 40_000
    rate = at**2
    exact = Clean().evidence(np.r_[at, at], np.repeat([1, 0], at.size), weight=np.r_[rate, 1 - rate])
    truth = metrics.score_decomposition(exact)
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        score = rng.random(1000)
        found.append(metrics.score_decomposition(Clean().evidence(score, rng.random(1000) < score**2)))

    def covered(value, intervals):
        return np.mean([low <= value <= high for low, high in intervals])

    assert covered(truth.value, [one.interval for one in found]) > 0.92
    assert covered(truth.uncertainty, [one.uncertainty_interval for one in found]) > 0.91
    # the fit takes some noise for discrimination
    assert covered(truth.discrimination, [one.discrimination_interval for one in found]) > 0.85


def test_an_unknown_score_is_a_sentence():
    with pytest.raises(InputError, match='"brier" or "log loss"'):
        metrics.score_decomposition(Clean().evidence([0.5], [1]), "sphere")


def test_a_file_without_positives_has_parts_too():
    for name in ("brier", "log loss"):
        found = metrics.score_decomposition(Clean().evidence([0.1, 0.2] * 4, [0] * 8), name)
        assert (found.discrimination, found.uncertainty) == (0, 0)
        assert found.value == pytest.approx(found.score)


def test_corrected_parts_add_up():
    source = np.repeat(["positive", "unlabelled"], [60, 200])
    evidence = PU(0.4).evidence(np.random.default_rng(0).random(260), source=source)
    for name in ("brier", "log loss"):
        found = metrics.score_decomposition(evidence, name)
        assert found.score == pytest.approx(found.value - found.discrimination + found.uncertainty, abs=1e-12)
