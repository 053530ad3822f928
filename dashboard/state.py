"""One typed state a session, under one key of ``st.session_state``."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from calcore.ingest import Choices, Ingested, Joined, Parsed, Returned
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
    export_choice: str | None = None
    results: OrderedDict[tuple[Any, ...], Any] = field(default_factory=OrderedDict)

    def key(self, name: str) -> str:
        """The key of a widget that belongs to the open file: another file starts with fresh ones."""
        return f"{name}-{self.parsed.sha256[:8]}" if self.parsed is not None else name

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
    st.session_state[_KEY] = AppState(settings=kept)


def change_settings(**changes: Any) -> None:
    state = get_state()
    state.settings = replace(state.settings, **changes)
