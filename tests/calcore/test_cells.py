"""Cells: errors against a slow reference, the test's false alarms, and the maxima over cells."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.metrics.uncertainty import holm
from calcore.observation import PU, Clean, Noisy, PosteriorConfidence
from calcore.subgroups import Membership

GROUPS = 10


def sample(kind, n=2000, seed=0, groups=GROUPS):
    """A calibrated uniform score in ten overlapping groups, observed in one of five ways."""
    rng = np.random.default_rng(seed)
    if kind == "PU":
        score = np.concatenate([np.sqrt(rng.random(n // 2)), rng.random(n)])
        source = np.repeat(["positive", "unlabelled"], [n // 2, n])
        return PU(0.5).evidence(score, source=source, groups=rng.random((score.size, groups)) < 0.3)
    score, masks = rng.random(n), rng.random((n, groups)) < 0.3
    label = rng.random(n) < score
    if kind == "Noisy":
        label = rng.random(n) < np.where(label, 0.9, 0.2)
        return Noisy(0.2, 0.1).evidence(score, label, groups=masks)
    if kind == "importance":
        return Clean().evidence(score, label, weight=rng.gamma(3, size=n), groups=masks)
    if kind == "frequency":
        return Clean().evidence(
            score, label, weight=rng.integers(1, 4, n), weighting="frequency", groups=masks
        )
    if kind == "units":
        # five rows a unit with a common shock to the event rate that averages to 0
        shock = np.repeat(rng.choice([-1, 1], n // 5), 5) * np.minimum(score, 1 - score) * 0.8
        label = rng.random(n) < score + shock
        return Clean().evidence(score, label, unit=np.repeat(np.arange(n // 5), 5), groups=masks)
    return Clean().evidence(score, label, groups=masks)


def slow_variance(evidence, inside):
    """Row by row: the sum over sources of the variance of the mean of the terms, ddof 1."""
    total = 0.0
    for s in range(len(evidence.sources)):
        rows = np.flatnonzero(evidence.source == s)
        draws = []
        if evidence.unit is not None:
            for unit in sorted(set(evidence.unit[rows].tolist())):
                members = [i for i in rows if evidence.unit[i] == unit]
                draws.append(
                    (
                        sum(evidence.residual[i] for i in members if inside[i]),
                        sum(evidence.weight[i] for i in members),
                    )
                )
        else:
            for i in rows:
                repeats = int(evidence.weight[i]) if evidence.weighting == "frequency" else 1
                value = evidence.residual[i] if inside[i] else 0.0
                draws += [(value / repeats, evidence.weight[i] / repeats)] * repeats
        terms, weights = np.array(draws).T
        mean = terms.sum() / weights.sum()
        k = len(draws)
        total += k / (k - 1) * ((terms - mean * weights) ** 2).sum()
    return total


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "importance", "frequency", "units"])
def test_errors_are_those_of_a_slow_reference(kind):
    evidence = sample(kind, 300, groups=3)
    table = metrics.cells(evidence, 4)
    key = table.bins.index(evidence.score)
    masks = np.column_stack([np.ones(len(evidence), bool), evidence.membership.masks()])
    for g in range(4):
        for j in range(4):
            inside = masks[:, g] & (key == j)
            assert table.moment[g, j] == pytest.approx(evidence.residual[inside].sum(), abs=1e-14)
            expected = np.sqrt(slow_variance(evidence, inside))
            assert table.standard_error[g, j] == pytest.approx(expected, rel=1e-9)


def test_a_frequency_weight_of_two_is_the_row_twice_in_errors_too():
    rng = np.random.default_rng(0)
    score, weight = rng.random(200), rng.integers(1, 4, 200)
    label = rng.random(200) < score
    one = Clean().evidence(score, label, weight=weight, weighting="frequency")
    other = Clean().evidence(np.repeat(score, weight), np.repeat(label, weight))
    for name in ("moment", "mass", "standard_error", "null_error"):
        np.testing.assert_allclose(
            getattr(metrics.cells(one), name), getattr(metrics.cells(other), name), rtol=1e-9, atol=1e-15
        )
    assert metrics.ece(one).noise_floor == pytest.approx(metrics.ece(other).noise_floor, rel=0.05)
    assert metrics.brier(one).standard_error == pytest.approx(metrics.brier(other).standard_error)
    np.testing.assert_allclose(metrics.reliability(one).lower, metrics.reliability(other).lower)


def test_importance_errors_do_not_depend_on_the_scale_of_the_weights():
    rng = np.random.default_rng(0)
    score, weight = rng.random(200), rng.random(200)
    label = rng.random(200) < score
    one, other = (metrics.cells(Clean().evidence(score, label, weight=weight * scale)) for scale in (1, 1000))
    np.testing.assert_allclose(one.standard_error, other.standard_error, rtol=1e-9)
    np.testing.assert_allclose(one.null_error, other.null_error, rtol=1e-9)


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "importance", "units"])
def test_intervals_of_moments_cover(kind, capsys):
    """In cells of 20 rows and more: by the error of the test everywhere, by the estimated one alone where
    three of either outcome and more are expected (with fewer it is known to fail, hence the test's)."""
    estimated, tested = [], []
    for seed in range(150):
        table = metrics.cells(sample(kind, 2000, seed))
        enough = table.rows >= 20
        fewest = 6 if kind == "importance" else 3  # weights make rows count less
        rare = table.rows * np.minimum(table.mean_score, 1 - table.mean_score) < fewest
        if kind == "PU":  # the rarer outcome is judged by the known positives, a third of the rows
            rare = table.rows * table.mean_score < 12
        size = np.abs(table.moment)
        estimated.append((size <= 1.96 * table.standard_error)[enough & ~rare].mean())
        tested.append((size <= 1.96 * table.error)[enough].mean())
    with capsys.disabled():
        print(
            f"\ncoverage of cell moments, {kind}: {np.mean(estimated):.3f}, with the test's error {np.mean(tested):.3f}"
        )
    assert 0.93 < np.mean(estimated) < 0.97
    assert 0.945 < np.mean(tested) < 0.98


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU"])
def test_false_alarms_over_a_hundred_cells_stay_below_the_level(kind, capsys):
    """max(Wald, score) with Holm, n = 2,000, 10 groups x 10 bins: any p < .05 is a false alarm."""
    draws = 200
    alarms = [np.nanmin(metrics.cells(sample(kind, 2000, seed)).adjusted[1:]) < 0.05 for seed in range(draws)]
    with capsys.disabled():
        print(f"\nfamily-wise error, {kind}: {np.mean(alarms):.3f}")
    assert np.mean(alarms) <= 0.06


def test_a_cell_that_is_off_is_found():
    rng = np.random.default_rng(0)
    score, masks = rng.random(4000), rng.random((4000, 2)) < 0.5
    off = masks[:, 0] & (score > 0.5) & (score < 0.6)
    label = rng.random(4000) < np.where(off, 0.25, score)
    table = metrics.cells(Clean().evidence(score, label, groups=masks))
    assert np.unravel_index(np.nanargmin(table.adjusted[1:]), (2, 10)) == (0, 5)
    assert table.adjusted[1, 5] < 1e-4


def test_a_score_of_one_that_is_never_right_is_not_taken_for_untestable():
    """Every row the same: the estimated and the null error are both 0, and the score is plainly wrong."""
    table = metrics.cells(Clean().evidence(np.ones(50), np.zeros(50)))
    assert table.p_value[0, 9] == 0


def test_small_cells_are_not_tested():
    rng = np.random.default_rng(0)
    table = metrics.cells(Clean().evidence(rng.random(60), rng.random(60) < 0.5))
    np.testing.assert_array_equal(np.isnan(table.p_value), table.rows < 20)


def test_empty_cells_have_no_mean_and_no_warning():
    table = metrics.cells(Clean().evidence([0.05, 0.06], [0, 1]))
    assert np.isnan(table.mean_score[0, 5])
    assert np.isnan(table.residual[0, 5])


def test_holm_by_hand():
    found = holm(np.array([[0.01, np.nan, 0.04], [0.03, 0.005, 1.0]]))
    np.testing.assert_allclose(found, [[0.04, np.nan, 0.09], [0.09, 0.025, 1.0]])


def test_the_frame_has_a_row_a_cell():
    frame = metrics.cells(sample("Clean", 200), 5).to_frame()
    assert len(frame) == 11 * 5


# --- maxima


PLUG_IN = {
    "max_ece": lambda table: table.group_error[1:].max(),
    "multicalibration_error": lambda table: np.abs(table.moment[1:]).max(),
}


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU"])
@pytest.mark.parametrize("name", PLUG_IN)
def test_noise_floors_of_maxima_are_what_samples_show(kind, name):
    values = [PLUG_IN[name](metrics.cells(sample(kind, 2000, 1000 + seed))) for seed in range(200)]
    found = getattr(metrics, name)(sample(kind, 2000))
    assert found.noise_floor == pytest.approx(np.mean(values), rel=0.06)
    assert found.noise_limit == pytest.approx(np.quantile(values, 0.95), rel=0.08)


def test_one_cell_in_twenty_samples_passes_its_chance_limit():
    """The limit allows for the search: in 95 % of samples of a calibrated score no tested cell is beyond its own."""
    beyond = []
    for seed in range(200):
        table = metrics.cells(sample("Clean", 2000, seed))
        rows = range(1, len(table.groups))
        over = [np.abs(table.residual[g]) > table.chance(g) for g in rows]
        beyond.append(bool((np.array(over) & table.tested[1:]).any()))
    assert np.mean(beyond) < 0.09
    assert (table.chance(0) < table.chance(1)).all()


def test_the_population_is_left_out_of_maxima_unless_asked():
    groups = np.zeros((100, 1), dtype=bool)
    groups[:50] = True
    score = np.r_[np.full(50, 0.5), np.full(50, 0.9)]
    label = np.r_[np.arange(50) % 2, np.zeros(50)]
    evidence = Clean().evidence(score, label, groups=groups)
    assert metrics.max_ece(evidence).value == pytest.approx(0, abs=1e-12)
    assert metrics.max_ece(evidence, include_all=True).value == pytest.approx(0.45)
    assert metrics.multicalibration_error(evidence, include_all=True).where == "(everyone), score 0.9 to 1"


def test_a_subgroup_of_three_rows_does_not_dominate():
    rng = np.random.default_rng(0)
    groups = np.column_stack([np.arange(1000) < 3, np.arange(1000) % 2 == 0])
    score = rng.random(1000)
    label = np.where(np.arange(1000) < 3, score < 0.5, rng.random(1000) < score)
    found = metrics.max_ece(Clean().evidence(score, label, groups=groups), min_mass=0.01)
    assert found.where == "group 1"


def test_many_patterns_do_not_take_the_memory(monkeypatch):
    """Sixteen groups make thousands of patterns: samples are drawn in blocks, with the same answer."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    evidence = Clean().evidence(score, rng.random(3000) < score, groups=rng.random((3000, 16)) < 0.5)
    whole = metrics.max_ece(evidence)
    monkeypatch.setattr("calcore.metrics.cell_layout.LARGEST_BLOCK", 1_000_000)
    blocks = metrics.max_ece(evidence)
    assert blocks.value == whole.value
    assert blocks.noise_floor == pytest.approx(whole.noise_floor, rel=0.02)


def test_a_full_pool_of_rows_gives_the_masses_of_subgroups():
    rng = np.random.default_rng(3)
    n = 4000
    group, score = rng.random(n) < 0.3, rng.uniform(0.1, 0.9, n)
    label = rng.random(n) < score
    masks = np.column_stack([group, ~group])
    source = np.where(label & (rng.random(n) < 0.5), "positive", "unlabelled")
    evidence = PU(0.5).evidence(score, source=source, groups=masks)
    both = rng.random(50_000) < 0.3
    pool = Membership.of_masks(np.column_stack([both, ~both]))
    found = metrics.max_ece(evidence, pool=pool)
    moments = np.abs(metrics.cells(evidence).moment[1:]).sum(axis=1)
    assert found.value == pytest.approx((moments / [both.mean(), 1 - both.mean()]).max())
    with pytest.raises(InputError, match="same subgroups"):
        metrics.max_ece(evidence, pool=Membership.of_masks(np.ones((5, 1), dtype=bool)))


def test_rounding_accuses_nobody():
    """Confidences that equal the score leave moments and errors of rounding size."""
    for seed in range(40):
        score = np.random.default_rng(seed).random(300)
        evidence = PosteriorConfidence().evidence(score, confidence=score)
        assert np.nanmin(metrics.cells(evidence).p_value) == 1.0
        assert not metrics.ece(evidence).beyond_chance
