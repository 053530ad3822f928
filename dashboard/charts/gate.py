"""The gate: how often labels contradict the score, against where the map is used and where it is not."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from calcore.calibrators import GateAudit
from calcore.calibrators.loss_weighted import GATE_START, GATE_WIDTH
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

USE, WATCH, CHECK = "use the map", "back off,<br>watch", "audit labels<br>first"
MEASURED, EXPECTED = "measured", "expected if<br>labels were right"
#: A rule of thumb of the paper, and no advice on these scores: the comparison gives that.
PAPER = "The paper's recommendation at this gate"
#: Heights on the unit axis: the names of the regions stand above, each marker on its own line.
NAMES, MEASURED_AT, EXPECTED_AT = 0.7, 0.5, 0.17


def gate_chart(audit: GateAudit, *, center: float = GATE_START, width: float = GATE_WIDTH) -> Chart:
    """The contradiction rate on an axis with the three regions of LWCal's Table XI.

    The rate expected if every label were right and the score calibrated is beside it. Returns the axis, a
    table of its numbers, and its words.
    """
    end = _end(audit, center + width)
    title = gate_words(audit)
    figure = go.Figure()
    ends = (0.0, center, center + width, end)
    for i, (label, color) in enumerate(zip((USE, WATCH, CHECK), theme.REGIONS, strict=True)):
        _add_region(figure, ends[i], ends[i + 1], label, color)
    figure.add_shape(
        type="line",
        x0=audit.d_hat,
        x1=audit.d_hat,
        y0=MEASURED_AT,
        y1=NAMES,
        line={"color": theme.BAD, "width": 2},
    )
    _add_marker(figure, audit.d_hat, MEASURED_AT, MEASURED, theme.style(1), end)
    _add_marker(figure, audit.expected_d, EXPECTED_AT, EXPECTED, theme.style(0), end)
    theme.base_layout(figure, 236 + theme.title_height(title), title)
    marks = sorted({0.0, center, center + width, end})
    figure.update_xaxes(
        range=[0, end],
        tickvals=marks,
        ticktext=[wording.rate(mark) for mark in marks],
        ticklabeloverflow="allow",
        title={"text": "Rows whose label contradicts the score"},
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(range=[0, 1], visible=False)
    figure.update_layout(showlegend=False, margin_l=20, margin_r=24)
    return Chart(figure, _table(audit, center, width), _alt(audit, center, width, title))


def gate_words(audit: GateAudit) -> str:
    """How far the gate backs off, as a sentence without its stop."""
    rate = wording.rate(audit.d_hat)
    if audit.rho <= 0:
        return f"Gate not backed off: labels contradict the score on {rate} of rows, the map is used in full"
    if audit.rho >= 1:
        return f"Gate fully backed off: labels contradict the score on {rate} of rows, the score is kept"
    return f"Gate {wording.rate(audit.rho)} backed off: labels contradict the score on {rate} of rows"


def _end(audit: GateAudit, last: float) -> float:
    """The right end of the axis: 0.6, or the next tenth that leaves room to the right of everything."""
    furthest = max(audit.d_hat + 0.02, audit.expected_d + 0.02, last + 0.1)
    return max(0.6, math.ceil(10 * furthest - 1e-9) / 10)


def _add_region(figure: go.Figure, low: float, high: float, label: str, color: str) -> None:
    figure.add_shape(
        type="rect", x0=low, x1=high, y0=0, y1=1, fillcolor=color, line={"width": 0}, layer="below"
    )
    if low > 0:
        edge = {"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"}
        figure.add_shape(type="line", x0=low, x1=low, y0=NAMES, y1=1, line=edge)
    figure.add_annotation(
        x=(low + high) / 2, y=(1 + NAMES) / 2, text=label, showarrow=False, font={"size": theme.FONT}
    )


def _add_marker(figure: go.Figure, value: float, y: float, label: str, look: theme.Style, end: float) -> None:
    """A marker on its own height, its label on the side where a phone has room for it."""
    figure.add_scatter(
        x=[value],
        y=[y],
        mode="markers",
        marker={"color": look.color, "symbol": look.marker, "size": 13},
        hovertext=f"{label.replace('<br>', ' ')}: {escaped(wording.rate(value))} of rows",
        hoverinfo="text",
        cliponaxis=False,
        name=label,
    )
    left = value / end > 0.45
    figure.add_annotation(
        x=value,
        y=y,
        xanchor="right" if left else "left",
        xshift=-10 if left else 10,
        align="right" if left else "left",
        text=f"<b>{escaped(wording.rate(value))}</b> {label}",
        showarrow=False,
        font={"size": theme.FONT},
    )


def _alt(audit: GateAudit, center: float, width: float, title: str) -> str:
    return (
        f"{title}; {wording.rate(audit.expected_d)} would be expected if the labels were right. Below "
        f"{wording.rate(center)} the map is used, above {wording.rate(center + width)} labels come first. "
        f"{PAPER}, by the contradiction rate alone: {audit.score}. {audit.action}"
    )


def _table(audit: GateAudit, center: float, width: float) -> pd.DataFrame:
    rows = [
        ("Labels that contradict the score (d_hat)", wording.rate(audit.d_hat)),
        ("Expected if labels were right", wording.rate(audit.expected_d)),
        ("Gate backed off (rho)", wording.rate(audit.rho)),
        ("The map is used below", wording.rate(center)),
        ("Labels are audited first above", wording.rate(center + width)),
        (f"{PAPER}: score", audit.score),
        (f"{PAPER}: action", audit.action),
    ]
    return pd.DataFrame(rows, columns=["What", "Value"])
