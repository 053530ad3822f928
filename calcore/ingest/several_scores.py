"""Files with several score columns: the classes of one model, or rival models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from calcore.errors import InputError
from calcore.validation import ROUNDING

from . import names
from .choices import Choices, ClassView, LabelMapping, Roles
from .columns import Column
from .labels import NO_LABEL, label_text, spelled
from .parsed import Parsed
from .report import quote_list
from .roles import guess_roles

#: Columns that the view of the likeliest class adds to the table.
TOP_SCORE, TOP_CLASS, TOP_RIGHT, TOP_RIGHT_AUDIT = (
    "top score",
    "top class",
    "top class is right",
    "top class is right (audit)",
)
#: The view of a ClassView that looks at each row's likeliest class.
TOP = "top"
#: Scores of all classes of a row sum to 1 within this.
SUM_WITHIN = 0.02


@dataclass(frozen=True)
class ScoreColumns:
    """Columns that could be scores beside the one that is: ``others`` in [0, 1], and ``classes`` that sum to 1."""

    others: tuple[str, ...]
    classes: tuple[str, ...]

    def all_of(self, score: str | None) -> tuple[str, ...]:
        """Every column that could be a score, ``score`` among them unless it was derived."""
        return tuple(dict.fromkeys([*(() if score in (None, TOP_SCORE) else (str(score),)), *self.others]))


def score_columns(parsed: Parsed, roles: Roles) -> ScoreColumns:
    """What other score columns a file has; columns with a role of their own and yes/no columns are none."""
    taken = set(roles.single().values()) - {roles.score}
    likely = {name: c for name, c in parsed.columns.items() if name not in taken and _like_scores(c)}
    return ScoreColumns(tuple(name for name in likely if name != roles.score), _classes(likely))


def _like_scores(column: Column) -> bool:
    if column.is_boolean or column.is_time:
        return False
    numbers = column.sample.numbers
    values = numbers.values[np.isfinite(numbers.values)]
    inside = values.size > 0 and bool(((values >= -ROUNDING) & (values <= 1 + ROUNDING)).all())
    return inside and not numbers.bad.any() and not np.isin(values, (0.0, 1.0)).all()


def _classes(columns: Mapping[str, Column]) -> tuple[str, ...]:
    """The first family of three or more columns, named alike, that sum to 1 on every full row of a sample."""
    for stem in (slice(None, -1), slice(1)):
        families: dict[tuple[str, ...], list[str]] = {}
        for name in columns:
            families.setdefault(tuple(names.words(name)[stem]), []).append(name)
        for family in families.values():
            if len(family) >= 3:
                total = sum(columns[name].sample.numbers.values for name in family)
                off = np.abs(np.asarray(total) - 1)
                if np.isfinite(off).any() and bool((off[np.isfinite(off)] <= SUM_WITHIN).all()):
                    return tuple(family)
    return ()


def as_seen(parsed: Parsed, choices: Choices) -> tuple[Parsed, Choices]:
    """A file of classes as one score and one label: of a class against the rest, or of the likeliest class.

    Raises InputError where a class column cannot be matched to a value of the label column.
    """
    view = choices.classes
    if view is None:
        return parsed, choices
    classes = _class_values(parsed, view)
    roles = choices.roles
    if roles is None:
        roles = guess_roles(parsed.columns)
        used = (*view.columns, view.label, view.audit)
        groups = tuple(name for name in roles.groups if name not in used)
        # every likeliest class is a subgroup of its own
        roles = replace(roles, groups=(*groups, TOP_CLASS) if view.view == TOP else groups)
    if view.view == TOP:
        added = _top(parsed, view, classes)
        columns = {**parsed.columns, **{column.name: column for column in added}}
        audit = TOP_RIGHT_AUDIT if view.audit else None
        roles = replace(roles, score=TOP_SCORE, label=TOP_RIGHT, audit=audit)
        return replace(parsed, columns=columns), replace(
            choices, roles=roles, label_mapping=None, audit_mapping=None
        )
    if view.view not in view.columns:
        raise InputError(f'"{view.view}" is no class column; choose one of {quote_list(view.columns)}.')
    mappings = []
    for name in (view.label, view.audit):
        found = () if name is None else tuple(spelled(parsed.columns[name].categories))
        positive = classes[view.view]
        rest = tuple(value for value in found if value != positive and value not in NO_LABEL)
        mappings.append(None if name is None else LabelMapping((positive,), rest))
    roles = replace(roles, score=view.view, label=view.label, audit=view.audit)
    return parsed, replace(choices, roles=roles, label_mapping=mappings[0], audit_mapping=mappings[1])


def _class_values(parsed: Parsed, view: ClassView) -> dict[str, str]:
    """The label value that each class column stands for: the one that ends its name."""
    for name in (*view.columns, view.label, *([view.audit] if view.audit else [])):
        if name not in parsed.columns:
            raise InputError(f'There is no column "{name}"; the file has {quote_list(list(parsed.columns))}.')
    values = [value for value in spelled(parsed.columns[view.label].categories) if value not in NO_LABEL]
    found = {}
    for name in view.columns:
        ends = [value for value in values if _ends_with(name, value)]
        # "not_cat" ends with "cat" too: the longest fits best
        found[name] = max(
            ends, key=len, default=label_text(names.words(name)[-1] if names.words(name) else name)
        )
    unmatched = [value for value in values if value not in found.values()]
    if unmatched or len(set(found.values())) < len(found):
        raise InputError(
            f'"{view.label}" holds {quote_list(values, 5)}, and {quote_list(unmatched or values, 3)} cannot be matched '
            f"to one of {quote_list(list(view.columns), 3)}; end the name of each score column with its class."
        )
    return found


def _ends_with(name: str, value: str) -> bool:
    words = "_".join(names.words(value)) or value
    own = "_".join(names.words(name))
    return own == words or own.endswith(f"_{words}")


def _top(parsed: Parsed, view: ClassView, classes: Mapping[str, str]) -> list[Column]:
    """The likeliest class of each row, its score, and whether it is the one recorded; the first of equal ones."""
    scores = np.column_stack([parsed.columns[name].numbers.values for name in view.columns])
    usable = np.isfinite(scores).all(axis=1)
    place = np.argmax(np.where(usable[:, None], scores, -np.inf), axis=1)
    top = scores[np.arange(len(scores)), place]
    values = [classes[name] for name in view.columns]
    chosen = np.array(values, dtype=object)[place]
    columns = [
        Column(TOP_SCORE, pa.chunked_array([pa.array(np.where(usable, top, np.nan), mask=~usable)])),
        Column(TOP_CLASS, pa.chunked_array([pa.array(chosen, pa.string(), mask=~usable)])),
        _right(TOP_RIGHT, parsed.columns[view.label], chosen, usable),
    ]
    if view.audit is not None:
        columns.append(_right(TOP_RIGHT_AUDIT, parsed.columns[view.audit], chosen, usable))
    return columns


def _right(name: str, label: Column, chosen: np.ndarray, usable: np.ndarray) -> Column:
    categories = label.categories
    spellings = [label_text(value) for value in categories.values]
    recorded = np.array([*spellings, ""], dtype=object)[categories.codes]
    silent = (categories.codes < 0) | np.isin(recorded, list(NO_LABEL)) | ~usable
    return Column(name, pa.chunked_array([pa.array(recorded == chosen, pa.bool_(), mask=silent)]))
