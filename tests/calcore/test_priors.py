"""Flip rates from audited rows."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.errors import InputError
from calcore.observation.priors import flip_rates_from_audit


def test_flip_rates_are_counted_within_the_true_class():
    audit = np.array([0, 0, 0, 0, 1, 1, np.nan, 1.0])
    labels = np.array([1, 0, 0, 0, 0, 1, 1, np.nan])
    found = flip_rates_from_audit(labels, audit)
    assert found.rho0.value == 0.25
    assert found.rho1.value == 0.5
    assert found.rho0.n == 4
    assert found.rho1.n == 2
    assert found.disagreement.value == pytest.approx(2 / 6)
    assert found.rho1.interval[0] < 0.5 < found.rho1.interval[1]


def test_the_intervals_cover_the_true_rates():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        true = (rng.random(400) < 0.3).astype(float)
        flips = rng.random(400) < np.where(true == 1, 0.2, 0.05)
        found = flip_rates_from_audit(np.where(flips, 1 - true, true), true)
        inside.append(found.rho1.interval[0] <= 0.2 <= found.rho1.interval[1])
    assert 0.92 < np.mean(inside) < 0.98


def test_an_audit_of_one_class_says_which_rate_is_missing():
    with pytest.raises(InputError, match="truly positive"):
        flip_rates_from_audit([0, 1, 0], [0, 0, 0])
