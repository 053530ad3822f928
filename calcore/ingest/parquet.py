"""Parquet bytes to an Arrow table of the few types that columns are read from."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from calcore.errors import InputError

_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def read_parquet(data: bytes, filename: str) -> tuple[pa.Table, tuple[str, ...]]:
    """The table, and warnings about columns left out. Raises InputError for a damaged file."""
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{filename} is a damaged Parquet file ({reason}); write it again.") from None
    kept, left_out = {}, []
    names = tuple(name.strip() for name in table.column_names)
    for index, name in enumerate(names):
        column = plain_column(table.column(index))
        if column is None:
            left_out.append(f'"{name}" ({table.column(index).type})')
        kept[index] = column
    warnings = (f"Left out {', '.join(left_out)}: not a column of plain values.",) if left_out else ()
    usable = [(names[i], column) for i, column in kept.items() if column is not None]
    arrays = [column for _, column in usable]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in usable]), warnings


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """A column as float64, int64, bool, text, dictionary of text or timestamp; None for nested values."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(chunks, kind.storage_type)
        kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain_dictionary(column)
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_boolean(kind) or kind == pa.string():
        return column
    if pa.types.is_uint64(kind):
        return column.cast(pa.string())  # an id beyond int64 keeps its digits
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # Naive times count as UTC; times with a zone are stored as UTC already.
        return column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.timestamp("us"))
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_binary(kind):
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            return None
    return None


def _plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    values = column.type.value_type
    if pa.types.is_string(values) or pa.types.is_large_string(values):
        return column.cast(_DICTIONARY) if column.type != _DICTIONARY else column
    return plain_column(column.cast(values))
