"""The columns that a map's subgroups look at, read in any batch as they were read at the fit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from calcore.errors import InputError
from calcore.ingest.columns import Column, categorical
from calcore.ingest.report import quote_list
from calcore.maps import CalibrationMap
from calcore.scoring.rows import Rows
from calcore.subgroups import MISSING, Membership, Subgroup
from calcore.wording import short


@dataclass
class GroupColumns:
    """Subgroups of a map, the levels of each column that they compare, and the columns of which one was met.

    A number may be spelled "1" in one file and "1.0" in the next: a text that is no level itself stands for the level
    of the same number.
    """

    subgroups: tuple[Subgroup, ...]
    levels: dict[str, dict[str, str]]
    numeric: frozenset[str]
    met: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, map_: CalibrationMap) -> GroupColumns:
        """Of a map without subgroups: nothing to look at. Raises InputError for subgroups that only have names."""
        if not map_.function.needs_groups:
            return cls((), {}, frozenset())
        subgroups = map_.definitions()
        levels: dict[str, dict[str, str]] = {}
        for group in subgroups:
            for column, level in group.levels:
                levels.setdefault(column, {})[level] = level
        ranges = {column for group in subgroups for column in group.columns if column not in levels}
        ranges |= {one for group in subgroups for one in _ranged(group)}
        for known in levels.values():
            for level in list(known):
                known.setdefault(_number(level), level)
        return cls(subgroups, levels, frozenset(ranges))

    def check(self, names: tuple[str, ...]) -> None:
        """Raise InputError where the file lacks a column."""
        needed = dict.fromkeys(column for group in self.subgroups for column in group.columns)
        absent = [column for column in needed if column not in names]
        if absent:
            raise InputError(
                f"The map differs between subgroups and needs the column {quote_list(absent)}, which the file does not "
                f"have; it has {quote_list(names)}."
            )

    def membership(self, rows: Rows, batch: pa.Table, kept: np.ndarray) -> Membership | None:
        """Who belongs to which subgroup, of the rows at ``kept``; None for a map without subgroups."""
        if not self.subgroups:
            return None
        needed = dict.fromkeys(column for group in self.subgroups for column in group.columns)
        table = pd.DataFrame({name: self._values(rows.column(name, batch)) for name in needed})
        return Membership.of_subgroups(self.subgroups, table.iloc[kept].reset_index(drop=True))

    def _values(self, column: Column) -> pd.Categorical | np.ndarray:
        if column.name in self.numeric:
            return column.numbers.values
        known = self.levels[column.name]
        found = column.as_categorical(MISSING)
        texts = [known.get(text) or known.get(_number(text)) or text for text in found.categories]
        if column.name not in self.met and any(text in known for text in texts):
            self.met.add(column.name)
        places = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        lookup = np.array([places[text] for text in texts], np.int64)
        return categorical(lookup[found.codes], list(places))

    def check_known(self) -> None:
        """Raise InputError where no row of the whole file had a level that the map knows."""
        for column in self.levels:
            if column not in self.met and column not in self.numeric:
                known = next(iter(self.levels[column]))
                raise InputError(
                    f'No row of the column "{column}" has a value that the map knows, such as "{short(known)}"; give the column '
                    "as it was written in the file of the fit."
                )


def _ranged(group: Subgroup) -> set[str]:
    if group.parts:
        return {column for part in group.parts for column in _ranged(part)}
    return {group.column} if group.kind == "between" and group.column is not None else set()


def _number(text: str) -> str:
    """One spelling for every number, and the text itself where it is none."""
    try:
        return f"number {float(text)!r}"
    except ValueError:
        return text
