"""Samples that several tests share."""

from __future__ import annotations

import numpy as np


def sample(n=400, seed=0, decimals=2):
    """Scores, the labels of a calibrated classifier and whole weights from 1 to 3, (n,) each."""
    rng = np.random.default_rng(seed)
    score = rng.random(n).round(decimals)
    return score, (rng.random(n) < score).astype(float), rng.integers(1, 4, n).astype(float)
