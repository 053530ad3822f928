"""The columns of a parsed file read in their roles, one function a role; every refused row is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from calcore.errors import InputError
from calcore.subgroups import MISSING
from calcore.validation import ROUNDING

from .choices import Choices, LabelMapping, Question
from .columns import Column
from .groups import GROUP_LIMIT, too_many_question, top_values
from .labels import apply_mapping, guess_mapping, spelled, tie_question
from .parsed import Parsed
from .report import SHOWN_LINES, Refused, quote_list
from .scales import to_probability
from .times import read_times


@dataclass
class Reading:
    """What is gathered while the roles are read one after the other."""

    parsed: Parsed
    keep: np.ndarray
    refused: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    """The typed column of the table for each column that has a role."""
    groups: dict[str, pd.Categorical] = field(default_factory=dict)
    open: str | None = None

    def refuse(self, reason: str, mask: np.ndarray) -> None:
        """Leave out the rows of a mask; a row is counted for its first reason only."""
        rows = np.flatnonzero(mask)
        rows = rows[self.keep[rows]]
        if len(rows):
            self.keep[rows] = False
            lines = self.parsed.places.of(rows[:SHOWN_LINES])
            self.refused.append(Refused(reason, len(rows), tuple(int(line) for line in lines)))

    def wait_for(self, sentence: str) -> None:
        """Say why the columns cannot be used yet; the first reason stays."""
        self.open = self.open or sentence


def read_score(reading: Reading, column: Column | None, choices: Choices) -> tuple[np.ndarray | None, int]:
    """Scores on [0, 1] where their scale is known, and how many were clipped."""
    if column is None:
        reading.wait_for("No column looks like a score; choose the one that holds the model's probabilities.")
        return None, 0
    numbers = column.numbers
    reading.refuse("score is missing", numbers.blank)
    reading.refuse("score is not a number", numbers.bad)
    _note_thousands(reading, column)
    scaled = to_probability(numbers, column.name, choices.score_scale)
    for reason, mask in scaled.refused:
        reading.refuse(reason, mask)
    if scaled.question is not None:
        reading.questions.append(scaled.question)
    if scaled.open and scaled.question is not None:
        reading.wait_for(f"The scale of the scores is open: {scaled.question.sentence}")
    reading.cells[column.name] = scaled.values
    return scaled.values, scaled.clipped


def read_rivals(reading: Reading, columns: list[Column], choices: Choices) -> dict[str, np.ndarray]:
    """Scores of rival models, NaN where a row has none; no row is refused for them.

    Each is read on the scale of the score, unless it is on that of probabilities already.
    """
    found = {}
    for column in columns:
        numbers = column.numbers
        scaled = to_probability(numbers, column.name, None)
        if scaled.open:
            scaled = to_probability(numbers, column.name, choices.score_scale)
        if scaled.open and scaled.question is not None:
            raise InputError(f"{scaled.question.sentence} Rival scores must be on the scale of the score.")
        unusable = ~np.isfinite(scaled.values)
        for _, mask in scaled.refused:
            unusable |= mask
        found[column.name] = np.where(unusable, np.nan, scaled.values)
        if unusable.any():
            reading.warnings.append(
                f'"{column.name}" has no usable score on {int(unusable.sum()):,} rows; models are compared on the others.'
            )
        reading.cells.setdefault(column.name, column.plain())
    return found


def read_weight(reading: Reading, column: Column | None) -> np.ndarray | None:
    """Weights; rows without a usable one are refused."""
    if column is None:
        return None
    numbers = column.numbers
    reading.refuse("weight is missing", numbers.blank)
    reading.refuse("weight is not a number", numbers.bad)
    reading.refuse("weight is negative", numbers.values < 0)
    _note_thousands(reading, column)
    reading.cells[column.name] = numbers.values
    return numbers.values


def refuse_zero_weights(reading: Reading, weight: np.ndarray | None, column: Column | None) -> None:
    """Raise InputError when no kept row has a positive weight."""
    if weight is not None and column is not None and not ((weight > 0) & reading.keep).any():
        raise InputError(
            f'Every weight in "{column.name}" is zero, so no row counts; choose another column or none.'
        )


def read_label(
    reading: Reading, column: Column | None, chosen: LabelMapping | None, other: LabelMapping | None
) -> tuple[np.ndarray | None, LabelMapping | None]:
    """Labels under the chosen mapping, the mapping of the other label column, or a guess."""
    if column is None:
        return None, None
    counts = spelled(column.categories)
    mapping = chosen
    if mapping is None and other is not None and all(other.value_of(v) is not None for v in counts):
        mapping = other
    if mapping is None:
        guess = guess_mapping(counts, column.name)
        mapping = guess.mapping
        if guess.question is not None:
            reading.questions.append(guess.question)
        if mapping is None:
            reading.wait_for(guess.problem or f'Say what the values of "{column.name}" mean.')
            reading.cells[column.name] = column.as_text()
            return np.full(reading.parsed.rows, np.nan), None
    else:
        ties = tie_question(counts, column.name, mapping)
        if ties is not None:  # stays on show with the answer in use, so that it can be changed
            reading.questions.append(ties)
    labels, unknown = apply_mapping(column.categories, mapping)
    if len(unknown) > SHOWN_LINES:
        reading.refuse(
            f"{column.name} is neither positive nor negative ({quote_list(list(unknown), 3)})",
            np.logical_or.reduce(list(unknown.values())),
        )
    else:
        for value, mask in unknown.items():
            reading.refuse(f"{column.name} {value} is neither positive nor negative", mask)
    reading.cells[column.name] = labels
    return labels, mapping


def read_confidence(reading: Reading, column: Column | None) -> np.ndarray | None:
    """Confidences in [0, 1], NaN where missing."""
    if column is None:
        return None
    numbers = column.numbers
    reading.refuse("confidence is not a number", numbers.bad)
    values = numbers.values
    reading.refuse("confidence is a percentage; write it between 0 and 1", numbers.percent)
    reading.refuse("confidence is outside 0 to 1", (values < -ROUNDING) | (values > 1 + ROUNDING))
    values = np.clip(values, 0.0, 1.0)
    reading.cells[column.name] = values
    return values


def read_source(reading: Reading, column: Column | None) -> np.ndarray | None:
    """The source of every row as text; rows without one are refused."""
    if column is None:
        return None
    categories = column.categories
    reading.refuse("source is missing", categories.codes < 0)
    reading.cells[column.name] = column.as_categorical()
    return np.array([*categories.values, ""], dtype=object)[categories.codes]


def read_time(
    reading: Reading, column: Column | None, day_first: bool | None
) -> tuple[np.ndarray | None, tuple[str, str] | None]:
    """Times in UTC (None while the order of day and month is open) and their range."""
    if column is None:
        return None, None
    times = read_times(column, day_first)
    if times.question is not None:
        reading.questions.append(times.question)
    if times.values is None:
        reading.cells[column.name] = column.as_text()
        return None, None
    reading.refuse(times.reason or "time is not a date", times.bad)
    reading.cells[column.name] = pd.Series(times.values, copy=False).dt.tz_localize("UTC")
    seen = times.values[reading.keep & ~np.isnat(times.values)]
    if not len(seen):
        return times.values, None
    date_range = (_moment(seen.min()), _moment(seen.max()))
    if times.found:
        reading.warnings.append(
            f'"{column.name}" was read as {times.found}, from {date_range[0]} to {date_range[1]}.'
        )
    return times.values, date_range


def _moment(value: np.datetime64) -> str:
    text = str(value.astype("datetime64[s]")).replace("T", " ")
    return text.removesuffix(" 00:00:00")


def read_groups(reading: Reading, columns: list[Column], top: int | None) -> None:
    """Type the group columns and ask about those of too many values."""
    for column in columns:
        if len(column.categories.values) <= GROUP_LIMIT:
            reading.groups[column.name] = column.as_categorical(MISSING)
        elif top is not None:
            reading.groups[column.name] = top_values(column, top)
        else:
            reading.questions.append(too_many_question(column))
            reading.cells.setdefault(column.name, column.as_text(MISSING))
            continue
        reading.cells.setdefault(column.name, reading.groups[column.name])


def _note_thousands(reading: Reading, column: Column) -> None:
    if column.numbers.grouped:
        reading.warnings.append(
            f'"{column.name}" has numbers with thousands separators; they were read without them.'
        )
