"""The toy problem: its truth by hand, and errors that fall with the square root of n."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.studies import toy
from calcore.studies.simulation import observe
from calcore.studies.simulation import toy as problem


def test_the_truth_is_that_of_the_appendix():
    """MC is the integral of .11 sin 2 pi x over the widest piece of a strip and a bin; ECE from bins alone."""
    truth = toy.Truth.of(problem())

    def integral(low, high):
        return 0.11 * (np.cos(2 * np.pi * low) - np.cos(2 * np.pi * high)) / (2 * np.pi)

    bins = np.clip((np.arange(11) / 10 - 0.12) / 0.76, 0, 1)
    edges = np.unique(np.concatenate([bins, np.arange(9) / 8]))
    assert truth.mc == pytest.approx(np.abs(integral(edges[:-1], edges[1:])).max(), abs=1e-6)
    assert truth.ece == pytest.approx(np.abs(integral(bins[:-1], bins[1:])).sum(), abs=1e-6)
    strips = [np.unique(np.clip(edges, k / 8, (k + 1) / 8)) for k in range(8)]
    assert truth.max_ece == pytest.approx(
        max(8 * np.abs(integral(e[:-1], e[1:])).sum() for e in strips), abs=1e-6
    )


def test_estimates_are_the_metrics_of_the_library():
    population = problem()
    evidence = observe(toy.toy_models(0.5)["PU"], population, np.random.default_rng(0), 400)
    table = toy.cells(evidence, toy.BINS)
    expected = [
        metrics.multicalibration_error(evidence, 10).value,
        metrics.ece(evidence, 10).value,
        metrics.max_ece(evidence, 10).value,
    ]
    np.testing.assert_allclose(toy.values(table.moment[1:], table.group_mass[1:]), expected, atol=1e-14)


def test_errors_fall_with_n_and_are_told():
    found = toy.curves(sizes=(128, 2048), repetitions=4)
    assert len(found) == 4 * len(toy.METRICS)
    for curve in found:
        if curve.metric == "deviation":
            assert curve.error[1] < curve.error[0]
            assert -0.9 < curve.slope < -0.2
    assert len(toy.told(found).splitlines()) == 1 + len(found)


@pytest.mark.slow
def test_deviations_fall_at_the_rate():
    for curve in toy.curves(sizes=(128, 1024, 8192), repetitions=20):
        if curve.metric == "deviation":
            assert curve.holds, (curve.model, curve.slope)
