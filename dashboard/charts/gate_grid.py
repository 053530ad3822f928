"""The gate at other centres and widths, as a small heatmap."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from calcore.gate_grid import GateGrid, GateSetting
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

ROW_HEIGHT = 48


def gate_grid_chart(found: GateGrid) -> Chart:
    """rho at each centre (down) and width (across), with the Brier score below it where it was measured.

    The present setting has a frame. Returns the heatmap, a table of the settings, and its words.
    """
    title = "How open the gate is at other settings"
    at = {(one.center, one.width): one for one in found.settings}
    rows = [[at[center, width] for width in found.widths] for center in found.centers]
    figure = go.Figure()
    figure.add_heatmap(
        z=[[round(one.rho, 4) for one in row] for row in rows],
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in theme.SEQUENTIAL],
        showscale=False,
        xgap=2,
        ygap=2,
        text=[[_cell(one) for one in row] for row in rows],
        texttemplate="%{text}",
        textfont={"size": theme.FONT, "color": theme.MARK},
        hovertext=[[_hover(one) for one in row] for row in rows],
        hoverinfo="text",
        name="rho",
    )
    for i, row in enumerate(rows):
        for j, one in enumerate(row):
            if one.present:
                frame = {"x0": j - 0.48, "x1": j + 0.48, "y0": i - 0.46, "y1": i + 0.46}
                figure.add_shape(type="rect", **frame, line={"color": theme.GOOD, "width": 4})
    theme.base_layout(figure, 60 + ROW_HEIGHT * len(rows) + theme.title_height(title), title)
    figure.update_xaxes(
        tickvals=list(range(len(found.widths))),
        ticktext=[wording.edge(width) for width in found.widths],
        title={"text": "Width"},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5],
        tickvals=list(range(len(rows))),
        ticktext=[wording.edge(center) for center in found.centers],
        title={"text": "Centre"},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    return Chart(figure, _table(found), _alt(found, title))


def _cell(one: GateSetting) -> str:
    text = f"rho {wording.error(one.rho)}"
    return (
        escaped(text)
        if one.brier is None
        else f"{escaped(text)}<br>Brier {escaped(wording.error(one.brier.value))}"
    )


def _hover(one: GateSetting) -> str:
    lines = [
        f"centre {wording.edge(one.center)}, width {wording.edge(one.width)}: rho {wording.error(one.rho)}"
    ]
    if one.present:
        lines.append("the present setting")
    if one.brier is not None:
        lines.append(f"Brier {wording.error(one.brier.value)} ({wording.interval(one.brier.interval)})")
    if one.difference is not None and not one.present:
        lines.append(f"against the present setting {_difference(one)}")
    return "<br>".join(escaped(line) for line in lines)


def _difference(one: GateSetting) -> str:
    if one.difference is None or one.present:
        return ""
    gap = one.difference
    return f"{wording.signed(gap.value)} ({wording.signed(gap.lower)} to {wording.signed(gap.upper)})"


def _alt(found: GateGrid, title: str) -> str:
    rho = [one.rho for one in found.settings]
    present = next(one for one in found.settings if one.present)
    text = (
        f"{title}: rho from {wording.error(min(rho))} to {wording.error(max(rho))} over {len(rho)} settings; at the present "
        f"one (centre {wording.edge(present.center)}, width {wording.edge(present.width)}) {wording.error(present.rho)}"
    )
    values = [one.brier.value for one in found.settings if one.brier is not None]
    if values:
        text += f". Brier scores from {wording.error(min(values))} to {wording.error(max(values))}"
    return f"{text}."


def _table(found: GateGrid) -> pd.DataFrame:
    rows = [
        {
            "Centre": wording.edge(one.center),
            "Width": wording.edge(one.width),
            "Present": "yes" if one.present else "",
            "rho": wording.error(one.rho),
            "Brier": wording.MISSING if one.brier is None else wording.error(one.brier.value),
            "Interval": wording.MISSING if one.brier is None else wording.interval(one.brier.interval),
            "Against the present setting": _difference(one),
        }
        for one in found.settings
    ]
    return pd.DataFrame(rows)
