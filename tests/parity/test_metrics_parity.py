"""The same numbers as other libraries give, or a reason, with an example, why ours differ.

Needs requirements-parity.txt; a library that is not there is skipped.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn import metrics as sklearn_metrics
from sklearn.calibration import calibration_curve

from calcore import metrics
from calcore.observation import Clean

SAME = 1e-9
SAMPLES = ["distinct", "ties", "weights"]


def sample(kind):
    """Scores, labels that are off, and weights or None."""
    rng = np.random.default_rng(7)
    score = rng.beta(1, 2, 1500)
    if kind == "ties":
        score = score.round(2)
    score = np.clip(score, 0.001, 0.999)
    label = (rng.random(1500) < score**1.3).astype(float)
    return score, label, rng.gamma(2, size=1500) if kind == "weights" else None


def evidence(kind):
    score, label, weight = sample(kind)
    return Clean().evidence(score, label, weight=weight)


@pytest.fixture
def probcal():
    return pytest.importorskip(
        "probcal", reason="parity with probcal: pip install -r requirements-parity.txt"
    )


@pytest.fixture
def relplot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it sets filters and uses a deprecated name while it is imported
        return pytest.importorskip(
            "relplot", reason="parity with relplot: pip install -r requirements-parity.txt"
        )


# --- scikit-learn


@pytest.mark.parametrize("kind", SAMPLES)
def test_proper_scores_and_ranking_are_scikit_learns(kind):
    score, label, weight = sample(kind)
    found = evidence(kind)
    pairs = {
        "brier": sklearn_metrics.brier_score_loss(label, score, sample_weight=weight),
        "log_loss": sklearn_metrics.log_loss(label, score, sample_weight=weight),
        "auc": sklearn_metrics.roc_auc_score(label, score, sample_weight=weight),
        "macro_f1": sklearn_metrics.f1_score(label, score >= 0.5, average="macro", sample_weight=weight),
    }
    for name, expected in pairs.items():
        assert getattr(metrics, name)(found).value == pytest.approx(expected, abs=SAME), name


def test_the_reliability_table_is_scikit_learns():
    score, label, _ = sample("distinct")
    rate, mean = calibration_curve(label, score, n_bins=15)
    table = metrics.reliability(evidence("distinct"), 15)
    np.testing.assert_allclose(table.event_rate[table.occupied], rate, atol=SAME)
    np.testing.assert_allclose(table.mean_score[table.occupied], mean, atol=SAME)


def test_scikit_learn_puts_scores_on_an_edge_one_bin_low():
    """Its bins are closed above: .2 falls into .1 to .2, and .25 is alone in .2 to .3."""
    score, label = np.array([0.2, 0.25]), np.array([0, 1])
    assert len(calibration_curve(label, score, n_bins=10)[0]) == 2
    assert metrics.reliability(Clean().evidence(score, label), 10).occupied.sum() == 1


# --- probcal


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize(
    "ours, theirs",
    [
        (lambda e: metrics.ecce(e).value, lambda m, *a, **k: m.ecce(*a, **k).stat_max),
        (lambda e: metrics.spiegelhalter(e).value, lambda m, *a, **k: m.spiegelhalter_z(*a, **k).z),
        (lambda e: metrics.spiegelhalter(e).p_value, lambda m, *a, **k: m.spiegelhalter_z(*a, **k).p_value),
        (lambda e: metrics.calibration_slope(e).value, lambda m, *a, **k: m.calibration_slope(*a, **k)),
        (
            lambda e: metrics.calibration_intercept(e).value,
            lambda m, *a, **k: m.calibration_intercept(*a, **k),
        ),
        (lambda e: metrics.brier(e).value, lambda m, *a, **k: m.brier_score(*a, **k)),
        (lambda e: metrics.log_loss(e).value, lambda m, *a, **k: m.log_loss(*a, **k)),
        (lambda e: metrics.ece(e, 15).value, lambda m, *a, **k: m.ece(*a, n_bins=15, strategy="width", **k)),
    ],
    ids=["ecce", "spiegelhalter z", "spiegelhalter p", "slope", "intercept", "brier", "log loss", "ece"],
)
def test_values_are_probcals(probcal, ours, theirs, kind):
    score, label, weight = sample(kind)
    if kind == "ties":
        score = np.where(score * 15 % 1 == 0, score + 1e-3, score)  # off the edges of bins: see below
    found = ours(Clean().evidence(score, label, weight=weight))
    assert found == pytest.approx(theirs(probcal.metrics, label, score, sample_weight=weight), abs=SAME)


def test_equal_mass_bins_and_tests_over_them_are_probcals(probcal):
    score, label, _ = sample("distinct")
    found = metrics.hosmer_lemeshow(evidence("distinct"))
    expected = probcal.metrics.hosmer_lemeshow(label, score)
    assert found.value == pytest.approx(expected.statistic, abs=SAME)
    assert found.p_value == pytest.approx(expected.p_value, abs=SAME)
    assert found.degrees == expected.df
    assert metrics.adaptive_ece(evidence("distinct")).value == pytest.approx(
        probcal.metrics.ece(label, score, n_bins=15, strategy="mass"), abs=SAME
    )
    assert metrics.sweep_ece(evidence("distinct")).value == pytest.approx(
        probcal.metrics.ece_sweep(label, score), abs=SAME
    )


def test_a_heavy_row_weighs_in_equal_mass_bins(probcal):
    """probcal's quantiles do not see the weights, so that weight 2 is not the row twice; ours do."""
    score, label = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), np.array([0.0, 1, 0, 0, 1, 0])
    weight = np.array([1.0, 1, 1, 1, 1, 7])
    twice = np.repeat(np.arange(6), weight.astype(int))
    ours = metrics.adaptive_ece(Clean().evidence(score, label, weight=weight), 2).value
    assert ours == pytest.approx(metrics.adaptive_ece(Clean().evidence(score[twice], label[twice]), 2).value)
    theirs = [
        probcal.metrics.ece(label, score, n_bins=2, strategy="mass", sample_weight=weight),
        probcal.metrics.ece(label[twice], score[twice], n_bins=2, strategy="mass"),
    ]
    assert theirs[0] != pytest.approx(theirs[1], abs=1e-3)


def test_a_score_that_linspace_misplaces_is_in_its_own_bin(probcal):
    """linspace's 3/10 is .30000000000000004: a score of .3 falls one bin low."""
    score, label = np.array([0.25, 0.3]), np.array([1.0, 0.0])
    assert metrics.ece(Clean().evidence(score, label), 10).value == pytest.approx((0.75 + 0.3) / 2)
    assert probcal.metrics.ece(label, score, n_bins=10, strategy="width") == pytest.approx(0.225)


def test_the_joint_test_agrees_with_probcals_likelihood_ratio(probcal):
    """A score test here, a likelihood-ratio test there: the same limit, not the same number."""
    score, label, _ = sample("distinct")
    ours = metrics.recalibration_test(evidence("distinct"))
    theirs = probcal.metrics.calibration_test(label, score)
    assert ours.degrees == theirs.df == 2
    assert ours.value == pytest.approx(theirs.statistic, rel=0.15)


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_parts_of_scores_are_probcals(probcal, kind):
    score, label, weight = sample(kind)
    theirs = probcal.corp_reliability(label, score, sample_weight=weight, bands=None)
    for name, short in (("brier", "brier"), ("log loss", "log_loss")):
        ours = metrics.score_decomposition(evidence(kind), name)
        assert ours.miscalibration == pytest.approx(getattr(theirs, f"{short}_mcb"), abs=SAME)
        assert ours.discrimination == pytest.approx(getattr(theirs, f"{short}_dsc"), abs=SAME)
        assert ours.uncertainty == pytest.approx(getattr(theirs, f"{short}_unc"), abs=SAME)


# --- model-diagnostics


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_parts_of_scores_are_those_of_model_diagnostics(kind):
    scoring = pytest.importorskip(
        "model_diagnostics.scoring",
        reason="parity with model-diagnostics: pip install -r requirements-parity.txt",
    )
    score, label, weight = sample(kind)
    for name, function in (("brier", scoring.SquaredError()), ("log loss", scoring.LogLoss())):
        theirs = scoring.decompose(label, score, weights=weight, scoring_function=function)
        ours = metrics.score_decomposition(evidence(kind), name)
        assert ours.miscalibration == pytest.approx(theirs["miscalibration"][0], abs=SAME)
        assert ours.discrimination == pytest.approx(theirs["discrimination"][0], abs=SAME)
        assert ours.uncertainty == pytest.approx(theirs["uncertainty"][0], abs=SAME)
        assert ours.score == pytest.approx(theirs["score"][0], abs=SAME)


# --- relplot


@pytest.mark.parametrize("kind", ["distinct", "ties"])
def test_smooth_ece_is_relplots_up_to_its_grid(relplot, kind):
    """relplot finds the bandwidth by ten halvings and integrates over 200 points: within .001 of the fixed point."""
    score, label, _ = sample(kind)
    ours = metrics.smooth_ece(evidence(kind))
    assert ours.value == pytest.approx(relplot.metrics.smECE(score, label), abs=1e-3)


def test_relplots_grid_is_what_differs(relplot):
    """At a bandwidth that is given, quadrature of the definition gives our number, not that of 200 points."""
    score, label, _ = sample("distinct")
    score, label = score[:60], label[:60]
    t = np.linspace(0, 1, 20_001)
    density = sum(
        stats.norm.pdf(t[:, None], place, 0.05) @ (label - score) / 60
        for k in (-2, -1, 0, 1, 2)
        for place in (2 * k + score, 2 * k - score)
    )
    exact = integrate.trapezoid(np.abs(density), t)
    ours = metrics.smooth_ece(Clean().evidence(score, label), 0.05).value
    theirs = relplot.metrics.smECE_sigma(score, label, 0.05)
    assert ours == pytest.approx(exact, rel=2e-5)
    assert abs(theirs - exact) > 5 * abs(ours - exact)
