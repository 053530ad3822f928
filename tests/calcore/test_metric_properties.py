"""What must hold for every metric on any evidence: order, weights, copies, precision, names, sums."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calcore import metrics
from calcore.errors import DoesNotExist
from calcore.evidence import compress
from calcore.observation import PU, Clean, Noisy

#: Every metric by name, as its numbers: functions of the masses alone.
VALUES = {
    "adaptive_ece": lambda e: metrics.adaptive_ece(e, 5).value,
    "auc": lambda e: metrics.auc(e).value,
    "brier": lambda e: metrics.brier(e).value,
    "calibration_intercept": lambda e: metrics.calibration_intercept(e, 0.01).value,
    "calibration_slope": lambda e: metrics.calibration_slope(e, 0.01).value,
    "classwise_ece": lambda e: metrics.classwise_ece(e, 5).value,
    "corp": lambda e: metrics.corp(e).event_rate,
    "decision_curve": lambda e: metrics.decision_curve(e, [0.25, 0.5]).net_benefit,
    "ecce": lambda e: metrics.ecce(e).value,
    "ecce_range": lambda e: metrics.ecce_range(e).value,
    "ece": lambda e: metrics.ece(e, 5).value,
    "expected_cost": lambda e: metrics.expected_cost(e, 1, 3).value,
    "log_loss": lambda e: metrics.log_loss(e).value,
    "macro_f1": lambda e: metrics.macro_f1(e).value,
    "mce": lambda e: metrics.mce(e, 5).value,
    "net_benefit": lambda e: metrics.net_benefit(e).value,
    "reliability": lambda e: metrics.reliability(e, 5).event_rate,
    "score_decomposition": lambda e: metrics.score_decomposition(e).value,
    "smooth_ece": lambda e: metrics.smooth_ece(e).value,
    "sweep_ece": lambda e: metrics.sweep_ece(e, 20).value,
}
#: Test statistics: how much the data say, so that a row counts as much as its weight stands for.
STATISTICS = {
    "hosmer_lemeshow": lambda e: metrics.hosmer_lemeshow(e, 5).value,
    "recalibration_test": lambda e: metrics.recalibration_test(e, 0.01).value,
    "spiegelhalter": lambda e: metrics.spiegelhalter(e).value,
}
#: Those that need subgroups, those whose numbers are simulated, and those that describe another metric.
OTHER = {"by_group", "cells", "class_errors", "debiased_ece", "max_ece", "multicalibration_error"}
EVERY = VALUES | STATISTICS
MODELS = [Clean(), Noisy(0.2, 0.1), PU(0.4)]
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

# half steps: no score on an edge of five bins
rows = st.lists(
    st.tuples(st.integers(0, 24).map(lambda k: (k + 0.5) / 25), st.booleans(), st.integers(1, 3)),
    min_size=5,
    max_size=30,
)


def made(model, score, label, weight=None, weighting="frequency", groups=None):
    if isinstance(model, PU):
        source = np.where(label == 1, "positive", "unlabelled")
        source[:2] = ["positive", "unlabelled"]
        return model.evidence(score, source=source, weight=weight, weighting=weighting, groups=groups)
    return model.evidence(score, label, weight=weight, weighting=weighting, groups=groups)


def columns(drawn):
    score, label, weight = (np.array(part) for part in zip(*drawn, strict=True))
    return score, label.astype(float), weight.astype(float)


def same(name, one, other, tolerance=1e-9):
    np.testing.assert_allclose(EVERY[name](one), EVERY[name](other), rtol=tolerance, atol=tolerance)


def test_every_public_metric_is_here():
    functions = {name for name in metrics.__all__ if name.islower()}
    assert functions == set(EVERY) | OTHER


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("name", EVERY)
@SETTINGS
@given(drawn=rows, seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(name, model, drawn, seed):
    score, label, weight = columns(drawn)
    evidence = made(model, score, label, weight)
    order = np.random.default_rng(seed).permutation(len(score))
    source = np.array(model.sources)[evidence.source]
    if isinstance(model, PU):
        other = model.evidence(
            score[order], source=source[order], weight=weight[order], weighting="frequency"
        )
    else:
        other = made(model, score[order], label[order], weight[order])
    same(name, evidence, other)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("name", EVERY)
@SETTINGS
@given(drawn=rows)
def test_weight_two_is_the_row_twice(name, model, drawn):
    score, label, weight = columns(drawn)
    one = made(model, score, label, weight)
    twice = np.repeat(np.arange(len(score)), weight.astype(int))
    if isinstance(model, PU):
        source = np.array(model.sources)[one.source]
        other = model.evidence(score[twice], source=source[twice])
    else:
        other = made(model, score[twice], label[twice])
    same(name, one, other)
    if name in VALUES:  # values do not depend on what weights mean
        same(name, one, made(model, score, label, weight, "importance"))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("name", EVERY)
@SETTINGS
@given(drawn=rows)
def test_rows_added_up_are_the_rows(name, model, drawn):
    score, label, weight = columns(drawn)
    evidence = made(model, score, label, weight)
    same(name, evidence, compress(evidence)[0])


# quantiles lie between order statistics, which copies move: only equal-width bins stay the same
@pytest.mark.parametrize("name", sorted(set(VALUES) - {"sweep_ece", "adaptive_ece"}))
@SETTINGS
@given(drawn=rows)
def test_the_whole_file_twice_changes_nothing(name, drawn):
    score, label, _ = columns(drawn)
    same(name, made(Clean(), score, label), made(Clean(), np.tile(score, 2), np.tile(label, 2)))


@pytest.mark.parametrize("score_name", ["brier", "log loss"])
@pytest.mark.parametrize("model", MODELS, ids=str)
@SETTINGS
@given(drawn=rows)
def test_the_parts_of_a_score_add_up(model, score_name, drawn):
    score, label, weight = columns(drawn)
    evidence = made(model, score, label, weight)
    found = metrics.score_decomposition(evidence, score_name)
    whole = metrics.brier(evidence) if score_name == "brier" else metrics.log_loss(evidence)
    parts = found.miscalibration - found.discrimination + found.uncertainty
    assert parts == pytest.approx(found.score, abs=1e-12)
    if not model.corrected:
        assert found.score == pytest.approx(whole.value, abs=1e-12)
        assert found.miscalibration >= -1e-12
        assert found.discrimination >= -1e-12


@pytest.mark.parametrize("name", EVERY)
@SETTINGS
@given(drawn=rows)
def test_single_precision_scores_are_the_numbers_they_are(name, drawn):
    score, label, weight = columns(drawn)
    single = score.astype(np.float32)
    one = made(Clean(), single, label, weight)
    same(name, one, made(Clean(), single.astype(np.float64), label, weight), 0)
    same(name, one, made(Clean(), score, label, weight), 2e-4 if name in STATISTICS else 1e-5)


@pytest.mark.parametrize(
    "name", [*EVERY, *sorted(OTHER - {"by_group", "class_errors", "cells", "debiased_ece"})]
)
def test_names_and_order_of_groups_change_nothing(name):
    rng = np.random.default_rng(0)
    score, label = rng.random(80).round(2), (rng.random(80) < 0.5).astype(float)
    masks = rng.random((80, 3)) < 0.5
    metric = EVERY.get(name) or (lambda e: getattr(metrics, name)(e, 5).value)
    one = metric(made(Clean(), score, label, groups=masks))
    other = metric(made(Clean(), score, label, groups=masks[:, [2, 0, 1]]))
    np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "scores, labels",
    [
        ([0.4], [1]),
        ([0.5] * 4, [0, 0, 1, 1]),
        ([0.1, 0.2], [0, 0]),
        ([0.0, 1.0], [1, 0]),
        ([0.0, 1.0, 1.0, 0.0] * 5, [0, 1, 0, 1] * 5),
        ([1e-300, 1 - 1e-16], [1, 0]),
        ([0.3] * 3 + [0.3 + 1e-16], [0, 1, 1, 0]),
    ],
)
def test_odd_samples_give_a_number_or_a_reason_and_no_warning(name, scores, labels):
    for weight in (None, np.linspace(1e-6, 1e6, len(scores))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(DoesNotExist):
                EVERY[name](Clean().evidence(scores, labels, weight=weight))
