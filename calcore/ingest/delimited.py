"""UTF-8 text with separators to an Arrow table: fast where the text is regular, exact where it is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import csv

from calcore.errors import InputError

from . import records as record
from .choices import FileFormat, Question
from .report import SHOWN_LINES, Refused, places
from .sniff import HEAD_BYTES, Head, column_kinds, sniff

_ARROW_TYPES = {
    "flag": pa.int8(),
    "float": pa.float64(),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
}


BadRow = Callable[[csv.InvalidRow], str]


class NotUtf8(Exception):
    """The text holds bytes that are not UTF-8; it has to be decoded another way."""


class _Odd(Exception):
    """The fast parse met something that only the exact one can judge."""


class Lines:
    """The line numbers of the rows, worked out the first time that anyone asks.

    `regular` says that every row is known to be one line; `known` holds line numbers found earlier.
    """

    def __init__(
        self,
        data: bytes,
        start: int,
        separator: str,
        first_line: int,
        known: np.ndarray | None = None,
        regular: bool = False,
    ) -> None:
        self._data, self._start, self._separator, self._first_line = data, start, separator, first_line
        self._known, self._regular = known, regular

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Line numbers (from 1) of rows (from 0)."""
        return rows + self._first_line if self._regular else self._all[rows]

    @cached_property
    def _all(self) -> np.ndarray:
        if self._known is not None:
            return self._known
        return record.scan(self._data[self._start :], self._separator, self._first_line).lines


@dataclass(frozen=True)
class Delimited:
    """A parsed text: the table's columns carry the names of the file."""

    table: pa.Table
    format: FileFormat
    lines: Lines
    rows_read: int
    refused: tuple[Refused, ...]
    warnings: tuple[str, ...]
    questions: tuple[Question, ...]


def read_delimited(
    data: bytes, filename: str, chosen: FileFormat, as_text: Collection[str] = ()
) -> Delimited:
    """Parse UTF-8 text; columns named in ``as_text`` keep their cells as written. Raises InputError for what cannot be a table, NotUtf8 for stray bytes."""
    _check_format(chosen)
    chosen, skipped = _separator_hint(data, chosen)
    body = data[skipped:] if skipped else data
    first_line = 2 if skipped else 1
    complete = len(body) <= HEAD_BYTES
    head = sniff(body[:HEAD_BYTES].decode("utf-8", "replace"), complete, chosen)
    if head is None:
        raise InputError(f"{filename} is empty; choose a file with a header and at least one row.")
    start, line = _first_data(body, head)
    if head.format.header and start >= len(body):
        raise InputError(
            f"{filename} has a header ({len(head.names)} {'column' if len(head.names) == 1 else 'columns'}) "
            "but no rows below it; add the rows and load it again."
        )
    names, warnings = _named(head.names)
    refuse_duplicates(names)
    head = replace(head, names=names, as_text=frozenset(as_text))
    line += first_line - 1
    result = _parse(body, start, head, line, filename)
    questions = (_header_question(head),) if head.header_guessed else ()
    return replace(result, warnings=warnings + result.warnings, questions=questions)


def refuse_duplicates(names: tuple[str, ...]) -> None:
    """Raise InputError when two columns have one name."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise InputError(
                f'Two columns are called "{name}" (columns {seen[name]} and {position}); '
                "rename one of them and load the file again."
            )
        seen[name] = position


def _check_format(chosen: FileFormat) -> None:
    if chosen.separator is not None and (len(chosen.separator) != 1 or chosen.separator in '"\r\n'):
        raise InputError(
            f"The separator has to be one character, not {chosen.separator!r}; choose , ; | or tab."
        )
    if chosen.decimal not in (None, ".", ","):
        raise InputError(
            f'The decimal mark has to be "." or ",", not {chosen.decimal!r}; choose one of them.'
        )


def _separator_hint(data: bytes, chosen: FileFormat) -> tuple[FileFormat, int]:
    # Excel writes and reads a first line "sep=;" that belongs to no column.
    hint = re.match(rb'"?sep=(.)"?\r?\n', data, re.IGNORECASE)
    if hint is None:
        return chosen, 0
    return replace(chosen, separator=chosen.separator or hint.group(1).decode("latin-1")), hint.end()


def _first_data(body: bytes, head: Head) -> tuple[int, int]:
    """Byte offset and line number of the first record below the header."""
    assert head.format.separator is not None
    scanned = record.scan(body[:HEAD_BYTES], head.format.separator)
    index = 1 if head.format.header else 0
    if index < len(scanned.starts):
        return int(scanned.starts[index]), int(scanned.lines[index])
    return len(body), 1


def _named(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    filled, unnamed = list(names), []
    for index, name in enumerate(names):
        if not name:
            filled[index] = f"column_{index + 1}"
            while filled.count(filled[index]) > 1:
                filled[index] += "_"
            unnamed.append(filled[index])
    if not unnamed:
        return names, ()
    return tuple(filled), (f"A column without a name is called {', '.join(unnamed)} here.",)


def _header_question(head: Head) -> Question:
    return Question(
        "no_header",
        None,
        f"The first row ({', '.join(head.rows[0][:4])}) looks like data, so the columns are called "
        f"{head.names[0]} and so on: is it data or a header?",
        ("no header", "header"),
        "no header",
    )


def _parse(data: bytes, start: int, head: Head, first_line: int, filename: str) -> Delimited:
    separator = head.format.separator or ","
    try:
        # A view: copying a large file to cut off its header would cost a third of parsing it.
        table = _arrow(pa.py_buffer(data).slice(start), head, quoted_newlines=False, strict=True)
        chunks = [len(chunk) for chunk in table.column(0).chunks]
        quoted = b'"' in data
        if quoted and not record.one_row_a_line(data, start, chunks):
            raise _Odd
    except _Odd:
        return _parse_exactly(data[start:], head, first_line, filename)
    lines = Lines(data, start, separator, first_line, regular=quoted)
    return Delimited(table, head.format, lines, table.num_rows, (), (), ())


def _parse_exactly(data: bytes, head: Head, first_line: int, filename: str) -> Delimited:
    separator = head.format.separator or ","
    scanned = record.scan(data, separator, first_line)
    if scanned.unclosed is not None:
        raise InputError(
            f"The quotation mark that opens a field on line {scanned.unclosed:,} of {filename} is never "
            "closed; close it or remove it."
        )
    width = len(head.names)
    cleaned = record.clean(data, scanned, separator, width)
    refused = tuple(
        Refused(
            f"row has {word} fields, {width} are expected", len(lines), tuple(lines[:SHOWN_LINES].tolist())
        )
        for word, lines in (("too few", cleaned.too_few), ("too many", cleaned.too_many))
        if len(lines)
    )
    if not len(cleaned.lines):
        fields = int(scanned.fields[0])
        raise InputError(
            f"The header of {filename} has {width} fields but line {int(scanned.lines[0]):,} has {fields}, "
            "and no row fits; check the separator and the header."
        )
    warnings: tuple[str, ...] = ()
    if cleaned.trailing:
        rows = f"{cleaned.trailing:,} {'row ends' if cleaned.trailing == 1 else 'rows end'}"
        warnings = (f"{rows} with an empty field more than the header has; the columns stay where it says.",)
    try:
        table = _arrow(
            pa.py_buffer(cleaned.data), head, quoted_newlines=cleaned.quoted_newlines, strict=False
        )
    except _Odd as odd:
        raise InputError(f"{filename} cannot be read as a table: {odd}.") from None
    if table.num_rows != len(cleaned.lines):
        at = places((int(cleaned.lines[0]),), 1)
        raise InputError(
            f"The quotation marks in {filename} do not pair up (data from {at}); write each one inside a "
            'quoted field twice ("").'
        )
    known = Lines(b"", 0, separator, first_line, known=cleaned.lines)
    return Delimited(table, head.format, known, len(scanned.starts), refused, warnings, ())


def _arrow(data: pa.Buffer, head: Head, quoted_newlines: bool, strict: bool) -> pa.Table:
    """Parse rows of equal width; with `strict`, raise _Odd at whatever is not plainly regular."""
    kinds = column_kinds(head)
    bad_rows: list[int] = []

    def on_bad_row(row: csv.InvalidRow) -> str:
        bad_rows.append(row.actual_columns)
        return "skip"

    failures = 0
    while True:
        try:
            table = _read(data, head, kinds, quoted_newlines, on_bad_row)
        except pa.ArrowInvalid as error:
            failures += 1
            kinds = _relaxed(kinds, str(error), everything=failures > 1)
            bad_rows.clear()
            continue
        if bad_rows and strict:
            raise _Odd
        wide = [i for i, kind in enumerate(kinds) if kind == "flag" and _beyond_flags(table.column(i))]
        if not wide:
            break
        kinds = ["category" if i in wide else kind for i, kind in enumerate(kinds)]
    _check_text(table)
    return table.rename_columns(list(head.names))


def _read(
    data: pa.Buffer, head: Head, kinds: list[str], quoted_newlines: bool, on_bad_row: BadRow
) -> pa.Table:
    internal = [str(i) for i in range(len(head.names))]
    return csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=internal, block_size=1 << 21),
        parse_options=csv.ParseOptions(
            delimiter=head.format.separator,
            newlines_in_values=quoted_newlines,
            invalid_row_handler=on_bad_row,
        ),
        convert_options=csv.ConvertOptions(
            column_types={name: _ARROW_TYPES[kind] for name, kind in zip(internal, kinds, strict=True)},
            null_values=[""],
            strings_can_be_null=True,
            check_utf8=False,  # dictionaries are checked once, which is far less than every cell
            decimal_point=head.format.decimal,
        ),
    )


def _relaxed(kinds: list[str], message: str, everything: bool) -> list[str]:
    """The kinds to try next after a parse error; raise _Odd where the error is not about a cell's type."""
    found = re.search(r"In CSV column #(\d+): CSV conversion error", message)
    as_text = {"flag": "category", "float": "text"}
    if found is None or kinds[int(found.group(1))] not in as_text:
        raise _Odd(message)
    return [as_text.get(k, k) if everything or i == int(found.group(1)) else k for i, k in enumerate(kinds)]


def _beyond_flags(column: pa.ChunkedArray) -> bool:
    # A column of 0 and 1 that turns out to hold 007 or 12 has to keep its text.
    values = column.to_numpy()
    return bool(len(values)) and bool(np.nanmin(values) < -1 or np.nanmax(values) > 1)


def _check_text(table: pa.Table) -> None:
    for column in table.columns:
        for chunk in column.chunks:
            values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            text = values.buffers()[2] if pa.types.is_string(values.type) else None
            if text is None or not len(text):
                continue
            if np.frombuffer(text, np.uint8).max() > 127:
                try:
                    values.validate(full=True)
                except pa.ArrowInvalid:
                    raise NotUtf8 from None
