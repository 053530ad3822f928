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
#: More batches than this are drawn with smaller marks.
CROWDED = 30


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
    ticks = sorted({len(axis.x) // 8, len(axis.x) - 1 - len(axis.x) // 8})
    figure.update_xaxes(
        tickvals=[axis.x[i] for i in ticks],
        ticktext=[shortened(axis.labels[i], 10) for i in ticks],
        title=None,
        tickfont_size=theme.SMALL,
    )
    step = _step(limit)
    figure.update_yaxes(
        range=[-limit, limit],
        tickvals=[-step, 0, step],
        ticktext=[f"\u2212{step:g}", "0", f"+{step:g}"],
        zeroline=True,
    )
    figure.update_yaxes(title={"text": "Points"}, col=1)
    worst = series[0]
    alt = (
        f"Event rate minus mean score of {len(series)} subgroups over {len(watch.results)} batches. {title}. First drawn: "
        f"{worst.name}, {number('gap', worst.recent.value)} over the newest measured batches."
    )
    return Chart(figure, table, alt)


def _limit(series: Sequence[GroupSeries], tolerance: float) -> float:
    """Room for every gap that is known to within 50 points, and for nearly all of their intervals."""
    gaps, ends = [np.zeros(0)], [np.zeros(0)]
    for one in series:
        known = np.isfinite(one.gap) & (one.high - one.low < 1)
        gaps.append(np.abs(one.gap[known]))
        ends += [np.abs(one.low[known]), np.abs(one.high[known])]
    every = np.concatenate(ends)
    widest = float(np.quantile(every, 0.95)) if every.size else 0.05
    return 115 * max(float(np.concatenate(gaps).max(initial=0.0)), widest, 1.5 * tolerance)


def _step(limit: float) -> float:
    """A round number within the axis."""
    return next((step for step in (50, 20, 10, 5, 2, 1, 0.5) if step <= 0.85 * limit), 0.2)


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
    alarmed = one.alarmed and not one.over
    color, crowded = theme.BAD if alarmed else theme.GOOD, len(axis.x) > CROWDED
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
            "thickness": 0.5 if crowded else 1,
            "width": 0,
        },
        mode="lines+markers",
        line={"color": color, "width": 1 if crowded else 1.5},
        marker={"color": color, "symbol": "diamond" if alarmed else "circle", "size": 3 if crowded else 6},
        hovertext=[_hover(watch, one, int(i)) for i in at],
        hoverinfo="text",
        name="Alert" if alarmed else "No alert",
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
                "Alert": "yes" if one.during[i] else "no",
            }
            for one in series
            for i, batch in enumerate(watch.results)
            if np.isfinite(one.gap[i])
        ],
        columns=["Subgroup", "Batch", "Rows", "Event rate minus mean score", "95 % interval", "Alert"],
    )
