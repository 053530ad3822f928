"""Limits behind a series: what the reference period leads to expect, what chance gives, what somebody fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calcore.monitoring import BatchResult, Limits
from calcore.monitoring.alerts import number
from dashboard.charts import theme
from dashboard.charts.names import escaped
from dashboard.charts.over_time_axis import BatchAxis, scaled, stretches

EXPECTED = "What the reference leads to expect"
CHANCE = "Calibrated score: at most, by chance"


def add_band(figure: go.Figure, limits: Limits, axis: BatchAxis, metric: str) -> None:
    """Control limits, which follow the size of the batches, and the mean of the reference."""
    known = np.isfinite(limits.low) & np.isfinite(limits.high)
    low, high = scaled(metric, limits.low), scaled(metric, limits.high)
    for k, run in enumerate(stretches(known)):
        # a single batch is a stretch too
        x = [axis.before[run[0]], *(axis.x[i] for i in run), axis.after[run[-1]]]
        at = [run[0], *run, run[-1]]
        figure.add_scatter(
            x=x + x[::-1],
            y=[*high[at].round(5).tolist(), *low[at][::-1].round(5).tolist()],
            fill="toself",
            fillcolor=theme.BAND,
            mode="lines",
            line={"width": 0, "color": theme.NEUTRAL},
            hoverinfo="skip",
            name=EXPECTED,
            legendgroup=EXPECTED,
            showlegend=k == 0,
        )
    if np.isfinite(limits.centre) and metric != "ECE":  # that of the ECE is without the noise of a batch
        centre = float(scaled(metric, [limits.centre])[0])
        _add_line(
            figure, [axis.before[0], axis.after[-1]], [centre, centre], "dash", 1.0, "Mean of the reference"
        )


def add_noise(figure: go.Figure, results: Sequence[BatchResult], axis: BatchAxis) -> None:
    """The ECE that a calibrated score stays below in 95 % of batches of each size."""
    limit = [one.noise_limit if np.isfinite(one.noise_limit) else None for one in results]
    if any(value is not None for value in limit):
        _add_line(figure, axis.x, limit, "dot", 1.5, CHANCE)


def add_fixed(figure: go.Figure, limits: Limits, axis: BatchAxis, metric: str) -> None:
    """The limits that somebody set, as lines."""
    for values, side in ((limits.low, "Lowest"), (limits.high, "Highest")):
        if len(values) and np.isfinite(values[0]):
            y = float(scaled(metric, [values[0]])[0])
            name = f"{side} allowed ({number(metric, float(values[0]))})"
            _add_line(
                figure, [axis.before[0], axis.after[-1]], [y, y], "longdash", 2.0, escaped(name), theme.BAD
            )


def _add_line(
    figure: go.Figure,
    x: list[Any],
    y: list[Any],
    dash: str,
    width: float,
    name: str,
    color: str = theme.NEUTRAL,
) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": color, "width": width, "dash": dash},
        hoverinfo="skip",
        name=name,
    )
