"""Group-wise Platt: the penalised optimum, the chosen spread, and what it recovers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats

from calcore.calibrators import GroupPlatt, Platt
from calcore.calibrators.designs import Columns, GroupLines
from calcore.errors import InputError
from calcore.observation import PU, Clean


def grouped(n, seed=0, shifts=(0.0, 1.0, -1.0), levels=(1.0, 0.6), share=0.5):
    """Scores, labels, overlapping masks (two attributes), and the true rates."""
    rng = np.random.default_rng(seed)
    score = special.expit(rng.normal(0, 1.2, n))
    first, second = rng.integers(0, len(shifts), n), (rng.random(n) > share).astype(int)
    rate = special.expit(np.array(levels)[second] * special.logit(score) + np.array(shifts)[first])
    masks = np.column_stack([first[:, None] == np.arange(len(shifts)), second[:, None] == np.arange(2)])
    return score, (rng.random(n) < rate).astype(float), masks, rate


def test_products_of_a_design_of_group_lines_are_those_of_its_matrix():
    score, _, masks, _ = grouped(200)
    member = Clean().evidence(score, np.zeros(200), groups=masks).membership
    z = special.logit(score)
    lines = GroupLines(z, member.pattern, member.table.toarray())
    plain = Columns.of(np.column_stack([z, masks * z[:, None], masks]))
    rng = np.random.default_rng(1)
    w, v = rng.normal(size=plain.size), rng.random(200)
    np.testing.assert_allclose(lines.times(w), plain.times(w), atol=1e-12)
    np.testing.assert_allclose(lines.back(v), plain.back(v), atol=1e-12)
    np.testing.assert_allclose(lines.gram(v), plain.gram(v), atol=1e-12)


def test_it_is_the_penalised_optimum_of_a_general_solver():
    score, label, masks, _ = grouped(500)
    spread = 0.7
    fitted = GroupPlatt(spread=spread).fit(Clean().evidence(score, label, groups=masks))
    z = special.logit(score)
    standard = (z - z.mean()) / z.std()
    design = np.column_stack([standard, masks * standard[:, None], masks, np.ones(500)])

    def value(w):
        at = design @ w
        return np.logaddexp(0, at).sum() - label @ at + (w[1:-1] ** 2).sum() / (2 * spread**2)

    best = optimize.minimize(value, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(fitted.predict(score, masks), special.expit(design @ best), atol=1e-6)


def test_no_spread_is_platt_and_a_wide_one_a_fit_of_each_group():
    score, label, _, _ = grouped(3000)
    group = np.random.default_rng(2).integers(0, 2, 3000)
    label = np.where(group == 1, 1 - label, label)
    masks = group[:, None] == np.arange(2)
    evidence = Clean().evidence(score, label, groups=masks)
    none = GroupPlatt(spread=0).fit(evidence)
    np.testing.assert_allclose(none.predict(score), Platt().fit(score, label).predict(score), atol=1e-8)
    wide = GroupPlatt(spread=1000).fit(evidence)
    for g in (0, 1):
        own = Platt().fit(score[group == g], label[group == g])
        np.testing.assert_allclose(
            wide.predict(score, masks)[group == g], own.predict(score[group == g]), atol=1e-4
        )
    assert any("turns their ranking round" in warning for warning in wide.warnings_)


def test_the_marginal_likelihood_is_laplaces_by_numerical_curvature():
    """Against log N of the mode's Gaussian, with derivatives taken numerically, on two spreads."""
    score, label, _, _ = grouped(300)
    masks = (np.arange(300) % 3 == 0)[:, None]
    fitted = GroupPlatt().fit(Clean().evidence(score, label, groups=masks))
    z = special.logit(score)
    standard = (z - z.mean()) / z.std()
    design = np.column_stack([standard, masks * standard[:, None], masks, np.ones(300)])
    found = []
    for spread in fitted.audit_.spreads[[5, 12]]:

        def value(w, spread=spread):
            at = design @ w
            prior = -stats.norm.logpdf(w[1:3], scale=spread).sum()
            return fitted.audit_.worth * (np.logaddexp(0, at).sum() - label @ at) + prior

        mode = optimize.minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
        h, eye = 1e-3, np.eye(4)
        curvature = [
            [
                (value(mode + h * (a + b)) - value(mode + h * (a - b)) - value(mode - h * (a - b)) + value(mode - h * (a + b)))
                / (4 * h * h)
                for b in eye
            ]
            for a in eye
        ]  # fmt: skip
        found.append(-value(mode) - 0.5 * np.linalg.slogdet(np.array(curvature))[1])
    expected = fitted.audit_.log_marginal[12] - fitted.audit_.log_marginal[5]
    assert found[1] - found[0] == pytest.approx(expected, abs=1e-3)


def test_groups_that_do_not_differ_are_left_together_and_those_that_do_are_told_apart():
    same = grouped(4000, shifts=(0.0, 0.0, 0.0), levels=(1.0, 1.0))
    apart = grouped(4000)
    errors = []
    for score, label, masks, rate in (same, apart):
        fitted = GroupPlatt().fit(Clean().evidence(score, label, groups=masks))
        plain = Platt().fit(score, label)
        errors.append(
            (
                np.abs(fitted.predict(score, masks) - rate).mean(),
                np.abs(plain.predict(score) - rate).mean(),
                fitted.audit_.spread,
            )
        )
    assert errors[0][0] < errors[0][1] + 0.008
    assert errors[0][2] < 0.1
    assert errors[1][0] < 0.025 < errors[1][1] / 4
    assert errors[1][2] > 0.3


def test_a_group_of_few_rows_is_shrunk():
    score, label, _, _ = grouped(3000, shifts=(0.0,), levels=(1.0, 1.0))
    masks = np.zeros((3000, 3), dtype=bool)
    masks[:, 0] = np.arange(3000) % 2 == 0
    masks[:5, 2] = True
    label[:5] = 1.0
    fitted = GroupPlatt(spread=0.5).fit(Clean().evidence(score, label, groups=masks))
    assert 0 < abs(fitted.intercepts_[2]) < 0.6
    # nobody is in the second group: nothing is known of it
    assert fitted.slopes_[1] == pytest.approx(0, abs=1e-12)


def test_a_row_of_weight_two_is_the_row_twice():
    score, label, masks, _ = grouped(400)
    weight = np.random.default_rng(0).integers(1, 4, 400)
    twice = np.repeat(np.arange(400), weight)
    one = GroupPlatt().fit(Clean().evidence(score, label, weight=weight.astype(float), groups=masks))
    other = GroupPlatt().fit(Clean().evidence(score[twice], label[twice], groups=masks[twice]))
    assert one.audit_.spread == other.audit_.spread
    np.testing.assert_allclose(one.predict(score, masks), other.predict(score, masks), atol=1e-8)


@pytest.mark.slow
def test_the_spread_chosen_on_added_up_rows_is_that_of_the_rows(monkeypatch):
    score, label, masks, _ = grouped(30_000)
    evidence = Clean().evidence(score, label, groups=masks)
    quick = GroupPlatt().fit(evidence)
    monkeypatch.setattr("calcore.calibrators.group_platt.ADD_UP_ABOVE", 10**9)
    slow = GroupPlatt().fit(evidence)
    assert quick.audit_.spread == slow.audit_.spread
    np.testing.assert_allclose(quick.predict(score, masks), slow.predict(score, masks), atol=1e-5)


def test_weak_rows_are_worth_less_and_still_tell_groups_apart():
    rng = np.random.default_rng(0)
    score, label, masks, rate = grouped(60_000)
    prior = rate.mean()
    positive = np.flatnonzero(label == 1)[:10_000]
    rest = np.setdiff1d(np.arange(60_000), positive, assume_unique=True)
    unlabelled = rng.permutation(60_000)[:40_000]
    rows = np.concatenate([positive, unlabelled])
    evidence = PU(prior).evidence(
        score[rows], source=np.repeat(["positive", "unlabelled"], [10_000, 40_000]), groups=masks[rows]
    )
    fitted = GroupPlatt().fit(evidence)
    assert fitted.audit_.worth < 0.9
    assert np.abs(fitted.predict(score[rest], masks[rest]) - rate[rest]).mean() < 0.04


def test_without_subgroups_it_is_platt_and_says_so():
    score, label, _, _ = grouped(300)
    fitted = GroupPlatt().fit(score, label)
    np.testing.assert_allclose(fitted.predict(score), Platt().fit(score, label).predict(score), atol=1e-8)
    assert any("no subgroups" in warning for warning in fitted.warnings_)


@pytest.mark.parametrize("spread", [-1, float("nan"), float("inf")])
def test_an_unusable_spread_is_refused(spread):
    with pytest.raises(InputError):
        GroupPlatt(spread=spread).fit([0.1, 0.9], [0, 1])
