"""Proper scores and ranking against scikit-learn and a slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from calcore import metrics
from calcore.observation import PU, Clean, Noisy


def sample(n=300, seed=0, decimals=2):
    rng = np.random.default_rng(seed)
    score = rng.random(n).round(decimals)
    return score, (rng.random(n) < score).astype(float), rng.gamma(2, size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_scikit_learns(weighted):
    score, label, weight = sample()
    weight = weight if weighted else None
    evidence = Clean().evidence(score, label, weight=weight)
    clipped = np.clip(score, 1e-6, 1 - 1e-6)
    expected = {
        "brier": reference.brier_score_loss(label, score, sample_weight=weight),
        "log_loss": reference.log_loss(label, clipped, sample_weight=weight),
        "auc": reference.roc_auc_score(label, score, sample_weight=weight),
        "macro_f1": reference.f1_score(label, score >= 0.5, average="macro", sample_weight=weight),
    }
    for name, value in expected.items():
        assert getattr(metrics, name)(evidence).value == pytest.approx(value, abs=1e-12), name


def test_brier_of_one_row():
    assert metrics.brier(Clean().evidence([0.4], [1])).value == pytest.approx(0.36)


def test_log_loss_prints_its_clip():
    evidence = Clean().evidence([0.0, 0.5, 1.0], [1, 1, 1])
    found = metrics.log_loss(evidence, clip=0.005)
    assert found.value == pytest.approx((-np.log(0.005) - np.log(0.5) - np.log(0.995)) / 3)
    assert found.notes[0] == "scores clipped to [0.005, 1 - 0.005]: 2 rows"


def test_auc_of_one_class_is_absent_with_a_reason():
    found = metrics.auc(Clean().evidence([0.1, 0.2], [0, 0]))
    assert np.isnan(found.value)
    assert found.interval is None
    assert found.notes == ("n/a: one class only",)


def slow_delong(score, label):
    """AUC and its variance pair by pair (DeLong, DeLong and Clarke-Pearson 1988)."""
    ones, zeros = score[label == 1], score[label == 0]
    wins = np.array([[1.0 if a > b else 0.5 if a == b else 0.0 for b in zeros] for a in ones])
    by_one, by_zero = wins.mean(axis=1), wins.mean(axis=0)
    variance = by_one.var(ddof=1) / ones.size + by_zero.var(ddof=1) / zeros.size
    return wins.mean(), variance


@pytest.mark.parametrize("decimals", [1, 6])
def test_auc_error_is_delongs(decimals):
    score, label, _ = sample(400, 1, decimals)
    value, variance = slow_delong(score, label)
    found = metrics.auc(Clean().evidence(score, label))
    assert found.value == pytest.approx(value, abs=1e-12)
    # ddof 1 once over all rows, or once a class: they differ by about 1 / n
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=5 / 400)


def test_separable_scores_have_auc_one():
    score = 1 / (1 + np.exp(-np.array([-1e5, -2e5, 1e5, 3e5]).clip(-700, 700)))
    assert metrics.auc(Clean().evidence(score, [0, 0, 1, 1])).value == 1


def test_linear_errors_are_those_of_a_mean():
    score, label, _ = sample()
    found = metrics.brier(Clean().evidence(score, label))
    terms = (score - label) ** 2
    assert found.standard_error == pytest.approx(terms.std(ddof=1) / np.sqrt(terms.size))


def test_weighted_errors_are_those_of_a_weighted_mean():
    score, label, weight = sample()
    found = metrics.brier(Clean().evidence(score, label, weight=weight))
    terms = (score - label) ** 2
    mean, n = (weight @ terms) / weight.sum(), terms.size
    expected = np.sqrt(weight**2 @ (terms - mean) ** 2) / weight.sum() * np.sqrt(n / (n - 1))
    assert found.standard_error == pytest.approx(expected)


@pytest.mark.parametrize("metric", [metrics.brier, metrics.log_loss, metrics.auc, metrics.macro_f1])
@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "weights", "units"])
def test_intervals_cover(metric, kind):
    def draw(rng, n):
        if kind == "PU":
            score = np.concatenate([np.sqrt(rng.random(n // 2)), rng.random(n)])
            return PU(0.5).evidence(score, source=np.repeat(["positive", "unlabelled"], [n // 2, n]))
        if kind == "units":
            score = np.repeat(rng.random(n // 4), 4)
            return Clean().evidence(
                score, np.repeat(rng.random(n // 4), 4) < score, unit=np.repeat(np.arange(n // 4), 4)
            )
        score = rng.random(n)
        label = rng.random(n) < score
        if kind == "Noisy":
            label = rng.random(n) < np.where(label, 0.9, 0.2)
            return Noisy(0.2, 0.1).evidence(score, label)
        return Clean().evidence(score, label, weight=rng.gamma(3, size=n) if kind == "weights" else None)

    f = (np.arange(200_000) + 0.5) / 200_000
    exact = Clean().evidence(np.r_[f, f], np.repeat([1, 0], f.size), weight=np.r_[f, 1 - f])
    truth = metric(exact).value
    found = [metric(draw(np.random.default_rng(seed), 800)) for seed in range(300)]
    covered = np.mean([one.interval[0] <= truth <= one.interval[1] for one in found])
    assert 0.915 < covered < 0.98


def test_class_errors_of_one_class_have_no_gap():
    found = metrics.class_errors(Clean().evidence([0.1, 0.3], [0, 0]))
    assert found.class_0 == pytest.approx(0.2)
    assert np.isnan(found.class_1)
    assert np.isnan(found.gap)
