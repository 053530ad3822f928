"""A subgroup whose labels are worse is seen; one for which the model is merely unsure is not."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from calcore import group_contradictions as module
from calcore.calibrators import LWCal
from calcore.errors import DoesNotExist, InputError
from calcore.group_contradictions import group_contradictions
from calcore.observation import PU, Clean, Noisy
from calcore.subgroups import make_subgroups
from calcore.weighted import weighted_quantile


def drawn(seed, n=2000, groups=10, rho0=0.0, rho1=0.0, planted=0.0):
    """Calibrated scores, surer in the first half of the disjoint groups; more flips in group 3 where planted."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    shape = np.where(group < groups / 2, 0.4, 3.0)
    score = rng.beta(shape, shape * np.where(group % 2, 1.0, 1.8))
    label, u = rng.random(n) < score, rng.random(n)
    extra = planted * (group == 3)
    recorded = np.where(label, u >= rho1 + extra, u < rho0 + extra)
    return score, recorded.astype(float), group[:, None] == np.arange(groups)


@pytest.mark.parametrize("rho0, rho1", [(0.0, 0.0), (0.25, 0.25), (0.1, 0.4)])
def test_equal_labels_rarely_accuse_a_group(rho0, rho1):
    """Family-wise, over 200 simulations, at no tolerance: also where flips are many and models differ."""
    alarms = []
    for seed in range(200):
        score, label, groups = drawn(seed, rho0=rho0, rho1=rho1)
        alarms.append(
            bool(group_contradictions(Noisy().evidence(score, label, groups=groups), tolerance=0).flagged)
        )
    assert np.mean(alarms) <= 0.06


def test_overlapping_groups_rarely_accuse_one():
    alarms = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        score, label, _ = drawn(seed, 1000, rho0=0.2, rho1=0.2)
        groups = rng.random((1000, 15)) < rng.uniform(0.02, 0.5, 15)
        alarms.append(
            bool(group_contradictions(Noisy().evidence(score, label, groups=groups), tolerance=0).flagged)
        )
    assert np.mean(alarms) <= 0.06


@pytest.mark.parametrize("power", [0.5, 2.5])
def test_scores_that_are_too_sure_or_not_sure_enough_for_everyone_accuse_no_group(power):
    alarms = []
    for seed in range(100):
        score, _, groups = drawn(seed, 3000)
        rate = score**power / (score**power + (1 - score) ** power)
        rng = np.random.default_rng(1000 + seed)
        label = (rng.random(3000) < rate) ^ (rng.random(3000) < 0.1)
        found = group_contradictions(Noisy().evidence(score, label, groups=groups), tolerance=0)
        alarms.append(bool(found.flagged))
    assert np.mean(alarms) <= 0.06


def test_weights_and_dependent_rows_rarely_accuse_a_group():
    alarms = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        unit = rng.integers(0, 400, 1600)
        score, group = rng.beta(0.7, 0.7, 1600), rng.integers(0, 6, 400)[unit]
        # rows of a unit share the draw of their labels
        label = rng.random(400)[unit] < score
        evidence = Noisy().evidence(
            score, label, groups=group[:, None] == np.arange(6), unit=unit, weight=rng.lognormal(0, 0.7, 1600)
        )
        alarms.append(bool(group_contradictions(evidence, tolerance=0).flagged))
    assert np.mean(alarms) <= 0.06


def test_equal_flips_have_a_larger_excess_where_the_model_is_surer():
    """Why the excess alone is not compared: groups 0-4 would all be accused."""
    score, label, groups = drawn(0, 40_000, rho0=0.25, rho1=0.25)
    found = group_contradictions(Noisy().evidence(score, label, groups=groups))
    by_position = sorted(found.groups, key=lambda one: one.position)
    sure, unsure = by_position[:5], by_position[5:]
    assert min(one.excess for one in sure) > max(one.excess for one in unsure) + 0.04
    assert not found.flagged


@pytest.mark.parametrize("background", [0.0, 0.15])
def test_planted_flips_are_found_in_their_group_alone(background):
    hit = other = 0
    for seed in range(100):
        score, label, groups = drawn(seed, 4000, rho0=background, rho1=background, planted=0.25)
        flagged = group_contradictions(Noisy().evidence(score, label, groups=groups)).flagged
        hit += any(one.position == 3 for one in flagged)
        other += any(one.position != 3 for one in flagged)
    assert hit >= 95
    assert other <= 5


def test_a_group_that_stands_out_counts_less_in_lwcal():
    score, label, groups = drawn(1, 8000, planted=0.3)
    found = group_contradictions(Noisy().evidence(score, label, groups=groups))
    first = found.groups[0]
    assert first.position == 3
    assert first.flagged
    like = [one for one in found.groups if one.position in (1,)]
    assert first.weight < min(one.weight for one in like) - 0.05
    assert first.weight_interval[0] < first.weight < first.weight_interval[1]


def test_values_by_a_slow_reference():
    score, label, groups = drawn(5, 300, groups=3, rho0=0.2, rho1=0.1)
    weight = np.random.default_rng(0).uniform(0.5, 2, 300)
    evidence = Noisy().evidence(score, label, groups=groups, weight=weight)
    weights = LWCal().fit(evidence.without_groups()).audit_.weights
    for one in group_contradictions(evidence).groups:
        inside = groups[:, one.position]
        excess = [float((p >= 0.5) != (y == 1)) - min(p, 1 - p) for p, y in zip(score, label, strict=True)]
        own = rate = total = top = bottom = 0.0
        for i in np.flatnonzero(inside):
            own += weight[i] * excess[i]
            rate += weight[i] * weights[i]
            total += weight[i]
        cuts = np.unique([*weighted_quantile(score, weight, np.arange(1, 40) / 40), 0.5])
        for low, high in itertools.pairwise([-1.0, *cuts, 2.0]):
            here = (score >= low) & (score < high)
            mine, rest = (
                [(weight[i], excess[i]) for i in np.flatnonzero(here & side)] for side in (inside, ~inside)
            )
            if mine and rest:
                a, b = sum(v for v, _ in mine), sum(v for v, _ in rest)
                gap = sum(v * x for v, x in mine) / a - sum(v * x for v, x in rest) / b
                top, bottom = top + a * b / (a + b) * gap, bottom + a * b / (a + b)
        assert one.rows == inside.sum()
        assert one.excess == pytest.approx(own / total)
        assert one.excess == pytest.approx(one.observed - one.expected)
        assert one.weight == pytest.approx(rate / total)
        assert one.difference == pytest.approx(top / bottom)


def test_a_difference_within_the_tolerance_is_not_flagged():
    score, label, groups = drawn(2, 8000, planted=0.3)
    evidence = Noisy().evidence(score, label, groups=groups)
    assert group_contradictions(evidence, tolerance=0.02).flagged
    found = group_contradictions(evidence, tolerance=0.5)
    assert not found.flagged
    assert min(one.adjusted for one in found.groups if one.tested) < 0.05


def test_better_labels_accuse_nobody():
    score, label, groups = drawn(3, 8000, rho0=0.3, rho1=0.3, planted=-0.3)
    found = group_contradictions(Noisy().evidence(score, label, groups=groups))
    assert not found.flagged
    assert found.groups[-1].position == 3
    assert found.groups[-1].adjusted < 0.05


def test_groups_of_hardly_any_rows_and_of_all_rows_are_not_tested():
    score, label, _ = drawn(0, 200)
    groups = np.column_stack(
        [np.arange(200) < 10, np.ones(200, bool), np.arange(200) < 100, np.zeros(200, bool)]
    )
    found = group_contradictions(Clean().evidence(score, label, groups=groups))
    assert found.tested == 1
    tested = {one.position: one.tested for one in found.groups}
    assert tested == {0: False, 1: False, 2: True, 3: False}


def test_copied_rows_of_units_do_not_make_a_finding():
    score, label, groups = drawn(8, 200, groups=4)
    rows = np.repeat(np.arange(200), 12)
    plain = Noisy().evidence(score[rows], label[rows], groups=groups[rows])
    clustered = Noisy().evidence(score[rows], label[rows], groups=groups[rows], unit=rows)
    once = group_contradictions(Noisy().evidence(score, label, groups=groups))
    copied = group_contradictions(clustered)
    assert min(one.adjusted for one in group_contradictions(plain).groups) < min(
        one.adjusted for one in copied.groups
    )
    for one in once.groups:
        other = next(two for two in copied.groups if two.position == one.position)
        assert other.chance == pytest.approx(one.chance, rel=0.05)


def test_many_rows_are_added_up_with_nearly_the_same_values(monkeypatch):
    score, label, groups = drawn(4, 6000, rho0=0.2, rho1=0.2)
    evidence = Noisy().evidence(score, label, groups=groups)
    exact = group_contradictions(evidence)
    monkeypatch.setattr(module, "MANY_ROWS", 100)
    added = group_contradictions(evidence)
    for one in exact.groups:
        other = next(two for two in added.groups if two.position == one.position)
        assert other.rows == one.rows
        assert other.observed == pytest.approx(one.observed)
        assert other.excess == pytest.approx(one.excess, abs=1e-9)
        assert other.difference == pytest.approx(one.difference, abs=1e-3)
        assert other.chance == pytest.approx(one.chance, rel=0.02)
        assert other.weight == pytest.approx(one.weight, abs=5e-3)


def test_an_intersection_of_a_flagged_group_repeats_it():
    rng = np.random.default_rng(0)
    n = 6000
    table = pd.DataFrame({"region": rng.choice(["north", "south"], n), "team": rng.choice(["a", "b"], n)})
    score = rng.beta(0.5, 0.5, n)
    label = (rng.random(n) < score) ^ (rng.random(n) < 0.3 * (table["region"] == "north"))
    member = make_subgroups(table, ["region", "team"]).membership
    found = group_contradictions(Noisy().evidence(score, label, groups=member))
    assert found.groups[0].group == "region = north"
    assert [one.repeats for one in found.flagged] == [False, True, True]


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_and_equal_scores(label):
    groups = np.column_stack([np.arange(100) % 2 == 0, np.arange(100) < 60])
    found = group_contradictions(Clean().evidence(np.full(100, 0.5), np.full(100, label), groups=groups))
    assert not found.flagged
    assert all(one.difference == pytest.approx(0) for one in found.groups)


def test_what_is_missing_is_said():
    score, label, groups = drawn(0, 50)
    with pytest.raises(DoesNotExist, match="no subgroups"):
        group_contradictions(Clean().evidence(score, label))
    source = np.repeat(["positive", "unlabelled"], 25)
    with pytest.raises(DoesNotExist, match="carry none"):
        group_contradictions(PU(0.5).evidence(score, source=source, groups=groups))
    with pytest.raises(InputError, match="tolerance"):
        group_contradictions(Clean().evidence(score, label, groups=groups), tolerance=-1)


def test_a_group_without_other_rows_at_its_scores_is_not_compared():
    score = np.repeat([0.1, 0.9], 50)
    found = group_contradictions(
        Clean().evidence(score, np.arange(100) % 2, groups=(score < 0.5)[:, None]), tolerance=0
    )
    assert found.tested == 0
    assert np.isnan(found.groups[0].difference)
    assert found.groups[0].interval is None
    assert not found.flagged


def test_rows_of_a_single_unit_compare_nothing():
    score, label, groups = drawn(0, 200, groups=2)
    found = group_contradictions(Noisy().evidence(score, label, groups=groups, unit=np.zeros(200)))
    assert found.tested == 0
    for one in found.groups:
        assert np.isnan(one.adjusted)
        assert one.excess_interval is one.weight_interval is one.interval is None


def test_rare_events_are_not_all_alike():
    """Scores below .05, three times too low for everyone: the group of the higher scores is not accused."""
    accused = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        high = rng.integers(0, 2, 2000) == 1
        score = np.where(high, rng.beta(8, 200, 2000), rng.beta(2, 300, 2000)).clip(0, 0.0499)
        label = rng.random(2000) < 3 * score
        groups = np.column_stack([high, ~high])
        accused += bool(group_contradictions(Noisy().evidence(score, label, groups=groups)).flagged)
    assert accused <= 2


def test_one_half_is_an_edge_between_strata():
    score = np.repeat([0.48, 0.49, 0.51, 0.52], 50)
    entries = module._Entries.of(
        Clean().evidence(score, np.arange(200) % 2, groups=(np.arange(200) % 3 == 0)[:, None])
    )
    assert entries.stratum[99] < entries.stratum[100]
