"""The harm check: methods that move scores which were right are caught, at the sizes that were measured."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.calibrators import GatedLWCal, Identity, Isotonic, LWCal, Platt, Temperature
from calcore.harm import harm_check
from calcore.observation import PU, Clean, Noisy


def evidence(n=449, seed=0, shape=(1, 1), model=None, **columns):
    rng = np.random.default_rng(seed)
    score = rng.beta(*shape, n)
    return (model or Clean()).evidence(score, rng.random(n) < score, **columns)


@pytest.mark.parametrize(
    "method, expected", [(Isotonic(), 0.040), (Platt(), 0.023), (LWCal(), 0.14)], ids=str
)
def test_known_sizes_at_449_rows(method, expected):
    found = [harm_check(method, evidence(seed=seed)).at_n for seed in range(4)]
    assert np.mean(found) == pytest.approx(expected, abs=0.005)


def test_lwcal_does_harm_that_does_not_shrink_and_others_do_not():
    many = evidence(200_000)
    assert harm_check(LWCal(), many, draws=5).at_n == pytest.approx(0.14, abs=0.005)
    assert harm_check(LWCal(), evidence()).at_large == pytest.approx(0.14, abs=0.005)
    assert harm_check(Isotonic(), many, draws=5).at_n < 0.004
    assert harm_check(Platt(), many, draws=5).at_n < 0.002


@pytest.mark.parametrize(
    "shape, lwcal, gated",
    [((1, 1), 0.144, 0.144), ((2, 2), 0.160, 0.141), ((5, 5), 0.166, 0.044), ((2, 8), 0.150, 0.150)],
)
def test_known_sizes_of_lwcal_at_500_rows(shape, lwcal, gated):
    samples = [evidence(500, seed, shape) for seed in range(4)]
    assert np.mean([harm_check(LWCal(), one).at_n for one in samples]) == pytest.approx(lwcal, abs=0.02)
    assert np.mean([harm_check(GatedLWCal(), one).at_n for one in samples]) == pytest.approx(gated, abs=0.03)


def test_nothing_is_moved_by_no_change():
    found = harm_check(Identity(), evidence())
    assert (found.at_n, found.at_large) == (0, 0)


def test_labels_do_not_matter():
    one = evidence()
    other = Clean().evidence(one.score, np.zeros(len(one)))
    assert harm_check(Isotonic(), one) == harm_check(Isotonic(), other)


def test_known_flips_are_added_and_told():
    flipped = harm_check(Platt(), evidence(model=Noisy(0.2, 0.1)))
    assert flipped.with_flips > flipped.at_n
    assert flipped.flips == (0.2, 0.1)
    assert harm_check(Platt(), evidence()).with_flips is None
    by_group = Noisy({"a": 0.2}, {"a": 0.1})
    grouped = evidence(model=by_group, flip_group=np.repeat("a", 449))
    assert harm_check(Platt(), grouped, draws=2).with_flips is None


def test_estimated_flips_are_added_and_not_told():
    """Platt takes flips of a third for the truth; who knew of them would move right scores little."""
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    recorded = rng.random(5000) < 0.33 + 0.34 * score
    found = harm_check(Platt(), Noisy().evidence(score, recorded), draws=5)
    # flips towards one half move U(0, 1) by .33 times |1 - 2 p|, .165 on average
    assert found.with_flips == pytest.approx(0.165, abs=0.03)
    assert found.flips == pytest.approx((0.33, 0.33), abs=0.1)
    assert found.at_n < 0.02


def test_one_class_of_labels_has_no_flips():
    assert harm_check(Platt(), Noisy().evidence([0.2, 0.5, 0.8], [1, 1, 1]), draws=2).with_flips is None


def test_positives_only_say_nothing_of_the_population():
    rng = np.random.default_rng(0)
    score = np.concatenate([np.full(300, 0.99), rng.random(500)])
    weak = PU(0.5).evidence(score, source=np.repeat(["positive", "unlabelled"], [300, 500]))
    found = harm_check(Temperature(), weak)
    alone = harm_check(Temperature(), Clean().evidence(score[300:], np.arange(500) % 2))
    assert found.n == 500
    assert found == alone


def test_light_rows_are_not_rounded_away():
    """Weights of .3 and 1.7: scores are drawn in proportion, none is left out."""
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.random(1000) / 2, 0.5 + rng.random(1000) / 2])
    light = np.repeat([0.3, 1.7], 1000)
    found = harm_check(LWCal(), Clean().evidence(score, rng.random(2000) < score, weight=light))
    drawn = score[rng.choice(2000, 20_000, p=light / light.sum())]
    expected = harm_check(LWCal(), Clean().evidence(drawn, rng.random(20_000) < drawn))
    assert found.at_n == pytest.approx(expected.at_large, abs=0.015)


def test_the_same_seed_gives_the_same_numbers():
    assert harm_check(Isotonic(), evidence(), seed=3) == harm_check(Isotonic(), evidence(), seed=3)
    assert harm_check(Isotonic(), evidence(), seed=3) != harm_check(Isotonic(), evidence(), seed=4)
