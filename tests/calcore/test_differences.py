"""Paired differences: no winner where there is none, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.metrics import differences
from calcore.metrics.differences import Difference, ece_difference, linear_difference
from calcore.metrics.scores import brier_terms
from calcore.observation import PU, Clean, Noisy

F = (np.arange(300_000) + 0.5) / 300_000


def wrong(f, size=0.06):
    """A map that moves scores by up to ``size``."""
    return np.clip(f + size * np.sin(2 * np.pi * f), 0, 1)


def exact_ece(g):
    """The binned ECE of the scores g(f) when f is the event rate and uniform."""
    key = metrics.Bins.equal_width(15).index(g(F))
    return np.abs(np.bincount(key, F - g(F), minlength=15)).sum() / F.size


def observed(kind, seed, n=2000):
    rng = np.random.default_rng(seed)
    if kind == "PU":
        score = np.concatenate([np.sqrt(rng.random(n // 2)), rng.random(n)])
        return PU(0.5).evidence(score, source=np.repeat(["positive", "unlabelled"], [n // 2, n]))
    if kind == "units":
        score = np.repeat(rng.random(n // 4), 4)
        shock = np.repeat(rng.choice([-0.5, 0.5], n // 4), 4) * np.minimum(score, 1 - score)
        return Clean().evidence(score, rng.random(n) < score + shock, unit=np.repeat(np.arange(n // 4), 4))
    score = rng.random(n)
    label = rng.random(n) < score
    if kind == "Noisy":
        return Noisy(0.2, 0.1).evidence(score, rng.random(n) < np.where(label, 0.9, 0.2))
    return Clean().evidence(score, label, weight=rng.gamma(3, size=n) if kind == "weights" else None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "weights", "units"])
@pytest.mark.parametrize("pair", ["same size", "worse"])
def test_the_ece_difference_covers(kind, pair, capsys):
    first = wrong
    second = (lambda f: wrong(f, -0.06)) if pair == "same size" else (lambda f: wrong(f, 0.0))
    truth = exact_ece(first) - exact_ece(second)
    found = []
    for seed in range(100):
        evidence = observed(kind, seed)
        one, other = evidence.with_score(first(evidence.score)), evidence.with_score(second(evidence.score))
        found.append(ece_difference(one, other))
    covered = np.mean([d.lower <= truth <= d.upper for d in found])
    with capsys.disabled():
        print(
            f"\nECE difference {truth:+.4f}, {kind}, {pair}: covered {covered:.3f}, "
            f"mean {np.mean([d.value for d in found]):+.4f}"
        )
    assert covered >= 0.92
    # small samples leave open how much of a small error is noise: the value leans towards none, and says how far
    leaning = np.mean([d.unknown_bias for d in found])
    assert np.mean([d.value for d in found]) == pytest.approx(truth, abs=leaning)


@pytest.mark.parametrize("kind", ["Clean", "Noisy", "PU", "weights", "units"])
def test_the_brier_difference_covers(kind):
    truth = np.mean((wrong(F) - F) ** 2)
    hits = []
    for seed in range(300):
        evidence = observed(kind, seed)
        moved = evidence.with_score(wrong(evidence.score))
        found = linear_difference("Brier", moved, brier_terms(moved) - brier_terms(evidence))
        hits.append(found.lower <= truth <= found.upper)
    assert 0.915 < np.mean(hits) < 0.985


def test_the_same_scores_differ_by_nothing():
    evidence = observed("Clean", 0)
    found = ece_difference(evidence, evidence)
    assert found.value == pytest.approx(0, abs=1e-9)
    assert not found.separated


def test_a_single_draw_of_a_source_separates_nothing():
    """One known positive has no known error; an error of 0 would make a winner of any difference."""
    rng = np.random.default_rng(0)
    source = np.repeat(["positive", "unlabelled"], [1, 200])
    evidence = PU(0.3).evidence(rng.random(201), source=source)
    moved = evidence.with_score(wrong(evidence.score))
    for found in (
        ece_difference(moved, evidence),
        linear_difference("Brier", moved, brier_terms(moved) - brier_terms(evidence)),
    ):
        assert np.isnan(found.standard_error)
        assert not found.separated


def test_levels_differ():
    found = Difference("x", 1.0, 1.0, 0.0, 0.0)
    assert found.at_level(0.8).upper < found.at_level(0.99).upper
    assert found.at_level(0.99).level == 0.99


def _with_groups(n, seed, shift=0.1):
    rng = np.random.default_rng(seed)
    score, group = rng.uniform(0.15, 0.85, n), rng.random(n) < 0.4
    label = (rng.random(n) < score + shift * group).astype(float)
    evidence = Clean().evidence(score, label, groups=np.column_stack([group, ~group]))
    return evidence, evidence.with_score(score + shift * group)


def test_the_difference_of_mc_covers_the_true_one():
    """A score that is 10 points low in a subgroup against the right one: the largest true cell moment is .1 x mass."""
    inside, values = [], []
    for seed in range(60):
        wrong, right = _with_groups(2000, seed)
        found = differences.mc_difference(right, wrong, draws=200)
        truth = -0.1 * 0.4 / 7  # seven bins of equal width hold the scores from .15 to .85
        inside.append(found.lower <= truth <= found.upper)
        values.append(found.value)
    assert np.mean(inside) > 0.9
    assert np.mean(values) < -0.002


def test_mc_of_a_score_with_itself_differs_by_nothing():
    wrong, _ = _with_groups(500, 0)
    found = differences.mc_difference(wrong, wrong, draws=50)
    assert found.value == 0
    assert found.standard_error == 0
