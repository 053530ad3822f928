"""Every row of a file with its calibrated score, in memory that does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from calcore import wording as w
from calcore.errors import InputError
from calcore.ingest import FileFormat, Refused, Roles
from calcore.ingest.choices import ScoreScale
from calcore.ingest.numbers import Numbers
from calcore.ingest.report import SHOWN_LINES, places
from calcore.ingest.roles import check_roles
from calcore.ingest.scales import to_probability
from calcore.maps import CalibrationMap
from calcore.scoring.batches import Batch, Rows
from calcore.scoring.group_columns import GroupColumns
from calcore.scoring.rows import open_rows, score_column
from calcore.scoring.source import Source
from calcore.scoring.writers import NAME, writer_of

BATCH_ROWS = 50_000


@dataclass(frozen=True)
class ScoreChoices:
    """What somebody says of the file to be scored; None: found in it."""

    format: FileFormat = field(default_factory=FileFormat)
    score: str | None = None
    scale: ScoreScale | None = None


@dataclass(frozen=True)
class Scored:
    """What became of the rows of a file: ``rows`` were written, ``scored`` of them with a calibrated score.

    ``unscored``: why the others have none, and where they stand. ``score`` is the column that was read, ``column`` the
    one that was added.
    """

    rows: int
    scored: int
    unscored: tuple[Refused, ...]
    score: str
    column: str
    place: str

    def sentences(self) -> tuple[str, ...]:
        """What became of the rows, and under which name the new column is found where the usual one was taken."""
        text = f'Scored {w.count(self.scored)} of {w.rows(self.rows)} by the column "{self.score}"'
        if self.unscored:
            text += f"; the others have an empty {self.column}: {self.why()}"
        if self.column == NAME:
            return (f"{text}.",)
        return f"{text}.", f'The file has a column "{NAME}" already: the new one is called "{self.column}".'

    def why(self) -> str:
        """Why rows have no calibrated score, and where they stand."""
        return "; ".join(
            f"{one.reason} ({places(one.lines, one.count, self.place)})" for one in self.unscored
        )


def score_file(
    map_: CalibrationMap,
    path: str,
    target: BinaryIO,
    *,
    parquet: bool,
    choices: ScoreChoices | None = None,
    batch_rows: int = BATCH_ROWS,
    progress: Callable[[int], None] | None = None,
) -> Scored:
    """Write the file at ``path`` with one more column, ``map_`` applied to its scores, to ``target``.

    Every row is written; one whose score cannot be read has an empty calibrated score and is counted. ``progress`` is
    called with the rows done. Raises InputError for a file without a score column, scores on an unknown scale, or
    columns that the map needs and the file lacks.
    """
    choices = choices or ScoreChoices()
    rows = open_rows(Source.of(path), choices.format)
    head = rows.head()
    score = choices.score or score_column(rows)
    check_roles(Roles(score=score), head)
    _check_scale(head[score].numbers, score, choices.scale)
    groups = GroupColumns.of(map_)
    groups.check(rows.names)
    writer, column = writer_of(rows, target, parquet=parquet)
    tally = _Tally()
    for batch in rows.batches(batch_rows):
        calibrated = _calibrated(map_, rows, batch, score, choices.scale, groups, tally)
        writer.write(batch, calibrated)
        if progress is not None:
            progress(tally.rows)
    if not tally.rows:
        raise InputError(f"{path} has a header but no rows below it; add the rows and try again.")
    groups.check_known()
    writer.close()
    return Scored(tally.rows, tally.scored, tally.refused(), score, column, rows.place)


def _check_scale(numbers: Numbers, name: str, scale: ScoreScale | None) -> None:
    if scale is None:
        question = to_probability(numbers, name, None).question
        if question is not None:
            said = " or ".join(f"--scale {option}" for option in question.options)
            raise InputError(f"{question.sentence} Say so with {said}.")


def _calibrated(
    map_: CalibrationMap,
    rows: Rows,
    batch: Batch,
    score: str,
    scale: ScoreScale | None,
    groups: GroupColumns,
    tally: _Tally,
) -> np.ndarray:
    """Calibrated scores (n,), NaN where the row has none."""
    numbers = rows.column(score, batch.table).numbers
    scaled = to_probability(numbers, score, scale or "probability")
    usable = np.ones(len(batch.places), bool)
    reasons = [
        ("the row has more or fewer fields than the header", batch.misfits),
        ("score is missing", numbers.blank),
        ("score is not a number", numbers.bad),
        *scaled.refused,
    ]
    for reason, mask in reasons:
        tally.add(reason, batch.places[mask & usable])
        usable &= ~mask
    result = np.full(len(usable), np.nan)
    kept = np.flatnonzero(usable)
    if kept.size:
        member = groups.membership(rows, batch.table, kept)
        result[kept] = map_.predict(scaled.values[kept], member)
    tally.rows += len(usable)
    tally.scored += kept.size
    return result


@dataclass
class _Tally:
    """Rows so far, and the first places of those without a score by reason."""

    rows: int = 0
    scored: int = 0
    _found: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    def add(self, reason: str, places: np.ndarray) -> None:
        if places.size:
            count, first = self._found.get(reason, (0, ()))
            self._found[reason] = (count + places.size, (*first, *places.tolist())[:SHOWN_LINES])

    def refused(self) -> tuple[Refused, ...]:
        return tuple(Refused(reason, count, first) for reason, (count, first) in self._found.items())
