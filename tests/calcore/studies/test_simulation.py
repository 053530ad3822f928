"""Simulated samples are of the population that they say: every model's cell moments are right on average."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.metrics import cells
from calcore.studies.simulation import SIGHTS, observation_models, observe, skewed

POPULATION = skewed(((0.6, 0.3, 0.1),))


@pytest.mark.parametrize("name", list(SIGHTS))
def test_mean_moments_are_the_populations(name):
    model = observation_models(POPULATION.prior)[name]
    rng = np.random.default_rng(0)
    moment = np.array([cells(observe(model, POPULATION, rng, 300), 5).moment[1:] for _ in range(100)])
    error = moment.std(axis=0, ddof=1) / 10
    assert (np.abs(moment.mean(axis=0) - POPULATION.moments(5)) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("name", list(SIGHTS))
def test_as_many_draws_of_each_source_as_asked(name):
    model = observation_models(POPULATION.prior)[name]
    evidence = observe(model, POPULATION, np.random.default_rng(0), 50)
    np.testing.assert_array_equal(evidence.source_size, 50)


def test_rows_with_given_labels_keep_their_order():
    labels = np.random.default_rng(0).random(500) < 0.3
    rows = POPULATION.given(np.random.default_rng(1), labels)
    np.testing.assert_array_equal(rows.y, labels)
    assert len(rows) == 500
