"""Centered isotonic regression against hand-made numbers, a slow reference and a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calcore.calibrators import CenteredIsotonic, Isotonic
from calcore.observation import PU
from tests.calcore.samples import sample


def test_blocks_stand_at_the_weighted_mean_of_their_scores_by_hand():
    """Rates 0, 1/2, 1/4, 1 on 1, 2, 4 and 1 rows: .4 and .6 pool to 2/6 at (2 x .4 + 4 x .6) / 6 = 8/15."""
    score = np.repeat([0.2, 0.4, 0.6, 0.9], [1, 2, 4, 1])
    label = [0, 0, 1, 0, 0, 0, 1, 1]
    function = CenteredIsotonic().fit(score, label).map_.function
    np.testing.assert_allclose(function.x, [0.2, 8 / 15, 0.9], atol=1e-15)
    np.testing.assert_allclose(function.y, [0, 1 / 3, 1], atol=1e-15)
    # halfway between two points, and beyond the last
    np.testing.assert_allclose(function([(0.2 + 8 / 15) / 2, 0.95, 0.0]), [1 / 6, 1, 0], atol=1e-15)


def slow(score, label, weight):
    """Blocks of scikit-learn's values, one by one."""
    fitted = IsotonicRegression(y_min=0, y_max=1).fit(score, label, sample_weight=weight).predict(score)
    blocks = {}
    for i in range(len(score)):
        blocks.setdefault(round(fitted[i], 12), []).append(i)
    x = [np.average(score[rows], weights=weight[rows]) for rows in blocks.values()]
    return np.array(sorted(zip(x, blocks, strict=True))).T


@pytest.mark.parametrize("seed", range(5))
def test_points_are_those_of_scikit_learns_blocks(seed):
    score, label, weight = sample(300, seed)
    x, y = slow(score, label, weight)
    function = CenteredIsotonic().fit(score, label, sample_weight=weight).map_.function
    np.testing.assert_allclose(function.x, x, atol=1e-12)
    np.testing.assert_allclose(function.y, y, atol=1e-12)


def test_between_its_first_and_last_point_it_ties_nothing():
    score, label, _ = sample(2000, decimals=4)
    function = CenteredIsotonic().fit(score, label).map_.function
    inside = np.unique(score[(score >= function.x[0]) & (score <= function.x[-1])])
    assert inside.size > 1500
    assert (np.diff(function(inside)) > 0).all()
    assert np.unique(Isotonic().fit(score, label).predict(inside)).size < inside.size / 10


def test_a_score_that_does_not_rank_gives_the_event_rate_and_says_so():
    fitted = CenteredIsotonic().fit([0.1, 0.5, 0.9], [1, 0, 0])
    assert fitted.predict([0.0, 0.3, 1.0]) == pytest.approx([1 / 3] * 3)
    assert any("does not rise" in warning for warning in fitted.warnings_)


def test_it_is_nearer_to_a_smooth_truth_than_isotonic():
    """Oron and Flournoy 2017, Section 4: smaller mean squared error at moderate n, in almost every setting."""
    grid = np.linspace(0.1, 0.9, 81)
    errors = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score = rng.random(200)
        label = rng.random(200) < score
        errors.append(
            [np.mean((m().fit(score, label).predict(grid) - grid) ** 2) for m in (CenteredIsotonic, Isotonic)]
        )
    difference = np.diff(errors, axis=1).ravel()
    assert difference.mean() > 3 * difference.std(ddof=1) / np.sqrt(difference.size)


def test_known_positives_among_unlabelled_rows_give_the_curve():
    rng = np.random.default_rng(0)
    score = np.concatenate([np.sqrt(rng.random(20_000)), rng.random(40_000)])  # calibrated, prior .5
    evidence = PU(0.5).evidence(score, source=np.repeat(["positive", "unlabelled"], [20_000, 40_000]))
    grid = np.linspace(0.05, 0.95, 91)
    assert np.abs(CenteredIsotonic().fit(evidence).predict(grid) - grid).mean() < 0.03
