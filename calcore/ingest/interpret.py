"""A parsed file under the user's choices: typed rows, and an account of every row that was refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calcore.errors import InputError
from calcore.subgroups import MISSING

from .choices import Choices, LabelMapping, Roles, tied_option
from .columns import Column, Columns
from .groups import too_many_question
from .labels import put_together, spelled, tied_rows
from .parsed import Parsed
from .readers import (
    Reading,
    read_confidence,
    read_groups,
    read_label,
    read_rivals,
    read_score,
    read_source,
    read_time,
    read_weight,
    refuse_zero_weights,
)
from .report import ColumnInfo, IngestReport, Refused
from .roles import check_rivals, check_roles, guess_roles, many_valued
from .several_scores import as_seen


@dataclass(frozen=True, eq=False)
class Ingested:
    """A file that was read: `table` of the kept rows, `report`, `roles`, and `columns` for a model."""

    table: pd.DataFrame
    report: IngestReport
    roles: Roles
    _columns: Columns = field(repr=False)
    _open: str | None = field(repr=False)
    """Why the columns cannot be used yet."""

    @property
    def columns(self) -> Columns:
        """The kept rows as arrays. Raises InputError while a question that decides about them is open."""
        if self._open is not None:
            raise InputError(self._open)
        return self._columns


def interpret(parsed: Parsed, choices: Choices | None = None) -> Ingested:
    """Read the columns of a parsed file in their roles.

    Raises InputError for roles that cannot be, weights that are all zero, more rows than allowed, and when
    no row is left.
    """
    choices = choices or Choices()
    if choices.max_rows is not None and parsed.rows_read > choices.max_rows:
        raise InputError(
            f"{parsed.filename} has {parsed.rows_read:,} rows and the limit is {choices.max_rows:,}; take a "
            "sample of the rows or read it with the library (calcore.ingest.read), which has no limit."
        )
    parsed, choices = as_seen(parsed, choices)
    columns = parsed.columns
    roles = guess_roles(columns) if choices.roles is None else choices.roles
    # a rival that becomes the score is no rival any more
    rival_names = tuple(name for name in choices.rivals if name != roles.score)
    roles = replace(roles, groups=tuple(name for name in roles.groups if name not in rival_names))
    check_roles(roles, columns)
    reading = Reading(parsed, np.ones(parsed.rows, bool), warnings=list(parsed.warnings))
    reading.questions.extend(parsed.questions)
    by_role = {role: columns[name] for role, name in roles.single().items()}

    score, clipped = read_score(reading, by_role.get("score"), choices)
    check_rivals(rival_names, roles, columns)
    rivals = read_rivals(reading, [columns[name] for name in rival_names], choices)
    weight = read_weight(reading, by_role.get("weight"))
    label, mapping = read_label(reading, by_role.get("label"), choices.label_mapping, None)
    audit, audit_mapping = read_label(reading, by_role.get("audit"), choices.audit_mapping, mapping)
    if choices.classes is None:  # one class against the rest puts the rest together by intention
        for role, chosen in (("label", mapping), ("audit", audit_mapping)):
            if chosen is not None:
                column = by_role[role]
                reading.warnings += put_together(spelled(column.categories), column.name, chosen)
    confidence = read_confidence(reading, by_role.get("confidence"))
    source = read_source(reading, by_role.get("source"))
    time, date_range = read_time(reading, by_role.get("time"), choices.day_first)
    unit = by_role.get("unit")
    if unit is not None:
        reading.cells[unit.name] = unit.as_text(MISSING)
    read_groups(reading, [columns[name] for name in roles.groups], choices.top_groups)
    if choices.roles is None:
        many = many_valued(columns, roles)
        reading.questions.extend(too_many_question(columns[name]) for name in many)
    if not reading.keep.any():
        raise InputError(f"No row of {parsed.filename} can be used: {_reasons(reading.refused)}.")
    refuse_zero_weights(reading, weight, by_role.get("weight"))

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
        groups=_frame(reading.groups, parsed.rows, keep),
        left_out=kept(_left_out(by_role.get("label"), label)),
        rivals={name: kept(values) for name, values in rivals.items()},
        _unit=None if unit is None else partial(_units, unit, keep),
        _line=partial(_lines, parsed, keep),
    )
    report = _report(reading, roles, clipped, typed.label, mapping, audit_mapping, date_range)
    if mapping is not None and tied_option(mapping) is not None:
        report = replace(report, tied=int((tied_rows(by_role["label"].categories) & reading.keep).sum()))
    return Ingested(table, report, roles, typed, reading.open)


def _left_out(column: Column | None, label: np.ndarray | None) -> np.ndarray | None:
    """Rows whose label is a tie that counts as none, (n,); None where there are none."""
    if column is None or label is None:
        return None
    left_out = tied_rows(column.categories) & np.isnan(label)
    return left_out if left_out.any() else None


def _kept(values: Any, keep: np.ndarray | None) -> Any:
    return values if values is None or keep is None else values[keep]


def _units(column: Column, keep: np.ndarray | None) -> np.ndarray:
    return _kept(column.unit_codes(), keep)


def _lines(parsed: Parsed, keep: np.ndarray | None) -> np.ndarray:
    return parsed.places.of(np.arange(parsed.rows) if keep is None else np.flatnonzero(keep))


def _table(reading: Reading, keep: np.ndarray | None) -> pd.DataFrame:
    cells = {
        name: reading.cells[name] if name in reading.cells else column.plain()
        for name, column in reading.parsed.columns.items()
    }
    return _frame(cells, reading.parsed.rows, keep)


def _frame(cells: dict[str, Any], rows: int, keep: np.ndarray | None) -> pd.DataFrame:
    table = pd.DataFrame(cells, index=pd.RangeIndex(rows), copy=False)
    return table if keep is None else table[keep].reset_index(drop=True)


def _reasons(refused: list[Refused]) -> str:
    return "; ".join(f"{r.reason} ({r.count:,})" for r in refused)


def _report(
    reading: Reading, roles: Roles, clipped: int, label: np.ndarray | None,
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
