"""The heatmap of cells: how far each subgroup's event rate lies from its score, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.metrics.cells import Cells
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped, two_lines

TEXT_CELLS = 400
"""Cells beyond this many carry no numbers: the browser would take seconds to place them."""
SIGNIFICANT = "Clearly off"
UNTESTED = "Too few rows"
_NICE = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)


def cell_heatmap(
    cells: Cells,
    *,
    top: int = 50,
    search: str = "",
    tolerance: float = 0.02,
    limit: float | None = None,
    order: Sequence[int] | None = None,
) -> Chart:
    """Residual (event rate - score) of every subgroup and bin, the worst subgroups first.

    The whole population is always the first row. ``search`` keeps the names that hold it; then ``top`` are
    drawn, in ``order`` (positions in ``cells.groups``) where given. Colours run over +-``limit``, so that two
    heatmaps can share it. Points of the last trace carry ``[group position, bin position]`` as customdata.
    Returns the heatmap, a table of the drawn cells that have rows, and its words.
    """
    view = _View(cells, tolerance, limit or residual_limit(cells))
    found = _chosen(view, search, order)
    rows = [0, *found[: max(top, 0)]]
    if not (cells.rows[rows] > 0).any():
        return Chart(theme.nothing("No cell holds any rows."), _table(view, rows), "Heatmap without cells.")
    title = _title(view, found, search)
    tall = 30 if len(rows) * len(cells.bins) <= TEXT_CELLS else 26
    figure = go.Figure()
    _add_residuals(figure, view, rows)
    _add_untested(figure, view, rows)
    _add_marks(figure, view, rows, tall)
    _add_touch(figure, view, rows, tall)
    theme.base_layout(figure, tall * len(rows) + 142 + theme.title_height(title), title)
    _layout(figure, view, rows, tall * len(rows))
    figure.layout.margin.t = 58 + theme.title_height(title)
    return Chart(figure, _table(view, rows), _alt(view, rows, found, search))


def residual_limit(cells: Cells) -> float:
    """A round number that no tested residual exceeds: half the range of the colours."""
    tested = np.abs(cells.residual[np.isfinite(cells.adjusted) & np.isfinite(cells.residual)])
    largest = float(tested.max()) if tested.size else 0.1
    return next((nice for nice in _NICE if nice >= largest - 1e-9), 1.0)


@dataclass(frozen=True, eq=False)
class _View:
    cells: Cells
    tolerance: float
    limit: float

    @property
    def tested(self) -> NDArray[np.bool_]:
        return np.isfinite(self.cells.adjusted) & np.isfinite(self.cells.residual) & ~self.cells.too_few

    @property
    def untested(self) -> NDArray[np.bool_]:
        return (self.cells.rows > 0) & ~self.tested

    @property
    def marked(self) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            beyond = np.abs(self.cells.residual) > self.tolerance
            return self.tested & beyond & (self.cells.adjusted < 0.05)


def _chosen(view: _View, search: str, order: Sequence[int] | None) -> list[int]:
    """Positions of the subgroups whose name holds ``search``, the worst first."""
    size = np.where(view.tested, np.abs(view.cells.residual), 0.0)
    marked = np.where(view.marked, size, 0.0).max(axis=1)
    if order is None:
        groups = range(1, len(view.cells.groups))
        order = sorted(groups, key=lambda g: (-float(marked[g]), -float(size[g].max())))
    wanted = search.strip().casefold()
    return [int(g) for g in order if g and wanted in view.cells.groups[g].casefold()]


def _add_residuals(figure: go.Figure, view: _View, rows: Sequence[int]) -> None:
    shown = np.where(view.tested, view.cells.residual, np.nan)[list(rows)]
    values: list[list[float | None]] = [
        [None if np.isnan(v) else round(float(v), 4) for v in row] for row in shown
    ]
    text = None
    if shown.size <= TEXT_CELLS:
        text = [["" if np.isnan(v) else _signed(float(v)) for v in row] for row in shown]
    ends, gap = round(100 * view.limit), "&nbsp;" * 3
    figure.add_heatmap(
        z=values,
        x=list(range(len(view.cells.bins))),
        y=list(range(len(rows))),
        zmin=-view.limit,
        zmid=0,
        zmax=view.limit,
        colorscale=[list(stop) for stop in theme.DIVERGING],
        xgap=1.5,
        ygap=1.5,
        text=text,
        texttemplate="%{text}" if text else None,
        textfont={"size": theme.SMALL} if text else None,
        hoverinfo="skip",
        name="Residual",
        colorbar={
            "title": {
                "text": f"← score too high{gap}±{wording.points(view.limit)}{gap}score too low →",
                "side": "top",
                "font": {"size": theme.FONT},
            },
            "tickvals": [-view.limit, 0, view.limit],
            "ticktext": [f"−{ends}", "0", f"+{ends}"],
        },
    )


def _signed(residual: float) -> str:
    """A residual in whole points, for a cell: "+12", "−1"."""
    size = wording.count(abs(100 * residual))
    return size if size == "0" else f"{'+' if residual > 0 else '−'}{size}"


def _add_untested(figure: go.Figure, view: _View, rows: Sequence[int]) -> None:
    """Hatched boxes: rows are there, but too few to say anything."""
    place, column = np.nonzero(view.untested[list(rows)])
    if not place.size:
        return
    figure.add_bar(
        orientation="h",
        x=[0.96] * place.size,
        base=(column - 0.48).round(2).tolist(),
        y=place.tolist(),
        width=0.9,
        marker={
            "color": theme.CLEAR,
            "line": {"color": theme.NEUTRAL, "width": 0.5},
            "pattern": {
                "shape": "/",
                "size": 6,
                "fgcolor": theme.NEUTRAL,
                "bgcolor": theme.CLEAR,
                "solidity": 0.15,
            },
        },
        hoverinfo="skip",
        unselected={"marker": {"opacity": 1}},
        name=UNTESTED,
    )


def _add_marks(figure: go.Figure, view: _View, rows: Sequence[int], tall: int) -> None:
    place, column = np.nonzero(view.marked[list(rows)])
    if not place.size:
        return
    with_text = len(rows) * len(view.cells.bins) <= TEXT_CELLS
    shift_x, shift_y = (0.36, 0.34) if with_text else (0.0, 0.0)
    figure.add_scatter(
        x=(column + shift_x).tolist(),
        y=(place - shift_y).tolist(),
        mode="markers",
        marker={
            "symbol": "circle",
            "size": 6,
            "color": theme.MARK,
            "line": {"color": theme.MARK_RIM, "width": 1},
        },
        hoverinfo="skip",
        unselected={"marker": {"opacity": 1}},
        name=f"{SIGNIFICANT} (beyond {wording.points(view.tolerance)}, adjusted p < .05)",
    )


def _add_touch(figure: go.Figure, view: _View, rows: Sequence[int], tall: int) -> None:
    """What the pointer meets: clicks on the cells of a heatmap itself are not reported."""
    place, column = np.nonzero(view.cells.rows[list(rows)] > 0)
    figure.add_scatter(
        x=column.tolist(),
        y=place.tolist(),
        mode="markers",
        marker={"symbol": "square", "size": tall - 2, "color": theme.TOUCH, "line": {"width": 0}},
        selected={"marker": {"color": theme.TOUCHED, "opacity": 1}},
        unselected={"marker": {"color": theme.TOUCH, "opacity": 1}},
        customdata=[[int(rows[i]), int(j)] for i, j in zip(place, column, strict=True)],
        hovertext=[_hover(view, int(rows[i]), int(j)) for i, j in zip(place, column, strict=True)],
        hoverinfo="text",
        showlegend=False,
        name="Cells",
    )


def _hover(view: _View, group: int, j: int) -> str:
    cells = view.cells
    residual, mean = float(cells.residual[group, j]), float(cells.mean_score[group, j])
    lines = [
        f"{escaped(cells.groups[group])}, scores {cells.bins.label(j)}",
        f"predicted {wording.rate(mean)}, observed {wording.rate(mean + residual)}",
        f"{wording.count(int(cells.rows[group, j]))} rows, {_test(view, group, j)}",
    ]
    return "<br>".join(lines)


def _test(view: _View, group: int, j: int) -> str:
    if not view.tested[group, j]:
        return "too few to test"
    return escaped(f"adjusted p {wording.p_value(float(view.cells.adjusted[group, j]))}")


def _layout(figure: go.Figure, view: _View, rows: Sequence[int], inner: int) -> None:
    edges, count = view.cells.bins.edges, len(view.cells.bins)
    every = max(1, -(-count // 10))
    ticks = range(0, count + 1, every)
    figure.update_xaxes(
        range=[-0.5, count - 0.5],
        tickvals=[i - 0.5 for i in ticks],
        ticktext=[wording.edge(float(edges[i])) for i in ticks],
        title={"text": "Score"},
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5],
        tickvals=list(range(len(rows))),
        ticktext=[two_lines(view.cells.groups[g]) for g in rows],
        tickfont={"size": theme.SMALL},
        showgrid=False,
        zeroline=False,
        ticks="",
    )
    figure.update_traces(
        selector={"type": "heatmap"},
        colorbar={
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1 + 4 / inner,
            "yanchor": "bottom",
            "lenmode": "pixels",
            "len": 264,
            "thickness": 10,
            "xpad": 0,
            "ypad": 0,
            "outlinewidth": 0,
            "tickfont": {"size": theme.SMALL},
        },
    )
    figure.update_layout(barmode="overlay", hoverdistance=int(np.clip(450 / max(count, 1), 20, 120)))


def _title(view: _View, found: Sequence[int], search: str) -> str:
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


def _alt(view: _View, rows: Sequence[int], found: Sequence[int], search: str) -> str:
    cells, drawn = view.cells, list(rows)
    size = np.where(view.tested, np.abs(cells.residual), -1.0)[drawn]
    text = f"Heatmap of event rate minus score, subgroups by {len(cells.bins)} bins. {_title(view, found, search)}."
    if len(found) > len(drawn) - 1:
        text += f" The worst {len(drawn) - 1} are drawn."
    if size.max() < 0:
        return f"{text} No cell has enough rows to test."
    i, j = (int(v) for v in np.unravel_index(int(np.argmax(size)), size.shape))
    residual = float(cells.residual[drawn[i], j])
    return (
        f"{text} Largest gap: {cells.groups[drawn[i]]}, scores {cells.bins.label(int(j))}, "
        f"{wording.points(residual)} too {'high' if residual < 0 else 'low'} "
        f"({wording.count(int(cells.rows[drawn[i], j]))} rows)."
    )


def _table(view: _View, rows: Sequence[int]) -> pd.DataFrame:
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
                    "Gap (points)": round(100 * residual, 1),
                    "p (adjusted)": wording.p_value(float(cells.adjusted[g, j])),
                    SIGNIFICANT: "yes"
                    if view.marked[g, j]
                    else "no"
                    if view.tested[g, j]
                    else UNTESTED.lower(),
                }
            )
    return pd.DataFrame(records)
