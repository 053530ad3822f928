"""Batches with one more column, written as text or Parquet while they come."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable
from typing import BinaryIO, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from calcore.ingest.sniff import UNUSED
from calcore.maps.scored import csv_piece, free_name, safe_text
from calcore.scoring.batches import Batch, Rows, TextLayout

NAME = "calibrated_score"


class Writer(Protocol):
    """Takes batches one after the other."""

    def write(self, batch: Batch, scores: np.ndarray) -> None:
        """Write the rows with their calibrated ``scores``, NaN: left empty."""
        ...

    def close(self) -> None:
        """Write whatever ends the file."""
        ...


def writer_of(rows: Rows, target: BinaryIO, *, parquet: bool) -> tuple[Writer, str]:
    """What writes these rows with one more column, and the name of that column: one that is not taken."""
    names = [*rows.names, free_name(NAME, list(rows.names))]
    if parquet:
        return Parquet(target, names), names[-1]
    layout = rows.layout
    writer: Writer = TypedCsv(target, names) if layout is None else TextCells(target, names, layout)
    return writer, names[-1]


class TextCells:
    """Text in, text out: each row as it stands in the file that was read, and in its layout the score behind it.

    Written anew from its cells is a row that holds a formula, or another number of fields than the header.
    """

    def __init__(self, target: BinaryIO, names: list[str], layout: TextLayout) -> None:
        self._target, self._layout = target, layout
        self._decimal = layout.format.decimal or "."
        given = layout.format.separator
        # a single column has no separator, and its cells may hold ours
        self._single = given in (None, UNUSED)
        separator = None if self._single else given
        self._separator = separator or (";" if self._decimal == "," else ",")
        # one encoder for the whole file: some encodings begin with a mark, or have a state
        self._encode = codecs.getincrementalencoder(layout.codec)("replace").encode
        self._target.write(layout.mark)
        self._put([layout.before])
        if layout.header is not None:
            safe = safe_text(pa.array(names, pa.string())).to_pylist()
            as_it_was = safe[:-1] == names[:-1] and not self._single
            row = f"{layout.header}{self._separator}{safe[-1]}" if as_it_was else self._from_cells([safe])[0]
            self._put([row, layout.line_end])

    def write(self, batch: Batch, scores: np.ndarray) -> None:
        columns, anew = [], np.array([text is None for text in batch.texts]) | self._single
        for column in batch.table.columns:
            safe = safe_text(column)
            if safe is not column:
                anew |= pc.not_equal(safe, column).fill_null(False).to_numpy()
            columns.append(safe)
        lines: list[str | None] = list(batch.texts)
        places = np.flatnonzero(anew)
        if places.size:
            cells = zip(*(column.take(pa.array(places)).to_pylist() for column in columns), strict=True)
            for place, text in zip(places.tolist(), self._from_cells(cells), strict=True):
                lines[place] = text
        added = ["" if score != score else repr(score) for score in scores.tolist()]
        if self._decimal == ",":
            added = [score.replace(".", ",") for score in added]
            if self._separator == ",":
                added = [score and f'"{score}"' for score in added]
        separator, end = self._separator, self._layout.line_end
        self._put(f"{line}{separator}{score}{end}" for line, score in zip(lines, added, strict=True))

    def _from_cells(self, rows: Iterable[Iterable[str]]) -> list[str]:
        text = io.StringIO(newline="")
        written = csv.writer(text, delimiter=self._separator, lineterminator="")
        result = []
        for row in rows:
            written.writerow(row)
            result.append(text.getvalue())
            text.seek(0)
            text.truncate()
        return result

    def _put(self, parts: Iterable[str]) -> None:
        self._target.write(self._encode("".join(parts)))

    def close(self) -> None:
        self._target.flush()


class TypedCsv:
    """Typed columns in, CSV out, as the dashboard's download writes it."""

    def __init__(self, target: BinaryIO, names: list[str]) -> None:
        self._target, self._names, self._started = target, names, False

    def write(self, batch: Batch, scores: np.ndarray) -> None:
        frame = batch.table.to_pandas(types_mapper=pd.ArrowDtype)
        self._target.write(csv_piece(frame, self._names, scores, header=not self._started))
        self._started = True

    def close(self) -> None:
        self._target.flush()


class Parquet:
    """Columns of any type in, Parquet out."""

    def __init__(self, target: BinaryIO, names: list[str]) -> None:
        self._target, self._names = target, names
        self._writer: pq.ParquetWriter | None = None

    def write(self, batch: Batch, scores: np.ndarray) -> None:
        added = batch.table.append_column(self._names[-1], pa.array(scores, mask=np.isnan(scores)))
        added = added.replace_schema_metadata(None)  # another library's notes on the columns no longer fit
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._target, added.schema)
        self._writer.write_table(added.cast(self._writer.schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
