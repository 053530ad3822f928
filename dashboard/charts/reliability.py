"""The reliability diagram: event rate against mean score with intervals, over the rows of each bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.metrics.reliability import Reliability
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.bin_findings import Curve, alternative, finding, scores, shown, twin, words
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

TOO_FEW = "Too few rows"
CONTRADICTION = "Contradicts the stated rates"


def reliability_chart(curves: Sequence[Curve], *, title: str | None = None, tolerance: float = 0.0) -> Chart:
    """Event rate against mean score of one or several named scores.

    ``tolerance`` (a rate) is drawn as a band around the diagonal; ``title`` replaces the finding. The counts
    below are those of the first curve. Returns the diagram, a table of every bin that has rows, and its words.
    """
    drawn = [(name, curve) for name, curve in curves if shown(curve).any()]
    table = twin(curves)
    if not drawn:
        figure = theme.nothing("No bin holds enough to draw an event rate.", title)
        return Chart(figure, table, "Reliability diagram without a point: no bin holds enough rows.")
    title = title or finding(drawn, tolerance)
    figure = go.Figure()
    _add_diagonal(figure, tolerance)
    for (name, curve), look in zip(drawn, theme.styles([name for name, _ in drawn]), strict=True):
        _add_curve(figure, name, curve, look, crowded=len(drawn) > 3)
    _add_notes(figure, drawn)
    _add_counts(figure, *drawn[0], named=len(drawn) > 1)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 430 + theme.title_height(title) + theme.legend_height(legend), title)
    _axes(figure, drawn[0][1].basis)
    return Chart(figure, table, alternative(drawn, title))


def _add_diagonal(figure: go.Figure, tolerance: float) -> None:
    if tolerance > 0:
        t = min(tolerance, 1.0)
        figure.add_scatter(
            x=[0, 1 - t, 1, 1, t, 0],
            y=[t, 1, 1, 1 - t, 0, 0],
            fill="toself",
            fillcolor=theme.BAND,
            mode="lines",
            line={"width": 0, "color": theme.NEUTRAL},
            hoverinfo="skip",
            name=f"Within {wording.points(tolerance)}",
        )
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        name="Calibrated",
    )


def _add_curve(figure: go.Figure, name: str, curve: Reliability, look: theme.Style, crowded: bool) -> None:
    visible = shown(curve)
    sure, few = np.flatnonzero(visible & ~curve.too_few), np.flatnonzero(visible & curve.too_few)
    if sure.size or not few.size:
        figure.add_scatter(
            **_points(name, curve, sure, look.color, crowded),
            mode="lines+markers" if sure.size > 1 else "markers",
            line={"color": look.color, "dash": look.dash, "width": 2},
            marker={"color": look.color, "symbol": look.marker, "size": 9},
            name=escaped(name),
            legendgroup=name,
        )
    if few.size:
        figure.add_scatter(
            **_points(name, curve, few, theme.NEUTRAL, crowded),
            mode="markers",
            marker={
                "color": theme.NEUTRAL,
                "symbol": f"{look.marker}-open",
                "size": 9,
                "line": {"width": 1.5},
            },
            name=TOO_FEW,
            legendgroup=name,
            showlegend=False,
        )


def _points(name: str, curve: Reliability, at: NDArray[Any], color: str, crowded: bool) -> dict[str, Any]:
    rate = np.clip(curve.event_rate[at], 0.0, 1.0)
    lower, upper = np.clip(curve.lower[at], 0.0, 1.0), np.clip(curve.upper[at], 0.0, 1.0)
    return {
        "x": curve.mean_score[at].round(4).tolist(),
        "y": rate.round(4).tolist(),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(np.maximum(upper - rate, 0.0)).round(4).tolist(),
            "arrayminus": np.nan_to_num(np.maximum(rate - lower, 0.0)).round(4).tolist(),
            "color": color,
            "thickness": 0.8 if crowded else 1.5,
            "width": 0 if crowded else 3,
        },
        "hovertext": [f"{escaped(name)}<br>{_lines(words(curve, int(j)))}" for j in at],
        "hoverinfo": "text",
    }


def _lines(sentence: str) -> str:
    return escaped(sentence).replace(": ", ":<br>", 1).replace("; ", ";<br>")


def _add_notes(figure: go.Figure, drawn: Sequence[Curve]) -> None:
    """Rings around contradicting bins, and a legend entry for the grey points."""
    if any((shown(curve) & curve.too_few).any() for _, curve in drawn):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": theme.NEUTRAL, "symbol": "circle-open", "size": 9, "line": {"width": 1.5}},
            name=TOO_FEW,
        )
    x, y = [], []
    for _, curve in drawn:
        at = shown(curve) & curve.contradiction
        x += curve.mean_score[at].round(4).tolist()
        y += np.clip(curve.event_rate[at], 0.0, 1.0).round(4).tolist()
    if x:
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            marker={"color": theme.BAD, "symbol": "circle-open", "size": 17, "line": {"width": 2}},
            hoverinfo="skip",
            name=CONTRADICTION,
        )


def _add_counts(figure: go.Figure, name: str, curve: Reliability, named: bool) -> None:
    at = np.flatnonzero(curve.occupied)
    width = curve.high[at] - curve.low[at]
    figure.add_bar(
        x=((curve.low[at] + curve.high[at]) / 2).round(5).tolist(),
        y=curve.rows[at].tolist(),
        width=np.maximum(width * 0.94, 0.004).round(5).tolist(),
        marker={"color": theme.COUNTS, "line": {"width": 0}},
        yaxis="y2",
        hovertext=[f"Scores {scores(curve, int(j))}: {wording.rows(int(curve.rows[j]))}" for j in at],
        hoverinfo="text",
        name=f"Rows of {escaped(name)}",
        showlegend=named,
    )


def _axes(figure: go.Figure, basis: str) -> None:
    ticks = {"tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "ticktext": ["0", "0.2", "0.4", "0.6", "0.8", "1"]}
    observed = "Observed event rate"
    figure.update_layout(
        xaxis={
            "range": [-0.02, 1.02],
            "title": {"text": "Mean score"},
            "anchor": "y2",
            "showgrid": True,
            "zeroline": False,
            **ticks,
        },
        yaxis={
            "range": [-0.02, 1.02],
            "domain": [0.27, 1],
            "title": {"text": observed if basis == "against the labels" else f"{observed},<br>{basis}"},
            "zeroline": False,
            **ticks,
        },
        yaxis2={
            "domain": [0, 0.2],
            "title": {"text": "Rows", "standoff": 8},
            "automargin": True,
            "nticks": 3,
            "rangemode": "tozero",
            "tickformat": ",",
        },
        bargap=0,
    )
