"""What the user may decide about a file, and the questions that ask for it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Literal

from calcore.errors import InputError
from calcore.validation import HALF

ScoreScale = Literal["probability", "percent", "logit"]


@dataclass(frozen=True)
class FileFormat:
    """How the bytes are laid out; None means "find it" in a choice, "does not apply" in a report."""

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class Roles:
    """Which column plays which role, by name."""

    score: str | None = None
    label: str | None = None
    audit: str | None = None
    source: str | None = None
    confidence: str | None = None
    weight: str | None = None
    unit: str | None = None
    time: str | None = None
    groups: tuple[str, ...] = ()

    def single(self) -> dict[str, str]:
        """The roles that one column fills: role -> column name."""
        names = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "groups"}
        return {role: name for role, name in names.items() if name is not None}

    def role_of(self, column: str) -> str | None:
        """The role of a column ("group" for group columns), or None."""
        for role, name in self.single().items():
            if name == column:
                return role
        return "group" if column in self.groups else None


@dataclass(frozen=True)
class LabelMapping:
    """What each label value means; values are trimmed, case-folded text. A blank is always unlabelled."""

    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    #: Ties that count as half a positive and half a negative.
    half: tuple[str, ...] = ()

    def value_of(self, text: str) -> float | None:
        """1.0, 0.0, 0.5 (half), NaN (unlabelled), or None for a value that the mapping does not know."""
        if text in self.positive:
            return 1.0
        if text in self.negative:
            return 0.0
        if text in self.half:
            return HALF
        if text == "" or text in self.unlabelled:
            return float("nan")
        return None


@dataclass(frozen=True)
class ClassView:
    """Score ``columns`` of the classes of one model, and how to look at them.

    ``view`` is one of the columns, for that class against the rest, or "top", for each row's likeliest class: is it
    right? ``label`` holds the classes, ``audit`` the checked ones.
    """

    columns: tuple[str, ...]
    label: str
    view: str = "top"
    audit: str | None = None


@dataclass(frozen=True)
class Choices:
    """Everything a user may decide; None means "guess, and ask where a guess could be wrong"."""

    format: FileFormat = field(default_factory=FileFormat)
    roles: Roles | None = None
    score_scale: ScoreScale | None = None
    label_mapping: LabelMapping | None = None
    audit_mapping: LabelMapping | None = None
    day_first: bool | None = None
    top_groups: int | None = None
    classes: ClassView | None = None
    #: Score columns of other models on the same rows.
    rivals: tuple[str, ...] = ()
    max_rows: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True)
class Question:
    """Something that only the user can say.

    `kind` is "score_scale", "positive_label", "tied_label", "date_order", "no_header" or "too_many_groups"; `default`
    is the option that was assumed meanwhile (of ties: the one in use), None where nothing was assumed.
    """

    kind: str
    column: str | None
    sentence: str
    options: tuple[str, ...]
    default: str | None = None


def answer(choices: Choices, question: Question, option: str, *, audit: bool = False) -> Choices:
    """The choices with one question answered by one of its options.

    `audit` says that a "positive_label" or "tied_label" question was about the audit column. Raises InputError for an
    option that the question does not have.
    """
    if option not in question.options:
        raise InputError(f'"{option}" is not an answer to "{question.sentence}"; choose one of '
                         f"{', '.join(question.options)}.")  # fmt: skip
    if question.kind == "score_scale":
        return replace(choices, score_scale=option)  # type: ignore[arg-type]
    if question.kind in ("positive_label", "tied_label"):
        if question.kind == "tied_label":
            chosen = choices.audit_mapping if audit else choices.label_mapping
            mapping = tied_mapping(chosen or LabelMapping(("1",), ("0",)), option)
        else:
            mapping = _mapping_from(question, option)
        return replace(choices, audit_mapping=mapping) if audit else replace(choices, label_mapping=mapping)
    if question.kind == "date_order":
        return replace(choices, day_first=option == "day first")
    if question.kind == "no_header":
        return replace(choices, format=replace(choices.format, header=option == "header"))
    top = None if option == "leave out" else int(option.split()[1])
    return replace(choices, top_groups=top)


def _mapping_from(question: Question, option: str) -> LabelMapping:
    if question.options == MINUS_ONE_OPTIONS:
        if option == "negative":
            return LabelMapping(("1",), ("-1", "0"))
        return LabelMapping(("1",), ("0",), ("-1",))
    return LabelMapping((option,), tuple(o for o in question.options if o != option))


MINUS_ONE_OPTIONS = ("negative", "unlabelled")

#: A tie in the one spelling that mappings use, and what it can count as; rows of ties are left out unless said.
TIE = "0.5"
TIE_OPTIONS = ("leave out", "half", "positive", "negative")


def tied_mapping(mapping: LabelMapping, option: str) -> LabelMapping:
    """The mapping with ties counting as ``option``, one of TIE_OPTIONS."""
    role = {"leave out": "unlabelled"}.get(option, option)
    values = {
        name: tuple(value for value in getattr(mapping, name) if value != TIE)
        for name in ("positive", "negative", "unlabelled", "half")
    }
    return LabelMapping(**{**values, role: (*values[role], TIE)})


def tied_option(mapping: LabelMapping) -> str | None:
    """What ties count as under ``mapping``; None where it does not know them."""
    for option, values in zip(
        TIE_OPTIONS, (mapping.unlabelled, mapping.half, mapping.positive, mapping.negative), strict=True
    ):
        if TIE in values:
            return option
    return None
