"""Results of a session, each made once: kept by the file's SHA-256, choices and settings, and gone with the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dashboard.state import get_state

T = TypeVar("T")


def once(key: tuple[Any, ...], compute: Callable[[], T]) -> T:
    """The result under ``key``, computed on first use and kept with the session's file."""
    state = get_state()
    if key in state.results:
        state.results.move_to_end(key)
        return state.results[key]
    return state.remember(key, compute())
