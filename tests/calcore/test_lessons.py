"""The small computations of the lessons against slow, obvious references."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from calcore import metrics
from calcore.calibrators import Isotonic, Platt, Temperature
from calcore.calibrators.isotonic import fit_isotonic
from calcore.errors import InputError
from calcore.lessons import (
    calibration_set_growth,
    certainty_gap,
    contributions,
    ece_arithmetic,
    family_tendencies,
    pava_steps,
    platt_by_hand,
    recalibration_slope,
    temperature_curve,
    ten_points,
)
from calcore.observation import PU, SU, Clean, Noisy


def drawn(n=600, seed=0, power=1.5, digits=3):
    rng = np.random.default_rng(seed)
    score = rng.random(n).round(digits)
    return score, (rng.random(n) < score**power).astype(float)


def evidences():
    score, label = drawn()
    rng = np.random.default_rng(1)
    source = np.where((label == 1) & (rng.random(label.size) < 0.5), "positive", "unlabelled")
    return {
        "clean": Clean().evidence(score, label),
        "weighted": Clean().evidence(score, label, weight=rng.random(label.size)),
        "noisy": Noisy(rho0=0.1, rho1=0.2).evidence(score, label),
        "pu": PU(prior=0.4).evidence(score, source=source),
    }


# --- arithmetic


@pytest.mark.parametrize("bins", [1, 7, 10, 40])
@pytest.mark.parametrize("kind", ["clean", "weighted", "noisy", "pu"])
def test_the_terms_sum_to_the_ece_of_every_evidence(kind, bins):
    evidence = evidences()[kind]
    found = ece_arithmetic(evidence, bins)
    assert found.total == pytest.approx(metrics.ece(evidence, bins).value, abs=1e-14)
    usable = np.isfinite(found.gap)
    assert (found.weight * np.abs(found.gap))[usable] == pytest.approx(found.contribution[usable], abs=1e-14)
    assert (found.event_rate - found.mean_score)[usable] == pytest.approx(found.gap[usable], abs=1e-12)
    assert found.rows.sum() == evidence.n


def test_the_terms_are_those_of_a_loop_over_the_rows():
    score, label = drawn(200)
    found = ece_arithmetic(Clean().evidence(score, label), 10)
    terms = []
    for j in range(10):
        inside = [i for i in range(200) if j / 10 <= score[i] < (j + 1) / 10 or (j == 9 and score[i] == 1)]
        if inside:
            gap = np.mean([label[i] for i in inside]) - np.mean([score[i] for i in inside])
            terms.append(len(inside) / 200 * abs(gap))
    assert found.contribution == pytest.approx(terms, abs=1e-12)
    assert found.largest == int(np.argmax(terms))


def test_no_bin_is_the_largest_where_no_gap_is_there():
    assert ece_arithmetic(Clean().evidence([1.0, 1.0], [1, 1]), 10).largest is None


# --- temperatures


def test_every_point_of_the_curve_is_the_metric_of_the_rescaled_score():
    score, label = drawn(300)
    score = np.clip(score, 0.001, 0.999)
    curve = temperature_curve(Clean().evidence(score, label), 10, (0.5, 1.0, 3.0))
    for point in curve.points:
        moved = special.expit(special.logit(score) / point.temperature)
        assert point.auc == pytest.approx(roc_auc_score(label, moved), abs=1e-12)
        assert point.brier == pytest.approx(brier_score_loss(label, moved), abs=1e-12)
        assert point.log_loss == pytest.approx(log_loss(label, moved), abs=1e-9)
        assert point.ece == pytest.approx(metrics.ece(Clean().evidence(moved, label), 10).value, abs=1e-12)
    assert curve.auc_spread < 1e-12
    assert curve.unchanged.temperature == 1.0


def test_the_fitted_temperature_has_the_least_log_loss():
    score, label = drawn(400, power=2.0)
    evidence = Clean().evidence(score, label)
    curve = temperature_curve(evidence, 10)
    assert curve.fitted.temperature == Temperature().fit(evidence).temperature_
    assert curve.fitted.log_loss <= min(point.log_loss for point in curve.points) + 1e-12


def test_scores_that_round_to_one_show_in_the_spread_of_the_auc():
    score = np.array([0.999999, 0.9999999, 0.5, 0.4])
    assert temperature_curve(Clean().evidence(score, [0, 1, 0, 0])).auc_spread > 0


def test_one_class_has_no_auc_and_no_error():
    curve = temperature_curve(Clean().evidence([0.2, 0.4, 0.9], [1, 1, 1]))
    assert np.isnan(curve.unchanged.auc)
    assert np.isnan(curve.auc_spread)
    assert np.isfinite(curve.unchanged.ece)


# --- Platt by hand


def test_the_steps_end_where_the_map_does():
    evidence = Clean().evidence(*drawn(500))
    found, fit = platt_by_hand(evidence), Platt().fit(evidence)
    assert (found.slope, found.intercept) == (fit.a_, fit.b_)
    assert found.steps.score.size == 5
    assert np.isin(found.steps.score, evidence.score).all()
    assert found.steps.calibrated == pytest.approx(fit.predict(found.steps.score), abs=1e-15)


@pytest.mark.parametrize("label, value", [([1, 1, 1], 1.0), ([0, 0, 0], 0.0)])
def test_one_class_has_no_line(label, value):
    found = platt_by_hand(Clean().evidence([0.1, 0.2, 0.9], label))
    assert found.steps is None
    assert found.constant == value


def test_a_constant_score_has_one_step():
    found = platt_by_hand(Clean().evidence(np.full(50, 0.3), np.arange(50) < 20))
    assert found.steps.score.tolist() == [0.3]
    assert found.steps.calibrated == pytest.approx([0.4])


# --- pooling


@pytest.mark.parametrize("seed", range(30))
def test_pooling_ends_where_isotonic_regression_ends(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    score = rng.random(n).round(int(rng.integers(1, 4)))
    label = (rng.random(n) < rng.random()).astype(float)
    weight = None if seed % 2 else rng.random(n) + 0.1
    found = pava_steps(score, label, weight)
    fit = fit_isotonic(Clean().evidence(score, label, weight=weight))
    assert found.fitted == pytest.approx(fit(found.score), abs=1e-12)
    assert (np.diff(found.fitted) >= -1e-15).all()


def test_every_step_pools_two_neighbours_and_leaves_the_rest():
    found = pava_steps(*drawn(60, digits=6))
    before = found.start
    assert found.steps
    for step in found.steps:
        assert step.left.value > step.right.value
        assert step.left.last + 1 == step.right.first
        assert set(before) - set(step.blocks) == {step.left, step.right}
        assert set(step.blocks) - set(before) == {step.merged}
        assert step.merged.value * step.merged.mass == pytest.approx(
            step.left.value * step.left.mass + step.right.value * step.right.mass
        )
        before = step.blocks
    assert [block.value for block in found.blocks] == sorted(block.value for block in found.blocks)
    assert found.blocks_after(0) == found.start
    assert found.blocks_after(len(found.steps)) == found.blocks


def test_equal_scores_are_one_point_and_rows_without_weight_none():
    found = pava_steps([0.2, 0.2, 0.7, 0.9], [1, 0, 1, 0], [1, 1, 1, 0])
    assert found.score.tolist() == [0.2, 0.7]
    assert found.rate.tolist() == [0.5, 1.0]
    assert found.mass.tolist() == [2, 1]
    assert found.steps == ()


def test_a_missing_label_is_refused():
    with pytest.raises(InputError, match="without a label"):
        pava_steps([0.2, 0.4], [1, np.nan])


def test_ten_points_come_one_from_each_tenth():
    evidence = Clean().evidence(*drawn(1000, digits=6))
    score, label = ten_points(evidence)
    tenths = np.searchsorted(np.sort(evidence.score), score) // 100
    assert tenths.tolist() == list(range(10))
    assert set(label) <= {0.0, 1.0}
    again, _ = ten_points(evidence)
    assert (score == again).all()
    assert not (score == ten_points(evidence, seed=1)[0]).all()


def test_fewer_rows_than_ten_are_all_taken_and_unlabelled_rows_are_none():
    score, label = drawn(5)
    assert ten_points(Clean().evidence(score, label))[0].tolist() == sorted(score)
    assert ten_points(evidences()["pu"]) is None


# --- families


@pytest.fixture(scope="module")
def families():
    return {family.name: family for family in family_tendencies()}


def test_families_err_in_their_ways(families):
    told = {name: family.direction for name, family in families.items()}
    assert told == {
        "Logistic regression": "overconfident",
        "Naive Bayes": "overconfident",
        "Random forest": "underconfident",
        "Gradient boosting": "underconfident",
        "SVM, raw margin": "underconfident",
        "SVM, Platt-scaled": "",
    }
    for family in families.values():
        assert family.reliability.n == 1797
        if family.direction:
            assert (family.certainty_gap > 0) == (family.direction == "overconfident")


def test_the_slope_and_its_interval_hold_the_truth():
    # scores are twice as extreme as they should be in log-odds: the slope is 1/2
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(100):
        z = rng.normal(size=300)
        label = (rng.random(300) < special.expit(z)).astype(float)
        _, (low, high) = recalibration_slope(Clean().evidence(special.expit(2 * z), label))
        inside += low < 0.5 < high
    # 95 expected, standard deviation 2.2
    assert 88 <= inside <= 100


def test_the_certainty_gap_is_stated_minus_earned():
    score, label = np.array([0.9, 0.8, 0.2, 0.5]), np.array([1, 0, 0, 1])
    assert certainty_gap(Clean().evidence(score, label)) == pytest.approx((0.9 + 0.8 + 0.8 + 0.5) / 4 - 3 / 4)


# --- growth


def test_growth_is_the_mean_of_held_out_errors_of_fits_on_the_first_rows():
    score, label = drawn(200, digits=6)
    evidence = Clean().evidence(score, label)
    found = calibration_set_growth(evidence, 10, repeats=3)
    assert found.sizes == (25, 50, 100)
    assert not found.complete
    assert found.held_out == 66
    # the same again, row by row
    rng, brier, errors = np.random.default_rng(0), [], []
    for _ in range(3):
        when = (rng.permutation(200) + rng.random()) / 200
        order = np.argsort(when)
        test, fit_on = order[:66], order[66 : 66 + 50]
        predicted = Isotonic().fit(score[fit_on], label[fit_on]).predict(score[test])
        brier.append(np.mean((predicted - label[test]) ** 2))
        errors.append(metrics.ece(Clean().evidence(predicted, label[test]), 10).value)
    assert found.line("Isotonic", "Brier").mean[1] == pytest.approx(np.mean(brier), abs=1e-12)
    assert found.line("Isotonic", "ECE").mean[1] == pytest.approx(np.mean(errors), abs=1e-12)


def test_isotonic_overtakes_where_the_error_is_no_sigmoid():
    rng = np.random.default_rng(0)
    score = rng.random(6000)
    label = (rng.random(6000) < np.where(score < 0.5, 0.1, 0.6) + 0.3 * (score > 0.8)).astype(float)
    found = calibration_set_growth(Clean().evidence(score, label), 10, repeats=10)
    assert found.complete
    assert found.overtakes["Brier"] in (25, 50, 100, 200, 300)
    assert found.isotonic_wins["Brier"][-1] == 1
    assert found.held_out == 5000


def test_of_a_large_file_some_rows_are_drawn_and_it_is_said():
    score, label = drawn(20_000, digits=6)
    found = calibration_set_growth(Clean().evidence(score, label), repeats=2)
    assert (found.n, found.total, found.held_out) == (12_000, 20_000, 11_000)


def test_platt_stays_ahead_where_the_error_is_a_sigmoid():
    rng = np.random.default_rng(0)
    z = rng.normal(size=3000)
    label = (rng.random(3000) < special.expit(0.5 * z + 0.3)).astype(float)
    found = calibration_set_growth(Clean().evidence(special.expit(z), label), 10, repeats=10)
    assert found.overtakes["Brier"] is None
    assert (np.diff(found.line("Isotonic", "Brier").mean) < 0).all()


def test_a_constant_score_teaches_both_the_same():
    found = calibration_set_growth(Clean().evidence(np.full(200, 0.3), np.arange(200) % 2), repeats=5)
    assert found.same
    assert found.overtakes == {"Brier": None, "ECE": None}
    assert not found.isotonic_wins["ECE"].any()


def test_one_class_teaches_nothing():
    with pytest.raises(InputError, match="one class"):
        calibration_set_growth(Clean().evidence(drawn(200)[0], np.ones(200)))


def test_too_few_rows_are_said():
    with pytest.raises(InputError, match="too few"):
        calibration_set_growth(Clean().evidence(*drawn(30)))
    with pytest.raises(InputError, match="too few"):
        calibration_set_growth(Clean().evidence([0.5, 0.6], [1, 0]))


def test_units_are_never_on_both_sides():
    score, label = drawn(400)
    one = Clean().evidence(score, label, unit=np.zeros(400, dtype=int))
    with pytest.raises(InputError, match="too few"):
        calibration_set_growth(one)
    pairs = np.where(np.arange(400) < 200, "similar", "unlabelled")
    unit = np.concatenate([np.arange(200) // 2, 1000 + np.arange(200)])
    evidence = SU(prior=0.3).evidence(score, source=pairs, unit=unit)
    assert calibration_set_growth(evidence, repeats=3).sizes == (25, 50, 100, 200)


@pytest.mark.parametrize("kind", ["noisy", "pu"])
def test_growth_of_labels_that_are_not_clean(kind):
    found = calibration_set_growth(evidences()[kind], repeats=5)
    assert all(np.isfinite(line.mean).all() for line in found.lines)
    assert found.basis == evidences()[kind].model.basis


def test_contributions_are_those_of_the_metric():
    for evidence in evidences().values():
        made = metrics.Bins.equal_width(12)
        assert contributions(evidence, made).sum() == pytest.approx(
            metrics.ece(evidence, made).value, abs=1e-14
        )
