"""A file as it was parsed, before anyone says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .choices import FileFormat, Question
from .columns import Column
from .digest import Digest
from .report import Refused


class Places(Protocol):
    """Where rows stand in the file."""

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Numbers from 1, as the user counts them, of rows counted from 0."""
        ...


class RowNumbers:
    """The places of a file without lines: the rows themselves, counted from 1."""

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Rows from 0 as rows from 1."""
        return rows + 1


@dataclass(frozen=True, eq=False)
class Parsed:
    """The columns of a file by name, how they were found, and the rows that had no place in the table.

    `rows` counts the rows of the columns; `rows_read` those of the file. It can be interpreted any number
    of times under different choices, each time from the same columns.
    """

    filename: str
    digest: Digest
    bytes: int
    format: FileFormat
    columns: Mapping[str, Column]
    rows: int
    rows_read: int
    refused: tuple[Refused, ...]
    warnings: tuple[str, ...]
    questions: tuple[Question, ...]
    places: Places
    place: str

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file's bytes, in hexadecimal."""
        return self.digest.value
