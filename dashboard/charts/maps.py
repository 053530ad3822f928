"""Calibration maps drawn over each other, above the scores that they are applied to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calcore.maps import CalibrationMap
from calcore.validation import Floats
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

GRID = np.linspace(0.0, 1.0, 201)
MOST_BREAKPOINTS = 390
"""Each may need a point on either side: with the grid, below 1,000 points a map."""
BINS = 40
ROWS_OF_TABLE = 20
NamedMap = tuple[str, CalibrationMap]


def maps_chart(
    maps: Sequence[NamedMap], score: Floats | None, weight: Floats | None = None, *, grid_only: bool = False
) -> Chart:
    """The maps with the identity, and the histogram of ``score`` (n,), by ``weight`` (n,) where given.

    ``grid_only`` draws them at even steps alone: knots lie at the scores of rows, which may have to stay private.
    Maps that differ between subgroups are no curve: left out and named in the words. Returns the curves, a table
    of their values at 20 scores, and its words.
    """
    drawn = [(name, one) for name, one in maps if not one.function.needs_groups]
    left_out = [name for name, one in maps if one.function.needs_groups]
    words = f" Left out, different in each subgroup: {wording.listed(left_out, 12)}." if left_out else ""
    table = _table(drawn, score, weight)
    if not drawn:
        return Chart(theme.nothing("There is no map to draw."), table, f"There is no map to draw.{words}")
    furthest = _furthest(drawn)
    name, at, value = furthest
    title = f"{name} moves scores most: {wording.edge(at)} becomes {wording.edge(value)}"
    if abs(value - at) < 0.005:
        title = (
            "The maps leave the scores as they are" if len(drawn) > 1 else "The map leaves scores as they are"
        )
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        name="Score unchanged",
    )
    for (label, one), look in zip(drawn, theme.styles([label for label, _ in drawn]), strict=True):
        _add_map(figure, label, (GRID, one.predict(GRID)) if grid_only else curve(one), look)
    if score is not None and len(score):
        _add_scores(figure, score, weight)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 430 + theme.title_height(title) + theme.legend_height(legend), title)
    _axes(figure, score is not None and len(score) > 0, weight is not None)
    alt = f"{len(drawn)} calibration maps over each other. {title}.{words}"
    return Chart(figure, table, alt if len(drawn) > 1 else f"One calibration map. {title}.{words}")


def curve(one: CalibrationMap) -> tuple[Floats, Floats]:
    """Scores and calibrated scores that draw a map: a grid, its breakpoints, and both sides of its jumps."""
    knots = one.function.breakpoints()
    if knots.size > MOST_BREAKPOINTS:
        knots = knots[np.unique(np.linspace(0, knots.size - 1, MOST_BREAKPOINTS).astype(int))]
    before = np.nextafter(knots[knots > 0], 0.0)
    at, just_before = one.predict(knots[knots > 0]), one.predict(before)
    jumps = before[np.abs(at - just_before) > 1e-9]
    x = np.unique(np.concatenate([GRID, knots, jumps]))
    return x, one.predict(x)


def _add_map(figure: go.Figure, name: str, points: tuple[Floats, Floats], look: theme.Style) -> None:
    x, y = points
    figure.add_scatter(
        x=x.round(6).tolist(),
        y=y.round(5).tolist(),
        mode="lines+markers",
        line={"color": look.color, "dash": look.dash, "width": 2},
        marker={"color": look.color, "symbol": look.marker, "size": 8, "maxdisplayed": 9},
        hovertemplate="%{meta}:<br>score %{x:.3g} becomes %{y:.3g}<extra></extra>",
        meta=escaped(name),
        name=escaped(name),
    )


def _counts(score: Floats, weight: Floats | None, bins: int) -> Floats:
    return np.histogram(np.asarray(score, dtype=float), np.linspace(0, 1, bins + 1), weights=weight)[0]


def _add_scores(figure: go.Figure, score: Floats, weight: Floats | None) -> None:
    counts = _counts(score, weight, BINS)
    edges = np.linspace(0, 1, BINS + 1)
    what = "rows" if weight is None else "of weight"
    figure.add_bar(
        x=((edges[:-1] + edges[1:]) / 2).round(5).tolist(),
        y=counts.round(6).tolist(),
        width=0.94 / BINS,
        marker={"color": theme.COUNTS, "line": {"width": 0}},
        yaxis="y2",
        hovertext=[
            f"Scores {wording.edge(edges[i])} to {wording.edge(edges[i + 1])}: {wording.count(float(n))} {what}"
            for i, n in enumerate(counts)
        ],
        hoverinfo="text",
        showlegend=False,
        name="Scores",
    )


def _axes(figure: go.Figure, has_scores: bool, weighted: bool) -> None:
    ticks = {"tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "ticktext": ["0", "0.2", "0.4", "0.6", "0.8", "1"]}
    figure.update_layout(
        xaxis={
            "range": [-0.02, 1.02],
            "title": {"text": "Score"},
            "showgrid": True,
            "zeroline": False,
            **ticks,
        },
        yaxis={
            "range": [-0.02, 1.02],
            "domain": [0.27, 1] if has_scores else [0, 1],
            "title": {"text": "Calibrated score"},
            "zeroline": False,
            **ticks,
        },
        bargap=0,
        showlegend=True,
    )
    if has_scores:
        figure.update_layout(
            xaxis_anchor="y2",
            yaxis2={
                "domain": [0, 0.2],
                "title": {"text": "Weight" if weighted else "Rows", "standoff": 8},
                "automargin": True,
                "nticks": 3,
                "tickformat": ",",
            },
        )


def _furthest(drawn: Sequence[NamedMap]) -> tuple[str, float, float]:
    """The map that moves any score of the grid most, that score, and what it becomes."""
    found = []
    for name, one in drawn:
        values = one.predict(GRID)
        at = int(np.argmax(np.abs(values - GRID)))
        found.append((name, float(GRID[at]), float(values[at])))
    return max(found, key=lambda row: abs(row[2] - row[1]))


def _table(drawn: Sequence[NamedMap], score: Floats | None, weight: Floats | None) -> pd.DataFrame:
    edges = np.linspace(0, 1, ROWS_OF_TABLE + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    table = pd.DataFrame({"Score": [wording.edge(float(v)) for v in middle]})
    for name, one in drawn:
        table[name] = [wording.error(float(v)) for v in one.predict(middle)]
    if score is not None and len(score):
        counts = _counts(score, weight, ROWS_OF_TABLE)
        table["Rows around it" if weight is None else "Weight around it"] = [
            wording.count(float(n)) for n in counts
        ]
    return table
