"""The gap of subgroups over batches, a small picture each, on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from calcore.monitoring import Watch
from calcore.monitoring.alerts import number
from calcore.monitoring.sentences import groups_title
from calcore.monitoring.series import GroupSeries
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import shortened, two_lines
from dashboard.charts.over_time_axis import BatchAxis, batch_axis

COLUMNS = 2
ROW_HEIGHT = 150


def groups_chart(
    watch: Watch, series: Sequence[GroupSeries], *, every: Sequence[GroupSeries] | None = None
) -> Chart:
    """Event rate minus mean score of each of ``series``, with the tolerance drawn; the title is about ``every`` one."""
    title = groups_title(series if every is None else every)
    table = _table(watch, series)
    if not series:
        return Chart(theme.nothing("No subgroup is large enough.", title), table, f"{title}.")
    axis = batch_axis(watch.results)
    rows = -(-len(series) // COLUMNS)
    figure = make_subplots(
        rows=rows,
        cols=COLUMNS,
        shared_yaxes="all",
        shared_xaxes="all",
        horizontal_spacing=0.05,
        vertical_spacing=min(0.3, 46 / (rows * ROW_HEIGHT)),
        subplot_titles=[two_lines(one.name, 24) for one in series],
    )
    limit = _limit(series, watch.plan.tolerance)
    for k, one in enumerate(series):
        _add_panel(figure, watch, axis, one, k // COLUMNS + 1, k % COLUMNS + 1, k == 0)
    legend = [trace.name for trace in figure.data if trace.showlegend]
    height = 70 + ROW_HEIGHT * rows + theme.title_height(title) + theme.legend_height(legend)
    theme.base_layout(figure, height, title)
    figure.update_layout(margin_t=theme.title_height(title) + 34)
    figure.update_annotations(font_size=theme.SMALL)
    axis.style(figure)
    figure.update_xaxes(nticks=3, title=None, tickfont_size=theme.SMALL)
    if not axis.timed:
        places = sorted({0, len(axis.labels) - 1})
        figure.update_xaxes(tickvals=places, ticktext=[shortened(axis.labels[i], 9) for i in places])
    figure.update_yaxes(range=[-limit, limit], tickformat="+.0f", nticks=5, zeroline=True)
    figure.update_yaxes(title={"text": "Points"}, col=1)
    worst = series[0]
    alt = (
        f"Event rate minus mean score of {len(series)} subgroups over {len(watch.results)} batches. {title}. First drawn: "
        f"{worst.name}, {number('gap', worst.pooled.value)} over the batches after the reference period."
    )
    return Chart(figure, table, alt)


def _limit(series: Sequence[GroupSeries], tolerance: float) -> float:
    """Room for every point, and for intervals unless they are many times wider."""
    gaps = np.concatenate([one.gap for one in series])
    ends = np.concatenate([end for one in series for end in (one.low, one.high)])
    gaps, ends = np.abs(gaps[np.isfinite(gaps)]), np.abs(ends[np.isfinite(ends)])
    if not gaps.size:
        return 100 * max(2 * tolerance, 0.05)
    return 110 * max(
        float(gaps.max()), min(float(ends.max(initial=0.0)), 2 * float(gaps.max())), 1.5 * tolerance
    )


def _add_panel(
    figure: go.Figure, watch: Watch, axis: BatchAxis, one: GroupSeries, row: int, col: int, first: bool
) -> None:
    if watch.plan.tolerance > 0:
        t = 100 * watch.plan.tolerance
        a, b = axis.before[0], axis.after[-1]
        figure.add_scatter(
            x=[a, b, b, a],
            y=[t, t, -t, -t],
            fill="toself",
            fillcolor=theme.BAND,
            mode="lines",
            line={"width": 0, "color": theme.NEUTRAL},
            hoverinfo="skip",
            name=f"Within {wording.points(watch.plan.tolerance)}",
            showlegend=first,
            row=row,
            col=col,
        )
    at = np.flatnonzero(np.isfinite(one.gap))
    color = theme.BAD if one.alarmed else theme.GOOD
    gap, low, high = (100 * values[at] for values in (one.gap, one.low, one.high))
    figure.add_scatter(
        x=[axis.x[i] for i in at],
        y=gap.round(3).tolist(),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(high - gap).round(3).tolist(),
            "arrayminus": np.nan_to_num(gap - low).round(3).tolist(),
            "color": color,
            "thickness": 1,
            "width": 0,
        },
        mode="lines+markers",
        line={"color": color, "width": 1.5, "dash": "dash" if one.alarmed else "solid"},
        marker={"color": color, "symbol": "diamond" if one.alarmed else "circle", "size": 6},
        hovertext=[_hover(watch, one, int(i)) for i in at],
        hoverinfo="text",
        name="Alert" if one.alarmed else "No alert",
        showlegend=False,
        row=row,
        col=col,
    )


def _hover(watch: Watch, one: GroupSeries, i: int) -> str:
    return (
        f"{shortened(one.name, 60)}<br>{shortened(watch.results[i].label, 40)}: {number('gap', float(one.gap[i]))}<br>"
        f"{number('gap', float(one.low[i]))} to {number('gap', float(one.high[i]))}, {wording.rows(int(one.rows[i]))}"
    )


def _table(watch: Watch, series: Sequence[GroupSeries]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Subgroup": one.name,
                "Batch": batch.label,
                "Rows": int(one.rows[i]),
                "Event rate minus mean score": number("gap", float(one.gap[i])),
                "95 % interval": f"{number('gap', float(one.low[i]))} to {number('gap', float(one.high[i]))}",
                "Alert": "yes" if one.alarmed else "no",
            }
            for one in series
            for i, batch in enumerate(watch.results)
            if np.isfinite(one.gap[i])
        ],
        columns=["Subgroup", "Batch", "Rows", "Event rate minus mean score", "95 % interval", "Alert"],
    )
