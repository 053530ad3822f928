"""A Parquet file batch by batch: every column keeps its type."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calcore.errors import InputError
from calcore.ingest import FileFormat
from calcore.ingest.columns import Column
from calcore.ingest.delimited import refuse_duplicates
from calcore.ingest.parquet import plain_column
from calcore.scoring.batches import HEAD_ROWS, Batch
from calcore.scoring.source import PIECE, Source


class ParquetRows:
    """A Parquet file: every column keeps its type."""

    place = "row"
    format = FileFormat()
    layout = None

    def __init__(self, source: Source) -> None:
        self._name = source.name
        content = pa.BufferReader(source.data) if isinstance(source.data, bytes) else source.data
        try:
            # a buffered stream: a row group, which may be the whole file, is never in memory at once
            self._file = pq.ParquetFile(content, pre_buffer=False, buffer_size=PIECE)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(_damaged(self._name, error)) from None
        self.names = tuple(one.strip() for one in self._file.schema_arrow.names)
        refuse_duplicates(self.names)

    def head(self) -> dict[str, Column]:
        batch = next(self.batches(HEAD_ROWS), None)
        if batch is None:
            raise InputError(
                f"{self._name} has {len(self.names)} columns but no rows; add the rows and try again."
            )
        typed = {name: plain_column(batch.table.column(name)) for name in self.names}
        return {name: Column(name, data) for name, data in typed.items() if data is not None}

    def column(self, name: str, batch: pa.Table) -> Column:
        data = plain_column(batch.column(name))
        if data is None:
            raise InputError(f'"{name}" of {self._name} is not a column of plain values; name another one.')
        return Column(name, data)

    def batches(self, size: int) -> Iterator[Batch]:
        done = 0
        try:
            for one in self._file.iter_batches(size):
                table = pa.Table.from_batches([one]).rename_columns(list(self.names))
                yield Batch(table, np.arange(done + 1, done + len(table) + 1), np.zeros(len(table), bool))
                done += len(table)
        except (pa.ArrowException, OSError) as error:
            raise InputError(_damaged(self._name, error)) from None


def _damaged(name: str, error: Exception) -> str:
    return f"{name} is a damaged Parquet file ({str(error).splitlines()[0][:120]}); write it again."
