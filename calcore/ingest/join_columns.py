"""By which columns two files are joined, and which one holds the labels."""

from __future__ import annotations

from dataclasses import dataclass

from calcore.errors import InputError

from . import names
from .choices import Roles
from .parsed import Parsed
from .roles import guess_roles, is_identifier


class NotNamed(InputError):
    """A column of a join has to be named first: ``what`` is "id" or "label"."""

    def __init__(self, what: str, sentence: str) -> None:
        super().__init__(sentence)
        self.what = what


@dataclass(frozen=True)
class JoinColumns:
    """The columns to join by, and the label; None: only the user can say."""

    on: str | None
    labels_on: str | None
    label: str | None


def guess_join(
    scores: Parsed,
    labels: Parsed,
    on: str | None = None,
    labels_on: str | None = None,
    label: str | None = None,
) -> JoinColumns:
    """What was said, and the rest guessed: an id column of one name in both files, and the label beside it.

    Raises InputError for a column that is not there.
    """
    for parsed, name in ((scores, on), (labels, labels_on), (labels, label)):
        if name is not None and name not in parsed.columns:
            raise InputError(
                f'There is no column "{name}" in {parsed.filename}; it has {", ".join(parsed.columns)}.'
            )
    if on is not None and labels_on is None and on in labels.columns:
        labels_on = on
    elif labels_on is not None and on is None and labels_on in scores.columns:
        on = labels_on
    elif on is None and labels_on is None:
        on = labels_on = _shared(scores, labels, label)
    if label is None:
        label = _label_of(labels, labels_on)
    return JoinColumns(on, labels_on, label)


def _shared(scores: Parsed, labels: Parsed, label: str | None) -> str | None:
    both = [name for name in labels.columns if name in scores.columns and name != label]
    for likely in (
        [name for name in both if is_identifier(name)],
        [name for name in both if not names.is_known(name, names.LABEL | names.SCORE | names.TIME)],
    ):
        if len(likely) == 1:
            return likely[0]
    return None


def _label_of(labels: Parsed, labels_on: str | None) -> str | None:
    others = {name: column for name, column in labels.columns.items() if name != labels_on}
    return next(iter(others)) if len(others) == 1 else guess_roles(others).label


def roles_with_label(parsed: Parsed, label: str) -> Roles:
    """The guessed roles of a file whose label column is known."""
    guessed = guess_roles(parsed.columns)
    if guessed.label == label:
        return guessed
    single = {role: name for role, name in guessed.single().items() if name != label and role != "label"}
    return Roles(**single, label=label, groups=tuple(name for name in guessed.groups if name != label))
