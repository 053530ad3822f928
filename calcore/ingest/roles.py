"""Which column plays which role: guessed from names and from what the columns hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from calcore.errors import InputError
from calcore.validation import ROUNDING

from . import names
from .choices import Roles
from .columns import Column
from .groups import GROUP_LIMIT
from .labels import apply_mapping, guess_mapping, spelled
from .report import quote_list
from .times import dates_in, looks_like_time

_NUMBER_GROUP_LIMIT = 20


def guess_roles(columns: Mapping[str, Column]) -> Roles:
    """The most likely role of every column; a role that nothing fits stays None."""
    free = dict(columns)

    def take(points: Callable[[str, Column], float]) -> str | None:
        ranked = {name: points(name, column) for name, column in free.items()}
        best = max(ranked, key=ranked.__getitem__, default=None)
        if best is None or ranked[best] <= 0:
            return None
        del free[best]
        return best

    time = take(_time_points)
    source = take(_source_points)
    weight = take(_weight_points)
    score = take(lambda n, c: _score_points(n, c, columns))
    label = take(lambda n, c: _label_points(n, c, columns.get(score or "")))
    audit = None
    if label is not None:
        recorded = columns[label]
        audit = take(lambda n, c: _audit_points(n, c, recorded))
    else:
        label = take(lambda n, c: _audit_points(n, c, None))  # a true label alone is simply the label
    confidence = take(_confidence_points)
    if score is None and confidence is not None:
        score, confidence = confidence, None
    unit = take(_unit_points)
    groups = tuple(name for name, column in free.items() if _is_group(name, column))
    return Roles(score, label, audit, source, confidence, weight, unit, time, groups)


def check_roles(roles: Roles, columns: Mapping[str, Column]) -> None:
    """Raise InputError for roles that name no column, or give the score column another role."""
    for name in [*roles.single().values(), *roles.groups]:
        if name not in columns:
            raise InputError(f'There is no column "{name}"; the file has {quote_list(list(columns))}.')
    if roles.score is not None:
        for role, name in roles.single().items():
            if name == roles.score and role != "score":
                raise InputError(f'"{name}" cannot be both the score and the {role}; choose another column.')
    if len(set(roles.groups)) < len(roles.groups):
        raise InputError("A group column was chosen twice; choose each one once.")


def check_rivals(rivals: tuple[str, ...], roles: Roles, columns: Mapping[str, Column]) -> None:
    """Raise InputError for rival score columns that are not there or have another role."""
    for name in rivals:
        if name not in columns:
            raise InputError(f'There is no column "{name}"; the file has {quote_list(list(columns))}.')
        if roles.role_of(name) is not None:
            raise InputError(f'"{name}" is the {roles.role_of(name)} already; choose another rival score.')
    if rivals and roles.score is None:
        raise InputError("Choose the score that the others are rivals of first.")


def many_valued(columns: Mapping[str, Column], roles: Roles) -> list[str]:
    """Text columns without a role that would be groups if they had fewer values."""
    return [
        name
        for name, column in columns.items()
        if column.is_text and roles.role_of(name) is None and column.distinct > GROUP_LIMIT
        and not _mostly_numbers(column) and not is_identifier(name) and dates_in(column) is None
    ]  # fmt: skip


def _score_points(name: str, column: Column, columns: Mapping[str, Column]) -> float:
    if column.is_boolean or column.is_time:
        return 0
    parts = set(names.words(name))
    if not _mostly_numbers(column):
        # A column that is called score stays the score even when most of its cells are broken.
        return 60.0 if names.is_known(name, names.SCORE) and np.isfinite(column.numbers.values).any() else 0
    if parts & names.CONFIDENCE_WORDS or names.is_known(name, names.LABEL | names.AUDIT | names.WEIGHT):
        return 0
    points = 100.0 if names.is_known(name, names.SCORE) else 50.0 * bool(parts & names.SCORE_WORDS)
    points += 30.0 * bool(parts & names.WEAK_SCORE_WORDS) if not points else 0
    numbers = column.sample.numbers
    values = numbers.values[np.isfinite(numbers.values)]
    inside = _share_in_unit_interval(values)
    if numbers.percent.mean() > 0.5:
        return points + 30.0 if points else 0
    if inside < 0.99:
        # Percentages and logits: believed of a column that is called a score, or that is no count or code.
        named = names.is_known(name, names.SCORE) or bool((values != np.round(values)).any())
        return points - 30.0 if named else 0
    if not np.isin(values, (0.0, 1.0)).all():
        return points + 40.0 + _names_the_positive(name, columns)
    return points + 5.0 if points >= 50 and not parts & names.OUTPUT_WORDS else 0


def _share_in_unit_interval(values: np.ndarray) -> float:
    return float(((values >= -ROUNDING) & (values <= 1 + ROUNDING)).mean())


def _names_the_positive(name: str, columns: Mapping[str, Column]) -> float:
    """Of `.pred_good` and `.pred_poor` the score is the one named after the positive label."""
    last = names.words(name)[-1:]
    for column in columns.values():
        if column.is_text and 2 <= column.distinct <= 3 and not _mostly_numbers(column):
            mapping = guess_mapping(spelled(column.categories), column.name).mapping
            if mapping is not None and last and last[0] in mapping.positive:
                return 5.0
    return 0.0


def _label_points(name: str, column: Column, score: Column | None) -> float:
    parts = set(names.words(name))
    if column.is_time or parts & names.OUTPUT_WORDS or column.distinct > 20 or not column.distinct:
        return 0
    points = 100.0 if names.is_known(name, names.LABEL) else 50.0 * bool(parts & names.LABEL_WORDS)
    if names.is_known(name, names.AUDIT) or (
        parts & names.AUDIT_WORDS and not names.is_known(name, names.LABEL)
    ):
        return 0
    if names.is_known(name, names.ALSO_AUDIT):
        points -= 10.0
    counts = spelled(column.sample.categories)
    mapping = guess_mapping(counts, name).mapping
    both = mapping is not None and bool(set(mapping.positive) & set(counts)) and bool(
        set(mapping.negative) & set(counts)
    )  # fmt: skip
    if not points and (not both or is_identifier(name)):
        return 0
    return points + (20.0 if both else 0.0) + 20.0 * _agreement(column, score)


def _agreement(column: Column, score: Column | None) -> float:
    """How closely a two-valued column follows the score: the absolute correlation on a sample."""
    if score is None:
        return 0.0
    sample = column.sample
    mapping = guess_mapping(spelled(sample.categories), column.name).mapping
    if mapping is None:
        return 0.0
    labels, _ = apply_mapping(sample.categories, mapping)
    scores = score.sample.numbers.values
    ok = np.isfinite(labels) & np.isfinite(scores)
    labels, scores = labels[ok], scores[ok]
    if len(labels) < 3 or np.ptp(labels) == 0 or np.ptp(scores) == 0:
        return 0.0
    return abs(float(np.corrcoef(labels, scores)[0, 1]))


def _audit_points(name: str, column: Column, label: Column | None) -> float:
    if column.is_time or not 1 <= column.distinct <= 20:
        return 0
    if names.is_known(name, names.AUDIT):
        return 100.0
    parts = set(names.words(name))
    if names.is_known(name, names.ALSO_AUDIT):
        return 60.0
    if parts & names.AUDIT_WORDS and parts & {"label", "y", "class", "target"}:
        return 50.0
    return 40.0 if label is not None and _checks(column, label) else 0


def _checks(column: Column, label: Column) -> bool:
    """A mostly blank yes/no column that agrees with most labels where it is filled: somebody checked those rows."""
    if len(column.data) != len(label.data) or column.missing < 0.2 * len(column.data) or label.missing:
        return False
    found = []
    for one in (column.sample, label.sample):
        mapping = guess_mapping(spelled(one.categories), one.name).mapping
        if mapping is None:
            return False
        found.append(apply_mapping(one.categories, mapping)[0])
    filled = np.isfinite(found[0]) & np.isfinite(found[1])
    return int(filled.sum()) >= 20 and float((found[0] == found[1])[filled].mean()) > 0.6


def _source_points(name: str, column: Column) -> float:
    if not column.is_text or not 1 <= column.distinct <= 10:
        return 0
    values = {v.casefold() for v in column.categories.values}
    if names.is_known(name, names.SOURCE):
        return 100.0
    said = (
        len(values) == 2
        and values <= names.SOURCE_VALUES
        and not names.is_known(name, names.LABEL | names.AUDIT)
    )
    return 50.0 if said else 0


def _confidence_points(name: str, column: Column) -> float:
    if not set(names.words(name)) & names.CONFIDENCE_WORDS or not _mostly_numbers(column):
        return 0
    values = column.sample.numbers.values
    values = values[np.isfinite(values)]
    return 100.0 if _share_in_unit_interval(values) > 0.99 else 0


def _weight_points(name: str, column: Column) -> float:
    if not names.is_known(name, names.WEIGHT) or column.is_time or not _mostly_numbers(column):
        return 0
    values = column.sample.numbers.values
    return 100.0 if np.nanmean(values < 0) < 0.5 else 0


def _unit_points(name: str, column: Column) -> float:
    if not is_identifier(name) or column.distinct < 2:
        return 0
    if column.distinct < min(20, 0.1 * len(column.data)):
        return 0  # a handful of clusters of everything: groups
    return 100.0 if names.is_known(name, names.UNIT) else 50.0


def _time_points(name: str, column: Column) -> float:
    if column.is_time:
        return 60.0 + 40.0 * names.is_known(name, names.TIME)
    named = 100.0 if names.is_known(name, names.TIME) else 50.0 * bool(
        set(names.words(name)) & names.TIME_WORDS or names.words(name)[-1:] == ["at"]
    )  # fmt: skip
    if named and looks_like_time(column):
        return named
    dates = dates_in(column)
    if dates is None or set(names.words(name)) & names.OTHER_DATES:
        return 0
    if names.hints_at_date(name):
        return 45.0
    return 20.0 if dates == "settled" else 0


def is_identifier(name: str) -> bool:
    """Whether a column is called like an identifier of rows or of what rows belong to."""
    return names.is_known(name, names.UNIT) or names.words(name)[-1:] in (["id"], ["uuid"], ["key"])


def _is_group(name: str, column: Column) -> bool:
    if (
        names.words(name)[-1:] in (["id"], ["uuid"], ["key"])
        or set(names.words(name)) & names.OUTPUT_WORDS
        or column.is_time
        or column.distinct < 2
    ):
        return False
    if column.is_boolean:
        return True
    if column.is_text and not _mostly_numbers(column):
        return column.distinct <= GROUP_LIMIT and _repeats(column) and dates_in(column) is None
    if column.distinct > _NUMBER_GROUP_LIMIT:
        return False
    values = column.sample.numbers.values
    values = values[np.isfinite(values)]
    return bool((values == np.round(values)).all())


def _repeats(column: Column) -> bool:
    """Values that hardly ever come twice are names of rows, not of groups."""
    return column.distinct <= max(10, len(column.data) / 2)


def _mostly_numbers(column: Column) -> bool:
    if column.is_boolean:
        return False
    numbers = column.sample.numbers
    filled = ~numbers.blank
    return bool(filled.any()) and bool(numbers.bad[filled].mean() < 0.5)
