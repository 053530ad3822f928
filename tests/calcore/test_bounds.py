"""Bounds of WLMC: above what simulation finds, inverted by their sample sizes, refused where they say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calcore import bounds
from calcore.bounds import Witnesses
from calcore.errors import InputError, NotIdentifiable
from calcore.metrics import cells
from calcore.observation import PU, UU, Pconf
from calcore.studies.simulation import Population, observe, toy

DELTA = 0.2
#: The toy problem has eight strips and ten bins; one cell that holds everything is the hardest for a bound.
TOY = Witnesses(groups=8, bins=10)
ONE = Witnesses(groups=1, bins=1)


def deviations(model, population, bins, n, draws=200):
    """Largest |estimated - true moment| of each draw, and the error of the estimated MC, (2, draws)."""
    rng = np.random.default_rng(0)
    exact = population.moments(bins)
    found = np.empty((2, draws))
    for draw in range(draws):
        moment = cells(observe(model, population, rng, n), bins).moment[-len(exact) :]
        found[:, draw] = np.abs(moment - exact).max(), abs(np.abs(moment).max() - np.abs(exact).max())
    return found


MODELS = {
    "PU": (PU(0.5), bounds.pu_envelopes(0.5), lambda n, w: bounds.pu_bound(n, n, 0.5, w, DELTA)),
    "UU": (
        UU(0.5, 0.8, 0.2),
        bounds.uu_envelopes(0.5, 0.8, 0.2),
        lambda n, w: bounds.uu_bound(n, n, 0.5, 0.8, 0.2, w, DELTA),
    ),
    "Pconf": (
        Pconf(0.5),
        bounds.pconf_envelopes(0.5, 0.12),
        lambda n, w: bounds.pconf_bound(n, 0.5, 0.12, w, DELTA),
    ),
}


@pytest.mark.parametrize("n", [50, 400])
@pytest.mark.parametrize("witnesses", [TOY, ONE])
@pytest.mark.parametrize("name", list(MODELS))
def test_errors_stay_within_the_bounds(name, witnesses, n):
    model, envelopes, stated = MODELS[name]
    problem = toy()
    population = problem if witnesses is TOY else Population(problem.score, problem.rate)
    deviation, of_maximum = deviations(model, population, witnesses.bins, n)
    assert (of_maximum <= deviation + 1e-12).all()
    for bound in (
        stated(n, witnesses),
        bounds.finite_bound(envelopes, (n,) * len(envelopes), witnesses, DELTA),
    ):
        assert np.mean(deviation <= bound.value) >= 1 - DELTA


def test_hoeffding_is_of_the_right_size_where_terms_are_as_far_apart_as_they_can_be():
    """Terms of 1 and -1: the bound holds, and is at most twice what it has to be."""
    rng = np.random.default_rng(0)
    for n in (20, 500):
        deviation = np.abs(2 * rng.binomial(n, 0.5, 20_000) / n - 1)
        value = bounds.finite_bound((1.0,), (n,), ONE, DELTA).value
        assert np.mean(deviation <= value) >= 1 - DELTA
        assert value < 2 * np.quantile(deviation, 1 - DELTA)


def test_a_bound_by_hand():
    """PU, pi = .3: 2 [.3 (sqrt(2 log 5 / 100) + sqrt((2 log 10 + log 40) / 100)) + the same for 400 rows]."""
    bracket = math.sqrt(2 * math.log(5)) + math.sqrt(2 * math.log(10) + math.log(40))
    found = bounds.pu_bound(100, 400, 0.3, Witnesses(5, 10), 0.1)
    assert found.value == pytest.approx(2 * (0.3 * bracket / 10 + bracket / 20))
    assert found.envelopes == (0.3, 1.0)
    with_scale = bounds.pu_bound(100, 400, 0.3, Witnesses(5, 10, eta=0.01), 0.1)
    assert with_scale.value == pytest.approx(found.value + 2 * 1.3 * 0.01)


def test_envelopes_are_the_largest_terms_of_the_weights():
    v = np.linspace(0, 1, 101)
    for prior, theta1, theta2 in ((0.5, 0.8, 0.2), (0.1, 0.9, 0.3), (0.7, 0.0, 1.0)):
        table = UU(prior, theta1, theta2).table()
        largest = [np.abs(a * (1 - v) - b * v).max() for a, b, _ in table]
        assert bounds.uu_envelopes(prior, theta1, theta2) == pytest.approx(largest)
    # PU is UU with theta1 = 1 and theta2 = pi
    assert bounds.uu_envelopes(0.3, 1.0, 0.3)[1] == pytest.approx(1.0)
    assert bounds.pconf_envelopes(0.4, 0.1) == pytest.approx((0.4 * 11,))


@pytest.mark.parametrize("error", [0.5, 0.05, 0.003])
@pytest.mark.parametrize(
    "witnesses", [ONE, TOY, Witnesses(1, 10, dimension=3.0), Witnesses(20, 40, eta=1e-4)]
)
def test_sample_sizes_invert_the_bound(witnesses, error):
    for envelopes in (bounds.pu_envelopes(0.3), bounds.pconf_envelopes(0.3, 0.05)):
        n = bounds.rows_for_bound(envelopes, error, witnesses).per_batch[0]
        at = [
            bounds.uniform_bound(envelopes, [m] * len(envelopes), witnesses).value for m in (n, max(n - 1, 1))
        ]
        assert at[0] <= error
        assert at[1] > error


def test_rows_for_wlmc_keep_every_batch_within_a_quarter():
    envelopes = bounds.pu_envelopes(0.3)
    found = bounds.rows_for_wlmc(envelopes, 0.1, TOY, 0.05, start=0.02)
    assert found.batches == 8 + 1 == bounds.boosting_rounds(0.1, 0.02) + 1
    within = bounds.finite_bound(envelopes, found.per_batch, TOY, 0.05 / found.batches).value
    assert within == pytest.approx(0.1 / 4, rel=1e-4)
    assert within <= 0.1 / 4
    assert found.total == tuple(9 * size for size in found.per_batch)
    # Theorem 4: positives need pi^2 of what the population needs
    assert found.per_batch[0] / found.per_batch[1] == pytest.approx(0.09, rel=1e-3)


def test_rows_for_wlmc_by_dimension_solve_their_inequality():
    found = bounds.rows_for_wlmc_vc((0.3, 1.0), 0.1, bins=10, dimension=4, constant=8.0)
    for envelope, n in zip((0.3, 1.0), found.per_batch, strict=True):

        def needed(rows, envelope=envelope):
            chance = math.log(4 * 10 * found.batches / 0.05)
            return 8.0 * envelope**2 / 0.01 * (4 * math.log(rows) + chance)

        assert n >= needed(n)
        assert n - 1 < needed(n - 1)


def test_rounds():
    assert bounds.boosting_rounds(0.1) == 400
    assert bounds.boosting_rounds(0.5, 0.25) == 4


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.pu_bound(100, 100, 1.0, TOY), "class prior"),
        (lambda: bounds.pu_bound(0, 100, 0.3, TOY), "rows of a source"),
        (lambda: bounds.pu_bound(100, 100, 0.3, TOY, 0.0), "delta"),
        (lambda: bounds.pconf_bound(100, 0.3, 0.0, TOY), "r_min"),
        (lambda: bounds.pconf_bound(100, 0.3, 0.1, TOY, constant=0), "constant"),
        (lambda: bounds.uniform_bound((1.0,), (10, 10), TOY), "1 envelopes for 2 sources"),
        (lambda: bounds.uniform_bound((-1.0,), (10,), TOY), "envelope must be"),
        (lambda: Witnesses(0, 10), "groups"),
        (lambda: Witnesses(8, 10, eta=2), "eta"),
        (lambda: Witnesses(8, 10, dimension=-1), "dimension"),
        (lambda: bounds.rows_for_bound((1.0,), 0.0, TOY), "error must be"),
        (lambda: bounds.rows_for_bound((1.0,), 0.1, Witnesses(8, 10, eta=0.1)), "alone costs"),
        (lambda: bounds.finite_bound((1.0,), (10,), Witnesses(1, 10, dimension=2)), "counts cells"),
        (lambda: bounds.boosting_rounds(0.1, 2.0), "D_0"),
        (lambda: bounds.rows_for_wlmc_vc((1.0,), 0.1, 10, 2.0, float("nan")), "constant C"),
    ],
)
def test_parameters_are_checked(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_mixtures_of_equal_shares_are_not_identifiable():
    with pytest.raises(NotIdentifiable, match=r"0\.4"):
        bounds.uu_bound(10, 10, 0.3, 0.4, 0.4, TOY)
