"""Identifiers as they are written: trimmed text, and nothing else that could make two of them one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from .columns import Column
from .parsed import Parsed
from .read import Source, parse

#: Ids that are looked at for others that differ only in how they are written.
_LOOKED_AT = 100_000


def parse_with_text_ids(parsed: Parsed, data: Source, column: str) -> Parsed:
    """A text file parsed again where its ``column`` was read as numbers: 7.0 must stay "7.0". ``data`` as in parse."""
    if parsed.columns[column].is_text or parsed.format.separator is None:
        return parsed
    again = parse(data, parsed.filename, parsed.format, as_text=(column,))
    return replace(again, warnings=parsed.warnings, questions=parsed.questions)


def read_as_numbers(column: Column) -> bool:
    """Whether a column no longer says how its numbers were written (7, 7.0)."""
    return pa.types.is_floating(column.data.type)


def id_texts(column: Column) -> pa.Array:
    """Trimmed texts, null where a cell is empty; whole numbers of typed files without a decimal mark."""
    data = column.data
    if column.is_text or pa.types.is_integer(data.type):
        text = data.cast(pa.string())
    else:
        categories = column.categories
        values = pa.array([*categories.values, None], pa.string())
        text = values.take(pa.array(categories.codes.astype("int64") % len(values)))
    text = pc.utf8_trim_whitespace(text)
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    return pc.if_else(pc.equal(text, ""), None, text)


def written_alike(some: pa.Array, others: pa.Array) -> tuple[str, str] | None:
    """An id of either, for people the same and written differently: "7" and "007", "a1" and "A1"."""
    one, other = (part.drop_null()[:_LOOKED_AT] for part in (some, others))
    if not len(one) or not len(other):
        return None
    where = pc.index_in(_loose(one), value_set=_loose(other))
    hits = pc.indices_nonzero(pc.is_valid(where))
    if not len(hits):
        return None
    first = hits[0].as_py()
    return one[first].as_py(), other[where[first].as_py()].as_py()


def _loose(ids: pa.Array) -> pa.Array:
    text = pc.replace_substring_regex(pc.utf8_lower(ids), r"[\s_-]+", "")
    text = pc.replace_substring_regex(text, r"^([^0-9]*)0+([0-9])", r"\1\2")
    return pc.replace_substring_regex(text, r"^([0-9]+)[.,]0*$", r"\1")
