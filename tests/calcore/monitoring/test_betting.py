"""Nobody can expect to win a bet against a gap that is allowed: by enumeration, and for every kind of label."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from calcore.monitoring.betting import SHAPES, STAKES, Allowed, by_draws, by_rows, growth
from calcore.monitoring.sequential import sequential_test
from calcore.observation import PU, Clean, Noisy
from calcore.studies.simulation import Population, observation_models, observe


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("rates", [None, (0.1, 0.25)])
def test_money_is_not_expected_to_grow_where_the_gap_is_at_the_tolerance(side, rates):
    """All 2^6 label vectors with their probabilities: the mean of every bet is at most 1, and 1 for the tight ones."""
    score = np.array([0.1, 0.3, 0.32, 0.55, 0.7, 0.9])
    tolerance, bins = 0.05, 5
    model = Clean() if rates is None else Noisy(*rates)
    true = score + side * tolerance
    recorded = true if rates is None else rates[0] + (1 - sum(rates)) * true
    mean = np.zeros((len(SHAPES) + 2 * bins, len(STAKES)))
    for labels in itertools.product((0.0, 1.0), repeat=score.size):
        y = np.array(labels)
        chance = float(np.prod(np.where(y == 1, recorded, 1 - recorded)))
        found = growth(model.evidence(score, y), Allowed.around_zero(tolerance, bins), 2)
        mean += chance * np.exp(found.whole)
    assert mean.max() <= 1 + 1e-12
    tight = 0 if side == 1 else 1  # "too low" is right on the edge where events are more frequent, and so on
    assert mean[tight] == pytest.approx(np.ones(len(STAKES)), abs=1e-12)


def test_bets_on_the_reference_allow_its_gap():
    score = np.array([0.1, 0.3, 0.32, 0.55, 0.7, 0.9])
    gap = np.array([0.05, -0.1, 0.0, 0.1, 0.05])
    allowed = Allowed(gap, np.full(5, 0.02), {"group 0": (0.03, 0.01)})
    place = np.minimum((score * 5).astype(int), 4)
    inside = np.array([[True], [False], [True], [False], [True], [True]])
    true = np.clip(score + gap[place] + 0.02, 0, 1)
    mean, member = np.zeros((14, len(STAKES))), np.zeros((2, len(STAKES)))
    for labels in itertools.product((0.0, 1.0), repeat=score.size):
        y = np.array(labels)
        found = growth(Clean().evidence(score, y, groups=inside), allowed, 2)
        mean += np.prod(np.where(y == 1, true, 1 - true)) * np.exp(found.whole)
        in_group = score + np.where(inside[:, 0], 0.04, 0)
        member += np.prod(np.where(y == 1, in_group, 1 - in_group)) * np.exp(found.groups[0])
    assert mean.max() <= 1 + 1e-12
    assert mean[0] == pytest.approx(np.ones(len(STAKES)), abs=1e-12)
    assert member.max() <= 1 + 1e-12
    assert member[0] == pytest.approx(np.ones(len(STAKES)), abs=1e-12)


def test_rows_as_draws_and_draws_of_one_row_are_the_same():
    rng = np.random.default_rng(3)
    score, groups = rng.random(500), rng.random((500, 3)) < 0.4
    label = (rng.random(500) < score).astype(float)
    one = Clean().evidence(score, label, groups=groups)
    for allowed in (
        Allowed.around_zero(0.02, 10),
        Allowed(rng.normal(0, 0.05, 10), rng.uniform(0.01, 0.1, 10), {"group 1": (0.01, 0.03)}),
    ):
        a, b = by_rows(one, allowed, 5), by_draws(one, allowed, 5)
        # the bound on what one may lose is taken row by row in one, over all bins in the other
        if allowed.groups is None:
            assert a.whole == pytest.approx(b.whole, abs=1e-9)
            assert a.groups == pytest.approx(b.groups, abs=1e-9)
        assert (np.sign(a.whole) == np.sign(b.whole)).mean() > 0.9
        assert (a.groups[0] == 0).all() == (b.groups[0] == 0).all()


def test_units_are_one_draw_and_frequencies_are_rows():
    rng = np.random.default_rng(4)
    score = rng.random(200)
    label = (rng.random(200) < score).astype(float)
    allowed = Allowed.around_zero(0.0, 5)
    twice = np.repeat(score, 2), np.repeat(label, 2)
    frequent = growth(
        Clean().evidence(score, label, weight=np.full(200, 2.0), weighting="frequency"), allowed, 2
    )
    assert frequent.whole == pytest.approx(growth(Clean().evidence(*twice), allowed, 2).whole, abs=1e-9)
    # two equal rows of one unit say what one row says
    united = growth(Clean().evidence(*twice, unit=np.repeat(np.arange(200), 2)), allowed, 2)
    assert united.whole == pytest.approx(growth(Clean().evidence(score, label), allowed, 2).whole, abs=1e-9)


CALIBRATED = Population(lambda x: 0.05 + 0.6 * x, lambda x: 0.05 + 0.6 * x, strips=2)
OFF = Population(lambda x: 0.05 + 0.6 * x, lambda x: 0.12 + 0.6 * x, strips=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(observation_models(CALIBRATED.prior)))
def test_no_kind_of_label_lets_a_bet_against_a_calibrated_score_win(name):
    """Twelve looks with no tolerance at all: a false alarm in at most 5 % of 60 streams (13 % are three errors more)."""
    model, rng = observation_models(CALIBRATED.prior)[name], np.random.default_rng([5, len(name)])
    allowed = Allowed.around_zero(0.0, 10)
    false = [
        bool(
            sequential_test(
                [growth(observe(model, CALIBRATED, rng, 200), allowed, 5) for _ in range(12)]
            ).alarms
        )
        for _ in range(60)
    ]
    assert np.mean(false) <= 0.13


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Clean", "Noisy", "PU", "UU", "Pcomp"])
def test_a_score_that_is_off_is_found_out_under_every_kind_of_label(name):
    model, rng = observation_models(OFF.prior)[name], np.random.default_rng(6)
    allowed = Allowed.around_zero(0.02, 10)
    test = sequential_test([growth(observe(model, OFF, rng, 4_000), allowed, 5) for _ in range(40)])
    assert test.alarms
    assert test.changes[0].pattern == "too low"


@pytest.mark.slow
def test_a_file_that_is_sorted_by_score_raises_no_more_false_alarms():
    """40 streams of 20 batches of known positives: 5 % is 2, and 12 % were alarmed about where rows met in order."""
    rng, allowed = np.random.default_rng(1), Allowed.around_zero(0.0, 10)

    def batch():
        score = rng.random(1_200)
        positive = np.sort(score[rng.random(1_200) < score][:300])
        names = np.repeat(["positive", "unlabelled"], [positive.size, 300])
        return growth(
            PU(0.5).evidence(np.concatenate([positive, np.sort(rng.random(300))]), source=names), allowed, 5
        )

    assert sum(bool(sequential_test([batch() for _ in range(20)]).alarms) for _ in range(40)) <= 2


def test_large_batches_of_unequal_weights_are_bet_on_row_by_row(monkeypatch):
    """Added up by score, rows of one label would count at their mean weight, which varies less than the weights do."""
    rng = np.random.default_rng(2)
    score = rng.integers(1, 10, 4_000) / 10
    label = (rng.random(4_000) < score).astype(float)
    evidence = Clean().evidence(score, label, weight=rng.lognormal(0, 1, 4_000))
    rows = growth(evidence, Allowed.around_zero(0.0, 10), 5).whole
    monkeypatch.setattr("calcore.evidence.COLLAPSE_ABOVE", 100)
    assert growth(evidence, Allowed.around_zero(0.0, 10), 5).whole == pytest.approx(rows)
