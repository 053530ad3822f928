"""Files in which each row holds a pair: two score columns become rows of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcore.validation import Floats, as_floats, as_scores, same_length


@dataclass(frozen=True, eq=False)
class StackedPairs:
    """The members of all pairs as rows: first members, then second ones.

    ``score`` (m,); ``row`` (m,) the row of the file that a member comes from, which also names its pair; ``second``
    (m,) tells second members. A row without a second score is one row (an unlabelled one, say).
    """

    score: Floats
    row: NDArray[np.int64]
    second: NDArray[np.bool_]


def stack_pairs(first: ArrayLike, second: ArrayLike) -> StackedPairs:
    """Two score columns (n,) as rows; ``second`` may be missing. Raises InputError for scores outside [0, 1]."""
    scores = as_scores(first)
    others = as_floats(second, "second score")
    same_length(others, scores.size, "second score")
    paired = np.flatnonzero(~np.isnan(others))
    rows = np.concatenate([np.arange(scores.size), paired])
    if paired.size:
        scores = np.concatenate([scores, as_scores(others[paired], "second score")])
    return StackedPairs(scores, rows, np.arange(rows.size) >= others.size)
