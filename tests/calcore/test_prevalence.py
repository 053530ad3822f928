"""How many are positive, by every account: the corrected share covers the truth, and a gap is told."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.errors import DoesNotExist
from calcore.observation import PU, Clean, Noisy
from calcore.observation.priors import flip_rates_from_audit, flip_rates_from_forward_platt
from calcore.prevalence import prevalence


def drawn(n=4000, seed=0, rho0=0.05, rho1=0.35):
    rng = np.random.default_rng(seed)
    score = rng.beta(0.6, 0.6, n)
    clean, u = rng.random(n) < score, rng.random(n)
    return score, np.where(clean, u >= rho1, u < rho0).astype(float), clean.astype(float)


def test_given_rates_correct_the_recorded_share():
    inside = 0
    for seed in range(200):
        score, noisy, _ = drawn(1000, seed)
        found = prevalence(Noisy(0.05, 0.35).evidence(score, noisy)).best
        inside += found.interval[0] <= 0.5 <= found.interval[1]
    assert 0.91 <= inside / 200 <= 0.99
    assert (found.kind, found.source) == ("corrected", "given")


def test_counted_rates_cover_the_share():
    inside = 0
    for seed in range(200):
        score, noisy, clean = drawn(1500, seed)
        checked = np.where(np.arange(1500) < 300, clean, np.nan)
        found = prevalence(Noisy().evidence(score, noisy), counted=flip_rates_from_audit(noisy, checked)).best
        inside += found.interval[0] <= 0.5 <= found.interval[1]
    # a little wide: the three intervals are taken as independent
    assert inside / 200 >= 0.93
    assert found.source == "counted"


@pytest.mark.slow
def test_estimated_rates_cover_the_share_and_warn():
    inside = apart = 0
    for seed in range(15):
        score, noisy, _ = drawn(4000, seed)
        rates = flip_rates_from_forward_platt(score, noisy)
        found = prevalence(Noisy().evidence(score, noisy), estimated=rates)
        inside += found.best.interval[0] <= 0.5 <= found.best.interval[1]
        apart += found.apart and found.gap < 0
    assert inside >= 13
    assert apart >= 12


def test_a_value_by_hand():
    score, label = np.linspace(0.1, 0.9, 100), (np.arange(100) < 31).astype(float)
    found = prevalence(Noisy(0.1, 0.2).evidence(score, label))
    assert found.of("score").value == pytest.approx(0.5)
    assert found.of("recorded").value == pytest.approx(0.31)
    assert found.of("corrected").value == pytest.approx((0.31 - 0.1) / 0.7)
    assert found.gap == pytest.approx(0.31 - 0.3)
    assert not found.apart


def test_a_clean_sample_is_the_best_answer():
    score, noisy, clean = drawn()
    audit = Clean().evidence(score, np.where(np.arange(score.size) % 4 == 0, clean, np.nan))
    rates = flip_rates_from_forward_platt(score, noisy)
    found = prevalence(Noisy().evidence(score, noisy), audit=audit, estimated=rates)
    assert found.best.kind == "audit"
    assert found.best.n == 1000
    assert found.best.value == pytest.approx(clean[::4].mean())
    assert found.apart
    assert [one.kind for one in found.shares] == ["score", "recorded", "corrected", "audit"]


def test_labels_said_to_be_the_outcomes_are_not_corrected_by_estimates():
    score, _, clean = drawn()
    found = prevalence(Clean().evidence(score, clean), estimated=flip_rates_from_forward_platt(score, clean))
    assert found.best is None
    assert not found.apart


def test_weights_and_units_reach_the_interval():
    score, noisy, _ = drawn(300)
    plain = prevalence(Noisy().evidence(score, noisy)).of("recorded")
    rows = np.repeat(np.arange(300), 10)
    units = prevalence(Noisy().evidence(score[rows], noisy[rows], unit=rows)).of("recorded")
    assert np.ptp(units.interval) == pytest.approx(np.ptp(plain.interval), rel=0.05)
    weighted = prevalence(Noisy().evidence(score, noisy, weight=np.where(noisy == 1, 3.0, 1.0))).of(
        "recorded"
    )
    assert weighted.value > plain.value + 0.1


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_one_class_and_hardly_any_rows(n, label):
    found = prevalence(Noisy(0.1, 0.1).evidence(np.full(n, 0.5), np.full(n, label)))
    recorded = found.of("recorded")
    assert recorded.value == label
    assert (recorded.interval is None) == (n < 4)
    if n >= 4:
        assert np.ptp(recorded.interval) > 0


def test_rows_without_labels_record_nothing():
    source = np.repeat(["positive", "unlabelled"], 4)
    with pytest.raises(DoesNotExist):
        prevalence(PU(0.5).evidence(np.linspace(0, 1, 8), source=source))


def test_the_rates_that_a_model_estimated_give_no_interval_of_their_own():
    score, noisy, _ = drawn()
    evidence = Noisy(0.05, 0.35, origin="estimated").evidence(score, noisy)
    alone = prevalence(evidence)
    assert alone.best.source == "estimated"
    assert alone.best.interval is None
    assert not alone.apart
    rates = flip_rates_from_forward_platt(score, noisy)
    found = prevalence(evidence, estimated=rates)
    assert found.best == prevalence(Noisy().evidence(score, noisy), estimated=rates).best
    given = prevalence(Noisy(0.05, 0.35).evidence(score, noisy)).best
    assert np.ptp(found.best.interval) > np.ptp(given.interval)


def test_too_few_draws_have_no_corrected_interval():
    rates = flip_rates_from_audit([0, 1, 1, 0], [0, 1, 0, 0])
    found = prevalence(Noisy().evidence([0.2, 0.7, 0.9], [0, 1, 1]), counted=rates).best
    assert found.source == "counted"
    assert found.interval is None
    assert 0 <= found.value <= 1
    given = prevalence(Noisy(0.1, 0.1).evidence([0.2, 0.7, 0.9], [0, 1, 1])).best
    assert given.interval is None
