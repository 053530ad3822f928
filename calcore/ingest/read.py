"""Bytes to a parsed file: what kind it is, how it is laid out, what its columns hold."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from calcore.errors import InputError

from .choices import Choices, FileFormat
from .columns import Column
from .container import is_parquet, refuse_other_kinds
from .delimited import Delimited, NotUtf8, read_delimited, refuse_duplicates
from .digest import Digest
from .encoding import legacy, to_utf8
from .interpret import Ingested, interpret
from .parquet import read_parquet
from .parsed import Parsed, RowNumbers

Source = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO


def read(data: Source, filename: str | None = None, choices: Choices | None = None) -> Ingested:
    """Read a file of scores: parse it and interpret its columns.

    `data` is the bytes of a CSV, TSV, text or Parquet file, a path to one, or a binary file object; the kind
    is told by the bytes, `filename` only names it in messages. Raises InputError for what cannot be used.
    """
    choices = choices or Choices()
    parsed = parse(data, filename, choices.format, max_bytes=choices.max_bytes)
    return interpret(parsed, choices)


def parse(
    data: Source,
    filename: str | None = None,
    fmt: FileFormat | None = None,
    *,
    max_bytes: int | None = None,
    as_text: Collection[str] = (),
) -> Parsed:
    """Parse a file without saying what its columns mean; parameters and errors as for `read`.

    `fmt` holds what the user chose of the format, None for what is to be found. A file of more than
    `max_bytes` is refused. Columns of a text file that are named in `as_text` keep their cells as they are written.
    """
    content, name = _bytes_of(data, filename)
    if max_bytes is not None and len(content) > max_bytes:
        raise InputError(_too_large(content, name, max_bytes))
    if len(content) < 1000 and not content.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise InputError(f"{name} is empty; choose a file with a header and at least one row.")
    digest = Digest(content)
    try:
        if is_parquet(content):
            return _parse_parquet(content, name, digest)
        return _parse_text(content, name, fmt, digest, as_text)
    finally:
        digest.release()


def _parse_parquet(content: bytes, name: str, digest: Digest) -> Parsed:
    table, warnings = read_parquet(content, name)
    refuse_duplicates(tuple(table.column_names))
    if not table.num_rows:
        raise InputError(
            f"{name} has {table.num_columns} columns but no rows; add the rows and load it again."
        )
    columns = {n: Column(n, table.column(n)) for n in table.column_names}
    rows = table.num_rows
    return Parsed(
        name, digest, len(content), FileFormat(), columns, rows, rows, (), warnings, (), RowNumbers(), "row"
    )


def _parse_text(
    content: bytes, name: str, fmt: FileFormat | None, digest: Digest, as_text: Collection[str]
) -> Parsed:
    refuse_other_kinds(content, name)
    chosen = fmt or FileFormat()
    text, encoding = to_utf8(content, name, chosen.encoding)
    warnings: tuple[str, ...] = ()
    try:
        found = read_delimited(text, name, replace(chosen, encoding=encoding), as_text)
    except NotUtf8:
        line = _first_stray_line(text)
        if chosen.encoding is not None:
            raise InputError(
                f"{name} cannot be read as {chosen.encoding} (line {line:,}); choose another encoding."
            ) from None
        text, encoding = legacy(content)
        warnings = (f"Line {line:,} is not UTF-8, so the file was read as {encoding}.",)
        found = read_delimited(text, name, replace(chosen, encoding=encoding), as_text)
    return _from_delimited(found, name, digest, len(content), warnings)


def _from_delimited(
    found: Delimited, name: str, digest: Digest, size: int, warnings: tuple[str, ...]
) -> Parsed:
    decimal = found.format.decimal or "."
    table = found.table
    columns = {n: Column(n, table.column(n), decimal) for n in table.column_names}
    return Parsed(
        name, digest, size, found.format, columns, table.num_rows, found.rows_read, found.refused,
        warnings + found.warnings, found.questions, found.lines, "line",
    )  # fmt: skip


def _first_stray_line(text: bytes) -> int:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return text.count(b"\n", 0, error.start) + 1
    return 1


def _bytes_of(data: Source, filename: str | None) -> tuple[bytes, str]:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data), filename or "The file"
    if isinstance(data, (str, os.PathLike)):
        path = Path(data)
        try:
            return path.read_bytes(), filename or path.name
        except FileNotFoundError:
            raise InputError(f"There is no file {path}; check the path.") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
            raise InputError(f"{str(path)[:200]} cannot be read ({reason}).") from None
    if not hasattr(data, "read"):
        raise InputError(f"A {type(data).__name__} is no file; give bytes, a path or an open binary file.")
    # A stream that was read before stands at its end; its content is still the whole file.
    if getattr(data, "seekable", lambda: False)():
        data.seek(0)
    content = data.read()
    if isinstance(content, str):
        content = content.encode()
    name = filename or getattr(data, "name", None)
    return bytes(content), os.path.basename(name) if isinstance(name, str) else "The file"


def _too_large(content: bytes, name: str, max_bytes: int) -> str:
    head = content[: 1 << 16]
    per_row = len(head) / max(head.count(b"\n"), 1)
    rows = "" if is_parquet(content) else f", about {max_bytes / per_row:,.0f} rows like these"
    return (
        f"{name} has {len(content) / 1e6:,.1f} MB and the limit is {max_bytes / 1e6:,.1f} MB{rows}; "
        "save it as Parquet, which is several times smaller, or read it with the library (calcore.ingest.read), "
        "which has no limit."
    )
