"""Texts to numbers, exactly: decimal marks, percentages, thousands separators, and what is no number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SPACES = "\u00a0\u202f\u2009"


@dataclass(frozen=True)
class Numbers:
    """Cells as numbers, all arrays of one length.

    `values` is NaN where `blank` (nothing there) or `bad` (something that is no finite number) holds;
    `percent` marks cells with a percent sign (their value is not divided); `grouped` counts the cells
    that were read with a thousands separator.
    """

    values: np.ndarray
    blank: np.ndarray
    bad: np.ndarray
    percent: np.ndarray
    grouped: int = 0

    def take(self, codes: np.ndarray) -> Numbers:
        """The cells behind category codes; -1 is blank."""
        return Numbers(
            np.append(self.values, np.nan)[codes],
            np.append(self.blank, True)[codes],
            np.append(self.bad, False)[codes],
            np.append(self.percent, False)[codes],
            self.grouped,
        )


def from_floats(values: np.ndarray, blank: np.ndarray | None) -> Numbers:
    """Numbers of a float array in which `blank` marks the empty cells (None: there are none)."""
    none = np.zeros(len(values), bool)
    blank = none if blank is None else blank
    finite = np.isfinite(values)
    if finite.all():
        return Numbers(values, none, none, none)
    return Numbers(np.where(finite, values, np.nan), blank, ~finite & ~blank, none)


def parse_numbers(texts: pa.Array | pa.ChunkedArray, decimal: str = ".") -> Numbers:
    """Parse texts whose decimal mark is "." or ","; correctly rounded, whole array at a time."""
    text = pc.fill_null(pc.utf8_trim_whitespace(texts), "")
    blank = _mask(pc.equal(text, ""))
    percent = _mask(pc.ends_with(text, "%"))
    if percent.any():
        text = pc.utf8_trim_whitespace(pc.utf8_rtrim(text, "%"))
    mark = "," if decimal == "," else r"\."
    number = rf"^[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?$"
    plain = _mask(pc.match_substring_regex(text, number))
    grouped = 0
    if not (plain | blank).all():
        text, with_groups = _without_thousands(text, decimal, mark)
        grouped = int((with_groups & ~plain).sum())
        plain = plain | with_groups
    if decimal == ",":
        text = pc.replace_substring(text, ",", ".")
    cast = pc.cast(pc.if_else(pa.array(plain), _joined(text), None), pa.float64())
    values = np.array(cast.to_numpy(zero_copy_only=False), np.float64)
    bad = ~blank & ~np.isfinite(values)
    values[bad] = np.nan
    return Numbers(values, blank, bad, percent & ~bad, grouped)


def _without_thousands(text, decimal: str, mark: str):
    """Take out thousands separators, only where the grouping by three leaves no other reading."""
    other = r"\." if decimal == "," else ","
    found = np.zeros(len(text), bool)
    for separator in (other, "'", "\u2019", f"[ {_SPACES}]"):
        pattern = rf"^[+-]?[1-9]\d{{0,2}}({separator}\d{{3}})+({mark}\d*)?$"
        hit = _mask(pc.match_substring_regex(text, pattern))
        if hit.any():
            found |= hit
            bare = pc.replace_substring_regex(text, separator, "")
            text = pc.if_else(pa.array(hit), _joined(bare), _joined(text))
    return text, found


def _joined(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _mask(array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    return np.array(_joined(array).to_numpy(zero_copy_only=False), bool)
