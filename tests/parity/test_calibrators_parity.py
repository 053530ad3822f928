"""Calibrators against the libraries that people know: the same input, the same number.

Needs requirements-parity.txt; each test is skipped with a reason where its library is not installed.
"""

from __future__ import annotations

import inspect
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn import calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from calcore.calibrators import Beta, Isotonic, Platt, Temperature, VennAbers
from calcore.errors import DoesNotExist
from calcore.maps import CalibrationMap
from calcore.observation import Clean, Noisy
from tests.calcore.samples import sample

#: Where the definition is the same, and where both sides stop an optimiser.
EXACT, OPTIMISED = 1e-9, 1e-6
GRID = np.linspace(0.001, 0.999, 999)


def inside(n: int, seed: int = 0, decimals: int = 3):
    """Scores away from 0 and 1, where libraries clip in different places; their labels and weights."""
    score, label, weight = sample(n, seed, decimals)
    return score.clip(0.002, 0.998), label, weight


@pytest.fixture
def venn_abers():
    """The package; it switches numpy's error state off for everybody when it is imported."""
    before = np.geterr()
    package = pytest.importorskip("venn_abers", reason="venn-abers is not installed: requirements-parity.txt")
    np.seterr(**before)
    return package


def logits(score):
    return special.logit(score)[:, None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_isotonic_is_scikit_learns(seed, weighted):
    score, label, weight = inside(1500, seed)
    weight = weight if weighted else None
    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(score, label, sample_weight=weight)
    ours = Isotonic().fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(GRID), peer.predict(GRID), atol=EXACT)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_smoothed_platt_is_the_sigmoid_of_calibrated_classifier(seed, weighted):
    """CalibratedClassifierCV(method="sigmoid") fits 1 / (1 + exp(A f + B)) with Platt's targets; f our log-odds.

    It stops L-BFGS at a gradient of 1e-6 of the sum over rows, so that its predictions are only that near.
    """
    score, label, weight = inside(800, seed)
    weight = weight if weighted else None
    peer = calibration._SigmoidCalibration().fit(logits(score).ravel(), label, sample_weight=weight)
    ours = Platt(smoothing=True).fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(GRID), peer.predict(logits(GRID).ravel()), atol=OPTIMISED)


@pytest.mark.parametrize("weighted", [False, True])
def test_platt_is_unpenalised_logistic_regression(weighted):
    score, label, weight = inside(800)
    weight = weight if weighted else None
    peer = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    peer.fit(logits(score), label, sample_weight=weight)
    ours = Platt().fit(score, label, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(GRID), peer.predict_proba(logits(GRID))[:, 1], atol=OPTIMISED)


@pytest.mark.parametrize("seed", range(3))
def test_temperature_is_that_of_calibrated_classifier(seed):
    scaling = getattr(calibration, "_TemperatureScaling", None)
    if scaling is None:
        pytest.skip("this scikit-learn has no temperature scaling: 1.8 or newer has")
    score, label, _ = inside(800, seed)
    assert "X" in inspect.signature(scaling.fit).parameters
    peer = scaling().fit(logits(score), label)
    np.testing.assert_allclose(
        Temperature().fit(score, label).predict(GRID), peer.predict(logits(GRID))[:, 1], atol=OPTIMISED
    )


@pytest.mark.parametrize("n, decimals", [(20, 1), (300, 1), (300, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_venn_abers_is_that_of_its_authors(venn_abers, n, decimals, seed):
    score, label, _ = sample(n, seed, decimals)
    points = np.concatenate([np.random.default_rng(seed).random(200), np.unique(score), [0.0, 1.0]])
    peer = venn_abers.VennAbers()
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # slopes over nothing, which it then leaves out
        peer.fit(np.column_stack([1 - score, score]), label)
        merged, interval = peer.predict_proba(np.column_stack([1 - points, points]))
    ours = VennAbers().fit(score, label)
    p0, p1 = ours.interval(points)
    np.testing.assert_allclose(p0, interval[:, 0], atol=EXACT)
    np.testing.assert_allclose(p1, interval[:, 1], atol=EXACT)
    np.testing.assert_allclose(ours.predict(points), merged[:, 1], atol=EXACT)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tight", [True, False])
def test_beta_is_that_of_its_authors(seed, tight, monkeypatch):
    """betacal stops at scikit-learn's default tolerance, 2e-4 from its own optimum; with a tight one it is ours."""
    betacal = pytest.importorskip("betacal", reason="betacal is not installed: requirements-parity.txt")
    if tight:
        exact = partial(LogisticRegression, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
        monkeypatch.setattr("betacal.beta_calibration.LogisticRegression", exact)
    score, label, _ = inside(1000, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = betacal.BetaCalibration(parameters="abm").fit(score[:, None], label)
        theirs, at_scores = peer.predict(GRID), peer.predict(score)
    ours = Beta(monotone=True).fit(score, label)
    np.testing.assert_allclose(ours.predict(GRID), theirs, atol=OPTIMISED if tight else 1e-3)
    assert log_loss(label, ours.predict(score)) <= log_loss(label, at_scores) + 1e-12


def test_mcgrads_map_is_the_prediction_of_its_authors_package():
    """The trees taken out of LightGBM, at fresh rows; and what the calibrator refuses or leaves alone."""
    pytest.importorskip("mcgrad", reason="mcgrad is not installed: requirements-parity.txt")
    from calcore.calibrators.mcgrad import MCGrad, _boosted

    rng = np.random.default_rng(0)
    score, masks = rng.random(1500), rng.random((1500, 2)) < 0.5
    label = (rng.random(1500) < np.clip(score + 0.2 * masks[:, 0] - 0.1, 0, 1)).astype(float)
    fitted = MCGrad().fit(Clean().evidence(score, label, groups=masks))
    assert fitted.rounds_ > 0
    table = pd.DataFrame(masks.astype(float), columns=["g0", "g1"]).assign(score=score)
    peer = _boosted(table.assign(label=label.astype(int), weight=1.0), ["g0", "g1"], 42)
    fresh = table.assign(score=rng.random(1500))
    theirs = peer.predict(fresh, "score", numerical_feature_column_names=["g0", "g1"])
    ours = fitted.predict(fresh["score"], masks)
    np.testing.assert_allclose(ours, theirs, atol=EXACT)
    back = CalibrationMap.from_json(fitted.map_.to_json())
    np.testing.assert_array_equal(back.predict(fresh["score"], masks), ours)
    with pytest.raises(DoesNotExist, match="corrected labels"):
        MCGrad().fit(Noisy(0.1, 0.2).evidence(score, label, groups=masks))
    few = MCGrad().fit(Clean().evidence(score[:50], label[:50], groups=masks[:50]))
    np.testing.assert_array_equal(few.predict(score, masks), score)
