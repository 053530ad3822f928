"""The rising spline: its constraint, its optimum and its map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from calcore.calibrators import Platt, Spline
from calcore.calibrators.spline import LINE_ERROR, _integrals
from calcore.errors import InputError
from tests.calcore.samples import sample

GRID = np.linspace(0.001, 0.999, 999)


def test_the_basis_is_the_integral_of_hats_by_quadrature():
    knots = np.array([-2.0, -0.5, 0.3, 3.0])
    for z in (-3.0, -1.0, 0.0, 2.0, 4.0):
        fine = np.linspace(-2.0, np.clip(z, -2, 3), 200_001)
        expected = [np.trapezoid(np.interp(fine, knots, hat), fine) for hat in np.eye(4)]
        np.testing.assert_allclose(_integrals(knots, np.array([z]))[0], expected, atol=1e-9)


def test_it_is_the_constrained_optimum_of_a_general_solver():
    rng = np.random.default_rng(3)
    score = rng.random(400).round(3).clip(0.001, 0.999)
    label = (rng.random(400) < np.where(score < 0.5, 0.3, score)).astype(float)  # flat, then rising
    fitted = Spline(spread=2.0).fit(score, label)
    z, knots = special.logit(score), fitted.knots_

    def value(w):
        at = w[-1] + _integrals(knots, z) @ w[:-1]
        return np.logaddexp(0, at).sum() - label @ at + (np.diff(w[:-1]) ** 2).sum() / (2 * 2.0**2)

    box = [(0, None)] * knots.size + [(None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    best = optimize.minimize(value, np.ones(knots.size + 1), method="L-BFGS-B", bounds=box, options=options)
    low = special.logit(fitted.predict([score.min()])[0])
    assert value(np.append(fitted.slopes_, low)) <= best.fun + 1e-6
    np.testing.assert_allclose(fitted.slopes_, best.x[:-1], atol=2e-3)


def test_equal_slopes_are_platts_line():
    score, label, _ = sample(3000, decimals=6)
    score = score.clip(0.01, 0.99)
    grid = np.linspace(score.min(), score.max(), 200)
    fitted = Spline(spread=1e-4).fit(score, label)
    np.testing.assert_allclose(fitted.predict(grid), Platt().fit(score, label).predict(grid), atol=3e-5)


@pytest.mark.parametrize(
    "truth", [lambda p: p**3, lambda p: np.where(p < 0.5, 0.1, 0.9 * p), lambda p: 1 - p]
)
def test_the_map_never_falls_and_stays_near_the_best_rising_curve(truth):
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    fitted = Spline().fit(score, rng.random(20_000) < truth(score))
    found = fitted.predict(GRID)
    assert (np.diff(found) >= 0).all()
    assert fitted.line_error_ <= LINE_ERROR
    rising = truth(np.array(0.2)) < truth(np.array(0.8))
    assert np.abs(found - (truth(GRID) if rising else 0.5)).mean() < 0.05
    assert rising != any("does not rise" in warning for warning in fitted.warnings_)


def test_it_bends_where_platt_cannot():
    rng = np.random.default_rng(1)
    score = rng.random(50_000)
    truth = GRID + 0.12 * np.sin(2 * np.pi * GRID)
    label = rng.random(50_000) < np.interp(score, GRID, truth)
    errors = [np.abs(m().fit(score, label).predict(GRID) - truth).mean() for m in (Spline, Platt)]
    assert errors[0] < 0.01
    assert errors[0] < errors[1] / 2


@pytest.mark.parametrize("method", [Spline(knots=-1), Spline(spread=0), Spline(clip=0.7)], ids=str)
def test_parameters_out_of_range_are_refused(method):
    with pytest.raises(InputError):
        method.fit(*sample()[:2])
