"""The account of one file: what was found, what was kept, what was refused, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .choices import FileFormat, LabelMapping, Question, tied_option

SHOWN_LINES = 5


@dataclass(frozen=True)
class Refused:
    """Rows left out for one reason; `lines` are the first five, counted from 1 as an editor does."""

    reason: str
    count: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class ColumnInfo:
    """One column of the file.

    `kind` is "number", "text", "yes/no" or "time"; `distinct` stops at 1,000 and looks at 5,000
    rows of a number column; `role` is the guessed or chosen role ("group" for group columns) or None.
    """

    name: str
    kind: str
    distinct: int
    missing: int
    role: str | None


@dataclass(frozen=True)
class IngestReport:
    """What became of a file. Every row read is either kept or counted in `refused`."""

    filename: str
    sha256: str
    bytes: int
    format: FileFormat
    rows_read: int
    rows_kept: int
    refused: tuple[Refused, ...] = ()
    clipped: int = 0
    warnings: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    unlabelled: int = 0
    columns: tuple[ColumnInfo, ...] = ()
    label_mapping: LabelMapping | None = None
    audit_mapping: LabelMapping | None = None
    date_range: tuple[str, str] | None = None
    tied: int = 0
    """Kept rows with a tie for a label (0.5), where `label_mapping` says what ties count as."""
    place: str = "line"
    """What `Refused.lines` count: "line" of a text file, "row" of a Parquet file."""

    @property
    def ties(self) -> str:
        """What ties are, as the end of "316 rows with a tie are ..."; empty where there are none."""
        option = tied_option(self.label_mapping) if self.tied and self.label_mapping is not None else None
        words = {
            "leave out": "left out",
            "half": "counted as half a positive and half a negative",
            "positive": "counted as positive",
            "negative": "counted as negative",
        }
        return words[option] if option else ""

    @property
    def left_out_ties(self) -> int:
        """The ties among the ``unlabelled`` rows."""
        return self.tied if self.ties == "left out" else 0

    def sentence(self) -> str:
        """One sentence, e.g. "Kept 8 of 9 rows; refused 1: score is not a number (line 3)"."""
        text = f"Kept {self.rows_kept:,} of {self.rows_read:,} {'row' if self.rows_read == 1 else 'rows'}"
        if not self.refused:
            return text
        total = sum(r.count for r in self.refused)
        parts = [f"{r.reason} ({places(r.lines, r.count, self.place)})" for r in self.refused]
        return f"{text}; refused {total:,}: {'; '.join(parts)}"


def places(lines: Sequence[int], count: int, word: str = "line") -> str:
    """ "line 3", "lines 3, 9 and 12" or "lines 1, 2, 3, 4, 5 and 20 more"."""
    shown = [f"{line:,}" for line in lines[:SHOWN_LINES]]
    more = count - len(shown)
    if more > 0:
        shown.append(f"{more:,} more")
    if count == 1:
        return f"{word} {shown[0]}"
    return f"{word}s {', '.join(shown[:-1])} and {shown[-1]}"


def quote_list(values: Sequence[str], limit: int = 6) -> str:
    """Values as a person would list them: "a", "b" and 3 more."""
    shown = [f'"{v}"' for v in values[:limit]]
    if len(values) > limit:
        shown.append(f"{len(values) - limit:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
