"""Weighted order statistics: a row of weight 2 is the row twice."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.weighted import weighted_median, weighted_quantile


@pytest.mark.parametrize("seed", range(20))
def test_whole_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values, weights = rng.normal(size=n).round(1), rng.integers(0, 4, n)
    weights[rng.integers(n)] = 1
    q = np.append(rng.random(20), [0, 0.5, 0.85, 1])
    expected = np.quantile(np.repeat(values, weights), q)
    np.testing.assert_allclose(weighted_quantile(values, weights.astype(float), q), expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.37, 1.0])
def test_normalised_weights_give_the_same_answer(scale):
    values, weights = np.array([3.0, 1.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 1.0])
    assert weighted_median(values, weights * scale) == pytest.approx(2.0)
    assert weighted_quantile(values, weights * scale, 0.85) == pytest.approx(
        np.quantile([1, 1, 2, 2, 2, 3, 9], 0.85)
    )


def test_without_weights_it_is_numpys():
    values = np.random.default_rng(0).normal(size=31)
    assert weighted_quantile(values, None, 0.3) == np.quantile(values, 0.3)
    assert weighted_quantile(values, np.ones(31), 0.3) == np.quantile(values, 0.3)


def test_one_value():
    assert weighted_median(np.array([4.0]), np.array([0.2])) == 4.0
