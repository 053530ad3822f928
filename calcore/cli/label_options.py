"""What was said of the values of a label column on the command line."""

from __future__ import annotations

from dataclasses import replace

from calcore.errors import InputError
from calcore.ingest import Choices, LabelMapping, Parsed
from calcore.ingest.choices import tied_mapping
from calcore.ingest.columns import Column
from calcore.ingest.labels import NO_LABEL, guess_mapping, label_text, spelled, tie_question
from calcore.ingest.report import quote_list
from calcore.ingest.roles import guess_roles

_MOST_VALUES = 20


def with_positive(choices: Choices, parsed: Parsed, positive: str, said: bool) -> Choices:
    """``said``: for this file, so that it has to hold the value; else it was said of an earlier one."""
    roles = choices.roles or guess_roles(parsed.columns)
    mappings = {
        role: _mapping(parsed.columns[name], label_text(positive), said)
        for role, name in (("label", roles.label), ("audit", roles.audit))
        if name is not None
    }
    if not mappings and not said:
        return choices
    if not mappings:
        raise InputError("--positive needs a label column, and none was found; name it with --label COLUMN.")
    if not any(mappings.values()):
        column = parsed.columns[roles.label or roles.audit or ""]
        raise InputError(
            f'--positive "{positive}" is no value of "{column.name}", which holds '
            f"{quote_list(list(spelled(column.categories)))}; give one of them."
        )
    return replace(choices, label_mapping=mappings.get("label"), audit_mapping=mappings.get("audit"))


def _mapping(column: Column, positive: str, must_hold: bool) -> LabelMapping | None:
    """The mapping in which ``positive`` is the positive value; None where the column ``must_hold`` it and does not."""
    counts = spelled(column.categories)
    if must_hold and positive not in counts:
        return None
    guess = guess_mapping(counts, column.name).mapping
    if guess is not None and guess.positive == (positive,):
        return guess
    if len(counts) > _MOST_VALUES:
        raise InputError(
            f'"{column.name}" holds {len(counts):,} different values, too many for labels; name another.'
        )
    others = tuple(value for value in counts if value != positive and value not in NO_LABEL)
    return LabelMapping((positive,), others, tuple(value for value in counts if value in NO_LABEL))


def with_ties(choices: Choices, parsed: Parsed, option: str) -> Choices:
    roles = choices.roles or guess_roles(parsed.columns)

    def counted(name: str | None, chosen: LabelMapping | None) -> LabelMapping | None:
        if name is None:
            return chosen
        counts = spelled(parsed.columns[name].categories)
        mapping = chosen or guess_mapping(counts, name).mapping
        if mapping is None or tie_question(counts, name, mapping) is None:
            return chosen
        return tied_mapping(mapping, option)

    return replace(
        choices,
        label_mapping=counted(roles.label, choices.label_mapping),
        audit_mapping=counted(roles.audit, choices.audit_mapping),
    )
