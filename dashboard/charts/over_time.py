"""A metric over batches: intervals, limits, the reference period, and which batches are beyond their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.monitoring import BatchResult, Watch
from calcore.monitoring.alerts import number
from calcore.monitoring.results import METRICS, TITLES
from calcore.monitoring.sentences import batch_words, first_alert, series_title
from calcore.validation import Floats
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped
from dashboard.charts.over_time_axis import (
    REFERENCE,
    BatchAxis,
    add_reference,
    batch_axis,
    scaled,
    stretches,
    style_metric,
)
from dashboard.charts.over_time_limits import add_band, add_fixed, add_noise

#: More batches than this are drawn with smaller marks.
CROWDED = 45
#: Nothing leads to these marks and no line joins them: they would look like a way back.
ESTIMATED = "Estimated, if nothing has changed"


def series_chart(watch: Watch, metric: str) -> Chart:
    """``metric`` of every batch. Returns the series, a table of it with the limits, and its words."""
    results, axis = watch.results, batch_axis(watch.results)
    title = series_title(watch, metric)
    values = scaled(metric, [one.value(metric).value for one in results])
    table = _table(watch, metric)
    if not np.isfinite(values).any():
        figure = theme.nothing("No batch has this number.", title)
        return Chart(figure, table, f"{title}. No batch of {len(results)} has this number.")
    figure = go.Figure()
    control = watch.limits.get(metric)
    add_reference(figure, watch, axis)
    if control is not None:
        add_band(figure, control, axis, metric)
    if metric == "ECE":
        add_noise(figure, results, axis)
    for fixed in (one for one in watch.fixed if one.metric == metric):
        add_fixed(figure, fixed, axis, metric)
    low, high = _range(watch, metric, values)
    outside = outside_of(watch, metric)
    _add_points(figure, watch, metric, values, outside, axis)
    _add_unmeasured(figure, results, metric, values, axis, low + 0.03 * (high - low))
    _add_since(figure, watch, axis)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    legend += [REFERENCE] * (watch.reference is not None)
    theme.base_layout(figure, 360 + theme.title_height(title) + theme.legend_height(legend), title)
    axis.style(figure)
    style_metric(figure, metric, low, high)
    return Chart(figure, table, _alt(watch, metric, title))


def outside_of(watch: Watch, metric: str) -> NDArray[np.bool_]:
    """Batches beyond a fixed limit or outside the control limits of ``metric``."""
    found = np.zeros(len(watch.results), dtype=bool)
    for one in (*watch.fixed, *watch.limits.values()):
        if one.metric == metric:
            found |= one.outside
    return found


def _add_points(
    figure: go.Figure, watch: Watch, metric: str, values: Floats, outside: NDArray[np.bool_], axis: BatchAxis
) -> None:
    results = watch.results
    known = np.isfinite(values)
    estimated = known & np.array([one.kind == "estimated" for one in results])
    inside, beyond = known & ~estimated & ~outside, known & ~estimated & outside
    for run in stretches(known & ~estimated):
        if run.size > 1:
            _connect(figure, run, values, axis)
    small = 3 if len(results) > CROWDED else 0
    kinds = (
        (inside, "Measured", theme.GOOD, "circle", 8 - small),
        (beyond, "Beyond a limit", theme.BAD, "diamond", 12 - small),
        (estimated, ESTIMATED, theme.GOOD, "circle-open", 9 - small),
    )
    for mask, name, color, symbol, size in kinds:
        at = np.flatnonzero(mask)
        if at.size:
            figure.add_scatter(
                x=[axis.x[i] for i in at],
                y=values[at].round(5).tolist(),
                error_y=_bars(results, metric, values, at, color),
                mode="markers",
                marker={
                    "color": color,
                    "symbol": symbol,
                    "size": size,
                    "line": {"width": 1.5, "color": color},
                },
                hovertext=[hover(results[i], metric, watch, int(i)) for i in at],
                hoverinfo="text",
                name=name,
            )


def _connect(figure: go.Figure, at: NDArray[np.int64], values: Floats, axis: BatchAxis) -> None:
    figure.add_scatter(
        x=[axis.x[i] for i in at],
        y=values[at].round(5).tolist(),
        mode="lines",
        line={"color": theme.GOOD, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _bars(
    results: Sequence[BatchResult], metric: str, values: Floats, at: NDArray[np.int64], color: str
) -> dict[str, Any]:
    low = scaled(metric, [results[i].value(metric).low for i in at])
    high = scaled(metric, [results[i].value(metric).high for i in at])
    return {
        "type": "data",
        "symmetric": False,
        "array": np.nan_to_num(np.maximum(high - values[at], 0.0)).round(5).tolist(),
        "arrayminus": np.nan_to_num(np.maximum(values[at] - low, 0.0)).round(5).tolist(),
        "color": color,
        "thickness": 0.7 if len(results) > CROWDED else 1.2,
        "width": 0 if len(results) > CROWDED / 2 else 3,
    }


def _add_unmeasured(
    figure: go.Figure, results: Sequence[BatchResult], metric: str, values: Floats, axis: BatchAxis, y: float
) -> None:
    at = [i for i, one in enumerate(results) if not np.isfinite(values[i])]
    if at:
        figure.add_scatter(
            x=[axis.x[i] for i in at],
            y=[round(y, 5)] * len(at),
            mode="markers",
            marker={
                "color": theme.NEUTRAL,
                "symbol": "x-thin",
                "size": 9,
                "line": {"width": 2, "color": theme.NEUTRAL},
            },
            hovertext=[_wrapped(batch_words(results[i], metric)) for i in at],
            hoverinfo="text",
            name="Not measured",
        )


def _add_since(figure: go.Figure, watch: Watch, axis: BatchAxis) -> None:
    """A line where the first alert began that is not over."""
    since = first_alert(watch)
    if since is None:
        return
    x, right = axis.before[since], since > len(axis.x) / 2
    figure.add_shape(
        type="line",
        x0=x,
        x1=x,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": theme.BAD, "width": 2, "dash": "dot"},
        name="First alert begins",
    )
    figure.add_annotation(
        x=x,
        y=1,
        yref="paper",
        text=f"alert since {escaped(watch.results[since].label)}",
        showarrow=False,
        xanchor="right" if right else "left",
        yanchor="top",
        xshift=-4 if right else 4,
        font={"size": theme.SMALL},
    )


def _range(watch: Watch, metric: str, values: Floats) -> tuple[float, float]:
    ends = [values]
    for name in ("low", "high"):
        ends.append(scaled(metric, [getattr(one.value(metric), name) for one in watch.results]))
    for limits in (*watch.fixed, *watch.limits.values()):
        if limits.metric == metric:
            ends += [scaled(metric, limits.low), scaled(metric, limits.high)]
    every = np.concatenate(ends)
    every = every[np.isfinite(every)]
    low, high = float(every.min()), float(every.max())
    if METRICS[metric] == 1:
        low = min(low, 0.0) if metric == "ECE" else low
    room = 0.12 * ((high - low) or 0.02)
    return low - room, high + room


def hover(one: BatchResult, metric: str, watch: Watch, i: int) -> str:
    """A batch in words, with the limits that hold for it."""
    text = batch_words(one, metric)
    limits = watch.limits.get(metric)
    if limits is not None and np.isfinite(limits.low[i]):
        text += (
            f"; expected {number(metric, float(limits.low[i]))} to {number(metric, float(limits.high[i]))}"
        )
    return _wrapped(text)


def _wrapped(text: str) -> str:
    return escaped(text).replace("; ", ";<br>")


def _table(watch: Watch, metric: str) -> pd.DataFrame:
    limits, outside = watch.limits.get(metric), outside_of(watch, metric)
    reference = set() if watch.reference is None else set(watch.reference.positions)
    rows = []
    for i, one in enumerate(watch.results):
        value = one.value(metric)
        rows.append(
            {
                "Batch": one.label,
                "From": _moment(one.start),
                "To": _moment(one.end),
                "Rows": one.rows,
                "With labels": one.labelled,
                "Is": f"{one.kind}, reference" if i in reference else one.kind,
                TITLES[metric]: number(metric, value.value),
                "95 % interval": _between(metric, value.low, value.high),
                "Expected": wording.MISSING
                if limits is None
                else _between(metric, float(limits.low[i]), float(limits.high[i])),
                "Beyond a limit": "yes" if outside[i] else "no",
                "Note": one.reason,
            }
        )
    return pd.DataFrame(rows)


def _moment(text: str | None) -> str:
    """A day where the time of day says nothing."""
    return (text or "").removesuffix("T00:00:00").replace("T", " ")


def _between(metric: str, low: float, high: float) -> str:
    if not (np.isfinite(low) and np.isfinite(high)):
        return wording.MISSING
    return f"{number(metric, low)} to {number(metric, high)}"


def _alt(watch: Watch, metric: str, title: str) -> str:
    measured = [one for one in watch.results if one.measured]
    text = f"{TITLES[metric]} of {len(watch.results)} batches with intervals and limits. {title}."
    if measured:
        last = measured[-1]
        text += f" Last measured: {last.label}, {number(metric, last.value(metric).value)}."
    return text
