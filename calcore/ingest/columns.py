"""One column of a file in the forms that roles need: numbers, categories, text for the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .numbers import Numbers, from_floats, parse_numbers

DISTINCT_CAP = 1_000
DISTINCT_ROWS = 5_000
_FEW = 16


@dataclass(frozen=True)
class Categories:
    """A column as codes into its distinct trimmed texts; -1 is an empty cell."""

    codes: np.ndarray
    values: tuple[str, ...]

    def counts(self) -> np.ndarray:
        """How many rows each value has."""
        if len(self.values) <= _FEW:  # comparing small codes is several times faster than bincount's casts
            return np.array([np.count_nonzero(self.codes == i) for i in range(len(self.values))], np.int64)
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


class Column:
    """A named Arrow column; every form is computed when first asked for and then kept."""

    def __init__(self, name: str, data: pa.ChunkedArray, decimal: str = ".") -> None:
        self.name, self.data, self.decimal = name, data, decimal

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts (with or without a dictionary)."""
        kind = self.data.type
        return pa.types.is_dictionary(kind) or pa.types.is_string(kind)

    @property
    def is_time(self) -> bool:
        """Whether the file itself says that the cells are times."""
        return pa.types.is_timestamp(self.data.type)

    @property
    def is_boolean(self) -> bool:
        """Whether the file itself says that the cells are true or false."""
        return pa.types.is_boolean(self.data.type)

    @cached_property
    def missing(self) -> int:
        """The number of empty cells."""
        if pa.types.is_dictionary(self.data.type):
            return int(np.count_nonzero(self.categories.codes < 0))
        return int(self.data.null_count)

    @cached_property
    def sample(self) -> Column:
        """At most DISTINCT_ROWS rows, taken evenly over the whole column."""
        n = len(self.data)
        if n <= DISTINCT_ROWS:
            return self
        pieces = 20
        size = DISTINCT_ROWS // pieces
        starts = np.linspace(0, n - size, pieces).astype(int)
        chunks = [c for s in starts for c in self.data.slice(int(s), size).chunks]
        return Column(self.name, pa.chunked_array(chunks, self.data.type), self.decimal)

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values, up to DISTINCT_CAP; number columns are looked at on a sample."""
        if pa.types.is_dictionary(self.data.type):
            return min(len(self.categories.values), DISTINCT_CAP)
        return min(pc.count_distinct(self.sample.data, mode="only_valid").as_py(), DISTINCT_CAP)

    @cached_property
    def categories(self) -> Categories:
        """The column as trimmed texts; values that differ only in outer spaces are one."""
        data = self.data
        if pa.types.is_int8(data.type):
            return _flag_categories(data)
        joined = _encoded(data)
        if isinstance(joined, pa.ChunkedArray):
            joined = joined.chunk(0) if joined.num_chunks else pa.array([], pa.string()).dictionary_encode()
        texts = _texts(joined.dictionary)
        values: dict[str, int] = {}
        lookup = np.empty(len(texts) + 1, np.int32)
        for old, text in enumerate(texts):
            lookup[old] = values.setdefault(text, len(values)) if text else -1
        lookup[-1] = -1
        indices = joined.indices
        if indices.null_count:
            indices = indices.fill_null(len(texts))
        codes = indices.to_numpy(zero_copy_only=False)
        if len(values) < len(texts) or joined.indices.null_count:
            codes = lookup[codes]
        return Categories(codes.astype(np.int8) if len(values) < 127 else codes, tuple(values))

    @cached_property
    def numbers(self) -> Numbers:
        """The column as numbers (see `Numbers`)."""
        kind = self.data.type
        if pa.types.is_dictionary(kind):
            codes = self.categories.codes
            return parse_numbers(pa.array(self.categories.values, pa.string()), self.decimal).take(codes)
        if pa.types.is_string(kind):
            return parse_numbers(self.data, self.decimal)
        data = self.data if not self.is_time else self.data.cast(pa.int64())
        blank = None
        if data.null_count:
            blank = data.is_null().to_numpy()
        values = (data.cast(pa.int8()) if self.is_boolean else data).to_numpy()
        return from_floats(np.asarray(values, np.float64), blank)

    def unit_codes(self) -> np.ndarray:
        """Integers that are equal where the cells are; every empty cell is a unit of its own."""
        joined = _encoded(self.data)
        codes = joined.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        blank = np.flatnonzero(codes < 0)
        codes[blank] = len(joined.dictionary) + np.arange(len(blank))
        return codes

    def as_text(self, fill: str | None = None) -> pd.Series:
        """The column as pandas text: categorical where values repeat, `fill` (or NaN) where empty."""
        if pa.types.is_string(self.data.type):
            data = self.data
            if _any_space(data):
                data = pc.utf8_trim_whitespace(data)
            if fill is not None and data.null_count:
                data = data.fill_null(fill)
            return data.to_pandas()
        return pd.Series(self.as_categorical(fill), copy=False)

    def as_categorical(self, fill: str | None = None) -> pd.Categorical:
        """The column as a categorical of texts, with `fill` as a value where cells are empty."""
        codes, values = self.categories.codes, list(self.categories.values)
        if fill is not None and (codes < 0).any():
            if fill not in values:
                values.append(fill)
            codes = np.where(codes < 0, values.index(fill), codes)
        return categorical(codes, values)

    def plain(self) -> pd.Series | np.ndarray:
        """The column as it is shown where it has no role."""
        kind = self.data.type
        if self.is_text:
            return self.as_text()
        if self.is_time:
            return self.data.to_pandas()
        if pa.types.is_floating(kind) or not self.data.null_count:
            return self.data.to_numpy()
        return np.asarray(self.data.cast(pa.float64()).to_numpy())


def categorical(codes: np.ndarray, values: list[str]) -> pd.Categorical:
    """Codes and their texts as a pandas categorical, without looking at every row again."""
    dtype = pd.CategoricalDtype(pd.Index(values, dtype="str"))
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def _encoded(data: pa.ChunkedArray) -> pa.DictionaryArray:
    if pa.types.is_dictionary(data.type):
        return data.unify_dictionaries().combine_chunks()
    # Joined first: unifying the dictionaries of many chunks takes seconds where nearly every value is new.
    return data.combine_chunks().dictionary_encode()


def _flag_categories(data: pa.ChunkedArray) -> Categories:
    """Categories of a column that the text reader found to hold 0, 1 and -1 only."""
    flags = (data.fill_null(2) if data.null_count else data).to_numpy()
    present = [v for v in (0, 1, -1) if (flags == v).any()]
    lookup = np.full(4, -1, np.int8)
    for code, value in enumerate(present):
        lookup[value + 1] = code
    return Categories(lookup[flags + np.int8(1)], tuple(str(v) for v in present))


def _texts(values: pa.Array) -> list[str]:
    if pa.types.is_floating(values.type):
        return ["" if v is None or v != v else repr(v).removesuffix(".0") for v in values.to_pylist()]
    return ["" if v is None else str(v).strip() for v in values.to_pylist()]


def _any_space(data: pa.ChunkedArray) -> bool:
    return any(
        buffer is not None and bool((np.frombuffer(buffer, np.uint8) == 32).any())
        for buffer in (chunk.buffers()[2] for chunk in data.chunks)
    )


@dataclass(frozen=True, eq=False)
class Columns:
    """The kept rows as arrays, ready for an observation model; None for roles that no column plays.

    `score` in [0, 1]; `label` and `audit` 0, 1, 0.5 (a tie that counts half) or NaN (unlabelled); `source` text; `confidence` in [0, 1]
    or NaN; `weight` >= 0; `time` datetime64[ns] in UTC, NaT where missing; `groups` one categorical column
    of texts for each group column.
    """

    score: np.ndarray
    label: np.ndarray | None
    audit: np.ndarray | None
    source: np.ndarray | None
    confidence: np.ndarray | None
    weight: np.ndarray | None
    time: np.ndarray | None
    groups: pd.DataFrame
    #: Scores of rival models by column, in [0, 1], NaN where there is none.
    rivals: Mapping[str, np.ndarray] = field(default_factory=dict)
    _unit: Callable[[], np.ndarray] | None = field(default=None, repr=False)
    _line: Callable[[], np.ndarray] | None = field(default=None, repr=False)

    @cached_property
    def unit(self) -> np.ndarray | None:
        """Integers, equal for rows that belong together; worked out when first asked for."""
        return None if self._unit is None else self._unit()

    @cached_property
    def line(self) -> np.ndarray:
        """The line of the file (row, for Parquet) that each kept row stands on, from 1."""
        return np.arange(1, len(self.score) + 1) if self._line is None else self._line()
