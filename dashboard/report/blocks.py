"""What a report consists of: sections of sentences, verdicts, charts, tables and lists. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from calcore import wording as w
from calcore.verdicts import Verdict
from dashboard.charts.chart import Chart


@dataclass(frozen=True)
class Text:
    """A sentence or two; ``quiet`` is what stands beside a number rather than a statement."""

    kind: ClassVar[str] = "text"
    words: str
    quiet: bool = False


@dataclass(frozen=True)
class Banner:
    """A verdict: word, sign and sentence; colour is only the fourth sign."""

    kind: ClassVar[str] = "banner"
    verdict: Verdict


@dataclass(frozen=True)
class Caution:
    """A warning in a sentence."""

    kind: ClassVar[str] = "caution"
    words: str


@dataclass(frozen=True)
class Bullets:
    """A short list; ``title`` may be empty."""

    kind: ClassVar[str] = "bullets"
    items: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table as text, the first column naming the rows."""

    kind: ClassVar[str] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str

    @classmethod
    def of(cls, frame: pd.DataFrame, caption: str) -> Table:
        rows = tuple(tuple(map(_shown, row)) for row in frame.itertuples(index=False, name=None))
        return cls(tuple(map(str, frame.columns)), rows, caption)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A chart with its words and its table twin; ``name`` is unique in the report."""

    kind: ClassVar[str] = "drawn"
    name: str
    chart: Chart

    @property
    def table(self) -> Table:
        return Table.of(self.chart.table, self.chart.alt)


Block = Text | Banner | Caution | Bullets | Facts | Table | Drawn


@dataclass(frozen=True, eq=False)
class Section:
    """A heading with its blocks; ``name`` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


def _shown(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return w.count(int(value))
    if isinstance(value, float | np.floating):
        return w.MISSING if np.isnan(value) else f"{value:.4g}"
    return str(value)
