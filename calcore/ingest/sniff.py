"""Separator, decimal mark, header and column types, found on the head of a text file."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .choices import FileFormat

HEAD_BYTES = 1 << 18
HEAD_ROWS = 200
SEPARATORS = (",", ";", "\t", "|", " ")
UNUSED = "\x1f"
"""The separator of a file with a single column: a character that no text holds."""

_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?\s*%?")
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*%?")
_INTEGER = re.compile(r"[+-]?\d+\s*%?")
_EXPONENT = re.compile(r"[+-]?\d+[eE][+-]?\d+")
_WORDS = frozenset({"nan", "inf", "-inf", "+inf", "infinity", "-infinity"})
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")


@dataclass(frozen=True)
class Head:
    """The first rows of a file under one format. `rows` leaves out the header."""

    format: FileFormat
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header_guessed: bool
    """True when the lack of a header was noticed and not said by the user."""
    as_text: frozenset[str] = frozenset()
    """Columns whose cells must stay as they are written."""


def sniff(text: str, complete: bool, chosen: FileFormat) -> Head | None:
    """Find what `chosen` leaves open on the first part of a text; None when there is no row at all.

    `complete` says that the text is the whole file; otherwise its last line may be cut and is left out.
    """
    lines = text.split("\n", HEAD_ROWS + 1)
    if (not complete or len(lines) > HEAD_ROWS + 1) and len(lines) > 1:
        lines = lines[:-1]
    lines = [line + "\n" for line in lines]
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return None
    separator = chosen.separator or _separator(lines)
    records = list(_records(lines, separator))
    if not records:
        return None
    decimal = chosen.decimal or _decimal(records)
    header = _has_header(records, decimal) if chosen.header is None else chosen.header
    rows = tuple(tuple(cells) for cells in records[1 if header else 0 :])
    names = _names(records[0], rows, header)
    found = FileFormat(chosen.encoding, separator, decimal, header)
    return Head(found, names, rows, header_guessed=chosen.header is None and not header)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is written as a number (also as a percentage, `nan` or `inf`)."""
    mark = _COMMA if decimal == "," else _POINT
    return bool(
        _INTEGER.fullmatch(cell)
        or mark.fullmatch(cell)
        or _EXPONENT.fullmatch(cell)
        or cell.lower() in _WORDS
    )


def _records(lines: Sequence[str], separator: str) -> Iterator[list[str]]:
    try:
        for cells in csv.reader(lines, delimiter=separator):
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield [cell.strip() for cell in cells]
    except csv.Error:  # a field beyond csv's limit: what came before it is head enough
        return


def _separator(lines: Sequence[str]) -> str:
    """The candidate under which most rows have as many fields as the first, and most cells are numbers."""
    best, best_rank = UNUSED, (0.0, 0.0, 0.0)
    for candidate in SEPARATORS:
        records = list(_records(lines[:100], candidate))
        if not records or len(records[0]) < 2:
            continue
        width = len(records[0])
        named = max((i + 1 for i, cell in enumerate(records[0]) if cell), default=1)
        rows = records[1:] or records
        fit = sum(_fits(cells, named, width) for cells in rows) / len(rows)
        split = sum(len(cells) > 1 for cells in rows) / len(rows)
        cells = [cell for row in records for cell in row if cell]
        numbers = sum(is_number(c) or is_number(c, ",") for c in cells) / max(len(cells), 1)
        if candidate == " ":
            # Spaces are mostly inside of texts; they separate only where nothing else does.
            if fit < 1 or numbers == 0:
                continue
            fit = 0.5
        rank = (round(fit, 1), numbers, float(width))
        # Rows that all fall apart into fields, if not as many as the header, are ragged and not one column.
        if (fit >= 0.5 or split > 0.8) and rank > best_rank:
            best, best_rank = candidate, rank
    if best == "," and _one_column_of_comma_numbers(lines):
        return UNUSED
    return best


def _fits(cells: Sequence[str], named: int, width: int) -> bool:
    """Whether a row has the fields of the header, whose last cells may be empty, or more empty ones."""
    return named <= len(cells) <= width or (len(cells) > width and not any(cells[width:]))


def _one_column_of_comma_numbers(lines: Sequence[str]) -> bool:
    cells = [line.strip() for line in lines[:100] if line.strip()]
    return len(cells) > 1 and all(_COMMA.fullmatch(c) and re.match(r"[+-]?0,\d\d", c) for c in cells)


def _decimal(records: Sequence[Sequence[str]]) -> str:
    marks: Counter[str] = Counter()
    for cells in records[:HEAD_ROWS]:
        for cell in cells:
            if _COMMA.fullmatch(cell) and not re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", cell):
                marks[","] += 1
            elif _POINT.fullmatch(cell) and not re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", cell):
                marks["."] += 1
    return "," if marks[","] > marks["."] else "."


def _has_header(records: Sequence[Sequence[str]], decimal: str) -> bool:
    """Names stand above values of another kind; a first row of the same kinds as the rest is data."""
    first, rest = records[0], records[1:HEAD_ROWS]
    if not rest:
        return not any(is_number(cell, decimal) for cell in first)
    alike = unlike = 0
    for index, cell in enumerate(first):
        below = [row[index] for row in rest if index < len(row) and row[index]]
        if not cell or not below:
            continue
        typed = sum(_is_typed(value, decimal) for value in below) > 0.8 * len(below)
        if typed and _is_typed(cell, decimal):
            alike += 1
        elif typed:
            unlike += 1
        elif len(below) >= 10 and len(set(below)) <= len(below) / 2:
            alike, unlike = (alike + 1, unlike) if cell in below else (alike, unlike + 1)
    if not alike and not unlike:
        return True
    decided_by_numbers = any(is_number(cell, decimal) for cell in first)
    return unlike > 0 or not decided_by_numbers


def _is_typed(cell: str, decimal: str) -> bool:
    return is_number(cell, decimal) or bool(_DATE.fullmatch(cell))


def _names(first: Sequence[str], rows: Sequence[Sequence[str]], header: bool) -> tuple[str, ...]:
    if not header:
        return tuple(f"column_{i + 1}" for i in range(len(first)))
    names = list(first)
    # A separator at the end of the header alone names no column, unless values stand below it.
    while (
        len(names) > 1
        and not names[-1]
        and not any(row[len(names) - 1 :] and row[len(names) - 1] for row in rows)
    ):
        names.pop()
    return tuple(names)


def column_kinds(head: Head) -> list[str]:
    """How each column is best read: "flag" (0, 1, -1), "float", "category" (few texts) or "text".

    A guess for speed alone: every kind keeps the exact text of the cells except "float" and "flag",
    and those two are read again as text where a cell does not fit.
    """
    kinds = []
    decimal = head.format.decimal or "."
    for index in range(len(head.names)):
        cells = [row[index] for row in head.rows[:HEAD_ROWS] if index < len(row) and row[index]]
        distinct = set(cells)
        many = len(distinct) > 50 and len(distinct) > len(cells) / 2
        if head.names[index] in head.as_text:
            kinds.append("text")
        elif distinct and distinct <= {"0", "1", "-1"}:
            kinds.append("flag")
        elif (
            any("%" in c for c in distinct)
            or not all(is_number(c, decimal) for c in distinct)
            or all(_INTEGER.fullmatch(c) for c in distinct)
        ):
            kinds.append("text" if many else "category")
        else:
            kinds.append("float")
    return kinds
