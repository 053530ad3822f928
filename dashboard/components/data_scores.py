"""The Data page: what several score columns are - rival models, or the classes of one model."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from calcore.errors import InputError
from calcore.ingest import TOP, Choices, ClassView
from calcore.ingest.several_scores import TOP_CLASS, TOP_RIGHT, TOP_RIGHT_AUDIT, TOP_SCORE
from dashboard import services
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.state import AppState, get_state

ONE, RIVALS, CLASSES = "one", "rivals", "classes"
WORDS = {
    ONE: "Only the score above matters",
    RIVALS: "Scores of rival models on the same rows",
    CLASSES: "The classes of one model",
}


def several_scores(state: AppState) -> None:
    """Ask what other score columns are; the answer reads the table again."""
    assert state.ingested is not None
    columns = services.score_columns_of(state)
    if not columns.others and state.choices.classes is None:
        return
    current = CLASSES if state.choices.classes else RIVALS if state.choices.rivals else ONE
    shown = ", ".join(columns.others[:3]) + (
        f" and {len(columns.others) - 3} more" if len(columns.others) > 3 else ""
    )
    kinds = [ONE, RIVALS, CLASSES] if len(columns.others) >= 2 or state.choices.classes else [ONE, RIVALS]
    kind = st.radio(
        escape(f"Other columns could be scores too ({shown}). What are they?"),
        kinds,
        index=kinds.index(current) if current in kinds else 0,
        format_func=WORDS.__getitem__,
        key=state.key("several-scores"),
        horizontal=True,
    )
    wanted = replace(state.choices, classes=None, rivals=())
    if kind == RIVALS:
        wanted = replace(wanted, rivals=_rivals(state, columns.others))
    elif kind == CLASSES:
        view = _classes(state, columns)
        if view is None:
            get_state().analysed = False
            return
        wanted = replace(wanted, classes=view)
    if state.choices.classes is not None and wanted.classes != state.choices.classes:
        # the roles were those of the other view
        wanted = replace(wanted, roles=None, label_mapping=None, audit_mapping=None)
    if wanted != state.choices:
        _read_again(wanted)


def _rivals(state: AppState, others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        st.multiselect(
            "Rival score columns",
            others,
            default=[name for name in state.choices.rivals or others if name in others],
            help="Compared with the score on the Compare page, on rows that have all of them.",
            key=state.key("rivals"),
        )
    )


def _classes(state: AppState, columns: services.ScoreColumns) -> ClassView | None:
    """The class columns, the column that holds the classes, and which class is looked at."""
    assert state.ingested is not None
    current = state.choices.classes
    roles = state.ingested.roles
    names = [column.name for column in state.ingested.report.columns]
    every = list(dict.fromkeys([*(current.columns if current else ()), *columns.all_of(roles.score)]))
    if current:
        every = [name for name in every if name != current.label]
    picked = st.multiselect(
        "Score columns of the classes",
        every,
        default=list(current.columns if current else columns.classes or every),
        key=state.key("class-columns"),
    )
    left, right = st.columns(2)
    derived = (TOP_SCORE, TOP_CLASS, TOP_RIGHT, TOP_RIGHT_AUDIT)
    labels = [name for name in names if name not in picked and name not in derived]
    label = left.selectbox(
        "Column with the class of each row",
        labels,
        index=labels.index(current.label)
        if current and current.label in labels
        else labels.index(roles.label)
        if roles.label in labels
        else None,
        key=state.key("class-label"),
    )
    views = [TOP, *picked]
    view = right.selectbox(
        "Look at",
        views,
        index=views.index(current.view) if current and current.view in views else 0,
        format_func=lambda name: (
            "each row's likeliest class: is it right?" if name == TOP else f"{name} against the rest"
        ),
        key=state.key("class-view"),
    )
    if label is None or len(picked) < 2:
        st.caption("Choose at least two score columns, and the column that holds the classes.")
        return None
    return ClassView(tuple(picked), label, view, current.audit if current else None)


def _read_again(wanted: Choices) -> None:
    try:
        services.reinterpret(wanted)
    except InputError as error:
        problem(error)
        return
    st.rerun()
