"""Venn-Abers against its definition, its validity, and what weak labels leave of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from sklearn.exceptions import NotFittedError

from calcore.calibrators import VennAbers
from calcore.errors import DoesNotExist, InputError
from calcore.observation import Clean, Noisy
from tests.calcore.samples import sample


def by_definition(score, label, weight, point):
    """One isotonic fit with the new row at ``point`` for either label."""
    found = []
    for new in (0.0, 1.0):
        x, place = np.unique(np.append(score, point), return_inverse=True)
        size = np.bincount(place, np.append(weight, 1.0))
        rate = np.bincount(place, np.append(weight * label, new)) / size
        found.append(isotonic_regression(rate, weights=size).x[np.searchsorted(x, point)])
    return found


@pytest.mark.parametrize("n, decimals", [(1, 1), (7, 1), (60, 1), (60, 6)])
@pytest.mark.parametrize("weighted", [False, True])
def test_interval_and_map_are_the_definition_at_between_and_beyond_scores(n, decimals, weighted):
    score, label, weight = sample(n, decimals=decimals)
    weight = weight if weighted else np.ones(n)
    fitted = VennAbers().fit(score, label, sample_weight=weight)
    seen = np.unique(score)
    between = np.random.default_rng(1).random(40)
    points = np.concatenate(
        [[0.0, 1.0], seen, np.nextafter(seen, 0.0), np.nextafter(seen, 1.0).clip(max=1), between]
    )
    expected = np.array([by_definition(score, label, weight, point) for point in points])
    p0, p1 = fitted.interval(points)
    np.testing.assert_allclose(p0, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(p1, expected[:, 1], atol=1e-12)
    merged = expected[:, 1] / (1 - expected[:, 0] + expected[:, 1])
    # steps end below 1: a seen score of exactly 1 shares its step with the double next to it
    told = (points != np.nextafter(1.0, 0.0)) | (score.max() < 1)
    np.testing.assert_allclose(fitted.predict(points)[told], merged[told], atol=1e-12)


def test_by_hand():
    """Labels 0 at .2 and 1 at .8. A new row at .5: isotonic of 0, 0, 1 gives 0; of 0, 1, 1 gives 1; merged 1/2."""
    fitted = VennAbers().fit([0.2, 0.8], [0, 1])
    assert [end.tolist() for end in fitted.interval([0.5])] == [[0.0], [1.0]]
    # at .2: with a 0 the rows 0, 0 | 1; with a 1 the tie has rate 1/2
    assert [end.tolist() for end in fitted.interval([0.2])] == [[0.0], [0.5]]
    np.testing.assert_allclose(fitted.predict([0.2, 0.5, 0.8]), [1 / 3, 1 / 2, 2 / 3])


def test_one_end_of_the_interval_is_calibrated_at_any_number_of_rows():
    """Vovk et al. 2015, Theorem 1: E[Y given p_Y] = p_Y, hence E[Y - p_Y] = 0; isotonic's own value need not be."""
    rng = np.random.default_rng(0)
    gap = []
    for _ in range(1500):
        score = rng.random(12)
        label = (rng.random(12) < score**3).astype(float)
        p0, p1 = VennAbers().fit(score[:11], label[:11]).interval(score[11:])
        gap.append(label[11] - (p1 if label[11] else p0)[0])
    assert abs(np.mean(gap)) < 4 * np.std(gap) / np.sqrt(len(gap))


def test_the_interval_is_ordered_rises_and_narrows():
    score, label, _ = sample(3000, decimals=6)
    grid = np.linspace(0, 1, 1001)
    p0, p1 = VennAbers().fit(score, label).interval(grid)
    assert (p0 <= p1).all()
    assert (np.diff(p0) >= 0).all()
    assert (np.diff(p1) >= 0).all()
    few = VennAbers().fit(score[:100], label[:100]).interval(grid)
    assert (p1 - p0)[50:-50].mean() < 0.3 * (few[1] - few[0])[50:-50].mean()


def test_known_flips_are_taken_out_of_both_ends():
    rng = np.random.default_rng(0)
    score = rng.random(30_000)
    label = rng.random(30_000) < score
    recorded = np.where(label, rng.random(30_000) >= 0.2, rng.random(30_000) < 0.1).astype(float)
    fitted = VennAbers().fit(Noisy(0.1, 0.2).evidence(score, recorded))
    plain = VennAbers().fit(Clean().evidence(score, recorded))
    grid = np.linspace(0, 1, 101)
    for ours, theirs in zip(fitted.interval(grid), plain.interval(grid), strict=True):
        np.testing.assert_allclose(ours, np.clip((theirs - 0.1) / 0.7, 0, 1), atol=1e-12)
    assert np.abs(fitted.predict(grid[5:-5]) - grid[5:-5]).mean() < 0.03
    assert any("recorded label" in warning for warning in fitted.warnings_)


def test_flip_rates_by_group_leave_no_curve_to_correct():
    score, label, _ = sample(100)
    region = np.where(np.arange(100) % 2, "n", "s")
    model = Noisy({"n": 0.1, "s": 0.2}, 0.1, column="region")
    evidence = model.evidence(score, label, flip_group=region)
    with pytest.raises(DoesNotExist, match="differ between groups"):
        VennAbers().fit(evidence)


def test_few_rows_of_one_class_are_warned_of():
    assert any("rows of one class" in warning for warning in VennAbers().fit([0.2, 0.8], [0, 1]).warnings_)
    assert not VennAbers().fit(*sample(2000)[:2]).warnings_


def test_intervals_are_asked_for_after_fitting_and_at_scores():
    with pytest.raises(NotFittedError):
        VennAbers().interval([0.1])
    with pytest.raises(InputError):
        VennAbers().fit(*sample(50)[:2]).interval([1.5])
