"""Batches with one more column, written as text or Parquet while they come."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import BinaryIO, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from calcore.ingest import FileFormat
from calcore.ingest.sniff import UNUSED
from calcore.maps.scored import csv_piece, safe_text


class Writer(Protocol):
    """Takes batches one after the other."""

    def write(self, table: pa.Table, scores: np.ndarray) -> None:
        """Write the rows with their calibrated ``scores``, NaN: left empty."""
        ...

    def close(self) -> None:
        """Write whatever ends the file."""
        ...


class TextCells:
    """Text in, text out: cells as they were, with the separator and the decimal mark of the file that was read."""

    def __init__(self, target: BinaryIO, names: list[str], layout: FileFormat) -> None:
        self._target, self._decimal = target, layout.decimal or "."
        separator = layout.separator if layout.separator not in (None, UNUSED) else None
        self._separator = separator or (";" if self._decimal == "," else ",")
        self._rows([_safe_cells(pa.array(names, pa.string()))])

    def write(self, table: pa.Table, scores: np.ndarray) -> None:
        columns = [_safe_cells(column) for column in table.columns]
        added = ["" if score != score else repr(score) for score in scores.tolist()]
        if self._decimal == ",":
            added = [score.replace(".", ",") for score in added]
        self._rows(zip(*columns, added, strict=True))

    def _rows(self, rows: Iterable[Iterable[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._separator, lineterminator="\n").writerows(rows)
        self._target.write(text.getvalue().encode("utf-8", "replace"))

    def close(self) -> None:
        self._target.flush()


class TypedCsv:
    """Typed columns in, CSV out, as the dashboard's download writes it."""

    def __init__(self, target: BinaryIO, names: list[str]) -> None:
        self._target, self._names, self._started = target, names, False

    def write(self, table: pa.Table, scores: np.ndarray) -> None:
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
        self._target.write(csv_piece(frame, self._names, scores, header=not self._started))
        self._started = True

    def close(self) -> None:
        self._target.flush()


class Parquet:
    """Columns of any type in, Parquet out."""

    def __init__(self, target: BinaryIO, names: list[str]) -> None:
        self._target, self._names = target, names
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table, scores: np.ndarray) -> None:
        added = table.append_column(self._names[-1], pa.array(scores, mask=np.isnan(scores)))
        added = added.replace_schema_metadata(None)  # another library's notes on the columns no longer fit
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._target, added.schema)
        self._writer.write_table(added.cast(self._writer.schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _safe_cells(column: pa.Array | pa.ChunkedArray) -> list[str]:
    """The texts, with an apostrophe before what a spreadsheet would run."""
    return safe_text(column).to_pylist()
