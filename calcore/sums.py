"""The one sum over cells: row values added up by an integer key."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcore.validation import Floats


def sum_by(key: NDArray[np.integer], values: Floats | None, cells: int) -> Floats:
    """Sums of ``values`` (n,), or counts of rows where None, over the ``cells`` that ``key`` (n,) names."""
    return np.bincount(key, values, minlength=cells).astype(np.float64, copy=False)
