"""The contradiction rate by what explains it: doubt of the model, flipped labels, and neither."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.calibrators import LWCal
from calcore.contradictions import Errors, contradictions
from calcore.errors import DoesNotExist
from calcore.metrics.uncertainty import variance_of_sum
from calcore.observation import PU, Clean, Noisy
from calcore.observation.priors import flip_rates_from_forward_platt


def drawn(n, seed=0, shape=1.0, rho0=0.0, rho1=0.0):
    """A calibrated score and its labels, flipped at the given rates."""
    rng = np.random.default_rng(seed)
    score = rng.beta(shape, shape, n)
    label, u = rng.random(n) < score, rng.random(n)
    return score, np.where(label, u >= rho1, u < rho0).astype(float)


@pytest.mark.parametrize("shape", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("n", [100, 1000])
def test_the_excess_covers_zero_where_labels_are_right_and_the_score_calibrated(n, shape):
    found = [contradictions(Clean().evidence(*drawn(n, seed, shape))) for seed in range(400)]
    inside = np.mean([one.excess_interval[0] <= 0 <= one.excess_interval[1] for one in found])
    # 400 draws: two standard errors of .95 are .022; the larger of two errors is a little cautious
    assert 0.928 <= inside <= 0.985
    assert np.mean([one.beyond_chance for one in found]) <= 0.05


def test_the_excess_is_what_flips_add():
    """A symmetric flip turns right decisions into contradictions and back: rho (1 - 2 min(p, 1 - p)) on average."""
    score, label = drawn(200_000, rho0=0.2, rho1=0.2)
    found = contradictions(Noisy().evidence(score, label))
    assert found.excess == pytest.approx(0.2 * (1 - 2 * np.minimum(score, 1 - score).mean()), abs=0.004)
    assert found.beyond_chance
    assert found.noise == found.excess


def test_values_by_a_slow_reference():
    score = np.array([0.9, 0.2, 0.5, 0.4, 0.7])
    label = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    found = contradictions(Clean().evidence(score, label, weight=weight))
    observed = doubt = 0.0
    for p, y, v in zip(score, label, weight, strict=True):
        observed += v * ((p >= 0.5) != (y == 1)) / weight.sum()
        doubt += v * min(p, 1 - p) / weight.sum()
    assert found.observed == pytest.approx(observed)
    assert found.expected == pytest.approx(doubt)
    assert found.excess == pytest.approx(observed - doubt)


def test_it_is_the_rate_that_the_gate_looks_at():
    evidence = Noisy().evidence(*drawn(500, rho0=0.1, rho1=0.3))
    audit = LWCal().fit(evidence).audit_
    found = contradictions(evidence)
    assert (found.observed, found.expected) == pytest.approx((audit.d_hat, audit.expected_d))


def test_known_flips_explain_what_they_did():
    found = [
        contradictions(Noisy(0.1, 0.3).evidence(*drawn(2000, seed, rho0=0.1, rho1=0.3))).with_flips
        for seed in range(200)
    ]
    assert np.mean([one.rest for one in found]) == pytest.approx(0, abs=0.003)
    assert np.mean([one.rest_interval[0] <= 0 <= one.rest_interval[1] for one in found]) >= 0.92
    assert found[0].origin == "given"
    assert found[0].interval is None


def test_flip_rates_of_each_group_are_used_row_by_row():
    score, label = drawn(1000)
    group = np.where(np.arange(1000) < 500, "a", "b")
    model = Noisy({"a": 0.0, "b": 0.2}, {"a": 0.0, "b": 0.2})
    found = contradictions(model.evidence(score, label, flip_group=group)).with_flips
    doubt = np.minimum(score, 1 - score)
    flipped = np.where(group == "a", doubt, doubt + 0.2 * (1 - 2 * doubt))
    assert found.expected == pytest.approx(flipped.mean())


def test_estimated_flips_explain_it_with_an_interval():
    score, label = drawn(5000, shape=0.6, rho0=0.05, rho1=0.3)
    found = contradictions(
        Noisy().evidence(score, label), estimated=flip_rates_from_forward_platt(score, label)
    ).with_flips
    assert found.origin == "estimated"
    assert found.interval[0] < found.expected < found.interval[1]
    assert found.rest_interval[0] <= 0 <= found.rest_interval[1]
    assert not found.hidden


def test_unsure_scores_hide_flips():
    rng = np.random.default_rng(0)
    score = rng.uniform(0.35, 0.65, 4000)
    label = np.where(rng.random(4000) < 0.25, score < 0.5, score >= 0.5)
    found = contradictions(Noisy(0.25, 0.25).evidence(score, label))
    assert not found.beyond_chance
    assert found.noise == 0
    assert found.with_flips.hidden


def test_ten_copies_of_a_row_are_one_draw():
    score, label = (np.repeat(values, 10) for values in drawn(200))
    unit = np.repeat(np.arange(200), 10)
    once = contradictions(Clean().evidence(*drawn(200)))
    copied = contradictions(Clean().evidence(score, label, unit=unit))
    assert np.ptp(copied.interval) == pytest.approx(np.ptp(once.interval), rel=0.03)
    assert np.ptp(copied.excess_interval) == pytest.approx(np.ptp(once.excess_interval), rel=0.03)


@pytest.mark.parametrize("weighting", ["importance", "frequency"])
def test_errors_of_units_are_those_of_every_other_metric(weighting):
    rng = np.random.default_rng(0)
    score, label = drawn(400)
    evidence = Noisy().evidence(
        score, label, unit=rng.integers(0, 60, 400), weight=rng.integers(1, 4, 400), weighting=weighting
    )
    terms = rng.normal(size=400)
    found = Errors.of(evidence).of_sum(terms, np.zeros(400))
    assert found == pytest.approx(np.sqrt(variance_of_sum(evidence, terms)))


def test_the_scale_of_importance_weights_does_not_matter_and_frequencies_are_rows():
    score, label = drawn(300)
    weight = np.random.default_rng(1).integers(1, 4, 300).astype(float)
    one, other = (contradictions(Clean().evidence(score, label, weight=w)) for w in (weight, 50 * weight))
    assert one.excess_interval == pytest.approx(other.excess_interval)
    assert one.interval == pytest.approx(other.interval)
    frequent = contradictions(Clean().evidence(score, label, weight=weight, weighting="frequency"))
    rows = np.repeat(np.arange(300), weight.astype(int))
    repeated = contradictions(Clean().evidence(score[rows], label[rows]))
    assert frequent.excess_interval == pytest.approx(repeated.excess_interval)
    assert frequent.interval == pytest.approx(repeated.interval)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_have_no_interval(n):
    found = contradictions(Clean().evidence(*drawn(n)))
    assert found.interval is None
    assert found.excess_interval is None
    assert found.noise_interval is None


def test_rows_of_a_single_unit_are_one_draw():
    score, label = drawn(200, rho0=0.4, rho1=0.4)
    found = contradictions(Noisy().evidence(score, label, unit=np.zeros(200)))
    assert found.excess > 0.05
    assert found.interval is None
    assert found.p_value == 1


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_scores(value):
    found = contradictions(Clean().evidence(np.full(50, value), np.arange(50) % 2))
    assert found.observed == 0.5
    assert found.expected == min(value, 1 - value)
    assert found.p_value == pytest.approx(1.0) if value == 0.5 else found.beyond_chance


def test_rows_without_labels_have_no_contradictions():
    source = np.repeat(["positive", "unlabelled"], 20)
    with pytest.raises(DoesNotExist, match="carry none"):
        contradictions(PU(0.5).evidence(np.linspace(0, 1, 40), source=source))


def under_confident(n=4000, seed=0):
    """Right labels, and scores that are not sure enough."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.3, 0.7, n)
    rate = score**4 / (score**4 + (1 - score) ** 4)
    return score, (rng.random(n) < rate).astype(float)


def test_unsure_scores_of_right_labels_hide_nothing():
    score, label = under_confident()
    estimated = flip_rates_from_forward_platt(score, label)
    found = contradictions(Clean().evidence(score, label), estimated=estimated)
    assert found.with_flips is None
    assert not found.hides()


@pytest.mark.parametrize("origin, known", [("given", True), ("estimated", False)])
def test_only_given_rates_are_exact(origin, known):
    score, label = drawn(2000, rho0=0.2, rho1=0.2)
    evidence = Noisy(0.2, 0.2, origin=origin).evidence(score, label)
    found = contradictions(evidence).with_flips
    assert found.exact == known
    assert (found.rest_interval is not None) == known
    assert found.interval is None
    # an estimate brings the error of its rates
    rates = flip_rates_from_forward_platt(score, label)
    estimated = contradictions(evidence, estimated=rates).with_flips
    assert (estimated.interval is None) == known
    if not known:
        exact = contradictions(Noisy(rates.rho0.value, rates.rho1.value).evidence(score, label)).with_flips
        assert estimated.rest == pytest.approx(exact.rest)
        assert np.ptp(estimated.rest_interval) > np.ptp(exact.rest_interval)


def test_the_noise_of_fewer_contradictions_than_expected_is_nothing():
    found = contradictions(Clean().evidence(*under_confident()))
    assert found.excess_interval[1] < 0
    assert found.noise_interval == (0.0, 0.0)
    assert found.significant
    assert not found.beyond_chance


def test_an_alarm_needs_significance_and_a_gap_beyond_the_tolerance():
    found = contradictions(Noisy().evidence(*drawn(20_000, rho0=0.1, rho1=0.1)))
    assert found.beyond_chance
    assert found.alarm()
    assert not found.alarm(tolerance=found.excess)
    few = contradictions(Noisy().evidence([0.1, 0.9, 0.8, 0.2, 0.3], [1, 1, 1, 0, 0]))
    assert few.excess > 0
    assert not few.alarm(0)


def test_hidden_labels_need_a_gap_beyond_the_tolerance():
    score, label = under_confident()
    found = contradictions(Noisy(0.2, 0.2).evidence(score, label))
    assert found.hides()
    assert not found.hides(tolerance=-found.with_flips.rest)
