"""The heatmap of cells: how far each subgroup's event rate lies from its score, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calcore.metrics.cells import Cells
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.cell_findings import (
    SIGNIFICANT,
    UNTESTED,
    CellView,
    chosen,
    finding,
    residual_limit,
    twin,
    words,
)
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped, two_lines

TEXT_CELLS = 400
"""Cells beyond this many carry no numbers: the browser would take seconds to place them."""


def cell_heatmap(
    cells: Cells,
    *,
    top: int = 50,
    search: str = "",
    tolerance: float = 0.02,
    limit: float | None = None,
) -> Chart:
    """Residual (event rate - score) of every subgroup and bin, the worst subgroups first.

    The whole population is always the first row. ``search`` keeps the names that hold it; then the first
    ``top`` are drawn. Every point of the trace "Cells" carries ``[group position, bin position]`` as customdata.
    ``limit`` is the end of the colour scale, for heatmaps that share one; else it is from the data.
    Returns the heatmap, a table of the drawn cells that have rows, and its words.
    """
    view = CellView(cells, tolerance, limit or residual_limit(cells))
    found = chosen(view, search)
    rows = [0, *found[: max(top, 0)]]
    if not (cells.rows[rows] > 0).any():
        return Chart(theme.nothing("No cell holds any rows."), twin(view, rows), "Heatmap without cells.")
    title = finding(view, found, search)
    tall = 30 if len(rows) * len(cells.bins) <= TEXT_CELLS else 26
    figure = go.Figure()
    _add_residuals(figure, view, rows)
    _add_untested(figure, view, rows)
    _add_marks(figure, view, rows)
    _add_touch(figure, view, rows, tall)
    theme.base_layout(figure, tall * len(rows) + 142 + theme.title_height(title), title)
    _layout(figure, view, rows)
    _add_scale(figure, view, tall * len(rows))
    figure.update_layout(margin={"t": 22 + theme.title_height(title), "r": 30})
    return Chart(figure, twin(view, rows), words(view, rows, found, search))


def _add_residuals(figure: go.Figure, view: CellView, rows: Sequence[int]) -> None:
    shown = np.where(view.tested, view.cells.residual, np.nan)[list(rows)]
    values: list[list[float | None]] = [
        [None if np.isnan(v) else round(float(v), 4) for v in row] for row in shown
    ]
    text = None
    if shown.size <= TEXT_CELLS:
        text = [["" if np.isnan(v) else _signed(float(v)) for v in row] for row in shown]
    figure.add_heatmap(
        z=values,
        x=list(range(len(view.cells.bins))),
        y=list(range(len(rows))),
        **_colors(view),
        xgap=1.5,
        ygap=1.5,
        text=text,
        texttemplate="%{text}" if text else None,
        textfont={"size": theme.SMALL, "color": theme.MARK} if text else None,
        hoverinfo="skip",
        name="Residual",
    )


def _signed(residual: float) -> str:
    """A residual in whole points, for a cell: "+12", "−1"."""
    size = wording.count(abs(100 * residual))
    return size if size == "0" else f"{'+' if residual > 0 else '−'}{size}"


def _add_untested(figure: go.Figure, view: CellView, rows: Sequence[int]) -> None:
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


def _add_marks(figure: go.Figure, view: CellView, rows: Sequence[int]) -> None:
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
        name=f"{SIGNIFICANT} (beyond {wording.points(view.tolerance)}, adjusted p &lt; .05)",
    )


def _add_touch(figure: go.Figure, view: CellView, rows: Sequence[int], tall: int) -> None:
    """What the pointer meets: clicks on the cells of a heatmap itself are not reported."""
    place, column = np.nonzero(view.cells.rows[list(rows)] > 0)
    at = list(zip(place.tolist(), column.tolist(), strict=True))
    figure.add_scatter(
        x=column.tolist(),
        y=place.tolist(),
        mode="markers",
        marker={"symbol": "square", "size": tall - 2, "color": theme.TOUCH, "line": {"width": 0}},
        selected={"marker": {"color": theme.TOUCHED, "opacity": 1}},
        unselected={"marker": {"color": theme.TOUCH, "opacity": 1}},
        customdata=[[rows[i], j] for i, j in at],
        hovertext=[_hover(view, rows[i], j) for i, j in at],
        hoverinfo="text",
        showlegend=False,
        name="Cells",
    )


def _hover(view: CellView, group: int, j: int) -> str:
    cells = view.cells
    residual, mean = float(cells.residual[group, j]), float(cells.mean_score[group, j])
    lines = [
        f"{escaped(cells.groups[group])}, scores {cells.bins.label(j)}",
        f"predicted {wording.rate(mean)}, observed {wording.rate(mean + residual)}",
        f"{wording.rows(int(cells.rows[group, j]))}, {_test(view, group, j)}",
    ]
    return "<br>".join(lines)


def _test(view: CellView, group: int, j: int) -> str:
    if not view.tested[group, j]:
        return "too few to test"
    return escaped(f"adjusted p {wording.p_value(float(view.cells.adjusted[group, j]))}")


def _layout(figure: go.Figure, view: CellView, rows: Sequence[int]) -> None:
    edges, count = view.cells.bins.edges, len(view.cells.bins)
    every = max(1, -(-count // 10))
    ticks = range(0, count + 1, every)
    figure.update_layout(barmode="overlay", hoverdistance=int(np.clip(450 / max(count, 1), 20, 120)))
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


def _colors(view: CellView) -> dict[str, Any]:
    scale = [list(stop) for stop in theme.DIVERGING]
    return {"zmin": -view.limit, "zmid": 0, "zmax": view.limit, "colorscale": scale, "showscale": False}


def _add_scale(figure: go.Figure, view: CellView, inner: int) -> None:
    """The colours with their range, above the cells: plotly's own colour bar would move the title away."""
    steps = np.linspace(-view.limit, view.limit, 41).round(4).tolist()
    figure.add_heatmap(x=steps, y=[0], z=[steps], **_colors(view), hoverinfo="skip", xaxis="x2", yaxis="y2")
    ends, gap, whole = wording.points(view.limit), "&nbsp;" * 4, inner + 36
    figure.update_layout(
        xaxis2={
            "domain": [0.4, 1],
            "anchor": "y2",
            "tickvals": [-view.limit, 0, view.limit],
            "ticktext": [f"−{ends}", "0", f"+{ends}"],
            "tickfont": {"size": theme.SMALL},
            "ticklabeloverflow": "allow",
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis={"domain": [0, inner / whole]},
        yaxis2={"domain": [(inner + 26) / whole, 1], "visible": False, "fixedrange": True},
    )
    figure.add_annotation(
        text=f"← score too high{gap}±{wording.points(view.limit)}{gap}score too low →",
        x=1,
        y=1,
        xref="paper",
        yref="paper",
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
    )
