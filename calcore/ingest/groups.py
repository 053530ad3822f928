"""Group columns: which ones have too many values to be useful, and their commonest values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calcore.subgroups import MISSING

from .choices import Question
from .columns import Column, categorical

GROUP_LIMIT = 200
"""A column with more distinct values than this is no group column unless its top values are chosen."""
_OFFERED = (20, 50, 100)


def top_values(column: Column, top: int) -> pd.Categorical:
    """The commonest values of a column, "other" for the rest, "(missing)" for nothing."""
    categories = column.categories
    order = np.argsort(-categories.counts(), kind="stable")[: max(top, 1)]
    values = [categories.values[i] for i in order]
    # The rest never joins a group that the file itself calls "other".
    names = [*values, "other" if "other" not in categories.values else "(other)"]
    lookup = np.full(len(categories.values) + 1, len(values), np.int32)
    lookup[order] = np.arange(len(order))
    if (categories.codes < 0).any():
        lookup[-1] = len(names)
        names.append(MISSING)
    return categorical(lookup[categories.codes], names)


def too_many_question(column: Column) -> Question:
    """Ask what to do with a column of too many values."""
    values = len(column.categories.values)
    sentence = (
        f'"{column.name}" has {values:,} different values, more than the {GROUP_LIMIT} that make useful '
        'groups: leave it out, or keep the commonest and call the rest "other"?'
    )
    options = ("leave out", *(f"top {n}" for n in _OFFERED))
    return Question("too_many_groups", column.name, sentence, options, "leave out")
