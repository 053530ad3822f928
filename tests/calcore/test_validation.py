"""Arrays that look like numbers and are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import Clean


@pytest.mark.parametrize(
    "scores",
    [
        np.ma.masked_array([0.1, 0.2], mask=[True, False]),
        pd.date_range("2026-01-01", periods=2),
        np.array([0.1 + 1j, 0.2]),
        ["a", "b"],
        [[0.1, 0.2], [0.3, 0.4]],
    ],
)
def test_masked_times_complex_text_and_tables_are_refused(scores):
    with pytest.raises(InputError):
        Clean().evidence(scores, [0, 1])


@pytest.mark.parametrize("scale", [1e300, 1e155, 1e-170, 1e-320])
def test_the_scale_of_extreme_weights_changes_nothing(scale):
    rng = np.random.default_rng(0)
    score = rng.random(200)
    label = (rng.random(200) < score).astype(float)
    weight = rng.integers(1, 3, 200).astype(float)
    plain = metrics.auc(Clean().evidence(score, label, weight=weight))
    found = metrics.auc(Clean().evidence(score, label, weight=weight * scale))
    # subnormal weights have few bits left
    assert found.value == pytest.approx(plain.value, rel=1e-3)
    assert found.interval == pytest.approx(plain.interval, rel=1e-2)
