"""A list of rows that somebody filled in and brings back: line numbers, labels, and which list it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.validation import Floats

from .choices import LabelMapping
from .columns import Column
from .labels import NO_LABEL, apply_mapping, guess_mapping, spelled
from .parsed import Parsed
from .read import parse
from .report import places, quote_list

#: The column that says which list a row belongs to.
LIST = "list"
#: Positive words that mean the same to everyone; others are read only where the file itself uses them.
_POSITIVE = {"1", "true", "yes", "y", "t", "positive", "pos", "+", "ja", "si", "sí", "oui"}


@dataclass(frozen=True, eq=False)
class Returned:
    """``line`` (m,) of the file that each row of the list is about, and its ``label`` (m,): 0, 1, NaN not filled in.

    ``list_name`` is the one that all rows carry; ``positive`` and ``negative`` the spellings that were read, and
    ``mapping`` the file's own under which that was done.
    """

    filename: str
    sha256: str
    list_name: str
    line: NDArray[np.int64]
    label: Floats
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    mapping: LabelMapping | None

    @property
    def filled(self) -> int:
        return int(np.isfinite(self.label).sum())


def read_returned(
    data: bytes, filename: str, *, place: str, labels: str, mapping: LabelMapping | None = None
) -> Returned:
    """Read a filled list: any encoding, separator and order of rows and columns; other columns are left alone.

    ``place`` is its column of line numbers ("line" or "row"), ``labels`` that of the labels filled in; ``mapping``
    the file's own label spellings, which come first. Raises InputError in one sentence, naming lines of the list.
    """
    parsed = parse(data, filename)
    if parsed.refused:
        raise InputError(
            f"{filename}: {parsed.refused[0].reason} "
            f"({places(parsed.refused[0].lines, parsed.refused[0].count, parsed.place)}); repair these rows first."
        )
    number, lists, label = (_column(parsed, name) for name in (place, LIST, labels))
    empty = number.numbers.blank & (lists.categories.codes < 0) & (label.categories.codes < 0)
    kept = np.flatnonzero(~empty)  # spreadsheets leave rows without anything in them
    if not kept.size:
        raise InputError(f"{filename} holds no row of a list; bring back the list that was downloaded here.")
    line = _lines(parsed, number, kept)
    name = _one_list(parsed, lists, kept)
    values, used = _labels(parsed, label, mapping)
    present = spelled(label.categories)
    return Returned(
        filename,
        parsed.sha256,
        name,
        line,
        values[kept],
        tuple(value for value in used.positive if value in present),
        tuple(value for value in used.negative if value in present),
        mapping,
    )


def positions(
    returned: Returned, lines: NDArray[np.int64], among: str, place: str = "line"
) -> NDArray[np.int64]:
    """Where each row of the list stands in ``lines`` (n,). Raises InputError for a line that is not there.

    ``among`` says what the lines are, for the sentence: "in the sample that was drawn"; ``place`` what is counted.
    """
    order = np.argsort(lines, kind="stable")
    found = order[np.minimum(np.searchsorted(lines[order], returned.line), lines.size - 1)]
    unknown = lines[found] != returned.line
    if unknown.any():
        strange = returned.line[unknown]
        raise InputError(
            f"{returned.filename} speaks of {places(strange.tolist(), strange.size, place)}, not {among}; "
            "bring back the rows that were downloaded, and leave their numbers as they are."
        )
    return found


def _column(parsed: Parsed, name: str) -> Column:
    found = [column for own, column in parsed.columns.items() if own.strip().casefold() == name.casefold()]
    if not found:
        raise InputError(
            f'{parsed.filename} has no column "{name}"; bring back the list that was downloaded here, with all its '
            "columns."
        )
    return found[0]


def _where(parsed: Parsed, mask: NDArray[np.bool_]) -> str:
    rows = np.flatnonzero(mask)
    return places(parsed.places.of(rows[:5]).tolist(), rows.size, parsed.place)


def _lines(parsed: Parsed, number: Column, kept: NDArray[np.int64]) -> NDArray[np.int64]:
    values = number.numbers.values
    wrong = np.zeros(values.size, dtype=bool)
    wrong[kept] = (
        ~np.isfinite(values[kept])
        | (values[kept] != np.round(values[kept]))
        | (values[kept] < 1)
        | (values[kept] > 2**53)
    )
    if wrong.any():
        raise InputError(
            f'{parsed.filename}: "{number.name}" is no line number on {_where(parsed, wrong)}; leave the numbers as '
            "they were downloaded."
        )
    line = values[kept].astype(np.int64)
    distinct, counts = np.unique(line, return_counts=True)
    if distinct.size < line.size:
        twice = distinct[counts > 1]
        mask = np.zeros(values.size, dtype=bool)
        mask[kept[line == twice[0]]] = True
        raise InputError(
            f"{parsed.filename} has {number.name} {twice[0]:,} more than once (on {_where(parsed, mask)}"
            + (f"; {twice.size - 1:,} more like it" if twice.size > 1 else "")
            + "); keep one of them."
        )
    return line


def _one_list(parsed: Parsed, lists: Column, kept: NDArray[np.int64]) -> str:
    categories = lists.categories
    codes = categories.codes[kept]
    missing = np.zeros(categories.codes.size, dtype=bool)
    missing[kept] = codes < 0
    if missing.any():
        raise InputError(
            f'{parsed.filename}: "{lists.name}" is empty on {_where(parsed, missing)}; it says which list a row is '
            "from: bring back the rows that were downloaded, without new ones."
        )
    names = [categories.values[code] for code in np.unique(codes)]
    if len(names) > 1:
        raise InputError(
            f"{parsed.filename} mixes rows of {len(names)} lists ({quote_list(names, 3)}); bring back one list."
        )
    return names[0]


def _labels(parsed: Parsed, label: Column, mapping: LabelMapping | None) -> tuple[Floats, LabelMapping]:
    counts = spelled(label.categories)
    used = mapping
    if used is None or any(used.value_of(value) is None and value not in NO_LABEL for value in counts):
        guess = guess_mapping(counts, label.name)
        asked = guess.question is not None and not set(guess.question.options) & _POSITIVE
        if guess.mapping is None or asked or "-1" in guess.mapping.unlabelled:
            raise InputError(
                f'{parsed.filename}: "{label.name}" holds {quote_list(list(counts), 3)}, which cannot be read as '
                "labels; write 1 for a positive, 0 for a negative, and leave open what is not known."
            )
        used = guess.mapping
    values, unknown = apply_mapping(label.categories, used)
    for text, mask in unknown.items():
        raise InputError(
            f'{parsed.filename}: "{text}" in "{label.name}" is no label ({_where(parsed, mask)}); write 1 for a '
            "positive, 0 for a negative, and leave open what is not known."
        )
    return values, used
