"""Ties count as half a positive and half a negative: the same as the row twice, once with each label, at half weight."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from calcore import metrics
from calcore.audit import audit
from calcore.calibrators import REGISTRY, GatedLWCal
from calcore.comparison import compare
from calcore.contradictions import contradictions
from calcore.errors import DoesNotExist
from calcore.evidence import compress
from calcore.group_contradictions import group_contradictions
from calcore.half_labels import halves_apart
from calcore.harm import harm_check
from calcore.lessons.pava_steps import ten_points
from calcore.metrics.bootstrap import paired_bootstrap
from calcore.metrics.scores import brier_terms
from calcore.observation import Clean, Noisy
from calcore.observation.forward_model import corrected_evidence
from calcore.observation.priors import (
    flip_rates_from_audit,
    flip_rates_from_confident_joint,
    flip_rates_from_forward_platt,
)
from calcore.suspicious import suspicious_labels

GRID = np.linspace(0, 1, 201)
GRID_GROUPS = np.stack([GRID > 0.3, (GRID * 10).astype(int) % 2 == 0], axis=1)


def tied_rows(n=500, seed=0, ties=0.1):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 3)
    label = (rng.random(n) < score**1.5).astype(float)
    label[rng.random(n) < ties] = 0.5
    return score, label, np.stack([rng.random(n) < 0.4, rng.random(n) < 0.5], axis=1)


def twice(label):
    """Positions of the rows with every tie twice, their labels, and their weights: 1, and 1/2 for each part of a tie."""
    order = np.repeat(np.arange(label.size), np.where(label == 0.5, 2, 1))
    tied = label[order] == 0.5
    single = label[order].copy()
    single[tied] = np.tile([1.0, 0.0], tied.sum() // 2)
    return order, single, np.where(tied, 0.5, 1.0)


@pytest.mark.parametrize("model", [Clean(), Noisy(0.1, 0.2)], ids=["clean", "flips known"])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "MCGrad" else n for n in REGISTRY]
)
def test_every_calibrator_learns_what_it_would_from_both_halves(model, name):
    score, label, groups = tied_rows()
    order, single, weight = twice(label)
    ties = model.evidence(score, label, groups=groups)
    halves = model.evidence(score[order], single, weight=weight, groups=groups[order])
    # what chance would give is of rows: two halves that count as two draws are no reference for it
    method = REGISTRY[name](noise=0.0) if name in ("HKRR", "HJZ") else REGISTRY[name]()
    try:
        found = clone(method).fit(ties)
    except DoesNotExist:
        with pytest.raises(DoesNotExist):
            clone(method).fit(halves)
        return
    expected = clone(method).fit(halves)
    np.testing.assert_allclose(
        found.predict(GRID, GRID_GROUPS), expected.predict(GRID, GRID_GROUPS), rtol=0, atol=1e-9
    )
    assert found.map_.n == label.size


@pytest.mark.parametrize("weighting", ["importance", "frequency"])
def test_every_metric_is_that_of_the_doubled_file(weighting):
    """All rows twice, ties once as 1 and once as 0: nothing but whole rows of plain labels."""
    score, label, groups = tied_rows(seed=1)
    doubled = np.tile(np.arange(label.size), 2)
    single = np.concatenate([np.where(label == 0.5, 1.0, label), np.where(label == 0.5, 0.0, label)])
    ties = Clean().evidence(score, label, groups=groups, weighting=weighting)
    double = Clean().evidence(score[doubled], single, groups=groups[doubled], weighting=weighting)
    for metric in (metrics.ece, metrics.brier, metrics.log_loss, metrics.auc, metrics.max_ece):
        assert metric(ties).value == pytest.approx(metric(double).value, abs=1e-12), metric.__name__
    np.testing.assert_allclose(
        metrics.reliability(ties).event_rate, metrics.reliability(double).event_rate, atol=1e-12
    )
    assert (ties.n, double.n) == (label.size, 2 * label.size)


def test_errors_are_those_of_rows_not_of_halves():
    score, label, _ = tied_rows(seed=2)
    row = (label - score) ** 2 + np.where(label == 0.5, 0.25, 0.0)  # the mean of (1 - f)^2 and f^2
    found = metrics.brier(Clean().evidence(score, label))
    assert found.value == pytest.approx(row.mean(), abs=1e-12)
    assert found.standard_error == pytest.approx(row.std(ddof=1) / np.sqrt(row.size), rel=1e-9)


def test_a_calibrated_score_with_ties_is_not_called_wrong_too_often():
    """Half-point outcomes with mean f: tests are on the careful side, not on the other."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        score = rng.uniform(0.3, 0.7, 600)
        tie = rng.random(600) < 0.4
        won = rng.random(600) < (score - 0.2) / 0.6  # E[label] = .4 x .5 + .6 x this = f
        found = audit(Clean().evidence(score, np.where(tie, 0.5, won)), tolerance=0.0)
        wrong += found.level == "wrong"
    assert wrong <= 6


def test_adding_up_keeps_ties_apart():
    rng = np.random.default_rng(3)
    score, label = rng.choice([0.2, 0.7], 3000), rng.choice([0.0, 0.5, 1.0], 3000)
    evidence = Clean().evidence(score, label)
    small, _ = compress(evidence)
    assert len(small) == 6
    assert sorted(set(small.label.tolist())) == [0.0, 0.5, 1.0]
    assert small.n == 3000
    np.testing.assert_allclose(
        [metrics.brier(small).value, metrics.brier(small).standard_error, metrics.ece(small).value],
        [metrics.brier(evidence).value, metrics.brier(evidence).standard_error, metrics.ece(evidence).value],
        atol=1e-12,
    )


def test_lwcal_logs_one_loss_and_weight_a_row_and_the_rate_of_both_halves():
    score, label, _ = tied_rows(seed=4)
    order, single, weight = twice(label)
    found = GatedLWCal().fit(score, label).audit_
    expected = GatedLWCal().fit(Clean().evidence(score[order], single, weight=weight)).audit_
    assert found.losses.size == found.weights.size == label.size
    for name in ("m", "s", "d_hat", "rho", "expected_d"):
        assert found[name] == pytest.approx(expected[name], abs=1e-12), name
    for values, of_halves in ((found.losses, expected.losses), (found.weights, expected.weights)):
        sums = np.bincount(order, weight * of_halves)
        np.testing.assert_allclose(values, sums, atol=1e-12)


def test_a_tie_contradicts_by_half_and_is_never_a_label_to_check():
    score, label, groups = tied_rows(seed=5)
    evidence = Clean().evidence(score, label, groups=groups)
    against = np.abs((score >= 0.5) - label).mean()
    assert contradictions(evidence).observed == pytest.approx(against)
    listed = suspicious_labels(evidence, GatedLWCal().fit(evidence).audit_).position
    assert not (label[listed] == 0.5).any()
    assert listed.size == int((np.abs((score >= 0.5) - label) == 1).sum())
    for group in group_contradictions(evidence).groups:
        inside = groups[:, group.position]
        assert group.observed == pytest.approx(np.abs((score >= 0.5) - label)[inside].mean())


def test_flip_rates_count_a_tie_half_or_leave_it_out():
    score, label, _ = tied_rows(seed=6)
    order, single, _ = twice(label)
    found = flip_rates_from_forward_platt(score, label)
    doubled = np.repeat(np.arange(order.size), np.where(label[order] == 0.5, 1, 2))
    assert found.rho0.n == label.size
    expected = flip_rates_from_forward_platt(
        score[order][doubled], single[doubled], np.full(doubled.size, 0.5)
    )
    # twice the rows at half the weight are twice the draws: the same curve, surer of itself than of its prior
    assert found.rho0.value == pytest.approx(expected.rho0.value, abs=0.03)
    joint = flip_rates_from_confident_joint(score, label)
    of_double = flip_rates_from_confident_joint(score[order][doubled], single[doubled])
    assert joint.rho0.value == pytest.approx(of_double.rho0.value, abs=1e-12)
    true = np.where(np.arange(label.size) % 3, 0.0, 1.0)
    plain = label != 0.5
    assert flip_rates_from_audit(label, true) == flip_rates_from_audit(label[plain], true[plain])


def test_harm_bootstrap_comparison_and_lessons_take_ties():
    score, label, _ = tied_rows(300, seed=7)
    noisy = Noisy().evidence(score, label)
    assert harm_check(GatedLWCal(), noisy, draws=2).flips is not None
    evidence = Clean().evidence(score, label)
    terms = brier_terms(evidence)[:, None]
    draws = paired_bootstrap(evidence, {"Brier": terms}, draws=400)["Brier"].draws
    assert draws.std() == pytest.approx(metrics.brier(evidence).standard_error, rel=0.15)
    only_ties_between = Clean().evidence([0.2, 0.5, 0.8], [0.5, 0.5, 0.5])
    assert paired_bootstrap(only_ties_between, {"Brier": brier_terms(only_ties_between)[:, None]}, draws=20)
    entries = compare(evidence, [REGISTRY["Identity"](), GatedLWCal()]).entries
    assert all(np.isfinite(entry.metrics["log loss"].value) for entry in entries)
    _, labels = ten_points(evidence)
    assert set(labels) <= {0.0, 1.0}
    assert ten_points(only_ties_between) is None


def test_checked_ties_keep_what_was_recorded():
    score, recorded, _ = tied_rows(seed=8)
    checked = np.full(recorded.size, np.nan)
    ties = np.flatnonzero(recorded == 0.5)
    checked[ties[:10]] = 1.0
    apart = halves_apart(corrected_evidence(Noisy(), score, recorded, checked))
    part = apart.evidence
    assert part.n == recorded.size
    assert part.weight.sum() == pytest.approx(recorded.size)
    halves = np.isin(np.concatenate([np.arange(recorded.size), ties]), ties[:10])
    assert (part.label[halves] == 1).all()
    assert sorted(part.row_parameters["recorded"][halves]) == [0.0] * 10 + [1.0] * 10
    assert part.positive.sum() == pytest.approx(np.where(np.isnan(checked), recorded, checked).mean())


def test_evidence_without_ties_is_left_alone():
    evidence = Clean().evidence([0.1, 0.9], [0, 1])
    assert halves_apart(evidence).evidence is evidence
