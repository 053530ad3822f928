"""The reliability table: intervals against scipy, by direct solving and by their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import PU, Clean, Noisy


def labelled(n=500, seed=0, model=None, **columns):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return (model or Clean()).evidence(score, rng.random(n) < score, **columns)


def unlabelled(n_positive=400, n_unlabelled=1000, seed=0, prior=0.5, **columns):
    """A calibrated uniform score: positives have density 2 f."""
    rng = np.random.default_rng(seed)
    score = np.concatenate([np.sqrt(rng.random(n_positive)), rng.random(n_unlabelled)])
    source = np.repeat(["positive", "unlabelled"], [n_positive, n_unlabelled])
    return PU(prior).evidence(score, source=source, **columns)


def test_three_bins_with_an_empty_one():
    table = metrics.reliability(Clean().evidence([0.9, 0.8, 0.2], [1, 1, 0]), bins=3)
    assert len(table) == 3
    np.testing.assert_array_equal(table.rows, [1, 0, 2])
    np.testing.assert_array_equal(table.occupied, [True, False, True])
    assert np.isnan(table.mean_score[1])
    assert np.isnan(table.event_rate[1])
    assert np.isnan(table.lower[1])
    np.testing.assert_allclose(table.mean_score[[0, 2]], [0.2, 0.85])


def test_wilson_is_scipys():
    evidence = labelled()
    table = metrics.reliability(evidence, 10)
    key = metrics.Bins.equal_width(10).index(evidence.score)
    for j in range(10):
        k, n = int(evidence.label[key == j].sum()), int((key == j).sum())
        expected = stats.binomtest(k, n).proportion_ci(method="wilson")
        assert (table.lower[j], table.upper[j]) == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert table.event_rate[j] == pytest.approx(k / n)


def test_weights_count_at_their_effective_number():
    rng = np.random.default_rng(0)
    weight = rng.gamma(2, size=500)
    evidence = labelled(weight=weight)
    table = metrics.reliability(evidence, 4)
    key = metrics.Bins.equal_width(4).index(evidence.score)
    for j in range(4):
        v, y = weight[key == j], evidence.label[key == j]
        effective, rate = v.sum() ** 2 / (v**2).sum(), (v @ y) / v.sum()
        z = stats.norm.ppf(0.975)
        # the ends of Wilson's interval solve (rate - r)^2 = z^2 r (1 - r) / effective
        for end in (table.lower[j], table.upper[j]):
            assert (rate - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / effective, rel=1e-9)


def test_a_bin_of_one_row_or_of_one_class_has_an_interval_with_width():
    table = metrics.reliability(Clean().evidence([0.05, 0.95, 0.96], [0, 1, 1]), 10)
    for j in (0, 9):
        assert table.too_few[j]
        assert table.upper[j] - table.lower[j] > 0.4
        assert table.lower[j] <= table.event_rate[j] <= table.upper[j]


def test_an_all_negative_bin_of_each_model_has_width_and_contains_the_estimate():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.random(50) / 10, 0.5 + rng.random(450) / 2])
    label = np.concatenate([np.zeros(50), rng.random(450) < 0.7])
    group = rng.choice(["a", "b"], 500)
    per_group = Noisy({"a": 0.05, "b": 0.1}, 0.1)
    source = np.where(label == 1, "positive", "unlabelled")
    for evidence in (
        Clean().evidence(score, label),
        Noisy(0.05, 0.1).evidence(score, label),
        per_group.evidence(score, label, flip_group=group),
        PU(0.3).evidence(score, source=source),
    ):
        table = metrics.reliability(evidence, 10)
        assert table.upper[0] - table.lower[0] > 0.01, evidence.model
        assert table.lower[0] - 1e-12 <= table.event_rate[0] <= table.upper[0], evidence.model


def test_recorded_rates_that_the_flip_rates_contradict_are_kept_and_marked():
    """0 of 50 recorded with rho0 .2 and rho1 .1: the interval of the event rate is [-.29, -.18]."""
    table = metrics.reliability(Noisy(0.2, 0.1).evidence(np.full(50, 0.15), np.zeros(50)), 10)
    assert (table.lower[1], table.upper[1]) == pytest.approx((-0.29, -0.18), abs=0.01)
    assert table.contradiction[1]


def test_a_rare_event_is_no_contradiction():
    """With the right flip rates the interval of a rare event reaches below 0 in half of all samples."""
    rng = np.random.default_rng(0)
    score = np.full(400, 0.01)
    recorded = rng.random(400) < np.where(rng.random(400) < 0.01, 0.9, 0.2)
    table = metrics.reliability(Noisy(0.2, 0.1).evidence(score, recorded), 10)
    assert table.lower[0] < 0 < table.upper[0]
    assert not table.contradiction[0]


def test_noisy_interval_is_wilsons_through_the_correction():
    evidence = labelled(model=Noisy(0.2, 0.1))
    noisy = metrics.reliability(evidence, 5)
    plain = metrics.reliability(Clean().evidence(evidence.score, evidence.label), 5)
    for name in ("lower", "upper", "event_rate"):
        np.testing.assert_allclose(getattr(noisy, name), (getattr(plain, name) - 0.2) / 0.7, atol=1e-12)


def test_fieller_ends_solve_their_equation():
    evidence = unlabelled()
    table = metrics.reliability(evidence, 4)
    key = metrics.Bins.equal_width(4).index(evidence.score)
    z = stats.norm.ppf(0.975)

    def excess(r, j):
        # P - r M is a difference of two independent means: its variance by the definition
        terms = np.where(key == j, evidence.positive - r * evidence.mass, 0.0)
        total = 0.0
        for s in range(2):
            t = terms[evidence.source == s]
            total += t.size * t.var(ddof=1)
        return terms.sum() ** 2 - z**2 * total

    for j in range(4):
        middle = table.event_rate[j]
        low = optimize.brentq(excess, middle - 1, middle, args=(j,))
        high = optimize.brentq(excess, middle, middle + 2, args=(j,))
        assert (table.lower[j], table.upper[j]) == pytest.approx((low, high), abs=1e-9)


def test_fieller_is_absent_where_the_mass_is_not_separated_from_zero():
    score = np.concatenate([np.full(50, 0.9), np.full(200, 0.1), [0.9]])
    source = np.repeat(["positive", "unlabelled"], [50, 201])
    table = metrics.reliability(PU(0.3).evidence(score, source=source), 2)
    assert np.isnan(table.lower[1])
    assert np.isfinite(table.lower[0])


@pytest.mark.parametrize("kind", ["wilson", "noisy", "fieller", "weights"])
def test_intervals_cover(kind):
    hits = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        if kind == "fieller":
            table = metrics.reliability(unlabelled(300, 600, seed), 5)
        elif kind == "weights":
            evidence = labelled(400, seed, weight=rng.gamma(4, size=400))
            table = metrics.reliability(evidence, 5)
        elif kind == "noisy":
            score = rng.random(400)
            recorded = rng.random(400) < 0.2 + 0.7 * score
            table = metrics.reliability(Noisy(0.2, 0.1).evidence(score, recorded), 5)
        else:
            table = metrics.reliability(labelled(400, seed), 5)
        expected = (np.arange(5) + 0.5) / 5
        hits.append((table.lower <= expected) & (expected <= table.upper))
    assert 0.925 < np.mean(hits) < 0.98


def test_units_widen_intervals():
    rng = np.random.default_rng(0)
    customer = np.repeat(np.arange(60), 10)
    score = np.repeat(rng.random(60), 10)
    label = np.repeat(rng.random(60), 10) < score  # a customer's rows have one label
    alone, together = Clean().evidence(score, label), Clean().evidence(score, label, unit=customer)
    one, other = metrics.reliability(alone, 2), metrics.reliability(together, 2)
    assert ((other.upper - other.lower) > 2 * (one.upper - one.lower)).all()


@pytest.mark.parametrize("evidence", [labelled(), unlabelled()], ids=["Wilson", "Fieller"])
def test_levels_differ(evidence):
    narrow, wide = (metrics.reliability(evidence, 4, level=level) for level in (0.8, 0.99))
    assert (narrow.lower > wide.lower).all()
    assert (narrow.upper < wide.upper).all()
    assert (narrow.level, wide.level) == (0.8, 0.99)
    with pytest.raises(InputError, match="level"):
        metrics.reliability(evidence, 4, level=95)


def test_a_constant_score_is_one_point():
    table = metrics.reliability(Clean().evidence([0.5] * 30, [0, 1] * 15), 10)
    assert table.occupied.sum() == 1
    assert table.mean_score[5] == pytest.approx(0.5)


def test_scores_of_only_zero_and_one_occupy_two_bins():
    table = metrics.reliability(Clean().evidence([0, 1, 1, 0], [0, 1, 0, 1]), 10)
    np.testing.assert_array_equal(np.flatnonzero(table.occupied), [0, 9])


def test_one_class_still_has_a_table():
    table = metrics.reliability(Clean().evidence([0.1, 0.2], [0, 0]), 10)
    assert table.event_rate[1] == 0
    assert metrics.ece(Clean().evidence([0.1, 0.2], [0, 0]), 10).value == pytest.approx(0.15)


def test_the_table_twin_has_every_bin():
    frame = metrics.reliability(labelled(), 7).to_frame()
    assert len(frame) == 7
    assert {"rows", "event_rate", "lower", "upper", "too_few"} <= set(frame.columns)
