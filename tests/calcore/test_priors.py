"""The class prior and flip rates: from audited rows, and from scores under stated assumptions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from calcore.errors import InputError, NotIdentifiable
from calcore.observation.priors import (
    flip_rates_from_audit,
    flip_rates_from_confident_joint,
    flip_rates_from_extremes,
    flip_rates_from_forward_platt,
    prior_from_best_bin,
    prior_from_elkan_noto,
    prior_from_label_shift,
)


def test_flip_rates_are_counted_within_the_true_class():
    audit = np.array([0, 0, 0, 0, 1, 1, np.nan, 1.0])
    labels = np.array([1, 0, 0, 0, 0, 1, 1, np.nan])
    found = flip_rates_from_audit(labels, audit)
    assert found.rho0.value == 0.25
    assert found.rho1.value == 0.5
    assert found.rho0.n == 4
    assert found.rho1.n == 2
    assert found.disagreement.value == pytest.approx(2 / 6)
    assert found.rho1.interval[0] < 0.5 < found.rho1.interval[1]


def test_the_intervals_cover_the_true_rates():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        true = (rng.random(400) < 0.3).astype(float)
        flips = rng.random(400) < np.where(true == 1, 0.2, 0.05)
        found = flip_rates_from_audit(np.where(flips, 1 - true, true), true)
        inside.append(found.rho1.interval[0] <= 0.2 <= found.rho1.interval[1])
    assert 0.92 < np.mean(inside) < 0.98


def test_an_audit_of_one_class_says_which_rate_is_missing():
    with pytest.raises(InputError, match="truly positive"):
        flip_rates_from_audit([0, 1, 0], [0, 0, 0])


# --- the class prior from scores


def classes_apart(rng, n, prior):
    """Scores of known positives and of unlabelled rows; only positives score above .5."""
    y = rng.random(n) < prior
    known = 0.5 + 0.5 * rng.beta(3, 2, n)
    return known, np.where(y, 0.5 + 0.5 * rng.beta(3, 2, n), 0.5 * rng.beta(2, 3, n))


def positives_on_top(rng, n, prior):
    """Positives at all scores, negatives only below .6."""
    y = rng.random(n) < prior
    return rng.beta(4, 2, n), np.where(y, rng.beta(4, 2, n), 0.6 * rng.beta(2, 4, n))


def shifted(rng, n, prior, trained=0.5):
    """Scores calibrated at the prior ``trained`` of rows whose prior is another."""
    x = rng.normal(np.where(rng.random(n) < prior, 1, -1), 1)
    return special.expit(2 * x + special.logit(trained))


def found_in(draws, estimate):
    """Mean of the values, and the share of intervals around a truth, over seeded draws."""
    found = [estimate(np.random.default_rng(seed)) for seed in range(draws)]
    return np.mean([one.value for one in found]), lambda truth: np.mean(
        [one.interval[0] <= truth <= one.interval[1] for one in found]
    )


@pytest.mark.parametrize("rows", [classes_apart, positives_on_top])
@pytest.mark.parametrize("prior", [0.1, 0.3])
def test_best_bin_finds_the_prior_where_the_top_is_pure(rows, prior):
    value, cover = found_in(200, lambda rng: prior_from_best_bin(*rows(rng, 2000, prior)))
    assert value == pytest.approx(prior, abs=0.005)
    assert 0.9 < cover(prior) < 0.99


def test_best_bin_is_too_high_where_negatives_reach_the_top_and_says_so():
    def estimate(rng):
        y = rng.random(2000) < 0.3
        return prior_from_best_bin(
            rng.beta(4, 2, 2000), np.where(y, rng.beta(4, 2, 2000), rng.beta(2, 4, 2000))
        )

    value, cover = found_in(50, estimate)
    assert value > 0.33
    assert cover(0.3) < 0.5
    assert "too high" in " ".join(estimate(np.random.default_rng(0)).assumptions)


def test_elkan_noto_finds_the_prior_of_classes_that_do_not_overlap():
    value, cover = found_in(60, lambda rng: prior_from_elkan_noto(*classes_apart(rng, 800, 0.3), draws=100))
    assert value == pytest.approx(0.3, abs=0.01)
    assert cover(0.3) > 0.88
    overlapping = prior_from_elkan_noto(*positives_on_top(np.random.default_rng(0), 2000, 0.3))
    assert overlapping.interval[0] > 0.3


def test_elkan_noto_is_seeded():
    rows = classes_apart(np.random.default_rng(0), 100, 0.3)
    first, again, other = (prior_from_elkan_noto(*rows, seed=seed, draws=50) for seed in (1, 1, 2))
    assert first == again
    assert first.interval != other.interval


@pytest.mark.parametrize("n, prior", [(50, 0.02), (50, 0.1), (500, 0.3), (500, 0.9)])
def test_label_shift_finds_the_prior(n, prior):
    value, cover = found_in(1000, lambda rng: prior_from_label_shift(shifted(rng, n, prior), 0.5))
    assert value == pytest.approx(prior, abs=0.012)
    assert 0.92 < cover(prior) <= 0.99


def test_label_shift_is_the_fixed_point_of_the_em():
    scores = shifted(np.random.default_rng(2), 400, 0.2, trained=0.4)
    prior = prior_from_label_shift(scores, 0.4).value
    one, zero = prior / 0.4 * scores, (1 - prior) / 0.6 * (1 - scores)
    assert np.mean(one / (one + zero)) == pytest.approx(prior, abs=1e-9)


def test_label_shift_with_scores_of_0_and_1_counts_them():
    found = prior_from_label_shift([0.0] * 30 + [1.0] * 10, 0.5)
    assert found.value == pytest.approx(0.25)
    assert found.interval == pytest.approx((0.134, 0.397), abs=2e-3)
    assert prior_from_label_shift([1.0, 1.0], 0.5).interval[1] == pytest.approx(1)
    with pytest.raises(NotIdentifiable, match="say nothing"):
        prior_from_label_shift([0.4, 0.4], 0.4)


@pytest.mark.parametrize("estimate", [prior_from_best_bin, prior_from_elkan_noto])
def test_priors_from_hardly_any_rows_are_wide_or_refused(estimate):
    for known, pool in (([0.5], [0.5]), ([0.9], [0.1]), ([0.2], [0.9]), ([1.0] * 3, [0.0] * 3)):
        low, high = estimate(known, pool).interval
        assert 0 <= low <= high <= 1
        assert high - low > 0.5
    with pytest.raises(InputError, match="known positive: empty"):
        estimate([], [0.5])
    with pytest.raises(InputError, match="unlabelled row outside"):
        estimate([0.5], [1.5])


def test_many_distinct_scores_are_added_up():
    known, pool = classes_apart(np.random.default_rng(0), 60_000, 0.3)
    assert prior_from_best_bin(known, pool).value == pytest.approx(0.3, abs=0.01)


# --- flip rates from scores


def recorded(rng, y, rho0, rho1):
    return (rng.random(y.size) < np.where(y, 1 - rho1, rho0)).astype(float)


def sure_scores(rng, n, rho0=0.15, rho1=0.25):
    y = rng.random(n) < 0.4
    return np.where(y, 1 - 0.1 * rng.random(n), 0.1 * rng.random(n)), recorded(rng, y, rho0, rho1)


def platt_scores(rng, n, rho0=0.2, rho1=0.1, slope=1.5):
    score = rng.random(n)
    y = rng.random(n) < special.expit(slope * special.logit(np.clip(score, 1e-9, 1 - 1e-9)) + 0.3)
    return score, recorded(rng, y, rho0, rho1)


@pytest.mark.parametrize(
    "estimate",
    [lambda f, y: flip_rates_from_confident_joint(f, y, draws=100), flip_rates_from_extremes],
    ids=["confident joint", "extremes"],
)
def test_flip_rates_from_sure_scores(estimate):
    found = [estimate(*sure_scores(np.random.default_rng(seed), 1500)) for seed in range(80)]
    truth = {"rho0": 0.15, "rho1": 0.25, "disagreement": 0.15 * 0.6 + 0.25 * 0.4}
    for name, value in truth.items():
        rates = [getattr(one, name) for one in found]
        assert np.mean([rate.value for rate in rates]) == pytest.approx(value, abs=0.01)
        assert np.mean([rate.interval[0] <= value <= rate.interval[1] for rate in rates]) > 0.88


def test_flip_rates_from_unsure_scores_are_too_high_at_the_extremes():
    rng = np.random.default_rng(0)
    score = rng.beta(5, 5, 5000)
    y = rng.random(5000) < score
    found = flip_rates_from_extremes(score, recorded(rng, y, 0.1, 0.1))
    assert found.rho0.interval[0] > 0.1
    assert "too high" in found.rho0.assumptions[-1]


@pytest.mark.slow
def test_forward_platt_finds_the_flip_rates():
    found = [
        flip_rates_from_forward_platt(*platt_scores(np.random.default_rng(seed), 2000)) for seed in range(20)
    ]
    for name, value in (("rho0", 0.2), ("rho1", 0.1)):
        rates = [getattr(one, name) for one in found]
        assert np.mean([rate.value for rate in rates]) == pytest.approx(value, abs=0.015)
        assert np.mean([rate.interval[0] <= value <= rate.interval[1] for rate in rates]) >= 0.84
        assert np.mean([rate.interval[1] - rate.interval[0] for rate in rates]) < 0.2


def test_forward_platt_is_at_the_mode_of_its_posterior():
    """Against a plain search over all four parameters of the posterior as it is printed."""
    score, labels = platt_scores(np.random.default_rng(5), 400)
    z = special.logit(np.clip(score, 1e-3, 1 - 1e-3))

    def minus_log_posterior(theta):
        rho0, rho1, rest = special.softmax([theta[0], theta[1], 0.0])
        q = rho0 + rest * special.expit(np.exp(theta[2]) * z + theta[3])
        fit = np.where(labels == 1, np.log(q), np.log1p(-q)).sum()
        prior = 0.1 * np.log(rho0) + 0.1 * np.log(rho1) + 2 * np.log(rest)
        return -(fit + prior - theta[2] ** 2 / 2 - theta[3] ** 2 / 2)

    best = optimize.minimize(
        minus_log_posterior,
        [-2, -2, 0, 0],
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000},
    ).x
    expected = special.softmax([best[0], best[1], 0.0])
    found = flip_rates_from_forward_platt(score, labels)
    assert found.rho0.value == pytest.approx(expected[0], abs=1e-4)
    assert found.rho1.value == pytest.approx(expected[1], abs=1e-4)


def test_forward_platt_of_clean_labels_reaches_down_to_0():
    found = flip_rates_from_forward_platt(*platt_scores(np.random.default_rng(0), 2000, 0, 0))
    assert found.rho0.interval[0] == found.rho1.interval[0] == found.disagreement.interval[0] == 0
    assert found.rho0.interval[1] < 0.06


def test_forward_platt_adds_up_many_scores():
    score, labels = platt_scores(np.random.default_rng(0), 40_000)
    assert flip_rates_from_forward_platt(score, labels).rho0.value == pytest.approx(0.2, abs=0.03)


@pytest.mark.slow
def test_forward_platt_counts_weights():
    """Rows recorded 0 drawn a third as often, weighted back: the rates are those of the population."""
    inside = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        score, labels = platt_scores(rng, 3000)
        chance = np.where(labels == 1, 0.9, 0.3)
        kept = rng.random(3000) < chance
        found = flip_rates_from_forward_platt(score[kept], labels[kept], 1 / chance[kept])
        inside.append(
            [
                rate.interval[0] <= value <= rate.interval[1]
                for rate, value in ((found.rho0, 0.2), (found.rho1, 0.1))
            ]
        )
    assert found.rho0.n == kept.sum()
    # 50 intervals of .95: two standard errors are .06
    assert np.mean(inside) >= 0.88


def test_the_scale_of_weights_moves_no_flip_rate_and_frequencies_are_rows():
    rng = np.random.default_rng(1)
    score, labels = platt_scores(rng, 500)
    weight = rng.integers(0, 4, 500).astype(float)
    one, other = (flip_rates_from_forward_platt(score, labels, w) for w in (weight, 50 * weight))
    assert one.rho0.interval == pytest.approx(other.rho0.interval, abs=1e-5)
    assert one.rho0.n == (weight > 0).sum()
    rows = np.repeat(np.arange(500), weight.astype(int))
    repeated = flip_rates_from_forward_platt(score[rows], labels[rows])
    frequent = flip_rates_from_forward_platt(score, labels, weight, weighting="frequency")
    assert frequent.rho1.interval == pytest.approx(repeated.rho1.interval, abs=1e-5)
    assert np.ptp(frequent.rho1.interval) < np.ptp(one.rho1.interval)
    with pytest.raises(InputError, match="no row is recorded as 1"):
        flip_rates_from_forward_platt([0.2, 0.8], [0, 1], [1, 0])
    with pytest.raises(InputError, match="weighting"):
        flip_rates_from_forward_platt([0.2, 0.8], [0, 1], weighting="none")


FROM_SCORES = [flip_rates_from_confident_joint, flip_rates_from_extremes, flip_rates_from_forward_platt]


@pytest.mark.parametrize("estimate", FROM_SCORES)
def test_flip_rates_from_one_class_or_unusable_rows_are_refused(estimate):
    with pytest.raises(InputError, match="no row is recorded as 0"):
        estimate([0.2, 0.8, 0.5], [1, 1, np.nan])
    with pytest.raises(InputError, match="no row is recorded as 1"):
        estimate([0.2, 0.8], [0, 0])
    with pytest.raises(InputError, match="NaN"):
        estimate([0.2, np.nan], [0, 1])
    with pytest.raises(InputError, match="score: empty"):
        estimate([], [])


@pytest.mark.parametrize("estimate", FROM_SCORES)
@pytest.mark.parametrize(
    "scores, labels",
    [([0.1, 0.9], [0, 1]), ([0.1, 0.9], [1, 0]), ([0.0, 0.5, 1.0], [0, 1, 0]), ([0, 0, 1, 1], [0, 1, 1, 0])],
)
def test_flip_rates_of_hardly_any_rows_are_wide(estimate, scores, labels):
    found = estimate(scores, labels)
    for rate in (found.rho0, found.rho1):
        assert 0 <= rate.interval[0] <= rate.value <= rate.interval[1] <= 1
        assert rate.interval[1] - rate.interval[0] > 0.4


def test_flip_rates_of_scores_that_are_all_the_same():
    for estimate in (flip_rates_from_confident_joint, flip_rates_from_forward_platt):
        found = estimate([0.5] * 6, [0, 1] * 3)
        assert np.isfinite([found.rho0.value, found.rho1.value]).all()
    with pytest.raises(InputError, match="every score is the same"):
        flip_rates_from_extremes([0.5] * 6, [0, 1] * 3)
    for share in (0.6, 0, "x"):
        with pytest.raises(InputError, match="share"):
            flip_rates_from_extremes([0.2, 0.8], [0, 1], share=share)


@pytest.mark.parametrize("estimate", FROM_SCORES)
def test_flip_rates_say_their_method_and_what_they_assume(estimate):
    found = estimate(*sure_scores(np.random.default_rng(0), 300))
    for rate in (found.rho0, found.rho1, found.disagreement):
        assert rate.method != "audited rows"
        assert len(rate.assumptions) >= 2
