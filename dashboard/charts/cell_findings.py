"""What a heatmap of cells says: which cells count, which subgroups come first, and all of it in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.metrics.cells import Cells
from dashboard import wording

SIGNIFICANT = "Clearly off"
UNTESTED = "Too few rows"
_NICE = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)


def residual_limit(cells: Cells) -> float:
    """A round number that no tested residual exceeds: half the range of the colours."""
    tested = np.abs(cells.residual[np.isfinite(cells.adjusted) & np.isfinite(cells.residual)])
    largest = float(tested.max()) if tested.size else 0.1
    return next((nice for nice in _NICE if nice >= largest - 1e-9), 1.0)


@dataclass(frozen=True, eq=False)
class CellView:
    """Cells as they are drawn: tested and coloured, hatched, or marked; each (groups, bins)."""

    cells: Cells
    tolerance: float
    limit: float

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Cells with rows enough for a residual that means something."""
        return np.isfinite(self.cells.adjusted) & np.isfinite(self.cells.residual) & ~self.cells.too_few

    @property
    def untested(self) -> NDArray[np.bool_]:
        """Cells that have rows, but too few."""
        return (self.cells.rows > 0) & ~self.tested

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Cells that are off beyond the tolerance, significantly after all were looked at."""
        return self.tested & self.cells.wrong(self.tolerance)


def chosen(view: CellView, search: str) -> list[int]:
    """Positions of the subgroups whose name holds ``search``, the worst first."""
    size = np.where(view.tested, np.abs(view.cells.residual), 0.0)
    marked = np.where(view.marked, size, 0.0).max(axis=1)
    wanted = search.strip().casefold()
    groups = [g for g in range(1, len(view.cells.groups)) if wanted in view.cells.groups[g].casefold()]
    return sorted(groups, key=lambda g: (-float(marked[g]), -float(size[g].max())))


def finding(view: CellView, found: Sequence[int], search: str) -> str:
    """How many of the subgroups found are off, as a title."""
    if search.strip() and not found:
        return f"No subgroup's name holds “{search.strip()}”"
    groups = [g for g in found if view.marked[g].any()]
    if not found:
        return "No subgroups: only the whole population"
    if not groups:
        return f"None of {wording.count(len(found))} subgroups is clearly off in a bin"
    return (
        f"{wording.count(len(groups))} of {wording.count(len(found))} subgroups are clearly off in some bin"
    )


def words(view: CellView, rows: Sequence[int], found: Sequence[int], search: str) -> str:
    """The finding and the largest gap in a sentence or two."""
    cells, drawn = view.cells, list(rows)
    size = np.where(view.tested, np.abs(cells.residual), -1.0)[drawn]
    text = f"Heatmap of event rate minus score, subgroups by {len(cells.bins)} bins. {finding(view, found, search)}."
    if len(found) > len(drawn) - 1:
        text += f" The worst {len(drawn) - 1} are drawn."
    if size.max() < 0:
        return f"{text} No cell has enough rows to test."
    i, j = divmod(int(np.argmax(size)), size.shape[1])
    residual = float(cells.residual[drawn[i], j])
    return (
        f"{text} Largest gap: {cells.groups[drawn[i]]}, scores {cells.bins.label(j)}, "
        f"{wording.points(residual)} {wording.side(residual)} "
        f"({wording.rows(int(cells.rows[drawn[i], j]))})."
    )


def twin(view: CellView, rows: Sequence[int]) -> pd.DataFrame:
    """The drawn cells that have rows, one a line."""
    cells = view.cells
    records: list[dict[str, Any]] = []
    for g in rows:
        for j in np.flatnonzero(cells.rows[g] > 0):
            mean, residual = float(cells.mean_score[g, j]), float(cells.residual[g, j])
            records.append(
                {
                    "Subgroup": cells.groups[g],
                    "Scores": cells.bins.label(int(j)),
                    "Rows": int(cells.rows[g, j]),
                    "Mean score": wording.rate(mean),
                    "Event rate": wording.rate(mean + residual),
                    "Gap (points)": wording.MISSING if residual != residual else f"{100 * residual:+.1f}",
                    "p (adjusted)": wording.p_value(float(cells.adjusted[g, j])),
                    SIGNIFICANT: "yes"
                    if view.marked[g, j]
                    else "no"
                    if view.tested[g, j]
                    else UNTESTED.lower(),
                }
            )
    return pd.DataFrame(records)
