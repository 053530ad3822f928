"""The weights that LWCal gives to rows, by whether the label agrees with the score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.calibrators import GateAudit, LWCal
from calcore.calibrators.loss_weighted import contradicts
from calcore.validation import HALF, Floats
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

AGREES, CONTRADICTS = "Label agrees with the score", "Label contradicts the score"
FLOOR = float(LWCal().floor)


def weights_histogram(audit: GateAudit, score: Floats, label: Floats, *, bins: int = 40) -> Chart:
    """Rows by their LWCal weight, those whose label contradicts the decision (score >= .5) apart.

    Ties do neither and are left out. ``score`` and ``label`` (n,) are in the order of ``audit.weights``; only counts leave this function.
    Returns the histogram, a table of its bins, and its words.
    """
    weights = np.asarray(audit.weights, dtype=float)
    against = contradicts(np.asarray(score), np.asarray(label))
    edges = np.linspace(0.0, 1.0, max(bins, 1) + 1)
    agreeing, contradicting = (
        np.histogram(weights[rows], edges)[0] for rows in (~against & (np.asarray(label) != HALF), against)
    )
    table = _table(edges, agreeing, contradicting)
    if not weights.size:
        return Chart(theme.nothing("No row has a weight."), table, "No row has a weight.")
    share = contradicting.sum() / weights.size
    title = f"Labels contradict the score on {wording.rate(float(share))} of rows; they count least"
    if audit.equal_losses:
        title = "All losses are equal: every row counts the same"
    figure = go.Figure()
    _add_bars(figure, edges, contradicting, CONTRADICTS, theme.BAD, "/")
    _add_bars(figure, edges, agreeing, AGREES, theme.GOOD, "")
    theme.base_layout(
        figure, 330 + theme.title_height(title) + theme.legend_height([AGREES, CONTRADICTS]), title
    )
    figure.update_layout(barmode="stack", bargap=0.06)
    figure.update_xaxes(range=[0, 1.02], title={"text": "Weight of the row in the fit"}, showgrid=False)
    tallest = int((agreeing + contradicting).max())
    figure.update_yaxes(title={"text": "Rows"}, range=[0, 1.28 * tallest], nticks=5, tickformat=",")
    median = float(np.median(weights))
    _add_line(figure, FLOOR, "floor", 1.27)
    _add_line(figure, median, "median", 1.14)
    at_floor = int((against & (weights <= FLOOR)).sum())
    alt = (
        f"Histogram of the weights of {wording.rows(weights.size)}, median {wording.error(median)}. "
        f"Labels contradict the score on {wording.count(int(contradicting.sum()))} of them; "
        f"{wording.count(at_floor)} of these have the lowest weight, {wording.error(FLOOR)}."
    )
    return Chart(figure, table, alt)


def _add_bars(
    figure: go.Figure, edges: Floats, counts: NDArray[np.int64], name: str, color: str, pattern: str
) -> None:
    figure.add_bar(
        x=((edges[:-1] + edges[1:]) / 2).round(5).tolist(),
        y=[rows or None for rows in counts.tolist()],
        width=float(edges[1]) * 0.94,
        marker={
            "color": color,
            "line": {"color": color, "width": 1},
            "pattern": {"shape": pattern, "size": 6, "solidity": 0.35, "fillmode": "replace"},
        },
        hovertext=[
            escaped(f"Weights {_range(edges, i)}: {wording.rows(int(rows))}. {name}")
            for i, rows in enumerate(counts)
        ],
        hoverinfo="text",
        name=name,
    )


def _add_line(figure: go.Figure, value: float, name: str, height: float) -> None:
    """A vertical line with its name beside it; two lines write at different heights."""
    top = height / 1.28
    figure.add_shape(
        type="line",
        x0=value,
        x1=value,
        y0=0,
        y1=top,
        yref="paper",
        line={"color": theme.NEUTRAL, "width": 2, "dash": "dash" if name == "median" else "dot"},
    )
    figure.add_annotation(
        x=value,
        y=top,
        yref="paper",
        yanchor="top",
        xanchor="left" if value < 0.7 else "right",
        text=f"{name} {escaped(wording.error(value))}",
        showarrow=False,
        font={"size": theme.FONT},
    )


def _range(edges: Floats, i: int) -> str:
    return f"{wording.edge(float(edges[i]))} to {wording.edge(float(edges[i + 1]))}"


def _table(edges: Floats, agreeing: NDArray[np.int64], contradicting: NDArray[np.int64]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Weight": [_range(edges, i) for i in range(len(agreeing))],
            AGREES: agreeing,
            CONTRADICTS: contradicting,
        }
    )
