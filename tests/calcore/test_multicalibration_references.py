"""HKRR and HJZ: what they promise on their own data, and what they reach on a population that is known."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.calibrators import HJZ, HKRR, Identity
from calcore.calibrators.discretised import Discretised
from calcore.errors import InputError
from calcore.metrics.cells import cells
from calcore.observation import PU, Clean
from calcore.studies.simulation import observe, skewed, toy

BOTH = [HKRR(), HJZ()]


@pytest.fixture(scope="module")
def train():
    return observe(Clean(), toy(), np.random.default_rng(0), 20_000)


def test_cells_of_the_added_up_table_are_those_of_the_rows(train):
    table = Discretised.of(train, 20)
    rows = train.with_score(table.start[table.bins.index(train.score)])
    expected = cells(rows, 20)
    moment, mass, error = table.cells()
    np.testing.assert_allclose(moment, expected.moment, atol=1e-14)
    np.testing.assert_allclose(mass, expected.mass, atol=1e-14)
    # the error is taken around 0 and not around the moment: never smaller, and hardly larger
    ratio = error[expected.mass > 0.005] / expected.standard_error[expected.mass > 0.005]
    assert ratio.min() > 0.99
    assert ratio.max() < 1.1


def test_hkrr_leaves_no_cell_that_counts_off_by_more_than_alpha(train):
    """Hebert-Johnson et al. 2018, Theorem 1, on the sample, with every answer taken at face value."""
    method = HKRR(alpha=0.03, width=0.1, noise=0)
    fitted = method.fit(train)
    assert fitted.audit_.stopped == "nothing left to correct"
    assert fitted.audit_.rounds > 5
    table = cells(train.with_score(fitted.predict(train.score, train.membership)), 10)
    counts = table.mass > 0.03 * 0.1 * table.group_mass[:, None]
    assert np.abs(table.residual[counts]).max() <= 0.03 + 1e-9


def test_every_patch_of_hkrr_lowers_the_squared_error(train):
    function = HKRR(noise=0).fit(train).map_.function
    risks = []
    for k in range(len(function.patches) + 1):
        part = type(function)(function.first, function.bins, function.patches[:k])
        risks.append(metrics.brier(train.with_score(part(train.score, train.membership))).value)
    assert len(risks) > 5
    assert (np.diff(risks) < 1e-12).all()


def test_hjz_keeps_the_round_whose_worst_cell_is_smallest(train):
    fitted = HJZ(rounds=200, noise=0).fit(train)
    function = fitted.map_.function
    assert len(function.patches) == fitted.audit_.rounds
    scored = train.with_score(fitted.predict(train.score, train.membership))
    table = cells(scored, 20)
    assert np.abs(np.where(table.mass >= 0.005, table.moment, 0)).max() == pytest.approx(fitted.audit_.after)
    assert fitted.audit_.after < fitted.audit_.before / 3


@pytest.mark.parametrize("method", BOTH, ids=str)
@pytest.mark.parametrize("population", [toy(), skewed(((0.5, 0.3, 0.2), (0.7, 0.3)))], ids=["toy", "skewed"])
def test_max_ece_and_mc_fall_on_fresh_rows(method, population):
    rng = np.random.default_rng(1)
    fit, judge = (observe(Clean(), population, rng, n) for n in (40_000, 60_000))
    found = {}
    for calibrator in (Identity(), method):
        scored = judge.with_score(calibrator.fit(fit).predict(judge.score, judge.membership))
        found[type(calibrator)] = (
            metrics.max_ece(scored, 10).value,
            metrics.multicalibration_error(scored, 10).value,
        )
    before, after = found[Identity], found[type(method)]
    assert after[0] < 0.6 * before[0]
    assert after[1] < 0.6 * before[1]


@pytest.mark.parametrize("method", BOTH, ids=str)
def test_scores_that_are_right_are_hardly_moved(method):
    rng = np.random.default_rng(2)
    score, groups = rng.random(20_000), rng.random((20_000, 4)) < 0.4
    evidence = Clean().evidence(score, rng.random(20_000) < score, groups=groups)
    moved = method.fit(evidence).predict(score, groups) - score
    # the discretisation alone moves scores by a quarter of a bin
    assert np.abs(moved).mean() < 0.0125 + 0.01


@pytest.mark.parametrize("method", BOTH, ids=str)
def test_unlabelled_rows_work_by_their_masses(method):
    population = skewed()
    rng = np.random.default_rng(3)
    weak = observe(PU(population.prior), population, rng, 40_000)
    judge = observe(Clean(), population, rng, 60_000)
    after = metrics.max_ece(
        judge.with_score(method.fit(weak).predict(judge.score, judge.membership)), 10
    ).value
    assert after < 0.85 * metrics.max_ece(judge, 10).value


@pytest.mark.parametrize(
    "method", [HKRR(alpha=0), HKRR(width=0.3), HKRR(noise=-1), HJZ(eta=0), HJZ(width=0), HJZ(min_mass=1), HJZ(rounds=-1)],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused(method):
    with pytest.raises(InputError):
        method.fit([0.1, 0.9], [0, 1])
