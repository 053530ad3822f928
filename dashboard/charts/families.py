"""Reliability diagrams of families of models beside each other, each with the slope that sums it up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from calcore.lessons import Family
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.bin_findings import scores, shown, words
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

COLUMNS = 2
PANEL = 258


def families_chart(families: Sequence[Family]) -> Chart:
    """A small diagram a family, two in a row. Returns it, a table of every bin, and its words."""
    title = "Each family errs in its own direction"
    rows = -(-len(families) // COLUMNS)
    figure = make_subplots(
        rows=rows,
        cols=COLUMNS,
        horizontal_spacing=0.1,
        vertical_spacing=0.36 / rows,
        subplot_titles=[_caption(family) for family in families],
    )
    for position, family in enumerate(families):
        _add_panel(figure, family, position, last_row=position >= len(families) - COLUMNS)
    theme.base_layout(figure, PANEL * rows + 50 + theme.title_height(title), title)
    figure.update_layout(showlegend=False, margin_t=theme.title_height(title) + 50)
    figure.update_annotations(font_size=theme.FONT)
    return Chart(figure, _table(families), _alt(families, title))


def _caption(family: Family) -> str:
    low, high = family.slope_interval
    return (
        f"<b>{escaped(family.name)}</b><br>slope {family.slope:.2f} ({low:.2f}–{high:.2f})"
        f"<br>{direction(family)}"
    )


def direction(family: Family) -> str:
    """The direction in words; a slope that cannot be told from 1 says so."""
    return family.direction or "neither, within error"


def _add_panel(figure: go.Figure, family: Family, position: int, last_row: bool) -> None:
    row, col = position // COLUMNS + 1, position % COLUMNS + 1
    curve, look = family.reliability, theme.style(0)
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        row=row,
        col=col,
    )
    at = np.flatnonzero(shown(curve))
    rate = np.clip(curve.event_rate[at], 0, 1)
    figure.add_scatter(
        x=curve.mean_score[at].round(4).tolist(),
        y=rate.round(4).tolist(),
        mode="lines+markers",
        line={"color": look.color, "width": 2},
        marker={"color": look.color, "symbol": look.marker, "size": 7},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.maximum(curve.upper[at] - rate, 0).round(4).tolist(),
            "arrayminus": np.maximum(rate - curve.lower[at], 0).round(4).tolist(),
            "color": look.color,
            "thickness": 1,
            "width": 0,
        },
        hovertext=[
            f"{escaped(family.name)}<br>{escaped(words(curve, int(j))).replace(': ', ':<br>', 1)}" for j in at
        ],
        hoverinfo="text",
        row=row,
        col=col,
    )
    ticks = {"tickvals": [0, 0.5, 1], "ticktext": ["0", "0.5", "1"], "zeroline": False}
    figure.update_xaxes(
        range=[-0.04, 1.04],
        constrain="domain",
        title={"text": "Mean score" if last_row else None},
        row=row,
        col=col,
        **ticks,
    )
    figure.update_yaxes(
        range=[-0.04, 1.04],
        constrain="domain",
        # on a narrow screen a panel keeps to its caption
        constraintoward="top",
        scaleanchor=figure.get_subplot(row, col).yaxis.anchor,
        title={"text": "Event rate" if col == 1 else None},
        row=row,
        col=col,
        **ticks,
    )


def _table(families: Sequence[Family]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Model": family.name,
                "Scores": scores(family.reliability, int(j)),
                "Rows": wording.count(int(family.reliability.rows[j])),
                "Predicted": wording.rate(float(family.reliability.mean_score[j])),
                "Observed": wording.rate(float(family.reliability.event_rate[j])),
                "Interval": wording.rates(
                    float(family.reliability.lower[j]), float(family.reliability.upper[j])
                ),
            }
            for family in families
            for j in np.flatnonzero(shown(family.reliability))
        ]
    )


def _alt(families: Sequence[Family], title: str) -> str:
    told = [f"{family.name} {direction(family)} (slope {family.slope:.2f})" for family in families]
    return f"{len(families)} reliability diagrams. {title}: {'; '.join(told)}."
