"""The gate: how often labels contradict the score, against where the map is used and where it is not."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from calcore.calibrators import GateAudit
from calcore.calibrators.loss_weighted import GATE_START, GATE_WIDTH
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart

USE, WATCH, CHECK = "use the map", "back off, watch", "audit labels first"
EXPECTED = "expected if labels were right"


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
        _add_region(figure, ends[i], ends[i + 1], label, color, end)
    _add_marker(figure, audit.d_hat, 0.62, "measured", theme.style(1), end, above=True)
    _add_marker(figure, audit.expected_d, 0.3, EXPECTED, theme.style(0), end, above=False)
    theme.base_layout(figure, 236 + theme.title_height(title), title)
    marks = sorted({0.0, center, center + width, end})
    figure.update_xaxes(
        range=[0, end],
        tickvals=marks,
        ticktext=[wording.rate(mark) for mark in marks],
        title={"text": "Rows whose label contradicts the score"},
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(range=[0, 1], visible=False)
    figure.update_layout(showlegend=False)
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
    """The right end of the axis: 0.6, or the next tenth that holds everything."""
    furthest = max(audit.d_hat + 0.02, audit.expected_d + 0.02, last + 0.1)
    return max(0.6, min(1.0, round(-(-furthest // 0.1) * 0.1, 1)), furthest if furthest > 1 else 0.0)


def _add_region(figure: go.Figure, low: float, high: float, label: str, color: str, end: float) -> None:
    figure.add_shape(
        type="rect", x0=low, x1=high, y0=0, y1=1, fillcolor=color, line={"width": 0}, layer="below"
    )
    if high < end:
        figure.add_shape(
            type="line",
            x0=high,
            x1=high,
            y0=0,
            y1=1,
            line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        )
    # a region of less than a third of the axis holds one word a line on a phone
    text = label if (high - low) / end > 0.33 else label.replace(" ", "<br>")
    figure.add_annotation(
        x=(low + high) / 2, y=0.99, yanchor="top", text=text, showarrow=False, font={"size": theme.FONT}
    )


def _add_marker(
    figure: go.Figure, value: float, y: float, label: str, look: theme.Style, end: float, *, above: bool
) -> None:
    """A marker on its own height with its label beside it, so that two never overlap."""
    figure.add_shape(
        type="line", x0=value, x1=value, y0=0, y1=y, line={"color": look.color, "width": 2, "dash": look.dash}
    )
    figure.add_scatter(
        x=[value],
        y=[y],
        mode="markers",
        marker={"color": look.color, "symbol": look.marker, "size": 14 if above else 12},
        hovertext=f"{label}: {wording.rate(value)} of rows",
        hoverinfo="text",
        name=label,
    )
    right = value / end > 0.5
    figure.add_annotation(
        x=value,
        y=y,
        xanchor="right" if right else "left",
        xshift=-11 if right else 11,
        text=f"<b>{wording.rate(value)}</b> {label}",
        showarrow=False,
        font={"size": theme.FONT},
    )


def _alt(audit: GateAudit, center: float, width: float, title: str) -> str:
    return (
        f"{title}; {wording.rate(audit.expected_d)} would be expected if the labels were right. Below "
        f"{wording.rate(center)} the map is used, above {wording.rate(center + width)} labels come first. "
        f"Recommended score: {audit.score}. {audit.action}"
    )


def _table(audit: GateAudit, center: float, width: float) -> pd.DataFrame:
    rows = [
        ("Labels that contradict the score (d_hat)", wording.rate(audit.d_hat)),
        ("Expected if labels were right", wording.rate(audit.expected_d)),
        ("Gate backed off (rho)", wording.rate(audit.rho)),
        ("The map is used below", wording.rate(center)),
        ("Labels are audited first above", wording.rate(center + width)),
        ("Recommended score", audit.score),
        ("Recommended action", audit.action),
    ]
    return pd.DataFrame(rows, columns=["What", "Value"])
