"""Files as batches of columns, in constant memory: every row of the file is in one of them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calcore.errors import InputError
from calcore.ingest import FileFormat, Roles
from calcore.ingest.columns import Column
from calcore.ingest.container import is_parquet, refuse_other_kinds
from calcore.ingest.delimited import read_delimited, refuse_duplicates
from calcore.ingest.encoding import to_utf8
from calcore.ingest.parquet import plain_column
from calcore.ingest.roles import guess_roles
from calcore.ingest.sniff import HEAD_BYTES, sniff

_PIECE = 1 << 20
_HEAD_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: ``table`` as they are written again, ``places`` their lines (rows, for Parquet) counted from 1.

    ``misfits`` marks rows with another number of fields than the header.
    """

    table: pa.Table
    places: np.ndarray
    misfits: np.ndarray


class Rows(Protocol):
    """A file that can be read batch by batch."""

    names: tuple[str, ...]
    format: FileFormat
    place: str

    def head(self) -> dict[str, Column]:
        """The first rows, to see what the columns hold."""
        ...

    def column(self, name: str, batch: pa.Table) -> Column:
        """One column of a batch in the forms that roles need."""
        ...

    def batches(self, size: int) -> Iterator[Batch]:
        """All rows in order, ``size`` at a time."""
        ...


def open_rows(path: str, chosen: FileFormat) -> Rows:
    """The rows of a text or Parquet file. Raises InputError for what is neither."""
    try:
        with open(path, "rb") as file:
            start = file.read(HEAD_BYTES * 4)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check the path.") from None
    name = Path(path).name
    if not start.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise InputError(f"{name} is empty; choose a file with a header and at least one row.")
    if is_parquet(start):
        return ParquetRows(path, name)
    refuse_other_kinds(start, name)
    return TextRows(path, name, start, chosen)


def score_column(rows: Rows) -> str:
    """The column that looks like the score, by the first rows. Raises InputError where none does."""
    roles: Roles = guess_roles(rows.head())
    if roles.score is None:
        raise InputError(
            f"No column looks like a score; name it with --score COLUMN: the file holds {', '.join(rows.names)}."
        )
    return roles.score


class TextRows:
    """A delimited text: every cell keeps its text, every row its place."""

    place = "line"

    def __init__(self, path: str, name: str, start: bytes, chosen: FileFormat) -> None:
        self._path, self._name = path, name
        complete = Path(path).stat().st_size <= len(start)
        # the first bytes may end inside a character
        whole = start if complete else start[: len(start) // 4 * 4]
        text, encoding = to_utf8(_until_line_end(whole, complete), name, chosen.encoding)
        self._encoding = encoding
        if encoding in ("utf-8", "windows-1252") and not _decodes(path, encoding):
            if chosen.encoding is not None:
                raise InputError(f"{name} cannot be read as {chosen.encoding}; choose another encoding.")
            # as the reader of labels does: Latin-1 where a byte means nothing in Windows-1252
            encoding = next(one for one in ("windows-1252", "latin-1") if _decodes(path, one))
            self._encoding = encoding
        hint = re.match(rb'"?sep=(.)"?\r?\n', text, re.IGNORECASE)
        if hint:
            chosen = replace(chosen, separator=chosen.separator or hint.group(1).decode("latin-1"))
            text = text[hint.end() :]
        self._skipped = 1 if hint else 0
        found = sniff(
            text[:HEAD_BYTES].decode("utf-8", "replace"), complete and len(text) <= HEAD_BYTES, chosen
        )
        if found is None:
            raise InputError(f"{name} is empty; choose a file with a header and at least one row.")
        self.names = tuple(one or f"column_{i}" for i, one in enumerate(found.names, start=1))
        refuse_duplicates(self.names)
        self.format = replace(found.format, encoding=encoding)
        self._first = text

    def head(self) -> dict[str, Column]:
        text = self._first[: HEAD_BYTES // 2]
        text = text[: text.rfind(b"\n") + 1] or self._first
        try:
            table = read_delimited(text, self._name, self.format).table
        except InputError:
            # the cut went through a quoted cell with line ends, or there is nothing but a header
            batch = next(self.batches(_HEAD_ROWS), None)
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
        width = len(self.names)
        rows: list[list[str]] = []
        lines: list[int] = []
        odd: list[int] = []
        for line, row in self._records():
            if len(row) != width:
                fitted = _fitted(row, width)
                if fitted is None:
                    odd.append(len(rows))
                    row = _filled(row, width, self.format.separator or ",")
                else:
                    row = fitted
            rows.append(row)
            lines.append(line)
            if len(rows) == size:
                yield self._batch(rows, lines, odd)
                rows, lines, odd = [], [], []
        if rows:
            yield self._batch(rows, lines, odd)

    def _batch(self, rows: list[list[str]], lines: list[int], odd: list[int]) -> Batch:
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        misfits = np.zeros(len(rows), bool)
        misfits[odd] = True
        return Batch(pa.Table.from_arrays(columns, names=list(self.names)), np.array(lines), misfits)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record below the header that holds more than spaces, with the line that it begins on."""
        with open(self._path, "rb") as file:
            codec = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
            text = TextIOWrapper(file, encoding=codec, newline="")
            for _ in range(self._skipped):
                text.readline()
            seen: list[str] = []
            separator = self.format.separator or ","
            reader = csv.reader(_kept(text, seen), delimiter=separator)
            header, begins = self.format.header, 1
            try:
                for row in reader:
                    if len(seen) > 1 and _unclosed(seen, separator):
                        raise csv.Error("the file ends inside of a cell")
                    seen.clear()
                    line, begins = begins + self._skipped, reader.line_num + 1
                    if not row or (len(row) == 1 and not row[0].strip()):
                        continue
                    if header:
                        header = False
                        continue
                    yield line, row
            except (csv.Error, UnicodeError) as error:
                raise InputError(
                    f"{self._name} cannot be read from line {begins + self._skipped:,} on ({error}); look for a quotation "
                    "mark that is never closed."
                ) from None


class ParquetRows:
    """A Parquet file: every column keeps its type."""

    place = "row"
    format = FileFormat()

    def __init__(self, path: str, name: str) -> None:
        self._name = name
        try:
            # a buffered stream: a row group, which may be the whole file, is never in memory at once
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_PIECE)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(_damaged(name, error)) from None
        self.names = tuple(one.strip() for one in self._file.schema_arrow.names)
        refuse_duplicates(self.names)

    def head(self) -> dict[str, Column]:
        batch = next(self.batches(_HEAD_ROWS), None)
        if batch is None:
            raise InputError(
                f"{self._name} has {len(self.names)} columns but no rows; add the rows and try again."
            )
        typed = {name: plain_column(batch.table.column(name)) for name in self.names}
        return {name: Column(name, data) for name, data in typed.items() if data is not None}

    def column(self, name: str, batch: pa.Table) -> Column:
        data = plain_column(batch.column(name))
        if data is None:
            raise InputError(f'"{name}" of {self._name} is not a column of plain values; name another one.')
        return Column(name, data)

    def batches(self, size: int) -> Iterator[Batch]:
        done = 0
        try:
            for one in self._file.iter_batches(size):
                table = pa.Table.from_batches([one]).rename_columns(list(self.names))
                yield Batch(table, np.arange(done + 1, done + len(table) + 1), np.zeros(len(table), bool))
                done += len(table)
        except (pa.ArrowException, OSError) as error:
            raise InputError(_damaged(self._name, error)) from None


def _damaged(name: str, error: Exception) -> str:
    return f"{name} is a damaged Parquet file ({str(error).splitlines()[0][:120]}); write it again."


def _fitted(row: list[str], width: int) -> list[str] | None:
    """A row with empty fields hanging off its end, cut; None where the surplus is not empty or fields lack."""
    return row[:width] if len(row) > width and not any(row[width:]) else None


def _filled(row: list[str], width: int, separator: str) -> list[str]:
    """A row that does not fit, with nothing lost: empty fields added, a surplus kept in the last one."""
    if len(row) < width:
        return row + [""] * (width - len(row))
    return [*row[: width - 1], separator.join(row[width - 1 :])]


def _until_line_end(start: bytes, complete: bool) -> bytes:
    if complete or start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or 0 in start[:100]:
        return start
    return start[: start.rfind(b"\n") + 1] or start


def _decodes(path: str, encoding: str) -> bool:
    """Whether all bytes of the file mean something in an encoding; in pieces, for files that fit into no memory."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while piece := file.read(_PIECE):
                decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _kept(text: TextIOWrapper, seen: list[str]) -> Iterator[str]:
    """The lines without a byte-order mark; those of the present record are in ``seen`` too."""
    for i, line in enumerate(text):
        seen.append(line.removeprefix("\ufeff") if i == 0 else line)
        yield seen[-1]


def _unclosed(lines: list[str], separator: str) -> bool:
    """Whether a record of several lines ends inside of a quoted cell: what follows it was swallowed."""
    try:
        list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False
