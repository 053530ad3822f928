"""How far Brownian motion on [0, 1] gets: the limits of cumulative calibration errors."""

from __future__ import annotations

import numpy as np
from scipy import special

#: Where the two series of each distribution meet: both are exact to rounding there.
MEET = 1.5
_TERMS = np.arange(1, 60)
_ODD = 2.0 * np.arange(60) + 1.0


def largest_size_exceeds(x: float) -> float:
    """P(max |B| > x) for standard Brownian motion on [0, 1] (Feller 1971, X.5)."""
    if not x > 0:
        return 1.0
    if x > MEET:
        # by reflection at both ends; the alternating signs are those of the images
        images = special.ndtr(-_ODD * x) * np.where(np.arange(_ODD.size) % 2 == 0, 1.0, -1.0)
        return float(np.clip(4.0 * images.sum(), 0.0, 1.0))
    signs = np.where(np.arange(_ODD.size) % 2 == 0, 1.0, -1.0)
    inside = 4.0 / np.pi * np.sum(signs / _ODD * np.exp(-((_ODD * np.pi / x) ** 2) / 8.0))
    return float(np.clip(1.0 - inside, 0.0, 1.0))


def range_exceeds(x: float) -> float:
    """P(max B - min B > x) for standard Brownian motion on [0, 1] (Feller 1951)."""
    if not x > 0:
        return 1.0
    if x > MEET:
        signs = np.where(_TERMS % 2 == 1, 1.0, -1.0)
        return float(np.clip(8.0 * np.sum(signs * _TERMS * special.ndtr(-_TERMS * x)), 0.0, 1.0))
    decay = np.exp(-((_ODD * np.pi / x) ** 2) / 2.0)
    inside = 8.0 * np.sum((1.0 / x**2 + 1.0 / (_ODD * np.pi) ** 2) * decay)
    return float(np.clip(1.0 - inside, 0.0, 1.0))
