"""Labels that arrive later, in a file of their own: joined to the scores by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from calcore.errors import InputError

from . import names
from .columns import Categories, Column
from .digest import joined_digest
from .ids import id_texts, read_as_numbers, written_alike
from .join_account import JoinAccount, Lines
from .join_columns import JoinColumns, NotNamed, guess_join
from .labels import NO_LABEL, guess_mapping, label_text, spelled
from .parsed import Parsed
from .report import SHOWN_LINES, places, quote_list
from .roles import guess_roles


@dataclass(frozen=True, eq=False)
class Joined:
    """Scores with their labels as one file, ``parsed``, whose fingerprint depends on both.

    ``column`` holds the labels; ``on`` is the id column of the scores, ``labels_on`` and ``label`` are columns of the
    labels' file.
    """

    parsed: Parsed
    account: JoinAccount
    column: str
    on: str
    labels_on: str
    label: str


def join_labels(
    scores: Parsed,
    labels: Parsed,
    on: str | None = None,
    labels_on: str | None = None,
    label: str | None = None,
    into: str | None = None,
) -> Joined:
    """Give each row of ``scores`` the label that ``labels`` has for its id; columns that are None are guessed.

    Ids are compared as trimmed text: 7, 7.0 and 007 are three ids, and so are a1 and A1. Parse with ``as_text`` (or
    see ``parse_with_text_ids``) where ids look like numbers. A label that the scores have already, in the column
    ``into``, or of the label's name, or that is plainly theirs, stays. Raises InputError in one sentence where an id
    has two labels, no id is in both files, or a column cannot be guessed.
    """
    found = guess_join(scores, labels, on, labels_on, label)
    if found.on is not None and found.labels_on is None:
        raise NotNamed(
            "id",
            f'{labels.filename} has no column "{found.on}"; name its id column: it has {", ".join(labels.columns)}.',
        )
    if found.on is None or found.labels_on is None:
        raise NotNamed(
            "id",
            f"{scores.filename} and {labels.filename} do not share one id column; name it in each file: the scores "
            f"have {', '.join(scores.columns)}, the labels {', '.join(labels.columns)}.",
        )
    if found.label is None or found.label == found.labels_on:
        raise NotNamed(
            "label",
            f"{labels.filename} has no column that is plainly the label; name it: it has "
            f"{', '.join(name for name in labels.columns if name != found.labels_on)}.",
        )
    given = _Given.of(labels, found.labels_on, found.label)
    ids = id_texts(scores.columns[found.on])
    place = pc.index_in(ids, value_set=given.ids).fill_null(-1).to_numpy(zero_copy_only=False)
    if not (place >= 0).any():
        raise InputError(_nothing_matches(scores, labels, ids, given))
    codes = np.where(place >= 0, given.code[place], -1)
    existing = into or _existing(scores, found.label)
    taken = _Taken.of(scores.columns.get(existing) if existing else None, given, codes)
    name = existing or found.label
    columns = {**scores.columns, name: Column(name, taken.data())}
    parsed = replace(
        scores,
        columns=columns,
        digest=joined_digest(scores.sha256, labels.sha256, found.on, found.labels_on, found.label, name),
    )
    account = _account(scores, labels, found, given, ids, place, codes, taken)
    return Joined(parsed, account, name, found.on, found.labels_on, found.label)


@dataclass(frozen=True, eq=False)
class _Given:
    """The labels of the second file: distinct ``ids`` (u,), the ``code`` (u,) of the label of each in ``values``, -1
    where it has none; ``row`` (u,) is the first row of each id. ``again`` rows repeat what another one says."""

    ids: pa.Array
    code: NDArray[np.int64]
    row: NDArray[np.int64]
    values: tuple[str, ...]
    again: int
    blank_ids: NDArray[np.int64]
    no_label: int

    @classmethod
    def of(cls, labels: Parsed, on: str, label: str) -> _Given:
        encoded = id_texts(labels.columns[on]).dictionary_encode()
        place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        values, codes = _spelled_codes(labels.columns[label].categories)
        known, filled = place >= 0, codes >= 0
        row = np.flatnonzero(known & filled)
        code = np.full(len(encoded.dictionary), -1, dtype=np.int64)
        code[place[row][::-1]] = codes[row][::-1]  # the first one of each id stays
        against = row[code[place[row]] != codes[row]]
        if against.size:
            raise InputError(_two_labels(labels, label, place, codes, row, against, encoded.dictionary))
        first = np.empty(code.size, dtype=np.int64)
        every = np.flatnonzero(known)
        first[place[every][::-1]] = every[::-1]
        blank = np.flatnonzero(~known & filled)
        without = int((code < 0).sum())
        return cls(encoded.dictionary, code, first, values, row.size - int((code >= 0).sum()), blank, without)


def _spelled_codes(categories: Categories) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Distinct label spellings and each row's code in them; -1 where a row has no label."""
    own = [label_text(text) for text in categories.values]
    silent = NO_LABEL - {"-"} if "+" in own else NO_LABEL
    codes: dict[str, int] = {}
    lookup = [-1 if text in silent else codes.setdefault(text, len(codes)) for text in own]
    return tuple(codes), np.array([*lookup, -1], np.int64)[categories.codes]


def _two_labels(
    labels: Parsed, label: str, place: Any, codes: Any, row: Any, against: Any, ids: pa.Array
) -> str:
    bad = place[against[0]]
    lines = row[place[row] == bad]
    other = lines[codes[lines] != codes[lines[0]]][0]
    said = [
        labels.columns[label].categories.values[labels.columns[label].categories.codes[i]]
        for i in (lines[0], other)
    ]
    at = [f"{labels.place} {int(n):,}" for n in labels.places.of(np.array([lines[0], other]))]
    more = np.unique(place[against]).size - 1
    return (
        f'{labels.filename} has two labels for the id "{ids[int(bad)].as_py()}": {said[0]} ({at[0]}) and {said[1]} '
        f"({at[1]})"
        + (f", and so it is with {more:,} more" if more else "")
        + "; keep one label for each id."
    )


def _nothing_matches(scores: Parsed, labels: Parsed, ids: pa.Array, given: _Given) -> str:
    alike = written_alike(given.ids, ids)
    end = (
        f'"{alike[0]}" and "{alike[1]}" are not the same text: write the ids alike'
        if alike
        else "choose the columns that hold the same ids"
    )
    some = [quote_list([str(one) for one in part.drop_null()[:3].to_pylist()]) if len(part.drop_null()) else "none"
            for part in (given.ids, ids)]  # fmt: skip
    return (
        f"No id of {labels.filename} is in {scores.filename}: the first ids are {some[0]} there, and {some[1]} in the "
        f"scores; {end}."
    )


def _existing(scores: Parsed, label: str) -> str | None:
    """The column of the scores that holds labels already: of the same name, or plainly a label."""
    if label in scores.columns:
        return label
    guessed = guess_roles(scores.columns).label
    return guessed if guessed is not None and names.is_known(guessed, names.LABEL) else None


@dataclass(frozen=True, eq=False)
class _Taken:
    """The label of each row of the scores: ``codes`` (n,) in ``values``, -1 where there is none.

    ``new`` (n,) rows got theirs from the second file; ``against`` are rows whose own label says something else.
    """

    values: tuple[str, ...]
    codes: NDArray[np.int64]
    new: NDArray[np.bool_]
    kept: int
    against: NDArray[np.int64]

    @classmethod
    def of(cls, column: Column | None, given: _Given, codes: NDArray[np.int64]) -> _Taken:
        if column is None:
            return cls(given.values, codes, codes >= 0, 0, np.empty(0, dtype=np.int64))
        values, own = _spelled_codes(column.categories)
        meant = _in_words_of(column, given.values)
        place = {value: code for code, value in enumerate(dict.fromkeys([*values, *meant]))}
        theirs = np.array([*(place[value] for value in meant), -1], np.int64)[codes]
        new = (own < 0) & (theirs >= 0)
        against = np.flatnonzero((own >= 0) & (theirs >= 0) & (own != theirs))
        return cls(tuple(place), np.where(new, theirs, own), new, int((own >= 0).sum()), against)

    def data(self) -> pa.ChunkedArray:
        indices = pa.array(self.codes.astype(np.int32), mask=self.codes < 0)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array(self.values, pa.string()))])


def _in_words_of(column: Column, values: Sequence[str]) -> list[str]:
    """The label ``values`` as ``column`` spells them: "1" beside "yes" and "no" is "yes"."""
    own = spelled(column.categories)
    ours = guess_mapping(own, column.name).mapping
    theirs = guess_mapping(dict.fromkeys(values, 1), column.name).mapping
    if ours is None or theirs is None or set(values) <= set(own):
        return list(values)
    words = {1.0: ours.positive, 0.0: ours.negative}
    found = []
    for value in values:
        meaning = theirs.value_of(value)
        known = words.get(meaning, ()) if meaning is not None else ()
        found.append(known[0] if len(known) == 1 and value not in own else value)
    return found


def _account(
    scores: Parsed, labels: Parsed, found: JoinColumns, given: _Given, ids: pa.Array, place: Any, codes: Any, taken: _Taken
) -> JoinAccount:  # fmt: skip
    assert found.on is not None
    assert found.labels_on is not None
    seen = np.zeros(given.code.size, dtype=bool)
    seen[place[place >= 0]] = True
    strange = np.flatnonzero(~seen & (given.code >= 0))
    times = np.bincount(place[codes >= 0], minlength=given.code.size)

    def lines(parsed: Parsed, rows: NDArray[np.int64]) -> Lines:
        shown = parsed.places.of(np.sort(rows)[:SHOWN_LINES]).tolist() if rows.size else []
        return Lines(int(rows.size), places(shown, int(rows.size), parsed.place) if rows.size else "")

    return JoinAccount(
        scores=scores.filename,
        labels=labels.filename,
        on=found.on,
        labels_on=found.labels_on,
        rows=scores.rows,
        labelled=int(taken.new.sum()),
        unlabelled=int((taken.codes < 0).sum()),
        without_id=int(ids.null_count),
        repeated_ids=int((times > 1).sum()),
        repeated_rows=int(times[times > 1].sum()),
        no_score=lines(labels, given.row[strange]),
        blank_id=lines(labels, given.blank_ids),
        no_label=given.no_label,
        again=given.again,
        kept=taken.kept,
        against=lines(scores, taken.against),
        refused=sum(part.count for part in labels.refused),
        alike=written_alike(given.ids.take(pa.array(strange)), ids.filter(pa.array(place < 0))),
        numbers=tuple(
            parsed.filename
            for parsed, name in ((scores, found.on), (labels, found.labels_on))
            if read_as_numbers(parsed.columns[name])
        ),
    )
