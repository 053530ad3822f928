"""Calibrators that look at noisy labels through flip rates: against slow references and planted truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calcore import metrics
from calcore.calibrators import (
    DEFAULT_NOISY,
    REGISTRY,
    WLMC,
    BayesianForwardPlatt,
    Blend,
    ForwardPlatt,
    InvertedIsotonic,
    Isotonic,
    LWCal,
    Platt,
    Sharpen,
)
from calcore.errors import InputError, NotIdentifiable
from calcore.evidence import compress
from calcore.harm import harm_check
from calcore.observation import Clean, Noisy
from calcore.observation.forward_model import (
    ForwardPrior,
    RecordedLabels,
    _Model,
    corrected_evidence,
)
from tests.calcore.samples import sample

GRID = np.linspace(0.001, 0.999, 201)
SPREADS = {"uniform": (1, 1), "ends": (0.5, 0.5), "middle": (2, 2), "narrow": (5, 5), "low": (2, 8)}


def flipped(n, rho0=0.15, rho1=0.25, a=2.0, c=-0.3, seed=0):
    """Scores whose events have rate sigmoid(a (logit p - c)), recorded with flips."""
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 2, n)
    rate = special.expit(a * (special.logit(score) - c))
    recorded = rng.random(n) < rho0 + (1 - rho0 - rho1) * rate
    return score, recorded.astype(int), special.expit(a * (special.logit(GRID) - c))


# --- forward Platt


@pytest.mark.parametrize("median, spread", [(1.0, 1.0), (2.0, 0.75)])
def test_forward_platt_is_at_the_mode(median, spread):
    score, label, _ = flipped(300)
    fitted = ForwardPlatt(slope_median=median, slope_spread=spread).fit(score, label)
    z = special.logit(np.clip(score, 1e-3, 1 - 1e-3))

    def minus_log_posterior(t):
        rates = np.exp([t[0], t[1], 0.0])
        rho0, rho1, rest = rates / rates.sum()
        q = rho0 + rest * special.expit(np.exp(t[2]) * z + t[3])
        prior = 0.1 * np.log(rho0) + 0.1 * np.log(rho1) + 2 * np.log(rest)
        prior += stats.norm.logpdf(t[2], np.log(median), spread) + stats.norm.logpdf(t[3])
        return -(np.log(np.where(label == 1, q, 1 - q)).sum() + prior)

    reference = min(
        (optimize.minimize(minus_log_posterior, start, method="Nelder-Mead",
                           options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000})
         for start in ([-1, -1, 0, 0], [-4, -4, 0.5, 0])),
        key=lambda found: found.fun,
    ).x  # fmt: skip
    assert fitted.a_ == pytest.approx(np.exp(reference[2]), abs=2e-4)
    assert fitted.b_ == pytest.approx(reference[3], abs=2e-4)
    rates = np.exp([reference[0], reference[1], 0.0])
    rates /= rates.sum()
    assert fitted.audit_.rates.rho0.value == pytest.approx(rates[0], abs=2e-4)
    assert fitted.audit_.rates.rho1.value == pytest.approx(rates[1], abs=2e-4)


def test_forward_platt_finds_what_was_planted():
    score, label, truth = flipped(60_000)
    fitted = ForwardPlatt().fit(score, label)
    np.testing.assert_allclose(fitted.predict(GRID), truth, atol=0.03)
    for rate, planted in ((fitted.audit_.rates.rho0, 0.15), (fitted.audit_.rates.rho1, 0.25)):
        assert rate.interval[0] < planted < rate.interval[1]
    assert metrics.auc(Clean().evidence(fitted.predict(score), label)).value == pytest.approx(
        metrics.auc(Clean().evidence(score, label)).value, abs=1e-6
    )


def test_forward_platt_with_known_rates_is_platt_on_corrected_labels():
    score, label, _ = flipped(2000)
    evidence = Noisy(0.15, 0.25).evidence(score, label)
    fitted = ForwardPlatt().fit(evidence)
    np.testing.assert_array_equal(fitted.predict(GRID), Platt(clip=1e-3).fit(evidence).predict(GRID))
    assert not hasattr(fitted, "audit_")


# --- Bayesian forward Platt


def by_grid(score, label, method):
    """Map values at five scores and the probabilities of the three explanations, by brute force."""
    shares = (np.arange(30) + 0.5) / 30
    log_a = np.log(method.slope_median) + method.slope_spread * np.linspace(-4, 4, 41)
    shift = method.shift_spread * np.linspace(-4, 4, 25)
    first, second, rest = method.rates
    rho0 = np.repeat(shares, 30)
    rho1 = (1 - rho0) * np.tile(shares, 30)
    of_rates = (
        stats.beta.logpdf(np.repeat(shares, 30), first, second + rest)
        + stats.beta.logpdf(np.tile(shares, 30), second, rest)
        - 2 * np.log(30)
    )
    z, at = special.logit(score), special.logit(np.array([0.05, 0.3, 0.5, 0.7, 0.95]))

    def likelihood(curve):  # curve (rows,) -> (rates,)
        q = rho0[:, None] + (1 - rho0 - rho1)[:, None] * curve
        return np.log(np.where(label == 1, q, 1 - q)).sum(axis=1)

    total, value = [], []
    for la in log_a:
        for c in shift:
            of_curve = stats.norm.logpdf(la, np.log(method.slope_median), method.slope_spread)
            of_curve += stats.norm.logpdf(c, 0, method.shift_spread)
            of_curve += np.log((log_a[1] - log_a[0]) * (shift[1] - shift[0]))
            total.append(
                special.logsumexp(likelihood(special.expit(np.exp(la) * (z - c))) + of_rates) + of_curve
            )
            value.append(special.expit(np.exp(la) * (at - c)))
    curve = special.logsumexp(total)
    mean = np.exp(np.array(total) - curve) @ np.array(value)
    noisy = special.logsumexp(likelihood(score) + of_rates)
    right = np.log(np.where(label == 1, score, 1 - score)).sum()
    prior = np.log(
        [1 - method.calibrated - method.calibrated_noisy, method.calibrated, method.calibrated_noisy]
    )
    probability = special.softmax(prior + np.array([curve, right, noisy]))
    return probability[0] * mean + (1 - probability[0]) * special.expit(at), probability


@pytest.mark.parametrize("planted", ["flips", "right"])
def test_bayesian_forward_platt_is_the_posterior_mean(planted):
    rng = np.random.default_rng(1)
    if planted == "flips":
        score, label, _ = flipped(80)
    else:
        score = rng.beta(2, 2, 80)
        label = (rng.random(80) < score).astype(int)
    method = BayesianForwardPlatt()
    expected, probability = by_grid(score, label, method)
    fitted = method.fit(score, label)
    audit = fitted.audit_
    np.testing.assert_allclose(fitted.predict([0.05, 0.3, 0.5, 0.7, 0.95]), expected, atol=0.006)
    np.testing.assert_allclose(
        [audit.curve, audit.calibrated, audit.calibrated_noisy], probability, atol=0.015
    )
    assert audit.effective_size > 100


def test_the_gradient_is_that_of_the_density():
    score, label, _ = flipped(50)
    some = np.where(np.arange(50) % 3 == 0, 1.0 - label * (np.arange(50) % 2), np.nan)
    prior = ForwardPrior((1.0, 1.0, 1.5), 4.0, 0.8, 0.5)
    point = np.array([-1.2, -0.7, 0.6, 0.2])
    for free_rates, free_curve in ((True, True), (True, False), (False, True)):
        evidence = Noisy(0.1, 0.2).evidence(score, label)
        if free_rates:
            evidence = corrected_evidence(Noisy(), score, label.astype(float), some)
        labels = RecordedLabels.of(evidence, 1e-5)
        model = _Model(labels, prior, free_rates, free_curve)
        here = point[: 2 if free_rates else 0].tolist() + point[2 if free_curve else 4 :].tolist()
        numeric = optimize.approx_fprime(
            np.array(here), lambda p, m=model: float(m.log_density(p[None])[0]), 1e-6
        )
        np.testing.assert_allclose(model.gradient(np.array(here)), numeric, rtol=1e-3, atol=1e-3)


def test_bayesian_forward_platt_finds_what_was_planted():
    score, label, truth = flipped(60_000)
    fitted = BayesianForwardPlatt().fit(score, label)
    np.testing.assert_allclose(fitted.predict(GRID), truth, atol=0.03)
    audit = fitted.audit_
    assert audit.curve > 0.999
    assert audit.rho0.interval[0] < 0.15 < audit.rho0.interval[1]
    assert audit.rho1.interval[0] < 0.25 < audit.rho1.interval[1]
    assert audit.slope_interval[0] < 2.0 < audit.slope_interval[1]


def test_bayesian_forward_platt_rises():
    score, label, _ = flipped(400)
    inner = np.linspace(1e-5, 1 - 1e-5, 5001)
    assert (np.diff(BayesianForwardPlatt().fit(score, label).predict(inner)) > 0).all()


@pytest.mark.parametrize("at, flips", [(0.5, 0.0), (0.97, 0.0), (0.3, 0.2)])
def test_a_step_is_followed_between_the_knots(at, flips):
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    label = (score > at) ^ (rng.random(20_000) < flips)
    method = BayesianForwardPlatt()
    fitted = method.fit(score, label)
    labels = RecordedLabels.of(Clean().evidence(score, label), 1e-5)
    curve = labels.posterior(ForwardPrior((1.0, 1.0, 1.5), 4.0, 0.8, 0.5), straight=False, seed=0)
    z = np.linspace(-11, 11, 20_001)
    exact = fitted.audit_.curve * curve.mean_curve(z) + (1 - fitted.audit_.curve) * special.expit(z)
    np.testing.assert_allclose(fitted.predict(special.expit(z)), exact, atol=0.001)


def test_a_thinly_sampled_posterior_is_warned_of(monkeypatch):
    monkeypatch.setattr("calcore.calibrators.bayesian_forward_platt.FEWEST_EFFECTIVE", 1e9)
    fitted = BayesianForwardPlatt().fit(*flipped(100)[:2])
    assert any("sampled thinly" in warning for warning in fitted.warnings_)


def test_known_rates_are_used():
    score, label, truth = flipped(20_000)
    fitted = BayesianForwardPlatt().fit(Noisy(0.15, 0.25).evidence(score, label))
    np.testing.assert_allclose(fitted.predict(GRID), truth, atol=0.03)
    assert fitted.audit_.rho0 is None
    assert fitted.audit_.calibrated_noisy == 0


def test_known_rates_of_groups_are_used():
    first, label_first, truth = flipped(20_000, rho0=0.05, rho1=0.4, seed=1)
    second, label_second, _ = flipped(20_000, rho0=0.3, rho1=0.1, seed=2)
    model = Noisy({"a": 0.05, "b": 0.3}, {"a": 0.4, "b": 0.1})
    evidence = model.evidence(
        np.concatenate([first, second]),
        np.concatenate([label_first, label_second]),
        flip_group=np.repeat(["a", "b"], 20_000),
    )
    np.testing.assert_allclose(BayesianForwardPlatt().fit(evidence).predict(GRID), truth, atol=0.03)


def test_collapsed_rows_give_the_same_map():
    score, label, _ = flipped(3000)
    score = np.round(score, 2).clip(0.01, 0.99)
    evidence = Noisy().evidence(score, label)
    one = BayesianForwardPlatt().fit(evidence)
    other = BayesianForwardPlatt().fit(compress(evidence)[0])
    np.testing.assert_allclose(one.predict(GRID), other.predict(GRID), atol=1e-6)


@pytest.mark.parametrize("scores", [np.repeat([0.0, 1.0], 30), np.full(60, 0.5), np.linspace(0, 1, 60) ** 9])
def test_scores_that_break_fits(scores):
    labels = np.arange(60) % 3 == 0
    for method in (BayesianForwardPlatt(), ForwardPlatt(), InvertedIsotonic(), Blend()):
        out = method.fit(scores, labels).predict(np.linspace(0, 1, 101))
        assert (out >= 0).all()
        assert (out <= 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", SPREADS)
def test_the_default_for_noisy_labels_leaves_scores_alone_that_are_right(name):
    score = stats.beta.ppf((np.arange(449) + 0.5) / 449, *SPREADS[name])
    evidence = Clean().evidence(score, np.arange(449) % 2)
    harm, of_platt = harm_check(DEFAULT_NOISY(), evidence), harm_check(Platt(), evidence)
    assert harm.at_n <= of_platt.at_n
    assert harm.at_large <= 0.01


# --- inverted isotonic


def test_inverted_isotonic_takes_the_flips_out_of_the_fit():
    score, label, _ = flipped(2000)
    of_recorded = Isotonic().fit(score, label).predict(GRID)
    expected = np.clip((of_recorded - 0.15) / 0.6, 0, 1)
    # where the fit is cut to [0, 1] the lines between knots differ
    inside = (of_recorded > 0.2) & (of_recorded < 0.7)
    given = InvertedIsotonic(0.15, 0.25).fit(score, label).predict(GRID)
    np.testing.assert_allclose(given[inside], expected[inside], atol=1e-9)
    known = InvertedIsotonic().fit(Noisy(0.15, 0.25).evidence(score, label))
    np.testing.assert_allclose(known.predict(GRID), given, atol=1e-9)
    assert (known.rho0_, known.rho1_) == (0.15, 0.25)


def test_inverted_isotonic_estimates_the_rates():
    score, label, truth = flipped(40_000)
    fitted = InvertedIsotonic().fit(score, label)
    assert fitted.rho0_ == pytest.approx(0.15, abs=0.05)
    middle = (GRID > 0.05) & (GRID < 0.95)
    np.testing.assert_allclose(fitted.predict(GRID)[middle], truth[middle], atol=0.08)


# --- blend and control


def test_a_blend_is_the_mean_of_two_maps():
    score, label, _ = flipped(500)
    one, other = ForwardPlatt().fit(score, label), LWCal().fit(score, label)
    expected = 0.75 * one.predict(GRID) + 0.25 * other.predict(GRID)
    blended = Blend(ForwardPlatt(), LWCal(), weight=0.25).fit(score, label)
    np.testing.assert_allclose(blended.predict(GRID), expected, atol=1e-12)
    fitted = Blend.of_fitted(one, other, weight=0.25)
    np.testing.assert_array_equal(fitted.predict(GRID), blended.predict(GRID))
    assert fitted.map_.parameters == blended.map_.parameters
    assert fitted.map_.parameters["second"]["calibrator"] == "LWCal"


def test_a_blend_can_be_cloned_and_its_parts_set():
    method = clone(Blend(Platt(), Isotonic())).set_params(first__C=2.0)
    assert method.first.C == 2.0
    score, label, _ = sample()
    method.fit(score, label)
    assert method.first_.C == 2.0
    assert not hasattr(method.first, "map_")


def test_what_cannot_be_blended_is_refused():
    score, label, _ = sample()
    fitted = Platt().fit(score, label)
    with pytest.raises(NotFittedError):
        Blend.of_fitted(fitted, Platt())
    with pytest.raises(InputError, match="different rows"):
        Blend.of_fitted(fitted, Platt().fit(score[:-1], label[:-1]))
    with pytest.raises(InputError, match="differs between subgroups"):
        Blend(Platt(), WLMC()).fit(score, label)
    with pytest.raises(InputError, match="weight"):
        Blend(weight=1.5).fit(score, label)


def test_sharpening_looks_at_no_label():
    score, label, _ = sample()
    one, other = Sharpen().fit(score, label), Sharpen().fit(score, 1 - label)
    np.testing.assert_array_equal(one.predict(GRID), other.predict(GRID))
    np.testing.assert_allclose(one.predict(GRID), special.expit(2.5 * special.logit(GRID)), atol=1e-12)


@pytest.mark.parametrize(
    "method",
    [Sharpen(factor=0), ForwardPlatt(slope_median=0), ForwardPlatt(slope_spread=float("nan")), InvertedIsotonic(0.1),
     BayesianForwardPlatt(calibrated=1), BayesianForwardPlatt(calibrated=-0.1), BayesianForwardPlatt(slope_median=-1),
     BayesianForwardPlatt(rates=(1, 1)), BayesianForwardPlatt(rates=(1, 0, 1)), BayesianForwardPlatt(clip=0.6)],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused(method):
    with pytest.raises(InputError):
        method.fit(*sample()[:2])


def test_rates_that_say_nothing_are_refused():
    with pytest.raises(NotIdentifiable):
        InvertedIsotonic(0.5, 0.5).fit(*sample()[:2])


# --- labels that were corrected because they looked wrong


def of_corrections(k, seed=0, n=5000):
    """Too sure scores, 8 % flips, the ``k`` labels that contradict the score most corrected; and fresh rows."""
    rng = np.random.default_rng(seed)

    def rows(size):
        z = rng.normal(-1.2, 1.2, size)
        return special.expit(1.8 * z + 0.3), (rng.random(size) < special.expit(z)).astype(float)

    score, truth = rows(n)
    recorded = np.where(rng.random(n) < 0.08, 1 - truth, truth)
    worst = np.argsort(-np.abs(recorded - score))[:k]
    checked = np.full(n, np.nan)
    checked[worst] = truth[worst]
    return corrected_evidence(Noisy(), score, recorded, checked), rows(50_000)


@pytest.mark.parametrize("name", ["BayesianForwardPlatt", "ForwardPlatt", "InvertedIsotonic"])
def test_corrections_of_suspicious_labels_do_no_harm(name):
    """What is corrected depends on score and label: counted as clean rows among noisy ones it would mislead them."""
    errors = []
    for k in (0, 100, 300, 1400):
        evidence, (score, truth) = of_corrections(k)
        fitted = REGISTRY[name]().fit(evidence)
        errors.append(metrics.ece(Clean().evidence(fitted.predict(score), truth)).value)
    assert max(errors) < 0.025


def test_corrections_tell_the_flip_rates():
    few, many = (BayesianForwardPlatt().fit(of_corrections(k)[0]).audit_ for k in (0, 1400))
    for before, after in ((few.rho0, many.rho0), (few.rho1, many.rho1)):
        assert np.ptp(after.interval) < np.ptp(before.interval)
        assert after.interval[0] < 0.08 < after.interval[1]


def test_corrected_evidence_keeps_both_labels():
    evidence, _ = of_corrections(100)
    checked = evidence.row_parameters["checked"] == 1
    assert checked.sum() == 100
    assert (evidence.label[~checked] == evidence.row_parameters["recorded"][~checked]).all()
    assert (evidence.label[checked] != evidence.row_parameters["recorded"][checked]).any()
    assert compress(evidence)[0].weight.sum() == 5000
