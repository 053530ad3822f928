"""Subgroups: named predicates over the columns of a table, and which rows belong to which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from calcore.errors import InputError
from calcore.sums import distinct_keys, sum_by
from calcore.wording import short

#: The level of a cell that holds nothing.
MISSING = "(missing)"


@dataclass(frozen=True)
class Subgroup:
    """A named predicate over columns: ``equals``, ``between``, or ``all_of`` / ``any_of`` others.

    Made by the class methods; JSON in and out by ``to_dict`` and ``from_dict``.
    """

    kind: str
    column: str | None = None
    value: str | None = None
    low: float | None = None
    high: float | None = None
    parts: tuple[Subgroup, ...] = ()

    @classmethod
    def equals(cls, column: str, value: Any) -> Subgroup:
        """Rows whose ``column`` is ``value``, compared as ``level_names`` writes it; "(missing)" is a level."""
        return cls("equals", column=column, value=str(level_names(pd.Series([value])).iloc[0]))

    @classmethod
    def between(cls, column: str, low: float | None, high: float | None) -> Subgroup:
        """Rows with ``low <= column < high``; None leaves that side open."""
        return cls(
            "between",
            column=column,
            low=None if low is None else float(low),
            high=None if high is None else float(high),
        )

    @classmethod
    def all_of(cls, *parts: Subgroup) -> Subgroup:
        """Rows in every one of ``parts``."""
        return cls("all_of", parts=tuple(parts))

    @classmethod
    def any_of(cls, *parts: Subgroup) -> Subgroup:
        """Rows in at least one of ``parts``."""
        return cls("any_of", parts=tuple(parts))

    def __post_init__(self) -> None:
        if self.kind in ("equals", "between"):
            if not isinstance(self.column, str) or self.parts:
                raise InputError(f"a subgroup of kind {self.kind!r} needs one column name")
            ends = [end for end in (self.low, self.high) if end is not None]
            if self.kind == "equals" and not isinstance(self.value, str):
                raise InputError(f"the value of {self.column!r} must be text, got {self.value!r}")
            if self.kind == "between" and not ends:
                raise InputError(f"the range of {self.column!r} needs a lower or an upper end")
            if not all(isinstance(end, (int, float)) and np.isfinite(end) for end in ends):
                raise InputError(
                    f"the ends of the range of {self.column!r} must be finite numbers, got {ends}"
                )
        elif self.kind in ("all_of", "any_of"):
            if not self.parts:
                raise InputError(f"a subgroup of kind {self.kind!r} needs at least one part")
        else:
            raise InputError(f"unknown kind of subgroup {self.kind!r}")

    @property
    def name(self) -> str:
        """The predicate for a reader: long values are cut, and stay distinct."""
        column = short(self.column or "", distinct=True)
        if self.kind == "equals":
            return f"{column} = {short(self.value or '', distinct=True)}"
        if self.kind == "between":
            if self.low is None:
                return f"{column} < {self.high:.12g}"
            if self.high is None:
                return f"{column} ≥ {self.low:.12g}"
            return f"{self.low:.12g} ≤ {column} < {self.high:.12g}"
        return (" and " if self.kind == "all_of" else " or ").join(
            f"({part.name})" if part.parts else part.name for part in self.parts
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the predicate looks at, each once."""
        if self.column is not None:
            return (self.column,)
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    @property
    def levels(self) -> tuple[tuple[str, str], ...]:
        """The (column, value) pairs that the predicate compares."""
        if self.kind == "equals":
            assert self.column is not None
            assert self.value is not None
            return ((self.column, self.value),)
        return tuple(pair for part in self.parts for pair in part.levels)

    def mask(self, table: Mapping[str, ArrayLike] | pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows of ``table`` belong, booleans (n,). Raises InputError where a column is absent."""
        if self.parts:
            masks = [part.mask(table) for part in self.parts]
            return np.logical_and.reduce(masks) if self.kind == "all_of" else np.logical_or.reduce(masks)
        if self.column not in table:
            raise InputError(f"the subgroup {self.name!r} needs a column {self.column!r}")
        values = pd.Series(table[self.column])  # type: ignore[index]
        if self.kind == "equals":
            return (level_names(values) == self.value).to_numpy(dtype=bool)
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        with np.errstate(invalid="ignore"):
            return (numbers >= low) & (numbers < high)

    def to_dict(self) -> dict[str, Any]:
        if self.parts:
            return {"kind": self.kind, "parts": [part.to_dict() for part in self.parts]}
        if self.kind == "equals":
            return {"kind": self.kind, "column": self.column, "value": self.value}
        return {"kind": self.kind, "column": self.column, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Subgroup:
        """The inverse of ``to_dict``. Raises InputError on anything that it did not write."""
        kind = data.get("kind") if isinstance(data, Mapping) else None
        fields = {
            "equals": {"kind", "column", "value"},
            "between": {"kind", "column", "low", "high"},
            "all_of": {"kind", "parts"},
            "any_of": {"kind", "parts"},
        }
        if kind not in fields or set(data) != fields[kind]:
            raise InputError(
                f"not a subgroup definition: {dict(data) if isinstance(data, Mapping) else data!r}"
            )
        if "parts" in data:
            if not isinstance(data["parts"], (list, tuple)):
                raise InputError(f"the parts of a subgroup must be a list, got {data['parts']!r}")
            return cls(kind, parts=tuple(cls.from_dict(part) for part in data["parts"]))
        if kind == "equals":
            return cls(kind, column=data["column"], value=data["value"])
        return cls(kind, column=data["column"], low=data["low"], high=data["high"])


def level_names(values: pd.Series) -> pd.Series:
    """The values of a column as text levels; whole numbers lose their ".0", missing ones are "(missing)"."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        if not values.hasnans and values.cat.categories.dtype == "str":
            return values
        of_category = level_names(pd.Series(values.cat.categories)).to_numpy(dtype=object)
        names = np.append(of_category, MISSING)[values.cat.codes]
        return pd.Series(names, index=values.index, dtype="str")
    text = values.astype("str")
    if not pd.api.types.is_string_dtype(values):
        # value by value: what else the column holds must not change a level's name
        text = text.str.removesuffix(".0")
    return text.where(values.notna(), MISSING)


@dataclass(frozen=True, eq=False)
class Membership:
    """Which rows belong to which subgroups, by the distinct patterns of membership.

    ``pattern`` (n,) names each row's pattern, ``table`` (patterns x m, sparse 0/1) says which subgroups a
    pattern belongs to: sums over subgroups are sums over patterns times this table.
    """

    names: tuple[str, ...]
    pattern: NDArray[np.int32]
    table: sparse.csr_array
    subgroups: tuple[Subgroup, ...] = field(default=())

    @classmethod
    def of_masks(cls, masks: ArrayLike, names: Sequence[str] | None = None) -> Membership:
        """From booleans (n x m)."""
        matrix = np.asarray(masks)
        if matrix.ndim != 2:
            raise InputError(f"groups: must be rows x groups, got shape {matrix.shape}")
        if matrix.dtype != bool and not np.isin(matrix, (0, 1)).all():
            raise InputError("groups: must hold only true and false")
        matrix = matrix.astype(bool)
        if names is not None and len(names) != matrix.shape[1]:
            raise InputError(f"groups: {len(names)} names for {matrix.shape[1]} groups")
        packed = np.ascontiguousarray(np.packbits(matrix, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel() if packed.shape[1] else None
        if keys is None:
            return cls((), np.zeros(len(matrix), np.int32), sparse.csr_array((1, 0)))
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        labels = tuple(names) if names is not None else tuple(f"group {j}" for j in range(matrix.shape[1]))
        return cls(labels, pattern.astype(np.int32), sparse.csr_array(matrix[first].astype(np.float64)))

    @classmethod
    def of_subgroups(cls, subgroups: Iterable[Subgroup], table: pd.DataFrame) -> Membership:
        """Evaluate ``subgroups`` once per distinct combination of the levels that they look at."""
        subgroups = tuple(subgroups)
        combination = np.zeros(len(table), dtype=np.int64)
        for column, cuts in _cuts(subgroups).items():
            if column not in table:
                raise InputError(f"a subgroup needs a column {column!r}, which this table does not have")
            codes, size = _codes(table[column], cuts)
            if combination.max(initial=0) >= 2**62 // max(size, 1):
                combination = np.unique(combination, return_inverse=True)[1]
            combination = combination * size + codes
        first, pattern = distinct_keys(combination, int(combination.max(initial=0)) + 1)
        distinct = table.iloc[first]
        known: dict[Subgroup, NDArray[np.bool_]] = {}
        masks = np.array([_mask(group, distinct, known) for group in subgroups])
        masks = masks.reshape(len(subgroups), len(first)).T
        # combinations of levels with equal membership are one pattern
        merged = cls.of_masks(masks, [group.name for group in subgroups])
        return cls(merged.names, merged.pattern[pattern], merged.table, subgroups)

    def take(self, index: NDArray[Any] | slice) -> Membership:
        return Membership(self.names, self.pattern[index], self.table, self.subgroups)

    def mask(self, group: int) -> NDArray[np.bool_]:
        """Which rows belong to the subgroup at position ``group``, booleans (n,)."""
        columns = self._columns
        inside = np.zeros(columns.shape[0], dtype=bool)
        inside[columns.indices[columns.indptr[group] : columns.indptr[group + 1]]] = True
        return inside[self.pattern]

    @cached_property
    def _columns(self) -> sparse.csc_array:
        """The table by subgroup, only what is not 0."""
        columns = self.table.tocsc()
        columns.eliminate_zeros()
        return columns

    def compact(self) -> Membership:
        """The same with the patterns that occur alone, which a small part of many rows has few of."""
        used, pattern = np.unique(self.pattern, return_inverse=True)
        return Membership(self.names, pattern.astype(np.int32), self.table[used], self.subgroups)

    def masks(self) -> NDArray[np.bool_]:
        """Booleans (n x m)."""
        return self.table.toarray().astype(bool)[self.pattern]


def _cuts(subgroups: Iterable[Subgroup]) -> dict[str, set[float] | None]:
    """For each column: the ends of its ranges, or None where it is compared with a value (not only missing)."""
    found: dict[str, set[float] | None] = {}
    for group in subgroups:
        for part in _leaves(group):
            assert part.column is not None
            ends = found.setdefault(part.column, set())
            if part.kind == "equals" and part.value != MISSING:
                found[part.column] = None
            elif ends is not None:
                ends.update(end for end in (part.low, part.high) if end is not None)
    return found


def _mask(
    group: Subgroup, table: pd.DataFrame, known: dict[Subgroup, NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """``group.mask(table)``, each part looked at once: intersections share theirs."""
    if group not in known:
        if group.parts:
            join = np.logical_and if group.kind == "all_of" else np.logical_or
            known[group] = join.reduce([_mask(part, table, known) for part in group.parts])
        else:
            known[group] = group.mask(table)
    return known[group]


def _leaves(group: Subgroup) -> Iterable[Subgroup]:
    return [leaf for part in group.parts for leaf in _leaves(part)] if group.parts else [group]


def _codes(values: pd.Series, cuts: set[float] | None) -> tuple[NDArray[np.int64], int]:
    """Codes under which every predicate on the column is constant."""
    if cuts is not None and pd.api.types.is_numeric_dtype(values.dtype):
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        ends = np.sort(np.fromiter(cuts, float))
        codes = np.searchsorted(ends, numbers, side="right")
        codes[np.isnan(numbers)] = ends.size + 1
        return codes, ends.size + 2
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy().astype(np.int64) + 1, len(values.cat.categories) + 1
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    return codes.astype(np.int64), len(distinct)


def make_subgroups(
    table: pd.DataFrame,
    columns: Sequence[str],
    *,
    min_mass: float = 0.01,
    cap: int = 200,
    intersections: bool = True,
) -> SubgroupChoice:
    """Every level of ``columns`` (numeric columns of many values: quarters) and their pairwise intersections.

    Missing values are a level of their own. Only subgroups that hold more than the share ``min_mass`` of the
    rows are kept, at most ``cap`` of them, the largest first; the result says how many were too small and how
    many the cap left out.
    """
    levels = {column: _levels(table[column]) for column in dict.fromkeys(columns)}
    single = [(column, group) for column, found in levels.items() for group in found.groups]
    member = Membership.of_subgroups([group for _, group in single], table)
    rows = sum_by(member.pattern, None, member.table.shape[0])
    together = (member.table.T @ sparse.diags_array(rows) @ member.table).toarray()
    # the pair (i, i) is the single subgroup i
    places = [(i, i) for i in range(len(single))]
    if intersections:
        pairs = combinations(range(len(single)), 2)
        places += [(i, j) for i, j in pairs if single[i][0] != single[j][0]]
    share = np.array([together[place] for place in places]) / max(len(table), 1)
    # singles come before intersections of the same size: the sort is stable
    large = [k for k in np.argsort(-share, kind="stable") if share[k] > min_mass]
    kept = [places[k] for k in sorted(large[:cap])]
    groups = tuple(single[i][1] if i == j else Subgroup.all_of(single[i][1], single[j][1]) for i, j in kept)
    return SubgroupChoice(
        groups,
        too_small=int((share > 0).sum()) - len(large),
        over_cap=len(large) - len(kept) + sum(found.left_out for found in levels.values()),
        membership=_intersected(member, kept, groups) if groups else None,
    )


def _intersected(
    member: Membership, places: list[tuple[int, int]], groups: tuple[Subgroup, ...]
) -> Membership:
    """Membership of the intersections (i, j) of the subgroups of ``member``."""
    first, second = ([place[k] for place in places] for k in (0, 1))
    matrix = sparse.csr_array(member.table[:, first].multiply(member.table[:, second]))
    return Membership(tuple(group.name for group in groups), member.pattern, matrix, groups)


@dataclass(frozen=True)
class SubgroupChoice:
    """The subgroups made for a table and who belongs to them (None where there are none); how many were below
    the minimum mass, how many over the cap."""

    subgroups: tuple[Subgroup, ...]
    too_small: int
    over_cap: int
    membership: Membership | None = field(default=None, compare=False)


@dataclass(frozen=True)
class _Levels:
    """Disjoint subgroups of one column, and how many of its levels are not among them."""

    groups: list[Subgroup]
    left_out: int = 0


def _levels(values: pd.Series, most: int = 50) -> _Levels:
    """The ``most`` largest levels of a column; a numeric column of more than that is cut into quarters."""
    column = str(values.name)
    if pd.api.types.is_numeric_dtype(values.dtype) and values.nunique() > most:
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        cuts = np.unique(np.quantile(numbers[np.isfinite(numbers)], [0.25, 0.5, 0.75]))
        ends = [None, *(float(cut) for cut in cuts), None]
        quarters = [Subgroup.between(column, low, high) for low, high in pairwise(ends)]
        return _Levels([*quarters, Subgroup.equals(column, MISSING)] if values.hasnans else quarters)
    counted = level_names(values).value_counts()
    present = counted.index[counted > 0]
    return _Levels([Subgroup.equals(column, level) for level in present[:most]], max(len(present) - most, 0))
