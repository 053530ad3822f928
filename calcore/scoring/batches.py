"""What every kind of file is read into: batches of rows in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from calcore.ingest import FileFormat
from calcore.ingest.columns import Column

#: Rows that show what the columns hold.
HEAD_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: ``table`` of their cells, ``places`` their lines (rows, for Parquet) counted from 1.

    ``misfits`` marks rows with another number of fields than the header. ``texts``: of a text file, each row as it
    stands there, without its line end; None where it can only be written from its cells.
    """

    table: pa.Table
    places: np.ndarray
    misfits: np.ndarray
    texts: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class TextLayout:
    """How a text file is written beside its cells: byte-order ``mark``, ``codec``, ``line_end``, what stands ``before``
    the header (a line "sep=;"), and the ``header`` as it stands there, None where there is none.
    """

    format: FileFormat
    mark: bytes
    codec: str
    line_end: str
    before: str
    header: str | None


class Rows(Protocol):
    """A file that can be read batch by batch."""

    names: tuple[str, ...]
    format: FileFormat
    place: str

    @property
    def layout(self) -> TextLayout | None:
        """How the text is written; None for what is no text."""
        ...

    def head(self) -> dict[str, Column]:
        """The first rows, to see what the columns hold."""
        ...

    def column(self, name: str, batch: pa.Table) -> Column:
        """One column of a batch in the forms that roles need."""
        ...

    def batches(self, size: int) -> Iterator[Batch]:
        """All rows in order, ``size`` at a time."""
        ...
