"""A metric over batches at the score as it is and at the mapped score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calcore.monitoring import Watch
from calcore.monitoring.alerts import number
from calcore.monitoring.results import TITLES
from calcore.monitoring.sentences import batch_words, mapped_title
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped
from dashboard.charts.over_time_axis import BatchAxis, batch_axis, scaled, style_metric

NAMES = ("As it is", "With the map")


def mapped_chart(watch: Watch, mapped: Watch, metric: str, since: str | None) -> Chart:
    """Both series with their intervals; ``since`` (ISO) is the moment from which the map is applied, None: always."""
    axis = batch_axis(watch.results)
    title = mapped_title(watch, mapped, metric, since or "")
    figure = go.Figure()
    ends = []
    for k, (name, one) in enumerate(zip(NAMES, (watch, mapped), strict=True)):
        ends += _add_series(figure, one, metric, axis, name, k)
    if since is not None and axis.timed:
        figure.add_shape(
            type="line",
            x0=since,
            x1=since,
            y0=0,
            y1=1,
            yref="paper",
            line={"color": theme.NEUTRAL, "width": 2, "dash": "dot"},
        )
    theme.base_layout(figure, 330 + theme.title_height(title) + theme.legend_height(NAMES), title)
    axis.style(figure)
    known = np.concatenate(ends) if ends else np.zeros(1)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    low = min(low, 0.0) if metric == "ECE" else low
    room = 0.1 * ((high - low) or 0.02)
    style_metric(figure, metric, low - room, high + room)
    return Chart(figure, _table(watch, mapped, metric), f"{title}. {len(watch.results)} batches.")


def _add_series(
    figure: go.Figure, watch: Watch, metric: str, axis: BatchAxis, name: str, k: int
) -> list[np.ndarray]:
    look = theme.style(2 if k else 0)
    at = [i for i, one in enumerate(watch.results) if np.isfinite(one.value(metric).value)]
    values, low, high = (
        scaled(metric, [getattr(watch.results[i].value(metric), part) for i in at])
        for part in ("value", "low", "high")
    )
    figure.add_scatter(
        x=[axis.x[i] for i in at],
        y=values.round(5).tolist(),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(np.maximum(high - values, 0.0)).round(5).tolist(),
            "arrayminus": np.nan_to_num(np.maximum(values - low, 0.0)).round(5).tolist(),
            "color": look.color,
            "thickness": 1.2,
            "width": 0,
        },
        mode="lines+markers",
        line={"color": look.color, "width": 2, "dash": look.dash},
        marker={"color": look.color, "symbol": look.marker, "size": 8},
        hovertext=[
            escaped(f"{name}: {batch_words(watch.results[i], metric)}").replace("; ", ";<br>") for i in at
        ],
        hoverinfo="text",
        name=name,
    )
    return [values, low, high]


def _table(watch: Watch, mapped: Watch, metric: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Batch": raw.label,
                "Rows": raw.rows,
                f"{TITLES[metric]}, {NAMES[0].lower()}": number(metric, raw.value(metric).value),
                f"{TITLES[metric]}, {NAMES[1].lower()}": number(metric, new.value(metric).value),
            }
            for raw, new in zip(watch.results, mapped.results, strict=True)
        ]
    )
