"""What went wrong in a database, as one sentence without credentials; and which of it is worth another try."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from calcore.errors import InputError

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds in which a write that others hold up is tried again."""
_COLLISIONS = 3

_BUSY = "is in use by other programs and stayed locked; try again in a minute"
_FOREIGN = "is no SQLite database; give the file of a history, or the name of a new file"
_DAMAGED = "is damaged; restore it from a backup"
_READ_ONLY = "may not be written by this user; change its permissions or give another place"

_SQLITE = {
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_NOTADB": _FOREIGN,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_AUTH": _READ_ONLY,
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and that this user may write there",
    "SQLITE_FULL": "has no room left on its disk; free some and try again",
    "SQLITE_IOERR": "cannot be read or written by the operating system; check its disk",
    "SQLITE_TOOBIG": "cannot hold a value of this size; store a smaller one",
}
_BUSY_SQLSTATES = {"40001", "40P01", "55P03"}  # serialization failure, deadlock, lock timeout
_LOST = "closed the connection; try again: what it stored already is not stored twice"
_POSTGRESQL = {
    "28": "refused the user or the password; check both in the URL",
    "3D": "has no database of this name; create it or correct the URL",
    "3F": "has no schema that this user may create tables in; grant the rights or use another user",
    "42501": "does not let this user create or change the tables; grant the rights or use another user",
    "25006": "is read-only; give the URL of a server that may be written",
    "53100": "has no room left on its disk; free some and try again",
    "53": "has no connections or memory left; try again in a minute",
    "08": _LOST,
    "57P": _LOST,
    **dict.fromkeys(_BUSY_SQLSTATES, _BUSY),
}
_WHILE_CONNECTING = {  # the server's answer has no code then, and is in English unless it was set up otherwise
    "authentication failed": _POSTGRESQL["28"],
    "no password supplied": _POSTGRESQL["28"],
    "no pg_hba.conf entry": "does not accept this user from this machine; change the URL or the server's rules",
    "does not exist": "has no database or user of this name; create it or correct the URL",
    "too many": _POSTGRESQL["53"],
    "starting up": "is starting or stopping; try again in a minute",
    "shutting down": "is starting or stopping; try again in a minute",
    "recovery mode": "is starting or stopping; try again in a minute",
}
_UNREACHABLE = "cannot be reached; check that it runs, and the host and port in the URL"


def patiently(work: Callable[[], T], place: str) -> T:
    """The result of `work`, tried again for a while where others hold it up; InputError where it fails.

    `work` must be one transaction that leaves nothing behind when it fails. A row that another writer added
    between its look and its own insert is there at the next try.
    """
    deadline = time.monotonic() + PATIENCE
    pause, collisions = 0.01, 0
    while True:
        try:
            return work()
        except UnicodeDecodeError:  # a damaged schema, which the driver fails to put into its message
            raise InputError(f"The history {place} {_DAMAGED}.") from None
        except (SQLAlchemyError, sqlite3.Error) as error:
            collisions += isinstance(error, IntegrityError)
            again = _busy(error) or (isinstance(error, IntegrityError) and collisions <= _COLLISIONS)
            if not again or time.monotonic() > deadline:
                # from None: the driver's own text has no place in a log that others read
                raise InputError(f"The history {place} {reason(error)}.") from None
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(2 * pause, 1.0)


def reason(error: Exception) -> str:
    """The end of a sentence that begins with the history's name."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        name = getattr(original, "sqlite_errorname", None) or "an unknown error"
        if str(original).startswith("Could not decode"):
            return _DAMAGED
        known = [text for code, text in _SQLITE.items() if name == code or name.startswith(f"{code}_")]
        return (
            known[0] if known else f"failed with {name}; check that the file is the history of this program"
        )
    if isinstance(error, PoolTimeout):
        return _BUSY
    state = getattr(original, "sqlstate", None)
    if state is not None:
        for length in (5, 3, 2):
            if state[:length] in _POSTGRESQL:
                return _POSTGRESQL[state[:length]]
        return f"failed with SQLSTATE {state}; look into the server's log"
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return _LOST
    said = str(original)
    return next((text for part, text in _WHILE_CONNECTING.items() if part in said), _UNREACHABLE)


def _busy(error: Exception) -> bool:
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        name = getattr(original, "sqlite_errorname", None) or ""
        return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    return getattr(original, "sqlstate", None) in _BUSY_SQLSTATES
