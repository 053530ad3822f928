"""Labels of another file: read, joined to the scores by id, and taken away again."""

from __future__ import annotations

from dataclasses import replace

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import Choices, JoinColumns, LabelMapping, Parsed, Roles
from calcore.ingest.labels import NO_LABEL, spelled
from dashboard.state import AppState, LateLabels, get_state


def load_labels(data: bytes, filename: str) -> None:
    """Read a file of labels in place of another one, and join it at once where its columns can be guessed.

    Raises InputError where it cannot be read, state untouched, or not be joined: then it waits for its columns.
    """
    state = get_state()
    assert state.parsed is not None
    scores = state.parsed if state.late is None else state.late.scores
    late = LateLabels(data, ingest.parse(data, filename), scores)
    answered = _answered(state)
    if state.late is not None and state.late.joined is not None:
        forget_labels()
    get_state().late = late
    found = columns_to_join(late)
    if None not in (found.on, found.labels_on, found.label):
        join(found, answered)


def columns_to_join(late: LateLabels) -> JoinColumns:
    """The columns in use, else those that are guessed."""
    joined = late.joined
    if joined is not None:
        return JoinColumns(joined.on, joined.labels_on, joined.label)
    return ingest.guess_join(late.scores, late.parsed)


def join(by: JoinColumns, answered: tuple[str, LabelMapping] | None = None) -> None:
    """Join the labels by these columns. Raises InputError, state untouched.

    ``answered``: the label column and what its values were said to mean before, where not as they are now.
    """
    state = get_state()
    answered = answered or _answered(state)
    late = state.late
    assert late is not None
    assert state.data is not None
    late = _joined(late, late.scores, state.data, by)
    assert late.joined is not None
    parsed, column = late.joined.parsed, late.joined.column
    choices = replace(
        state.choices,
        roles=_roles(state.choices, parsed, column),
        label_mapping=_still_fitting(answered, parsed, column),
        classes=None,
    )
    state.ingested = ingest.interpret(parsed, choices)
    state.parsed, state.choices, state.late = parsed, choices, late
    # lists that were made for other labels
    state.sample = state.corrections = None
    state.analysed = False


def _joined(late: LateLabels, scores: Parsed, data: bytes, by: JoinColumns) -> LateLabels:
    texts, labels = scores, late.parsed
    if by.on in scores.columns:
        texts = ingest.parse_with_text_ids(scores, data, str(by.on))
    if by.labels_on in labels.columns:
        labels = ingest.parse_with_text_ids(labels, late.data, str(by.labels_on))
    joined = ingest.join_labels(texts, labels, by.on, by.labels_on, by.label)
    return LateLabels(late.data, late.parsed, scores, joined)


def joined_again(late: LateLabels, scores: Parsed, data: bytes) -> LateLabels:
    """The same labels beside ``scores`` that were parsed again from ``data``; not joined where they fit no more."""
    if late.joined is not None:
        try:
            return _joined(late, scores, data, columns_to_join(late))
        except InputError:
            pass  # the expander of the labels asks for the columns again
    return LateLabels(late.data, late.parsed, scores)


def forget_labels() -> None:
    """The scores without the labels of the other file."""
    state = get_state()
    late, state.late = state.late, None
    if late is None or late.joined is None:
        return
    roles = state.choices.roles
    if roles is not None:
        roles = None if late.joined.column not in late.scores.columns else roles
    state.choices = replace(state.choices, roles=roles, label_mapping=None, classes=None)
    state.ingested = ingest.interpret(late.scores, state.choices)
    state.parsed = late.scores
    state.sample = state.corrections = None
    state.analysed = False


def _answered(state: AppState) -> tuple[str, LabelMapping] | None:
    """The label column and what was said that its values mean; None where nothing was."""
    mapping = state.choices.label_mapping
    label = None if state.ingested is None else state.ingested.roles.label
    return None if mapping is None or label is None else (label, mapping)


def _still_fitting(
    answered: tuple[str, LabelMapping] | None, parsed: Parsed, column: str
) -> LabelMapping | None:
    """What was said of the labels, where the column is still called so and holds no value beside those."""
    if answered is None or answered[0] != column:
        return None
    values = spelled(parsed.columns[column].categories)
    known = all(answered[1].value_of(value) is not None or value in NO_LABEL for value in values)
    return answered[1] if known else None


def _roles(choices: Choices, parsed: Parsed, label: str) -> Roles | None:
    """Roles in which ``label`` is the label: those that were chosen, else the guess (None: it is so by itself)."""
    if choices.roles is None:
        found = ingest.roles_with_label(parsed, label)
        return None if ingest.guess_roles(parsed.columns) == found else found
    others = {
        role: name for role, name in choices.roles.single().items() if name != label and role != "label"
    }
    groups = tuple(name for name in choices.roles.groups if name != label)
    return Roles(**others, label=label, groups=groups)
