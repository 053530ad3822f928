"""The Data page: which column plays which role."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from calcore.errors import InputError
from calcore.ingest import Roles
from dashboard import services
from dashboard.components.page import problem
from dashboard.state import AppState, get_state

ROLE_WORDS = {
    "score": ("Score", "The classifier's probability of the event, 0 to 1."),
    "label": ("Label", "What was recorded for the case."),
    "audit": ("Clean audit label", "The true outcome, where someone checked it; blank elsewhere."),
}
MORE_ROLES = {
    "weight": ("Weight", "Sampling weight of the row."),
    "unit": (
        "Unit or pair",
        "Rows that belong together (a customer, a patient, a pair): errors and folds keep them whole.",
    ),
    "confidence": ("Confidence", "A probability given with the row, for weak labels."),
    "source": ("Source", "Which sample a row comes from, for weak labels."),
    "time": ("Time", "When the case was scored."),
}


def roles(state: AppState) -> None:
    """Role pickers, pre-filled with the guess; a change reads the table again."""
    assert state.ingested is not None
    current = state.ingested.roles
    names = [column.name for column in state.ingested.report.columns]
    st.subheader("Which column is what?", anchor=False)
    wanted: dict[str, str | None] = dict(current.single())
    if state.choices.classes is None:
        for place, (role, words) in zip(st.columns(3), ROLE_WORDS.items(), strict=True):
            wanted[role] = _pick(place, role, words, names, getattr(current, role))
    else:
        st.caption("The score and the label follow from the classes chosen below.")
    # open for who comes from a page that wants one of them
    with st.expander("More roles: weight, unit or pair, source, confidence, time", expanded=state.more_roles):
        for place, (role, words) in zip(st.columns(5), MORE_ROLES.items(), strict=True):
            wanted[role] = _pick(place, role, words, names, getattr(current, role))
    groups = st.multiselect(
        "Subgroup columns",
        [name for name in names if name not in wanted.values()],
        default=[name for name in current.groups if name not in wanted.values()],
        help="Every value and every pair of values of these columns is checked as a subgroup.",
        key=state.key(
            "role-groups" if state.choices.classes is None else f"role-groups-{state.choices.classes.view}"
        ),
    )
    single = {role: name for role, name in wanted.items() if name is not None}
    asked = Roles(**single, groups=tuple(name for name in groups if name not in single.values()))
    if asked == replace(current, groups=asked.groups) and set(asked.groups) == set(current.groups):
        return
    try:
        services.reinterpret(replace(state.choices, roles=asked))
    except InputError as error:
        problem(error)
        return
    st.rerun()


def _pick(place, role: str, words: tuple[str, str], names: list[str], current: str | None) -> str | None:
    options = [None, *names]
    return place.selectbox(
        words[0],
        options,
        index=options.index(current) if current in options else 0,
        format_func=lambda name: "(none)" if name is None else str(name),
        help=words[1],
        key=get_state().key(f"role-{role}"),
    )
