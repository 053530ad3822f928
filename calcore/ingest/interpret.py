"""A parsed file under the user's choices: typed rows, and an account of every row that was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calcore.errors import InputError

from .choices import Choices, LabelMapping, Question, Roles
from .columns import MISSING, Column, Columns, categorical
from .labels import apply_mapping, guess_mapping, spelled
from .parsed import Parsed
from .report import SHOWN_LINES, ColumnInfo, IngestReport, Refused, quote_list
from .roles import GROUP_LIMIT, check_roles, guess_roles, many_valued
from .scales import CLIP, to_probability
from .times import read_times

_OFFERED_TOP = 20


@dataclass(frozen=True, eq=False)
class Ingested:
    """A file that was read: `table` of the kept rows, `report`, `roles`, and `columns` for a model."""

    table: pd.DataFrame
    report: IngestReport
    roles: Roles
    _columns: Columns
    _open: str | None
    """Why the columns cannot be used yet."""

    @property
    def columns(self) -> Columns:
        """The kept rows as arrays. Raises InputError while a question that decides about them is open."""
        if self._open is not None:
            raise InputError(self._open)
        return self._columns


@dataclass
class _Reading:
    """What is gathered while the roles are read one after the other."""

    parsed: Parsed
    keep: np.ndarray
    refused: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    """The typed column of the table for each column that has a role."""
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


def interpret(parsed: Parsed, choices: Choices | None = None) -> Ingested:
    """Read the columns of a parsed file in their roles.

    Raises InputError for roles that cannot be, weights that are all zero, more rows than allowed, and when
    no row is left.
    """
    choices = choices or Choices()
    if choices.max_rows is not None and parsed.rows_read > choices.max_rows:
        raise InputError(
            f"{parsed.filename} has {parsed.rows_read:,} rows and the limit is {choices.max_rows:,}; take a sample "
            "of the rows or use the command line (python -m calcore)."
        )
    columns = parsed.columns
    roles = guess_roles(columns) if choices.roles is None else choices.roles
    check_roles(roles, columns)
    reading = _Reading(parsed, np.ones(parsed.rows, bool), warnings=list(parsed.warnings))
    reading.questions.extend(parsed.questions)
    by_role = {role: columns[name] for role, name in roles.single().items()}

    score, clipped = _read_score(reading, by_role.get("score"), choices)
    weight = _read_weight(reading, by_role.get("weight"))
    label, mapping = _read_label(reading, by_role.get("label"), choices.label_mapping, None)
    audit, audit_mapping = _read_label(reading, by_role.get("audit"), choices.audit_mapping, mapping)
    confidence = _read_confidence(reading, by_role.get("confidence"))
    source = _read_source(reading, by_role.get("source"))
    time, date_range = _read_time(reading, by_role.get("time"), choices.day_first)
    unit = by_role.get("unit")
    if unit is not None:
        reading.cells[unit.name] = unit.as_text(MISSING)
    used = _read_groups(reading, [columns[name] for name in roles.groups], choices)
    _ask_about_many_values(reading, roles, choices)
    if not reading.keep.any():
        raise InputError(f"No row of {parsed.filename} can be used: {_reasons(reading.refused)}.")
    _refuse_zero_weights(reading, weight, by_role.get("weight"))

    keep = None if reading.keep.all() else reading.keep
    table = _table(reading, keep)
    kept = partial(_kept, keep=keep)
    typed = Columns(
        score=kept(score) if score is not None else np.empty(0),
        label=kept(label),
        audit=kept(audit),
        source=kept(source),
        confidence=kept(confidence),
        weight=kept(weight),
        time=kept(time),
        groups=table[list(used)],
        _unit=None if unit is None else lambda: _kept(unit.unit_codes(), keep),
        _line=lambda: parsed.places.of(np.flatnonzero(reading.keep)),
    )
    report = _report(reading, roles, used, clipped, typed.label, mapping, audit_mapping, date_range)
    return Ingested(table, report, roles, typed, reading.open)


def _kept(values: Any, keep: np.ndarray | None) -> Any:
    return values if values is None or keep is None else values[keep]


def _read_score(reading: _Reading, column: Column | None, choices: Choices) -> tuple[np.ndarray | None, int]:
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


def _read_weight(reading: _Reading, column: Column | None) -> np.ndarray | None:
    if column is None:
        return None
    numbers = column.numbers
    reading.refuse("weight is missing", numbers.blank)
    reading.refuse("weight is not a number", numbers.bad)
    reading.refuse("weight is negative", numbers.values < 0)
    _note_thousands(reading, column)
    reading.cells[column.name] = numbers.values
    return numbers.values


def _refuse_zero_weights(reading: _Reading, weight: np.ndarray | None, column: Column | None) -> None:
    if weight is not None and column is not None and not (weight[reading.keep] > 0).any():
        raise InputError(
            f'Every weight in "{column.name}" is zero, so no row counts; choose another weight column or none.'
        )


def _read_label(
    reading: _Reading, column: Column | None, chosen: LabelMapping | None, other: LabelMapping | None
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
    labels, unknown = apply_mapping(column.categories, mapping)
    if len(unknown) > SHOWN_LINES:
        reading.refuse(
            f'{column.name} is neither positive nor negative ({quote_list(list(unknown), 3)})',
            np.logical_or.reduce(list(unknown.values())),
        )
    else:
        for value, mask in unknown.items():
            reading.refuse(f"{column.name} {value} is neither positive nor negative", mask)
    reading.cells[column.name] = labels
    return labels, mapping


def _read_confidence(reading: _Reading, column: Column | None) -> np.ndarray | None:
    if column is None:
        return None
    numbers = column.numbers
    reading.refuse("confidence is not a number", numbers.bad)
    values = numbers.values
    reading.refuse("confidence is outside 0 to 1", (values < -CLIP) | (values > 1 + CLIP))
    if not column.is_text or numbers.percent.any():
        values = np.where(numbers.percent, np.nan, values)
    reading.refuse("confidence is a percentage; write it between 0 and 1", numbers.percent)
    values = np.clip(values, 0.0, 1.0)
    reading.cells[column.name] = values
    return values


def _read_source(reading: _Reading, column: Column | None) -> np.ndarray | None:
    if column is None:
        return None
    categories = column.categories
    reading.refuse("source is missing", categories.codes < 0)
    reading.cells[column.name] = column.as_categorical()
    return np.array([*categories.values, ""], dtype=object)[categories.codes]


def _read_time(
    reading: _Reading, column: Column | None, day_first: bool | None
) -> tuple[np.ndarray | None, tuple[str, str] | None]:
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


def _read_groups(reading: _Reading, columns: list[Column], choices: Choices) -> tuple[str, ...]:
    """Type the group columns; the names of those that can be used."""
    used = []
    for column in columns:
        values = len(column.categories.values)
        if values > GROUP_LIMIT and choices.top_groups is None:
            reading.questions.append(_many_question(column.name, values))
            reading.cells[column.name] = column.as_text(MISSING)
            continue
        used.append(column.name)
        if values > GROUP_LIMIT and choices.top_groups is not None:
            reading.cells[column.name] = _top(column, choices.top_groups)
        elif column.name not in reading.cells:
            reading.cells[column.name] = column.as_categorical(MISSING)
    return tuple(used)


def _top(column: Column, top: int) -> pd.Categorical:
    """The commonest values of a column, "other" for the rest, "(missing)" for nothing."""
    categories = column.categories
    order = np.argsort(-categories.counts(), kind="stable")[:top]
    values = [categories.values[i] for i in order]
    other = "other" if "other" not in categories.values else "(other)"
    lookup = np.full(len(categories.values) + 1, len(values), np.int32)
    lookup[order] = np.arange(len(order))
    names = [*values, other]
    if (categories.codes < 0).any():
        lookup[-1] = len(names)
        names.append(MISSING)
    return categorical(lookup[categories.codes], names)


def _ask_about_many_values(reading: _Reading, roles: Roles, choices: Choices) -> None:
    if choices.roles is None:
        for name in many_valued(reading.parsed.columns, roles):
            values = len(reading.parsed.columns[name].categories.values)
            reading.questions.append(_many_question(name, values))


def _many_question(name: str, values: int) -> Question:
    sentence = (
        f'"{name}" has {values:,} different values, more than the {GROUP_LIMIT} that make useful groups: leave it '
        f'out, or keep the commonest and call the rest "other"?'
    )
    options = ("leave out", f"top {_OFFERED_TOP}", "top 50", "top 100")
    return Question("too_many_groups", name, sentence, options, "leave out")


def _note_thousands(reading: _Reading, column: Column) -> None:
    if column.numbers.grouped:
        reading.warnings.append(
            f'"{column.name}" has numbers with thousands separators; they were read without them.'
        )


def _table(reading: _Reading, keep: np.ndarray | None) -> pd.DataFrame:
    cells = {
        name: reading.cells[name] if name in reading.cells else column.plain()
        for name, column in reading.parsed.columns.items()
    }
    table = pd.DataFrame(cells, copy=False)
    return table if keep is None else table[keep].reset_index(drop=True)


def _reasons(refused: list[Refused]) -> str:
    return "; ".join(f"{r.reason} ({r.count:,})" for r in refused)


def _report(
    reading: _Reading, roles: Roles, used: tuple[str, ...], clipped: int, label: np.ndarray | None,
    mapping: LabelMapping | None, audit_mapping: LabelMapping | None, date_range: tuple[str, str] | None,
) -> IngestReport:  # fmt: skip
    parsed = reading.parsed
    infos = tuple(
        ColumnInfo(name, _kind(column), column.distinct, column.missing, roles.role_of(name))
        for name, column in parsed.columns.items()
    )
    return IngestReport(
        filename=parsed.filename,
        sha256=parsed.sha256,
        bytes=parsed.bytes,
        format=parsed.format,
        rows_read=parsed.rows_read,
        rows_kept=int(reading.keep.sum()),
        refused=(*parsed.refused, *reading.refused),
        clipped=clipped,
        warnings=tuple(reading.warnings),
        questions=tuple(reading.questions),
        unlabelled=0 if label is None or mapping is None else int(np.isnan(label).sum()),
        columns=infos,
        label_mapping=mapping,
        audit_mapping=audit_mapping,
        date_range=date_range,
        place=parsed.place,
    )


def _kind(column: Column) -> str:
    if column.is_time:
        return "time"
    if column.is_boolean:
        return "yes/no"
    if not column.is_text:
        return "number"
    numbers = column.sample.numbers
    filled = ~numbers.blank
    return "number" if filled.any() and not numbers.bad[filled].any() else "text"
