"""Files as batches of columns, in constant memory: every row of the file is in one of them."""

from __future__ import annotations

from calcore.errors import InputError
from calcore.ingest import FileFormat, Roles
from calcore.ingest.container import is_parquet, refuse_other_kinds
from calcore.ingest.report import quote_list
from calcore.ingest.roles import guess_roles
from calcore.ingest.sniff import HEAD_BYTES
from calcore.scoring.batches import Rows
from calcore.scoring.parquet_rows import ParquetRows
from calcore.scoring.source import Source
from calcore.scoring.text_rows import TextRows


def open_rows(source: Source, chosen: FileFormat) -> Rows:
    """The rows of a text or Parquet file. Raises InputError for what is neither."""
    start = source.start(HEAD_BYTES * 4)
    if not start.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise InputError(f"{source.name} is empty; choose a file with a header and at least one row.")
    if is_parquet(start):
        return ParquetRows(source)
    refuse_other_kinds(start, source.name)
    return TextRows(source, start, chosen)


def score_column(rows: Rows) -> str:
    """The column that looks like the score, by the first rows. Raises InputError where none does."""
    roles: Roles = guess_roles(rows.head())
    if roles.score is None:
        raise InputError(
            f"No column looks like a score; name it with --score COLUMN: the file holds {quote_list(rows.names)}."
        )
    return roles.score
