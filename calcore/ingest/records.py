"""Where the records of a delimited text begin and end, and on which line: exact, for irregular files.

The fast parser says nothing about lines and forgives too much (an unclosed quotation mark swallows rows
without a word), so whatever it finds odd is looked at again here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

_PIECE = 1 << 18


@dataclass(frozen=True)
class Records:
    """The non-blank records of a text: byte spans, line numbers from 1, and numbers of fields."""

    starts: np.ndarray
    ends: np.ndarray
    lines: np.ndarray
    fields: np.ndarray
    blank: np.ndarray
    """Byte spans (n x 2) of the lines left out because they hold nothing but spaces."""
    quoted_newlines: bool
    unclosed: int | None
    """The line of a quotation mark that is never closed."""


def one_row_a_line(data: bytes, start: int, chunks: list[int]) -> bool:
    """Whether the fast parser, which made chunks of so many rows from byte `start` on, read every line as a row.

    It drops, without a word, the rows that an unclosed quotation mark swallows, and it ends a quoted cell
    with line breaks where a block of its input ends. The first leaves fewer rows than lines; the second
    shows in an odd number of quotation marks on the first or the last line of a chunk.
    """
    end = len(data)
    while end > start and data[end - 1] in b"\r\n":
        end -= 1
    buffer = np.frombuffer(data, np.uint8)[start:end]
    # In pieces that stay in the cache: three times as fast as one comparison of everything.
    pieces = range(0, len(buffer), _PIECE)
    counts = np.array([np.count_nonzero(buffer[i : i + _PIECE] == 10) for i in pieces], np.int64)
    before = np.concatenate([[0], np.cumsum(counts)])
    if before[-1] + (end > start) != sum(chunks):
        return False

    def newline(number: int) -> int:
        """The place in the buffer of a line break, counted from 0."""
        if not 0 <= number < before[-1]:
            return -1 if number < 0 else len(buffer)
        piece = int(np.searchsorted(before, number, "right")) - 1
        places = np.flatnonzero(buffer[piece * _PIECE : (piece + 1) * _PIECE] == 10)
        return piece * _PIECE + int(places[number - before[piece]])

    edges = np.cumsum(chunks)
    spans = [(newline(line - 1) + 1, newline(line)) for line in [0, *edges, *(edges - 1)]]
    return all(data.count(b'"', start + a, start + b) % 2 == 0 for a, b in spans)


def scan(data: bytes, separator: str, first_line: int = 1) -> Records:
    """Find all records of UTF-8 text whose first line has the number `first_line`."""
    buffer = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(buffer == 10)
    separators = np.flatnonzero(buffer == ord(separator))
    breaks, unclosed_at, quoted_newlines = newlines, None, False
    if b'"' in data:
        spans = _paired_spans(buffer, separator) or _quoted_spans(data, separator)
        opened, closed, unclosed_at = spans
        inside = _within(newlines, opened, closed)
        quoted_newlines = bool(inside.any())
        breaks = newlines[~inside]
        separators = separators[~_within(separators, opened, closed)]
    starts = np.concatenate([[0], breaks + 1]).astype(np.int64)
    ends = np.concatenate([breaks, [len(data)]]).astype(np.int64)
    lines = np.searchsorted(newlines, starts, "left") + first_line
    fields = np.searchsorted(separators, ends) - np.searchsorted(separators, starts) + 1
    blank = _blank(data, buffer, starts, ends)
    full = ~blank
    spaces = np.stack([starts[blank], ends[blank]], axis=1)
    unclosed = None if unclosed_at is None else int(np.searchsorted(newlines, unclosed_at)) + first_line
    return Records(starts[full], ends[full], lines[full], fields[full], spaces, quoted_newlines, unclosed)


_Spans = tuple[np.ndarray, np.ndarray, int | None]


def _paired_spans(buffer: np.ndarray, separator: str) -> _Spans | None:
    """Quoted spans where every quotation mark opens, closes or is doubled; None where one is a character."""
    quotes = np.flatnonzero(buffer == 34)
    opened, closed = quotes[0::2], quotes[1::2]
    before = buffer[opened - 1]
    doubled = np.zeros(len(opened), bool)
    doubled[1:] = opened[1:] - 1 == closed[: len(opened) - 1]
    legal = doubled | (before == ord(separator)) | (before == 10) | (before == 13) | (opened == 0)
    if not legal.all():
        return None
    if len(opened) == len(closed):
        return opened, closed + 1, None
    first = int(np.flatnonzero(~doubled)[-1])
    return opened[:first], closed[:first] + 1, int(opened[first])


def _quoted_spans(data: bytes, separator: str) -> _Spans:
    # A quotation mark opens a field only at the field's beginning; elsewhere it is a character (5" pipe).
    sep = re.escape(separator.encode())
    opened: list[int] = []
    closed: list[int] = []
    for match in re.finditer(rb"(?:(?<=[\n\r])|(?<=" + sep + rb')|\A)"(?:[^"]|"")*+("?)', data):
        if not match.group(1):
            return np.array(opened, np.int64), np.array(closed, np.int64), match.start()
        opened.append(match.start())
        closed.append(match.end())
    return np.array(opened, np.int64), np.array(closed, np.int64), None


def _within(positions: np.ndarray, opened: np.ndarray, closed: np.ndarray) -> np.ndarray:
    if not len(opened):
        return np.zeros(len(positions), bool)
    span = np.searchsorted(opened, positions, "right") - 1
    return (span >= 0) & (positions < closed[np.maximum(span, 0)])


def _blank(data: bytes, buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    blank = ends == starts
    if not len(buffer):
        return blank
    # Only a line that begins with white space can be blank yet not empty; those few are looked at one by one.
    first = buffer[np.minimum(starts, len(buffer) - 1)]
    for row in np.flatnonzero(~blank & ((first == 32) | (first == 13))):
        blank[row] = not data[starts[row] : ends[row]].strip(b" \r")
    return blank


@dataclass(frozen=True)
class Cleaned:
    """Text in which every record has the wanted number of fields, and where its records came from."""

    data: bytes
    lines: np.ndarray
    too_few: np.ndarray
    too_many: np.ndarray
    trailing: int
    quoted_newlines: bool


def clean(data: bytes, records: Records, separator: str, fields: int) -> Cleaned:
    """Leave out the records with too few or too many fields; cut empty fields hanging off the end.

    `too_few` and `too_many` are line numbers; `trailing` counts the records that were cut to fit.
    """
    buffer = np.frombuffer(data, np.uint8)
    ends = records.ends - ((records.ends > 0) & (buffer[np.maximum(records.ends - 1, 0)] == 13))
    extra = records.fields - fields
    hanging = extra > 0
    cut = np.zeros(len(extra), np.int64)
    keep = np.ones(len(buffer), bool)
    for back in range(1, int(min(extra.max(initial=0), 64)) + 1):
        more = hanging & (extra >= back)
        more[more] = buffer[ends[more] - back] == ord(separator)
        hanging &= more | (extra < back)
        cut[more] = back
    fits = (extra == 0) | (hanging & (cut == extra))
    for back in range(1, int(cut.max(initial=0)) + 1):
        rows = fits & (extra >= back)
        keep[ends[rows] - back] = False
    for row in np.flatnonzero(~fits):
        keep[records.starts[row] : records.ends[row] + 1] = False
    for start, end in records.blank[records.blank[:, 1] > records.blank[:, 0]]:
        keep[start : end + 1] = False
    return Cleaned(
        data=buffer[keep].tobytes(),
        lines=records.lines[fits],
        too_few=records.lines[extra < 0],
        too_many=records.lines[(extra > 0) & ~fits],
        trailing=int((fits & (extra > 0)).sum()),
        quoted_newlines=records.quoted_newlines,
    )
