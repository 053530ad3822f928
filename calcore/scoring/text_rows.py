"""A delimited text batch by batch: every cell keeps its text, every row its place."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import TextIOWrapper
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from calcore.errors import InputError
from calcore.ingest import FileFormat
from calcore.ingest.columns import Column
from calcore.ingest.delimited import filled_names, read_delimited, refuse_duplicates
from calcore.ingest.encoding import mark_of, to_utf8
from calcore.ingest.sniff import HEAD_BYTES, sniff
from calcore.scoring.batches import HEAD_ROWS, Batch, TextLayout
from calcore.scoring.plain_lines import plain_cells
from calcore.scoring.source import Source

#: Characters of a cell above which a quotation mark must have been left open: more than the reader of labels takes.
LARGEST_CELL = 1 << 24
_LINE_END = re.compile(r"\r\n|\n|\r")


class _Record(NamedTuple):
    line: int
    next_line: int
    cells: list[str]
    text: str


class TextRows:
    """A delimited text: every cell keeps its text, every row its place."""

    place = "line"

    def __init__(self, source: Source, start: bytes, chosen: FileFormat) -> None:
        self._source, self._name = source, source.name
        complete = source.size <= len(start)
        # the first bytes may end inside a character
        whole = start if complete else start[: len(start) // 4 * 4]
        text, encoding = to_utf8(_until_line_end(whole, complete), self._name, chosen.encoding)
        if encoding in ("utf-8", "windows-1252") and not source.decodes(encoding):
            if chosen.encoding is not None:
                raise InputError(
                    f"{self._name} cannot be read as {chosen.encoding}; choose another encoding."
                )
            # as the reader of labels does: Latin-1 where a byte means nothing in Windows-1252
            encoding = next(one for one in ("windows-1252", "latin-1") if source.decodes(one))
        self._encoding, self._mark = encoding, mark_of(start, encoding)
        hint = re.match(rb'"?sep=(.)"?\r?\n', text, re.IGNORECASE)
        if hint:
            chosen = replace(chosen, separator=chosen.separator or hint.group(1).decode("latin-1"))
            text = text[hint.end() :]
        self._before = "" if hint is None else hint.group().decode()
        found = sniff(
            text[:HEAD_BYTES].decode("utf-8", "replace"), complete and len(text) <= HEAD_BYTES, chosen
        )
        if found is None:
            raise InputError(f"{self._name} is empty; choose a file with a header and at least one row.")
        self.names, _ = filled_names(found.names)
        refuse_duplicates(self.names)
        self.format = replace(found.format, encoding=encoding)
        self._first = text

    @property
    def layout(self) -> TextLayout:
        end = _LINE_END.search(self._first.decode("utf-8", "replace"))
        header = None
        if self.format.header:
            with self._opened() as text:
                header = self._text_of(self._header(self._lines(text)))
            if header is None:
                # a separator at the end of the header alone names no column
                header = (self.format.separator or ",").join(_quoted(name) for name in self.names)
        return TextLayout(
            self.format, self._mark, self._encoding, end.group() if end else "\n", self._before, header
        )

    def head(self) -> dict[str, Column]:
        text = self._first[: HEAD_BYTES // 2]
        text = text[: text.rfind(b"\n") + 1] or self._first
        try:
            table = read_delimited(text, self._name, self.format).table
        except InputError:
            # the cut went through a quoted cell with line ends, or there is nothing but a header
            batch = next(self.batches(HEAD_ROWS), None)
            if batch is None:
                raise InputError(
                    f"{self._name} has a header ({len(self.names)} columns) but no rows below it; add the rows."
                ) from None
            table = batch.table
        names = (name for name in self.names if name in table.column_names)
        return {name: Column(name, table.column(name), self.format.decimal or ".") for name in names}

    def column(self, name: str, batch: pa.Table) -> Column:
        return Column(name, batch.column(name), self.format.decimal or ".")

    def batches(self, size: int) -> Iterator[Batch]:
        with self._opened() as text:
            lines = self._lines(text)
            number = 1 + bool(self._before)
            if self.format.header:
                number = self._header(lines, number).next_line
            while some := list(islice(lines, size)):
                plain = plain_cells(some, self.names, self.format.separator or ",")
                if plain is not None:
                    places = np.arange(number, number + len(some))
                    yield Batch(plain.table, places, np.zeros(len(some), bool), plain.texts)
                    number += len(some)
                    continue
                gathered, end = [], number + len(some)
                for record in self._records(chain(some, lines), number):
                    number = record.next_line
                    if record.text.strip(" "):
                        gathered.append(record)
                    if number >= end:
                        break
                if gathered:
                    yield self._batch(gathered)
                number = max(number, end)

    def _header(self, lines: Iterator[str], number: int = 1) -> _Record:
        """The first record that holds more than spaces; there is one."""
        return next(record for record in self._records(lines, number) if record.text.strip(" "))

    def _batch(self, records: list[_Record]) -> Batch:
        width = len(self.names)
        rows = [one.cells for one in records]
        misfits = np.zeros(len(rows), bool)
        for i, row in enumerate(rows):
            if len(row) != width:
                fitted = _fitted(row, width)
                misfits[i] = fitted is None
                rows[i] = fitted or _filled(row, width, self.format.separator or ",")
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        return Batch(
            pa.Table.from_arrays(columns, names=list(self.names)),
            np.array([one.line for one in records]),
            misfits,
            tuple(self._text_of(one) for one in records),
        )

    def _text_of(self, record: _Record) -> str | None:
        return record.text if len(record.cells) == len(self.names) else None

    def _opened(self) -> TextIOWrapper:
        codec = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        return TextIOWrapper(self._source.open(), encoding=codec, newline="")

    def _lines(self, text: TextIOWrapper) -> Iterator[str]:
        """The lines with their ends, without a byte-order mark and without what stands before the header."""
        if self._before:
            text.readline()
        try:
            for i, line in enumerate(text):
                yield line.removeprefix("\ufeff") if i == 0 else line
        except UnicodeError as error:
            raise InputError(
                f"{self._name} cannot be read as {self._encoding} ({error}); choose another encoding."
            ) from None

    def _records(self, lines: Iterable[str], number: int) -> Iterator[_Record]:
        """The records of ``lines``, the first of which has this number; blank ones too."""
        # the reader's own limit is for the whole program: never lowered here
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        seen: list[str] = []
        separator = self.format.separator or ","
        reader = csv.reader(_seen(lines, seen), delimiter=separator)
        first = number
        try:
            for row in reader:
                if len(seen) > 1 and _unclosed(seen, separator):
                    raise csv.Error("the file ends inside of a cell")
                text = seen[0] if len(seen) == 1 else "".join(seen)
                seen.clear()
                line, number = number, first + reader.line_num
                yield _Record(line, number, row, text.removesuffix("\n").removesuffix("\r"))
        except csv.Error as error:
            raise InputError(
                f"{self._name} cannot be read from line {number:,} on ({error}); look for a quotation "
                "mark that is never closed."
            ) from None


def _fitted(row: list[str], width: int) -> list[str] | None:
    """A row with empty fields hanging off its end, cut; None where the surplus is not empty or fields lack."""
    return row[:width] if len(row) > width and not any(row[width:]) else None


def _filled(row: list[str], width: int, separator: str) -> list[str]:
    """A row that does not fit, with nothing lost: empty fields added, a surplus kept in the last one."""
    if len(row) < width:
        return row + [""] * (width - len(row))
    return [*row[: width - 1], separator.join(row[width - 1 :])]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if re.search(r'[",;\s|]', name) else name


def _until_line_end(start: bytes, complete: bool) -> bytes:
    if complete or start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or 0 in start[:100]:
        return start
    return start[: start.rfind(b"\n") + 1] or start


def _seen(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    """The lines; those of the present record are in ``seen`` too."""
    for line in lines:
        seen.append(line)
        yield line


def _unclosed(lines: list[str], separator: str) -> bool:
    """Whether a record of several lines ends inside of a quoted cell: what follows it was swallowed."""
    try:
        list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False
