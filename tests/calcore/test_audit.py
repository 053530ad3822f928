"""The audit: wrong needs significance and size, calibrated needs data, and everything else is said plainly."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.audit import audit
from calcore.errors import InputError
from calcore.evidence import COLLAPSE_ABOVE
from calcore.observation import PU, Clean, Noisy


def evidence(n=20_000, shift=0.0, seed=0, model=None, groups=None, off_group=None, **columns):
    """A uniform score whose event rate is higher by ``shift``, or only in the subgroup ``off_group``."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    masks = None if groups is None else rng.random((n, groups)) < 0.3
    rate = np.clip(score + (shift if off_group is None else shift * masks[:, off_group]), 0, 1)
    label = rng.random(n) < rate
    if isinstance(model, Noisy) and model.known:
        label = rng.random(n) < np.where(label, 1 - model.rho1, model.rho0)
    return (model or Clean()).evidence(score, label, groups=masks, **columns)


@pytest.mark.parametrize("model", [Clean(), Noisy(0.2, 0.1)], ids=str)
def test_levels(model):
    assert audit(evidence(model=model)).level == "calibrated"
    assert audit(evidence(model=model, shift=0.1)).level == "wrong"
    assert audit(evidence(60, model=model)).level == "cannot tell"


def test_unlabelled_rows():
    rng = np.random.default_rng(0)
    score = np.concatenate([np.sqrt(rng.random(20_000)), rng.random(40_000)])
    source = np.repeat(["positive", "unlabelled"], [20_000, 40_000])
    assert audit(PU(0.5).evidence(score, source=source)).level == "calibrated"
    assert audit(PU(0.3).evidence(score, source=source)).level == "wrong"


def test_a_wrong_subgroup_is_found_where_the_population_looks_right():
    found = audit(evidence(60_000, shift=0.12, groups=3, off_group=1), tolerance=0.05)
    assert found.level == "subgroup"
    assert found.groups[0].group == "group 1"
    assert found.groups[0].wrong
    assert found.groups[0].gap.residual > 0.05
    assert not found.groups[-1].wrong


def test_a_significant_gap_within_the_tolerance_is_not_wrong():
    """At 10^6 rows everything is significant."""
    many = evidence(1_000_000, shift=0.01)
    found = audit(many)
    assert found.level == "calibrated"
    assert min(found.cells.adjusted[0]) < 1e-6
    assert audit(many, tolerance=0.002).level == "wrong"


def test_a_large_gap_without_significance_is_not_wrong():
    found = audit(evidence(100))
    assert abs(found.largest.residual) > 0.05 if found.largest else True
    assert not found.wrong_bins


def test_false_alarms_are_rare():
    levels = [audit(evidence(2000, seed=seed, groups=6)).level for seed in range(150)]
    assert np.mean([level in ("wrong", "subgroup") for level in levels]) <= 0.07


def test_scores_of_one_that_are_never_right_are_wrong():
    found = audit(Clean().evidence(np.ones(100), np.zeros(100)))
    assert found.level == "wrong"
    assert found.constant_score
    assert found.decisions_only


def test_a_constant_score():
    rng = np.random.default_rng(0)
    found = audit(Clean().evidence(np.full(4000, 0.3), rng.random(4000) < 0.3))
    assert found.level == "calibrated"
    assert found.constant_score
    assert not found.decisions_only


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    found = audit(Clean().evidence(np.full(200, 0.5), np.full(200, label)))
    assert found.level == "wrong"
    assert found.base_rate == label


@pytest.mark.parametrize("n", [1, 2, 3, 25])
def test_hardly_any_rows(n):
    rng = np.random.default_rng(0)
    found = audit(Clean().evidence(rng.random(n), rng.random(n) < 0.5, groups=np.ones((n, 1), bool)))
    assert found.level == "cannot tell"
    assert found.n == n


def test_rows_needed_would_settle_it():
    few = audit(evidence(150))
    assert few.level == "cannot tell"
    assert few.rows_needed > 150
    enough = audit(evidence(few.rows_needed))
    assert enough.error.noise_limit == pytest.approx(few.resolution, rel=0.15)


def test_subgroups_below_the_minimum_are_counted_not_ranked():
    rng = np.random.default_rng(0)
    masks = np.column_stack([np.arange(5000) < 20, rng.random(5000) < 0.5])
    score = rng.random(5000)
    found = audit(Clean().evidence(score, rng.random(5000) < score, groups=masks), min_mass=0.01)
    assert found.too_small_groups == 1
    assert [group.group for group in found.groups] == ["group 1"]


def test_chance_says_what_calibrated_scores_show():
    """At most one sample of twenty has a largest gap of a calibrated score beyond its limit."""
    beyond = []
    for seed in range(200):
        found = audit(evidence(2000, seed=seed, groups=3))
        beyond.append(abs(found.largest.residual) > found.largest.chance)
    assert np.mean(beyond) < 0.09
    assert found.bins_tested == 10
    assert found.cells_tested == 30


def test_the_interval_of_a_gap_contains_its_rate():
    found = audit(evidence(5000, shift=0.1, groups=2))
    for gap in (*found.wrong_bins, found.largest, *(group.gap for group in found.groups)):
        assert gap.lower - 1e-12 <= gap.event_rate <= gap.upper + 1e-12
        assert gap.event_rate - gap.mean_score == pytest.approx(gap.residual)
        assert gap.low <= gap.mean_score < gap.high


def test_a_tolerance_out_of_range_is_a_sentence():
    with pytest.raises(InputError, match="tolerance"):
        audit(evidence(100), tolerance=2)


def test_great_evidence_is_added_up_with_the_same_values():
    many = evidence(COLLAPSE_ABOVE + 1, shift=0.03)
    found = audit(many)
    assert found.n == len(many)
    np.testing.assert_allclose(
        found.reliability.event_rate, found.cells.residual[0] + found.cells.mean_score[0]
    )
    assert found.error.value == pytest.approx(np.abs(found.cells.moment[0]).sum(), abs=1e-12)


def test_weights_and_units_reach_the_verdict():
    """Ten copies of two hundred rows are not two thousand rows."""
    rng = np.random.default_rng(3)
    score = np.repeat(rng.random(200), 10)
    label = np.repeat(rng.random(200), 10) < score
    alone = audit(Clean().evidence(score, label))
    together = audit(Clean().evidence(score, label, unit=np.repeat(np.arange(200), 10)))
    assert alone.level == "wrong"
    assert together.level != "wrong"
    assert together.rows_needed > 200
