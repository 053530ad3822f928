"""One typed state a session, under one key of ``st.session_state``."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from calcore.ingest import Choices, Ingested, Joined, Parsed, Returned
from calcore.monitoring import Watch
from calcore.session import Link, Looked, Session
from calcore.settings import Settings

_KEY = "calcore"
_KEPT_RESULTS = 40


@dataclass(frozen=True, eq=False)
class LateLabels:
    """Labels of another file, ``parsed`` from ``data``; the ``scores`` without them, and the join once there is one."""

    data: bytes
    parsed: Parsed
    scores: Parsed
    joined: Joined | None = None


@dataclass(frozen=True)
class Notice:
    """What became of a session or a link that was opened; ``good`` where everything of it is used."""

    title: str
    lines: tuple[str, ...] = ()
    good: bool = True


@dataclass
class AppState:
    """A session: the parsed file, what it means, and results by key (the newest ``_KEPT_RESULTS``)."""

    filename: str = ""
    data: bytes | None = None
    parsed: Parsed | None = None
    choices: Choices = field(default_factory=Choices)
    ingested: Ingested | None = None
    settings: Settings = field(default_factory=Settings)
    #: A full sample of the population beside weak labels: its rows, without scores or labels.
    pool: Ingested | None = None
    #: Lists that were filled in and brought back: a random sample that was checked, and corrected labels.
    sample: Returned | None = None
    corrections: Returned | None = None
    #: Labels that arrived in a file of their own; ``parsed`` is then the scores with them.
    late: LateLabels | None = None
    analysed: bool = False
    latest_comparison: tuple[Any, ...] | None = None
    #: What Over time showed last, and the file and settings that it was of.
    latest_watch: tuple[tuple[Any, ...], Watch] | None = None
    export_choice: str | None = None
    #: What the pages were looked at with, and the subgroups that the reliability page offers.
    looked: Looked = field(default_factory=Looked)
    group_names: tuple[str, ...] = ()
    #: Another page asked for a role that is folded away on the Data page.
    more_roles: bool = False
    #: Controls of Over time by the field of Looked that they set: the name in the widget's key, and what is usual.
    over_time_widgets: dict[str, tuple[str, Any]] = field(default_factory=dict)
    #: A session file or a link that was opened before the file that it is for.
    waiting: Session | Link | None = None
    #: It was used for another file already: only its own is still waited for.
    waits_for_own: bool = False
    notice: Notice | None = None
    link_read: bool = False
    #: Counts what was opened: widgets made after it start with what it brought.
    turn: int = 0
    results: OrderedDict[tuple[Any, ...], Any] = field(default_factory=OrderedDict)

    def key(self, name: str) -> str:
        """The key of a widget that belongs to the open file: another file starts with fresh ones."""
        return self.fresh(f"{name}-{self.parsed.sha256[:8]}" if self.parsed is not None else name)

    def fresh(self, name: str) -> str:
        """The key of a widget that starts anew once a session or a link was opened."""
        return f"{name}-{self.turn}" if self.turn else name

    def remember(self, key: tuple[Any, ...], value: Any) -> Any:
        self.results[key] = value
        self.results.move_to_end(key)
        # the comparison that was looked at last took longest: it goes only with its file
        old = [k for k in self.results if k not in (key, self.latest_comparison)]
        for k in old[: len(self.results) - _KEPT_RESULTS]:
            del self.results[k]
        return value


def get_state() -> AppState:
    """This session's state, made on first use."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = AppState()
    return st.session_state[_KEY]


def forget_file() -> None:
    """Drop the file and everything derived from it; what the user set about judging stays."""
    old = get_state().settings
    kept = Settings(tolerance=old.tolerance, bins=old.bins, min_mass=old.min_mass)
    st.session_state[_KEY] = AppState(
        settings=kept,
        waiting=get_state().waiting,
        waits_for_own=get_state().waits_for_own,
        notice=get_state().notice
        if get_state().waiting is not None and not get_state().waits_for_own
        else None,
        link_read=get_state().link_read,
        turn=get_state().turn,
    )


def change_settings(**changes: Any) -> None:
    state = get_state()
    if changes.get("labels", state.settings.labels) != state.settings.labels:
        # other calibrators are offered for other labels
        state.looked = replace(state.looked, compared=None)
    state.settings = replace(state.settings, **changes)


#: The widgets that set a field of Looked; that of the subgroup holds a place in ``group_names``.
_LOOKED_WIDGETS = {
    "strategy": "strategy",
    "reliability_bins": "bins",
    "calibrators": "overlaid",
    "group": "reliability-group",
    "find": "group-search",
    "wlmc_form": "wlmc-form",
    "compared": "compared",
    "ranked_on": "ranked-on",
}


def remember_looked() -> None:
    """Keep what the widgets say: Streamlit forgets those of a page once another one is open."""
    state = get_state()
    changes: dict[str, Any] = {}
    for name, key in _LOOKED_WIDGETS.items():
        if state.fresh(key) in st.session_state:
            value = st.session_state[state.fresh(key)]
            changes[name] = tuple(value) if isinstance(value, list) else value
    group = changes.get("group")
    if group is not None:
        changes["group"] = state.group_names[group] if group < len(state.group_names) else None
    changes = {name: value for name, value in changes.items() if value is not None or name == "group"}
    state.looked = replace(state.looked, **changes)
    state.export_choice = st.session_state.get(state.fresh("export-name"), state.export_choice)
