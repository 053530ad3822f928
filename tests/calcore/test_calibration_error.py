"""ECE and its kin: values by hand, noise floors by brute force, intervals by their coverage."""

from __future__ import annotations

import time

import numpy as np
import pytest

from calcore import metrics
from calcore.observation import PU, Clean, Noisy


@pytest.mark.parametrize(
    "scores, labels, bins, expected",
    [
        ([0.95, 1.0], [1, 0], 10, 0.475),
        ([0.01, 0.001, 0.005], [1, 1, 1], 15, 1 - 0.016 / 3),
        ([0.1, 0.2], [0, 0], 10, 0.15),
        ([0.5] * 4, [0, 0, 0, 1], 10, 0.25),
        ([0.5] * 4, [0, 0, 1, 1], 10, 0.0),
        ([0.5] * 4, [1, 0, 1, 0], 10, 0.0),
        ([0.4], [1], 10, 0.6),
        ([0.0, 1.0], [0, 1], 10, 0.0),
        ([0.0, 1.0], [1, 0], 10, 1.0),
    ],
)
def test_values_by_hand(scores, labels, bins, expected):
    evidence = Clean().evidence(scores, labels)
    found = metrics.ece(evidence, bins)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.debiased <= found.value + 1e-12
    if len(scores) < 4:
        assert found.interval is None
    else:
        assert 0 <= found.interval[0] <= found.interval[1] <= 1


def test_an_interval_is_never_of_no_width_or_impossible():
    """Few rows, one huge weight, tiny frequency weights, units: no interval, or one in order within [0, 1]."""
    rng = np.random.default_rng(0)
    score = rng.random(50)
    label = (rng.random(50) < score).astype(float)
    heavy = np.ones(50)
    heavy[0] = 1e12
    made = [
        Clean().evidence([0.5], [1]),
        Clean().evidence(score, label, weight=heavy),
        Clean().evidence([0.5, 0.5], [1, 0], weight=[1e-8] * 2, weighting="frequency"),
        Clean().evidence(score, label, unit=np.arange(50) // 8),
        Clean().evidence([1e-200] * 30 + [1.0] * 30, [0] * 30 + [1] * 30),
        PU(0.9).evidence(np.linspace(0.04, 0.95, 13), source=["positive"] * 3 + ["unlabelled"] * 10),
    ]
    for evidence in made:
        for name in ("ece", "mce", "adaptive_ece", "brier", "auc"):
            found = getattr(metrics, name)(evidence)
            if found.interval is not None:
                low, high = found.interval
                assert low <= high
                if not evidence.model.corrected:
                    assert low >= 0
                    assert high <= 1


def test_vanishing_scores_and_constant_unlabelled_ones_do_not_stop_a_metric():
    for scores in ([1e-200, 1.0] * 50, [1e-300] * 100, [1e-320] * 100):
        assert np.isfinite(metrics.ece(Clean().evidence(scores, np.array(scores) == 1.0)).noise_limit)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        source = np.where(np.arange(n) < max(n // 3, 1), "positive", "unlabelled")
        evidence = PU(0.6).evidence(rng.random(n), source=source)
        found = metrics.mce(evidence, 10)
        assert np.isnan(found.value) or found.value < 5


def test_the_error_is_of_the_positive_rate_not_of_accuracy():
    assert metrics.ece(Clean().evidence([0.01, 0.001, 0.005], [1, 1, 1])).value == pytest.approx(
        0.9947, abs=1e-4
    )


def test_mce_is_the_largest_gap_and_says_where():
    found = metrics.mce(Clean().evidence([0.05, 0.15, 0.55, 0.56], [0, 0, 0, 1]), 10)
    assert found.value == pytest.approx(0.15)
    assert found.where == "0.1 to 0.2"


def test_classwise_is_the_mean_of_both_classes():
    rng = np.random.default_rng(0)
    score = rng.random(500).round(1)
    label = rng.random(500) < score
    one = metrics.ece(Clean().evidence(score, label), 10).value
    other = metrics.ece(Clean().evidence(1 - score, ~label), 10).value
    assert metrics.classwise_ece(Clean().evidence(score, label), 10).value == pytest.approx((one + other) / 2)


METRICS = [
    metrics.ece,
    metrics.adaptive_ece,
    metrics.mce,
    metrics.classwise_ece,
    metrics.brier,
    metrics.log_loss,
    metrics.auc,
    metrics.macro_f1,
    metrics.max_ece,
    metrics.multicalibration_error,
]


@pytest.mark.parametrize("weighting", ["importance", "frequency"])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize("model", [Clean(), Noisy(0.2, 0.1), PU(0.4)], ids=str)
def test_weight_two_is_the_row_twice(metric, model, weighting):
    rng = np.random.default_rng(0)
    n = 400
    score, weight, groups = rng.random(n).round(2), rng.integers(1, 4, n), rng.random((n, 3)) < 0.5
    label = (rng.random(n) < score).astype(float)
    twice = np.repeat(np.arange(n), weight)
    if isinstance(model, PU):
        source = np.where(label == 1, "positive", "unlabelled")
        one = model.evidence(score, source=source, weight=weight, weighting=weighting, groups=groups)
        other = model.evidence(score[twice], source=source[twice], groups=groups[twice])
    else:
        one = model.evidence(score, label, weight=weight, weighting=weighting, groups=groups)
        other = model.evidence(score[twice], label[twice], groups=groups[twice])
    assert metric(one).value == pytest.approx(metric(other).value, abs=1e-12)
    if weighting == "frequency" and metric(one).standard_error is not None:
        assert metric(one).standard_error == pytest.approx(metric(other).standard_error, rel=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_odd_samples_give_no_warning_and_no_crash(metric):
    for scores, labels in (
        ([0.4], [1]),
        ([0.5] * 4, [0, 0, 1, 1]),
        ([0.1, 0.2], [0, 0]),
        ([0.1, 0.2], [1, 1]),
        ([0.0, 1.0, 1.0, 0.0], [0, 1, 0, 1]),
        ([0.0, 1.0], [0, 1]),
        ([1e-300, 1 - 1e-16], [1, 0]),
    ):
        found = metric(Clean().evidence(scores, labels))
        assert found.n == len(scores)
        assert np.isfinite(found.value) or found.notes


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_results_say_what_they_stand_on(metric):
    evidence = Noisy(0.1, 0.1).evidence([0.1, 0.6, 0.9], [0, 1, None], clipped=3, dropped=2)
    found = metric(evidence)
    assert (found.n, found.dropped, found.clipped) == (2, 3, 3)
    assert found.basis == "noise-corrected"
    assert found.assumptions


# --- simulations

GRID = np.linspace(0, 1, 200_001)
SHAPES = {
    "shift": lambda f: np.ones_like(f),
    "bend": lambda f: f * (1 - f) * (1 - 2 * f),
    "waves": lambda f: np.sin(6 * np.pi * f) * f * (1 - f),
    "one bin": lambda f: ((f >= 6 / 15) & (f < 7 / 15)).astype(float),
}


def miscalibrated(shape, truth, bins=15):
    """The event rate of a uniform score whose true binned ECE is ``truth``."""

    def rate(f, size):
        return np.clip(f + size * SHAPES[shape](f), 0, 1)

    def error(size):
        key = np.minimum((GRID * bins).astype(int), bins - 1)
        return np.abs(np.bincount(key, rate(GRID, size) - GRID)).sum() / GRID.size

    low, high = 0.0, 1.0 if truth else 0.0
    while truth and error(high) < truth:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if error(middle) < truth else (low, middle)
    return lambda f: rate(f, high)


def observed(model, rate, rng, n=2000):
    score = rng.random(n)
    y = rng.random(n) < rate(score)
    if isinstance(model, PU):
        pool = rng.random(3 * n)
        positive = pool[rng.random(3 * n) < rate(pool)][: n // 2]
        source = np.repeat(["positive", "unlabelled"], [positive.size, n])
        return PU(float(rate(GRID).mean())).evidence(np.r_[positive, score], source=source)
    if isinstance(model, Noisy):
        y = rng.random(n) < np.where(y, 1 - model.rho1, model.rho0)
    return model.evidence(score, y)


MODELS = [Clean(), Noisy(0.2, 0.1), PU(0.5)]


@pytest.mark.slow
@pytest.mark.parametrize("truth, shape", [(0.0, "shift"), *((t, s) for t in (0.01, 0.03) for s in SHAPES)])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_interval_covers_the_true_binned_error(model, truth, shape, capsys):
    rate = miscalibrated(shape, truth)
    found = [metrics.ece(observed(model, rate, np.random.default_rng(seed))) for seed in range(250)]
    covered = np.mean([one.interval[0] <= truth <= one.interval[1] for one in found])
    middle = np.median([one.debiased for one in found])
    with capsys.disabled():
        print(
            f"\nECE {truth:.2f} {shape:8} {model.name:5}: covered {covered:.3f}, plug-in "
            f"{np.mean([one.value for one in found]):.4f}, debiased {middle:.4f}, interval width "
            f"{np.mean([one.interval[1] - one.interval[0] for one in found]):.4f}"
        )
    assert covered >= 0.93
    plug_in_value = np.mean([one.value for one in found])
    if (
        truth == 0
    ):  # near 0 noise adds by the square: one percent of the floor moves the debiased value by a tenth of it
        assert middle < 0.4 * plug_in_value
    elif shape == "one bin":  # the noise is taken to lie where the error is seen: one bin is overstated
        assert truth < middle < plug_in_value
    else:
        assert middle == pytest.approx(truth, abs=0.005 if isinstance(model, Clean) else 0.011)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("metric", [metrics.ece, metrics.adaptive_ece, metrics.mce], ids=lambda m: m.__name__)
def test_noise_floors_are_what_samples_show(model, metric):
    rate = miscalibrated("shift", 0.0)
    # on the scores of one sample, labels drawn anew would do; new samples are the harder check
    found = metric(observed(model, rate, np.random.default_rng(999)))
    values = [plug_in(metric, observed(model, rate, np.random.default_rng(seed))) for seed in range(400)]
    assert found.noise_floor == pytest.approx(np.mean(values), rel=0.06)
    assert found.noise_limit == pytest.approx(
        np.quantile(values, 0.95), rel=0.15 if metric is metrics.mce else 0.1
    )


def plug_in(metric, evidence):
    strategy = "mass" if metric is metrics.adaptive_ece else "width"
    table = metrics.cells(evidence, 15, strategy)
    if metric is metrics.mce:
        return np.nanmax(np.abs(table.residual[0]))
    return np.abs(table.moment[0]).sum()


def test_a_calibrated_score_is_beyond_chance_in_one_of_twenty_samples():
    rate = miscalibrated("shift", 0.0)
    beyond = [
        metrics.ece(observed(Clean(), rate, np.random.default_rng(seed))).beyond_chance for seed in range(200)
    ]
    assert 0.015 < np.mean(beyond) < 0.09


def test_units_raise_the_noise_floor():
    rng = np.random.default_rng(0)
    score = np.repeat(rng.random(200), 10)
    label = np.repeat(rng.random(200), 10) < score
    alone = metrics.ece(Clean().evidence(score, label))
    together = metrics.ece(Clean().evidence(score, label, unit=np.repeat(np.arange(200), 10)))
    assert together.value == pytest.approx(alone.value, abs=1e-12)
    assert together.noise_floor > 2 * alone.noise_floor


def test_few_labels_are_drawn_one_by_one():
    """Twenty rows in fifteen bins: no normal approximation."""
    rng = np.random.default_rng(0)
    score = rng.random(20)
    found = metrics.ece(Clean().evidence(score, rng.random(20) < score))
    values = [
        plug_in(metrics.ece, Clean().evidence(score, np.random.default_rng(seed).random(20) < score))
        for seed in range(400)
    ]
    assert found.noise_floor == pytest.approx(np.mean(values), rel=0.03)


def test_the_same_evidence_gives_the_same_numbers():
    evidence = observed(Clean(), miscalibrated("bend", 0.02), np.random.default_rng(0))
    assert metrics.ece(evidence) == metrics.ece(evidence)


def test_an_interval_takes_no_noticeable_time():
    evidence = observed(Clean(), miscalibrated("bend", 0.02), np.random.default_rng(0))
    metrics.ece(evidence)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        metrics.ece(evidence)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05
