"""The user's own table with the calibrated score as one more column, as CSV that is safe to open."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike
from pyarrow import csv

from calcore.errors import InputError

# What spreadsheets run as a formula (with the full-width signs that some accept); a plain number such as
# "-5" or "+1e3" is not one.
_FORMULA = "^[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_ROWS = 100_000


def scored_csv(table: pd.DataFrame, calibrated: ArrayLike, name: str = "calibrated_score") -> bytes:
    """The table's columns and the calibrated scores as UTF-8 CSV; see `scored_csv_chunks`."""
    return b"".join(scored_csv_chunks(table, calibrated, name))


def scored_csv_chunks(
    table: pd.DataFrame, calibrated: ArrayLike, name: str = "calibrated_score", rows: int = _ROWS
) -> Iterator[bytes]:
    """The same bytes in pieces of `rows` rows, the first with the header.

    table: original columns, written in order; the index is not. calibrated: one number in [0, 1] a row,
    written so that it reads back to the same bits. A column that is called `name` already keeps its name;
    the new one is then `name` with a number behind. Text cells and names that a spreadsheet would run as
    a formula get a leading apostrophe; numbers, also numbers kept as text, stay as they are. Raises
    `InputError` where the scores do not fit the table.
    """
    scores = _checked(table, calibrated)
    names = [str(column) for column in table.columns]
    return _pieces(table, [*names, free_name(name, names)], scores, rows)


def safe_csv(
    table: pd.DataFrame, *, separator: str = ",", decimal: str = ".", codec: str = "utf-8", mark: bytes = b""
) -> bytes:
    """Any table as CSV, safe to open in a spreadsheet in the same way, laid out as another file is."""
    if decimal != ".":
        table = table.copy(deep=False)
        for place, kind in enumerate(table.dtypes):
            if kind.kind == "f":
                values = table.iloc[:, place]
                said = values.map(lambda v: repr(float(v)).replace(".", decimal), "ignore")
                table.isetitem(place, said.astype("str").array)
    names = [str(column) for column in table.columns]
    text = b"".join(_pieces(table, names, None, _ROWS, separator))
    return mark + (text if codec == "utf-8" else text.decode().encode(codec, "replace"))


def _pieces(
    table: pd.DataFrame, names: list[str], scores: np.ndarray | None, rows: int, separator: str = ","
) -> Iterator[bytes]:
    for start in range(0, max(len(table), 1), rows):
        piece = table.iloc[start : start + rows]
        given = None if scores is None else scores[start : start + rows]
        yield csv_piece(piece, names, given, header=start == 0, separator=separator)


def csv_piece(
    table: pd.DataFrame, names: list[str], scores: np.ndarray | None, *, header: bool, separator: str = ","
) -> bytes:
    """Some rows as CSV, with ``scores`` (NaN: empty) as the last column; ``names`` of all columns."""
    columns = [_column(table.iloc[:, i]) for i in range(table.shape[1])]
    if scores is not None:
        columns.append(pa.array(scores, mask=np.isnan(scores)))
    safe_names = safe_text(pa.array(_text(names), pa.string())).to_pylist()
    out = io.BytesIO()
    csv.write_csv(
        pa.Table.from_arrays(columns, names=safe_names),
        out,
        csv.WriteOptions(include_header=header, delimiter=separator),
    )
    return out.getvalue()


def _checked(table: pd.DataFrame, calibrated: ArrayLike) -> np.ndarray:
    scores = np.asarray(calibrated, dtype=np.float64)
    if scores.shape != (len(table),):
        raise InputError(f"There are {scores.size} calibrated scores for {len(table)} rows; give one a row.")
    bad = ~((scores >= 0.0) & (scores <= 1.0))
    if bad.any():
        raise InputError(
            f"{int(bad.sum())} calibrated scores are not in [0, 1], the first at row "
            f"{int(np.argmax(bad))}; apply the map to valid scores."
        )
    return scores


def free_name(name: str, taken: list[str]) -> str:
    """`name`, or `name_2`, `name_3`, ... where it is taken; spreadsheets do not tell cases apart."""
    lower = {item.lower() for item in taken}
    candidate, count = name, 1
    while candidate.lower() in lower:
        count += 1
        candidate = f"{name}_{count}"
    return candidate


def _column(values: pd.Series) -> pa.Array | pa.ChunkedArray:
    """A column that the CSV writer takes, with its text made safe."""
    try:
        array = pa.array(values, from_pandas=True)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
    except (pa.ArrowException, UnicodeEncodeError, TypeError, ValueError, OverflowError):
        return safe_text(_as_text(values))
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return safe_text(array)
    plain = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_null,
        pa.types.is_date,
        pa.types.is_timestamp,
        pa.types.is_decimal,
    )
    if any(test(kind) for test in plain) and not pa.types.is_float16(kind):
        return array
    return safe_text(_as_text(values))


def _as_text(values: pd.Series) -> pa.Array:
    """Mixed, nested or otherwise unusual values as the text that they print as; missing ones stay missing."""
    missing = values.isna().to_numpy()
    return pa.array(
        [None if gone else item for gone, item in zip(missing, _text([*map(_printed, values)]), strict=True)],
        pa.string(),
    )


def _printed(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _text(values: list[str]) -> list[str]:
    """Text that UTF-8 can hold: half characters become question marks."""
    return [value.encode("utf-8", "replace").decode("utf-8") for value in values]


def safe_text(text: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Text with an apostrophe before what a spreadsheet would run."""
    formula = pc.match_substring_regex(text, _FORMULA)
    if not pc.any(formula).as_py():  # the usual case; also where all is missing
        return text
    runs = pc.and_not(formula, pc.match_substring_regex(text, _NUMBER))
    return pc.if_else(
        runs, pc.binary_join_element_wise(pa.scalar("'", text.type), text, pa.scalar("", text.type)), text
    )
