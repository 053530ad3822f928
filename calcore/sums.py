"""Integer keys of rows: the one sum over cells, the distinct keys, and the one equal-width grid of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcore.validation import Floats


def sum_by(key: NDArray[np.integer], values: Floats | None, cells: int) -> Floats:
    """Sums of ``values`` (n,), or counts of rows where None, over the ``cells`` that ``key`` (n,) names."""
    if cells == 1:
        return np.array([float(key.size) if values is None else float(values.sum())])
    return np.bincount(key, values, minlength=cells).astype(np.float64, copy=False)


def distinct_keys(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One row of each distinct key, in the order of the keys, and each row's place (n,) among them.

    ``key`` (n,) is in [0, size). Which of equal rows stands for them is not promised.
    """
    if size > 8 * key.size + 1_000_000:
        _, row, place = np.unique(key, return_index=True, return_inverse=True)
        return row, place
    # few possible keys: counting beats sorting
    last_seen = np.full(size, -1, dtype=np.int64)
    last_seen[key] = np.arange(key.size)
    present = np.flatnonzero(last_seen >= 0)
    place = np.zeros(size, dtype=np.int64)
    place[present] = np.arange(present.size)
    return last_seen[present], place[key]


def grid_place(scores: Floats, count: int) -> NDArray[np.int64]:
    """The place j of each score (n,) on the grid of ``count`` cells [j/count, (j + 1)/count), the last closed."""
    edges = np.arange(count + 1) / count
    # one multiplication, then a step where rounding put a score on the wrong side of an edge
    place = np.minimum((scores * count).astype(np.int64), count - 1)
    place += scores >= edges[1:][place]
    np.minimum(place, count - 1, out=place)
    place -= scores < edges[place]
    return place
