"""Importance sampling against targets whose integrals are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from calcore.importance import ENOUGH, Target, sample_posterior


def gaussian(mean, covariance, log_scale):
    inverse = np.linalg.inv(covariance)
    normal = stats.multivariate_normal(mean, covariance)
    return Target(
        lambda points: normal.logpdf(points).reshape(-1) + log_scale,
        lambda point: -inverse @ (point - mean),
        (tuple(np.asarray(mean) + 3.0),),
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 3.0])
def test_a_normal_target(scale):
    mean = np.array([1.0, -2.0, 0.5])
    covariance = scale**2 * np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.2], [0.0, 0.2, 2.0]])
    found = sample_posterior(gaussian(mean, covariance, 7.0))
    assert found.log_evidence == pytest.approx(7.0, abs=0.02)
    np.testing.assert_allclose(found.weight @ found.points, mean, atol=0.1 * scale)
    spread = found.points - mean
    np.testing.assert_allclose((spread * found.weight[:, None]).T @ spread, covariance, atol=0.15 * scale**2)
    assert found.weight.sum() == pytest.approx(1.0)
    assert found.effective_size >= ENOUGH


def test_a_skewed_target():
    """The log-odds of Beta(1, 40): a long tail to one side, as flip rates near 0 have."""

    def log_density(points):
        t = points[:, 0]
        return special.log_expit(t) + 40 * special.log_expit(-t)

    found = sample_posterior(Target(log_density, lambda point: 1 - 41 * special.expit(point), ((0.0,),)))
    assert found.log_evidence == pytest.approx(special.betaln(1, 40), abs=0.02)
    assert found.weight @ special.expit(found.points[:, 0]) == pytest.approx(1 / 41, rel=0.03)


def test_the_same_seed_gives_the_same_sample():
    target = gaussian(np.zeros(2), np.eye(2), 0.0)
    one, other = sample_posterior(target, seed=3), sample_posterior(target, seed=3)
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.weight, other.weight)
