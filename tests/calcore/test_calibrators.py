"""Calibrators: under weights, on samples that break fits, and by scikit-learn's conventions."""

from __future__ import annotations

import inspect
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calcore import metrics
from calcore.calibrators import (
    REGISTRY,
    Beta,
    GateAudit,
    GatedLWCal,
    HistogramBinning,
    Identity,
    LWCal,
    Platt,
    Temperature,
    TrimmedBeta,
    TrimmedIsotonic,
)
from calcore.errors import DoesNotExist, InputError
from calcore.maps import CalibrationMap
from calcore.observation import PU, Clean, Noisy
from tests.calcore.samples import sample

NAMES = [name for name, method in REGISTRY.items() if not method.needs_groups]
#: Methods that weigh the labels against a prior: how many rows the weights are worth matters to them.
WITH_PRIORS = {
    "BayesianForwardPlatt",
    "ForwardPlatt",
    "InvertedIsotonic",
    "Blend",
    "VennAbers",
    "BBQ",
    "Spline",
}
GRID = np.linspace(0, 1, 101)


# --- scikit-learn's conventions


@pytest.mark.parametrize("name", NAMES)
def test_conventions_of_scikit_learn(name):
    method = REGISTRY[name]()
    parameters = method.get_params()
    assert set(parameters) == set(inspect.signature(type(method).__init__).parameters) - {"self"}
    for key, value in parameters.items():
        assert getattr(method, key) is value
        assert method.set_params(**{key: value}) is method
    with pytest.raises(ValueError, match="Invalid parameter"):
        method.set_params(nothing=1)
    with pytest.raises(NotFittedError):
        method.predict([0.3])
    score, label, _ = sample()
    before = method.get_params()
    assert method.fit(score, label) is method
    assert method.get_params() == before
    copy = clone(method)
    assert copy.get_params() == before
    assert not hasattr(copy, "map_")


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_scores_is_taken(name):
    score, label, weight = sample()
    method = REGISTRY[name]()
    one = method.fit(score, label, sample_weight=weight).predict(score)
    other = method.fit(score[:, None], label[:, None], sample_weight=weight[:, None]).predict(score[:, None])
    np.testing.assert_array_equal(one, other)
    frame = pd.DataFrame({"score": score})
    np.testing.assert_array_equal(method.fit(frame, label).predict(frame), method.predict(score))


@pytest.mark.parametrize("name", NAMES)
def test_fitting_again_leaves_nothing_of_the_first(name):
    score, label, _ = sample()
    other_score, other_label, _ = sample(seed=1)
    used = REGISTRY[name]().fit(score, np.ones_like(label)).fit(other_score, other_label)
    fresh = REGISTRY[name]().fit(other_score, other_label)
    np.testing.assert_array_equal(used.predict(GRID), fresh.predict(GRID))
    assert used.warnings_ == fresh.warnings_
    assert used.map_.checksum == fresh.map_.checksum


@pytest.mark.parametrize("name", NAMES)
def test_the_map_gives_the_same_numbers_after_saving(name):
    score, label, _ = sample()
    fitted = REGISTRY[name]().fit(score, label)
    again = CalibrationMap.from_json(fitted.map_.to_json())
    np.testing.assert_array_equal(again.predict(GRID), fitted.predict(GRID))
    assert again == fitted.map_
    assert again.parameters == fitted.described()


@pytest.mark.parametrize("name", NAMES)
def test_fitting_does_not_write_into_what_it_is_given(name):
    score, label, weight = sample()
    copies = score.copy(), label.copy(), weight.copy()
    REGISTRY[name]().fit(score, label, sample_weight=weight)
    for given, copy in zip((score, label, weight), copies, strict=True):
        np.testing.assert_array_equal(given, copy)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "scores, labels", [([0.2, np.nan], [0, 1]), ([0.2, 0.3], [0, 2]), ([], []), ([0.2], None)]
)
def test_unusable_input_is_refused(name, scores, labels):
    with pytest.raises(InputError):
        REGISTRY[name]().fit(scores, labels)


@pytest.mark.parametrize(
    "method",
    [Platt(C=0), Platt(C=-1), Platt(C=float("nan")), Beta(C=0), TrimmedBeta(keep=0), TrimmedIsotonic(keep=1.5),
     LWCal(floor=-1), LWCal(epsilon=0), LWCal(clip=0.7), GatedLWCal(width=0), GatedLWCal(center=float("nan")),
     HistogramBinning(bins=0), HistogramBinning(strategy="x"), Platt(clip=0), Platt(clip=0.7), Temperature(clip=-1),
     Beta(clip=0.6)],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused_when_fitting(method):
    score, label, _ = sample()
    with pytest.raises(InputError):
        method.fit(score, label)


# --- weights


MODELS = [Clean(), Noisy(0.2, 0.1), Noisy(), PU(0.4)]


@pytest.mark.parametrize(
    "name, model",
    [
        (name, model)
        for name in NAMES
        for model in MODELS
        if model.has_row_labels or not REGISTRY[name].needs_row_labels
    ],
    ids=str,
)
def test_weight_two_is_the_row_twice(name, model):
    score, label, weight = sample()
    twice = np.repeat(np.arange(score.size), weight.astype(int))
    columns = {"labels": label}
    if isinstance(model, PU):
        columns = {"source": np.where(label == 1, "positive", "unlabelled")}
    one = model.evidence(score, weight=weight, **columns)
    other = model.evidence(score[twice], **{key: values[twice] for key, values in columns.items()})
    method = REGISTRY[name]()
    first, second = clone(method).fit(one), clone(method).fit(other)
    np.testing.assert_allclose(first.predict(GRID), second.predict(GRID), atol=1e-8)
    if isinstance(getattr(first, "audit_", None), GateAudit):
        for key in ("m", "s", "d_hat", "rho"):
            assert first.audit_[key] == pytest.approx(second.audit_[key], abs=1e-12)


@pytest.mark.parametrize("C", [None, 0.3])
@pytest.mark.parametrize("method", [Platt, Beta, TrimmedBeta])
def test_penalties_count_weights(method, C):
    score, label, weight = sample()
    twice = np.repeat(np.arange(score.size), weight.astype(int))
    one = method(C=C).fit(score, label, sample_weight=weight)
    other = method(C=C).fit(score[twice], label[twice])
    np.testing.assert_allclose(one.predict(GRID), other.predict(GRID), atol=1e-8)


def test_smoothed_targets_count_weights():
    score, label, weight = sample(60)
    twice = np.repeat(np.arange(score.size), weight.astype(int))
    one = Platt(smoothing=True).fit(score, label, sample_weight=weight)
    other = Platt(smoothing=True).fit(score[twice], label[twice])
    np.testing.assert_allclose(one.predict(GRID), other.predict(GRID), atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_weight_zero_change_nothing(name):
    score, label, weight = sample()
    weight[:100] = 0
    one = REGISTRY[name]().fit(score, label, sample_weight=weight)
    other = REGISTRY[name]().fit(score[100:], label[100:], sample_weight=weight[100:])
    np.testing.assert_array_equal(one.predict(GRID), other.predict(GRID))


@pytest.mark.parametrize("name", NAMES)
def test_the_scale_of_weights_does_not_matter_or_is_warned_of(name):
    score, label, weight = sample()
    if name in WITH_PRIORS:
        fitted = REGISTRY[name]().fit(score, label, sample_weight=weight / weight.sum())
        assert any("scale them to 1 on average" in warning for warning in fitted.warnings_)
        return
    one = REGISTRY[name]().fit(score, label, sample_weight=weight / weight.sum())
    other = REGISTRY[name]().fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(one.predict(GRID), other.predict(GRID), atol=1e-8)


# --- samples that break fits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_gives_a_map_and_says_so(name, label):
    fitted = REGISTRY[name]().fit([0.1, 0.2, 0.7], [label] * 3)
    assert np.isfinite(fitted.predict(GRID)).all()
    if name in ("Platt", "Beta", "LWCal", "TrimmedBeta", "TrimmedIsotonic"):
        assert any("one class" in warning for warning in fitted.warnings_)
        np.testing.assert_allclose(fitted.predict(GRID), label, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_row_gives_a_map(name, label):
    assert np.isfinite(REGISTRY[name]().fit([0.3], [label]).predict(GRID)).all()


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if name not in {"Identity", "Temperature", "GatedLWCal", "Sharpen", *WITH_PRIORS}
    ],
)
@pytest.mark.parametrize("labels, expected", [([0, 0, 1, 1], 0.5), ([0, 1, 1, 1], 0.75)])
def test_a_constant_score_takes_the_event_rate(name, labels, expected):
    fitted = REGISTRY[name]().fit([0.5] * 4, labels)
    if name.startswith("Trimmed") or name == "LWCal":
        # equal losses: nothing is trimmed, every weight is the same
        assert fitted.predict([0.5])[0] == pytest.approx(expected)
    else:
        assert fitted.predict([0.5])[0] == pytest.approx(expected, abs=1e-9)


def test_a_constant_score_of_half_has_no_temperature():
    fitted = Temperature().fit([0.5] * 4, [0, 1, 1, 1])
    assert fitted.predict([0.5])[0] == 0.5
    assert fitted.warnings_


@pytest.mark.parametrize("method", [Platt, Beta])
@pytest.mark.parametrize("scores, labels", [([0, 1], [0, 1]), ([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1])])
def test_separable_scores_give_a_finite_fit_and_a_warning(method, scores, labels):
    fitted = method().fit(scores, labels)
    assert np.isfinite(fitted.predict(GRID)).all()
    assert any("separates the classes" in warning for warning in fitted.warnings_)
    assert metrics.auc(Clean().evidence(fitted.predict(scores), labels)).value == 1


def test_separable_logits_of_great_size_keep_their_ranking():
    z = np.array([-1e5, -3e4, 2e4, 1e5])
    score = special.expit(z)
    fitted = Platt().fit(score, [0, 0, 1, 1])
    assert metrics.auc(Clean().evidence(fitted.predict(score), [0, 0, 1, 1])).value == 1


def test_an_upside_down_score_is_warned_about():
    rng = np.random.default_rng(0)
    score = rng.random(200)
    fitted = Platt().fit(score, score < 0.4)
    assert fitted.a_ < 0
    assert any("turns the ranking round" in warning for warning in fitted.warnings_)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_zero_and_one_with_the_opposite_label(name):
    score, label, _ = sample()
    score[:4], label[:4] = [0, 0, 1, 1], [1, 0, 0, 1]
    fitted = REGISTRY[name]().fit(score, label)
    assert np.isfinite(fitted.predict(GRID)).all()
    if isinstance(getattr(fitted, "audit_", None), GateAudit):
        assert fitted.audit_.weights[[0, 2]] == pytest.approx(0.05)
        assert np.isfinite(fitted.audit_.losses).all()


def test_equal_losses_everywhere_weigh_a_half_and_are_told():
    fitted = LWCal().fit([0.5] * 6, [0, 1, 0, 1, 1, 1])
    np.testing.assert_array_equal(fitted.audit_.weights, 0.5)
    assert fitted.audit_.equal_losses
    assert any("equal" in warning for warning in fitted.warnings_)


# --- LWCal


def test_gated_is_a_blend_by_its_gate():
    score, label, _ = sample(600)
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(600) < 0.15, 1 - label, label)
    gated, plain = GatedLWCal().fit(score, noisy), LWCal().fit(score, noisy)
    rho = gated.audit_.rho
    assert 0 < rho < 1
    expected = (1 - rho) * plain.predict(GRID) + rho * GRID
    np.testing.assert_allclose(gated.predict(GRID), expected, atol=1e-12)
    assert gated.audit_.score == "Gated-LWCal"


@pytest.mark.parametrize("share, rho, action", [(0.0, 0.0, "LWCal"), (1.0, 1.0, "Raw or Gated-LWCal")])
def test_the_ends_of_the_gate(share, rho, action):
    score = np.linspace(0.01, 0.99, 200)
    label = (score >= 0.5) != (np.arange(200) < share * 200)
    audit = GatedLWCal().fit(score, label).audit_
    assert (audit.d_hat, audit.rho, audit.score) == (share, rho, action)


def test_a_score_of_one_half_counts_as_a_positive_decision():
    assert GatedLWCal().fit([0.5, 0.1], [0, 0]).audit_.d_hat == 0.5


# --- weak labels


def unlabelled(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    score = np.concatenate([np.sqrt(rng.random(n // 2)), rng.random(n)])  # calibrated, prior .5
    return PU(0.5).evidence(score, source=np.repeat(["positive", "unlabelled"], [n // 2, n]))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Sharpen"])
def test_under_unlabelled_rows_maps_stay_near_a_score_that_is_right_or_do_not_exist(name):
    if REGISTRY[name].needs_row_labels:
        with pytest.raises(DoesNotExist, match="its rows carry no recorded label"):
            REGISTRY[name]().fit(unlabelled())
        return
    middle = GRID[5:-5]
    distance = np.abs(REGISTRY[name]().fit(unlabelled()).predict(middle) - middle)
    assert distance.mean() < 0.035


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if name in WITH_PRIORS - {"Blend"} or (not REGISTRY[name].needs_row_labels and name != "Sharpen")
    ],
)
def test_known_flip_rates_are_undone(name):
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    label = rng.random(20_000) < score
    recorded = rng.random(20_000) < np.where(label, 0.85, 0.25)
    middle = GRID[5:-5]
    distance = np.abs(
        REGISTRY[name]().fit(Noisy(0.25, 0.15).evidence(score, recorded)).predict(middle) - middle
    )
    assert distance.mean() < 0.03


def test_identity_changes_nothing():
    np.testing.assert_array_equal(Identity().fit(*sample()[:2]).predict(GRID), GRID)


def test_histogram_takes_the_event_rate_of_each_bin():
    fitted = HistogramBinning(bins=2).fit([0.1, 0.2, 0.7], [0, 1, 1])
    np.testing.assert_allclose(fitted.predict([0.0, 0.49, 0.5, 1.0]), [0.5, 0.5, 1, 1])
    empty = HistogramBinning(bins=4).fit([0.1, 0.9], [0, 1])
    assert empty.predict([0.3])[0] == 0.375
    assert any("hold no mass" in warning for warning in empty.warnings_)


def test_mcgrad_is_offered_where_its_package_is_installed():
    assert ("MCGrad" in REGISTRY) == (find_spec("mcgrad") is not None)
