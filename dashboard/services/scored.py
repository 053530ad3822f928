"""The rows of the open file with their calibrated score: written to a temporary file, read again for the download."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.scoring import Scored, score_parsed
from dashboard.services.results import Analysis
from dashboard.state import get_state

_KIND = "scored"


class ScoredRows:
    """``size`` bytes that are ready, and what became of the rows; the file goes with this object, or with the process.

    Nothing of it is in memory until somebody takes it.
    """

    def __init__(self, file: BinaryIO, account: Scored, name: str) -> None:
        self.account, self.name = account, name
        self.size = file.tell()
        self._file, self._lock = file, threading.Lock()
        # the download's callable may outlive the session's results
        weakref.finalize(self, file.close)

    def read(self) -> bytes:
        """All bytes; downloads of the same file wait for each other."""
        with self._lock:
            self._file.seek(0)
            return self._file.read()


def scored_rows_ready(found: Analysis, map_: CalibrationMap, parquet: bool) -> ScoredRows | None:
    """The rows as they were written last, None where they are not of this map and file."""
    rows: ScoredRows | None = get_state().results.get(_key(found, map_, parquet))
    return rows


def write_scored_rows(
    found: Analysis, map_: CalibrationMap, parquet: bool, progress: Callable[[int], None] | None = None
) -> ScoredRows:
    """Write every row of the open file with its calibrated score. Raises InputError where that cannot be."""
    state = get_state()
    assert state.parsed is not None
    assert state.data is not None
    for old in [key for key in state.results if key[0] == _KIND]:
        del state.results[old]  # one file on the disk a session
    choices = replace(state.choices, roles=found.ingested.roles)
    # without a name wherever the system allows it: nobody else can open it, and nothing is left after a crash
    file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the result
    try:
        account = score_parsed(
            map_, state.parsed, state.data, choices, file, parquet=parquet, progress=progress
        )
    except OSError as error:
        file.close()
        raise InputError(
            f"The scored rows cannot be written ({error.strerror}); make room on the disk, or use calcore apply."
        ) from None
    except BaseException:
        file.close()
        raise
    name = f"{PurePath(state.parsed.filename).stem}_scored{'.parquet' if parquet else _suffix(found)}"
    return state.remember(_key(found, map_, parquet), ScoredRows(file, account, name))


def _suffix(found: Analysis) -> str:
    """What the file ended in, where that says how its text is laid out."""
    suffix = PurePath(found.ingested.report.filename).suffix.lower()
    return suffix if suffix in (".csv", ".tsv", ".txt") else ".csv"


def _key(found: Analysis, map_: CalibrationMap, parquet: bool) -> tuple[Any, ...]:
    return (_KIND, *found.key, map_.checksum, parquet)
