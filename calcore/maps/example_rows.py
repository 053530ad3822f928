"""Rows that fall into a map's subgroups and beside them, to try exports of grouped maps on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calcore.maps.sql_text import simple_parts
from calcore.subgroups import MISSING, Subgroup


def example_rows(subgroups: tuple[Subgroup, ...], n: int, seed: int = 0) -> pd.DataFrame:
    """n rows with every column that the subgroups look at, at random with ``seed``.

    A column takes the levels compared, an unknown one and nothing; a column of ranges takes their ends and numbers
    beside them.
    """
    parts = [part for group in subgroups for part in simple_parts(group)]
    rng = np.random.default_rng(seed)
    table = {}
    for column in dict.fromkeys(part.column for part in parts):
        mine = [part for part in parts if part.column == column]
        levels = [part.value for part in mine if part.value not in (None, MISSING)]
        ends = [end for part in mine for end in (part.low, part.high) if end is not None]
        if ends:
            numbers = np.array([*ends, *(float(str(level)) for level in levels)])
            around = [numbers, np.nextafter(numbers, -np.inf), np.nextafter(numbers, np.inf)]
            values = np.concatenate([*around, [numbers.min() - 1.0, numbers.max() + 1.0, np.nan]])
            table[column] = pd.Series(rng.choice(values, n))
        else:
            choices = np.array([*dict.fromkeys(levels), "another level", None], dtype=object)
            table[column] = pd.Series(rng.choice(choices, n), dtype="str")
    return pd.DataFrame(table, index=range(n))
