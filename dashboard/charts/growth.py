"""Held-out errors of Platt and isotonic against the size of the calibration set."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from calcore.lessons import Growth, GrowthLine
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

METRICS = ("Brier", "ECE")
REFERENCE = "Identity"


def growth_chart(growth: Growth) -> Chart:
    """Means with bands over the resamples, Brier score above ECE, and the score as it is.

    Returns the chart, a table of all means and bands, and its words.
    """
    title = _title(growth)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07)
    methods = list(dict.fromkeys(line.method for line in growth.lines))
    for method, look in zip(methods, theme.styles(methods), strict=True):
        for row, metric in enumerate(METRICS, start=1):
            _add_line(figure, growth, growth.line(method, metric), look, row)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 430 + theme.title_height(title) + theme.legend_height(legend), title)
    figure.update_xaxes(
        type="log", tickvals=list(growth.sizes), ticktext=[wording.count(size) for size in growth.sizes]
    )
    figure.update_xaxes(title={"text": "Rows to fit on"}, row=2, col=1)
    for row, metric in enumerate(METRICS, start=1):
        figure.update_yaxes(title={"text": f"Held-out {metric}"}, zeroline=False, row=row, col=1)
    return Chart(figure, _table(growth), _alt(growth, title))


def _add_line(figure: go.Figure, growth: Growth, line: GrowthLine, look: theme.Style, row: int) -> None:
    sizes = list(growth.sizes)
    if line.method != REFERENCE:  # it is fitted on nothing: its band would only show the held-out rows
        figure.add_scatter(
            x=sizes + sizes[::-1],
            y=[*line.high.round(5).tolist(), *line.low[::-1].round(5).tolist()],
            mode="lines",
            fill="toself",
            fillcolor=theme.band(look.color),
            line={"width": 0, "color": look.color},
            hoverinfo="skip",
            showlegend=False,
            name=escaped(line.title),
            row=row,
            col=1,
        )
    figure.add_scatter(
        x=sizes,
        y=line.mean.round(5).tolist(),
        mode="lines+markers",
        line={"color": look.color, "dash": look.dash, "width": 2},
        marker={"color": look.color, "symbol": look.marker, "size": 8},
        hovertext=[
            f"{escaped(line.title)}, {wording.rows(size)}<br>{line.metric} {escaped(_value(line, k))}"
            for k, size in enumerate(sizes)
        ],
        hoverinfo="text",
        name=escaped(line.title),
        showlegend=row == 1,
        row=row,
        col=1,
    )


def _value(line: GrowthLine, k: int) -> str:
    band = wording.interval((float(line.low[k]), float(line.high[k])))
    return f"{wording.error(float(line.mean[k]))} ({band})"


def _title(growth: Growth) -> str:
    if growth.same:
        return "Platt and isotonic learn the same here"
    at, brier = growth.overtakes["Brier"], wording.on_basis("Brier score", growth.basis)
    if at is None:
        return f"By the {brier} Platt stays ahead up to {wording.rows(growth.sizes[-1])}"
    if at == growth.sizes[0]:
        return f"By the {brier} isotonic is ahead from {wording.rows(at)} on"
    return f"By the {brier} isotonic overtakes at {wording.rows(at)}"


def _table(growth: Growth) -> pd.DataFrame:
    table = pd.DataFrame({"Rows to fit on": [wording.count(size) for size in growth.sizes]})
    for line in growth.lines:
        table[f"{line.metric}, {line.title}"] = [_value(line, k) for k in range(len(growth.sizes))]
    for metric in METRICS:
        table[f"{metric}: isotonic lower in"] = [
            wording.rate(float(share)) for share in growth.isotonic_wins[metric]
        ]
    return table


def _alt(growth: Growth, title: str) -> str:
    told = []
    for metric in METRICS:
        platt, isotonic = growth.line("Platt", metric).mean, growth.line("Isotonic", metric).mean
        told.append(
            f"{metric} from {wording.rows(growth.sizes[0])} to {wording.rows(growth.sizes[-1])}: Platt "
            f"{wording.error(float(platt[0]))} to {wording.error(float(platt[-1]))}, isotonic "
            f"{wording.error(float(isotonic[0]))} to {wording.error(float(isotonic[-1]))}"
        )
    return f"{title}. {'. '.join(told)}."
