"""Net benefit, decision curves and costs: from the confusion matrix, and intervals by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import PU, Clean
from tests.calcore.samples import sample
from tests.calcore.test_cumulative import KINDS, calibrated


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.83])
def test_values_are_those_of_the_confusion_matrix(threshold):
    score, label, weight = sample()
    evidence = Clean().evidence(score, label, weight=weight)
    table = confusion_matrix(label, score >= threshold, sample_weight=weight) / weight.sum()
    (_, fp), (fn, tp) = table
    expected = tp - fp * threshold / (1 - threshold)
    assert metrics.net_benefit(evidence, threshold).value == pytest.approx(expected, abs=1e-12)
    cost = metrics.expected_cost(evidence, 2.0, 7.0, threshold)
    assert cost.value == pytest.approx(2 * fp + 7 * fn, abs=1e-12)


def test_the_best_threshold_of_costs_is_their_odds():
    evidence = calibrated("Clean", 0, 20_000)
    best = metrics.expected_cost(evidence, 1.0, 4.0)
    assert "score >= 0.2" in best.notes[-1]
    for other in (0.05, 0.5, 0.8):
        assert metrics.expected_cost(evidence, 1.0, 4.0, other).value > best.value


@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_is_net_benefit_threshold_by_threshold(kind):
    evidence = calibrated(kind, 0)
    thresholds = [0.1, 0.25, 0.5, 0.9]
    curve = metrics.decision_curve(evidence, thresholds)
    for k, threshold in enumerate(thresholds):
        one = metrics.net_benefit(evidence, threshold)
        everyone = metrics.net_benefit(evidence.with_score(np.ones(len(evidence))), threshold)
        assert curve.net_benefit[k] == pytest.approx(one.value, abs=1e-12)
        assert (curve.lower[k], curve.upper[k]) == pytest.approx(one.interval, abs=1e-9)
        assert (curve.treat_all_lower[k], curve.treat_all_upper[k]) == pytest.approx(
            everyone.interval, abs=1e-7
        )
        assert curve.advantage[k] == pytest.approx(one.value - max(everyone.value, 0), abs=1e-12)


def test_the_curve_in_a_subgroup_has_the_errors_of_the_subgroup():
    rng = np.random.default_rng(0)
    source = np.repeat(["positive", "unlabelled"], [100, 300])
    part = PU(0.4).evidence(rng.random(400), source=source, groups=(rng.random(400) < 0.4)[:, None]).group(0)
    curve = metrics.decision_curve(part, [0.3])
    assert (curve.lower[0], curve.upper[0]) == pytest.approx(
        metrics.net_benefit(part, 0.3).interval, abs=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover(kind):
    exact = calibrated("Clean", 1, 400_000)
    curves = [metrics.decision_curve(calibrated(kind, seed), [0.3]) for seed in range(250)]
    mean = metrics.decision_curve(exact, [0.3])
    for value, low, high in (
        ("net_benefit", "lower", "upper"),
        ("treat_all", "treat_all_lower", "treat_all_upper"),
        ("advantage", "advantage_lower", "advantage_upper"),
    ):
        # acting on everyone: a third of the rows are positive; PU knows it exactly
        truth = 1 / 3 - 2 / 3 * 0.3 / 0.7 if value == "treat_all" else getattr(mean, value)[0]
        covered = np.mean(
            [getattr(one, low)[0] - 1e-7 <= truth <= getattr(one, high)[0] + 1e-7 for one in curves]
        )
        assert covered > 0.9


@pytest.mark.parametrize("thresholds", [[], [0.0, 0.5], [1.0], [float("nan")], ["a"]])
def test_thresholds_out_of_range_are_a_sentence(thresholds):
    with pytest.raises(InputError, match="thresholds"):
        metrics.decision_curve(Clean().evidence([0.5], [1]), thresholds)


@pytest.mark.parametrize("costs", [(0, 0), (-1, 1), (float("nan"), 1), (float("inf"), 1)])
def test_impossible_costs_are_a_sentence(costs):
    with pytest.raises(InputError, match="costs must be"):
        metrics.expected_cost(Clean().evidence([0.5], [1]), *costs)


def test_few_rows_have_a_curve_without_intervals():
    curve = metrics.decision_curve(Clean().evidence([0.2, 0.8], [0, 1]), [0.5])
    assert curve.net_benefit[0] == 0.5
    assert np.isnan(curve.lower[0])
