"""Metrics against the temperature: a flat AUC over errors that move."""

from __future__ import annotations

import math

import pandas as pd
from plotly.subplots import make_subplots

from calcore.lessons import AtTemperature, TemperatureCurve
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

#: A fitted temperature further out is said, not drawn.
FURTHEST = 16.0
#: A change of the AUC that its three decimals do not show.
SAME = 5e-4
METRICS = (("AUC", "auc", 1), ("Brier", "brier", 1), ("ECE", "ece", 1), ("Log loss", "log_loss", 2))


def temperatures_chart(curve: TemperatureCurve) -> Chart:
    """AUC, ECE and Brier score above, log loss below, over temperatures on a log axis.

    Returns the chart, a table of the points with the fitted one, and its words.
    """
    points = sorted([*curve.points, *_drawn_fit(curve)], key=lambda point: point.temperature)
    errors = [point.ece for point in points]
    title = f"{wording.on_basis('ECE', curve.basis)} from {wording.error(min(errors))} to {wording.error(max(errors))}"
    title += " at the same ranking" if curve.auc_spread < SAME else ""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.07)
    for position, (name, field, row) in enumerate(METRICS):
        _add_metric(figure, points, name, field, row, theme.style(position))
    _add_reference(figure, curve)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 400 + theme.title_height(title) + theme.legend_height(legend), title)
    ticks = [t for t in (1 / 16, 1 / 8, 0.25, 0.5, 1, 2, 4, 8, 16) if _inside(t, points)]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[wording.edge(t) for t in ticks], zeroline=False)
    figure.update_xaxes(title={"text": "Temperature: below 1 sharper, above 1 softer"}, row=2, col=1)
    figure.update_yaxes(rangemode="tozero", zeroline=False)
    figure.update_yaxes(title={"text": "AUC, Brier, ECE"}, row=1, col=1)
    figure.update_yaxes(title={"text": "Log loss"}, row=2, col=1)
    return Chart(figure, _table(curve), _alt(curve, title))


def _drawn_fit(curve: TemperatureCurve) -> list[AtTemperature]:
    return [curve.fitted] if 1 / FURTHEST <= curve.fitted.temperature <= FURTHEST else []


def _inside(temperature: float, points: list[AtTemperature]) -> bool:
    return points[0].temperature * 0.99 <= temperature <= points[-1].temperature * 1.01


def _add_metric(
    figure: object, points: list[AtTemperature], name: str, field: str, row: int, look: theme.Style
) -> None:
    values = [getattr(point, field) for point in points]
    if all(math.isnan(value) for value in values):
        return
    figure.add_scatter(  # type: ignore[attr-defined]
        x=[round(point.temperature, 4) for point in points],
        y=[round(value, 5) for value in values],
        mode="lines+markers",
        line={"color": look.color, "dash": look.dash, "width": 2},
        marker={"color": look.color, "symbol": look.marker, "size": 7},
        hovertext=[
            f"{name} {escaped(wording.error(value))}<br>at temperature {wording.edge(point.temperature)}"
            for value, point in zip(values, points, strict=True)
        ],
        hoverinfo="text",
        name=name,
        row=row,
        col=1,
    )


def _add_reference(figure: object, curve: TemperatureCurve) -> None:
    """Upright lines at the score as it is and at the fitted temperature."""
    lines = [(1.0, "The score as it is", "dash")]
    lines += [
        (fit.temperature, f"Fitted: {wording.edge(fit.temperature)}", "dot") for fit in _drawn_fit(curve)
    ]
    tops = {
        1: [p for point in (*curve.points, curve.fitted) for p in (point.auc, point.ece, point.brier)],
        2: [point.log_loss for point in (*curve.points, curve.fitted)],
    }
    for row, values in tops.items():
        top = max((value for value in values if not math.isnan(value)), default=1.0)
        for at, name, dash in lines:
            figure.add_scatter(  # type: ignore[attr-defined]
                x=[round(at, 4)] * 2,
                y=[0, round(top, 5)],
                mode="lines",
                line={"color": theme.NEUTRAL, "dash": dash, "width": 1.5},
                hoverinfo="skip",
                name=name,
                showlegend=row == 1,
                row=row,
                col=1,
            )


def _table(curve: TemperatureCurve) -> pd.DataFrame:
    points = sorted([*curve.points, curve.fitted], key=lambda point: point.temperature)
    return pd.DataFrame(
        [
            {
                "Temperature": wording.edge(point.temperature),
                "": "fitted" if point is curve.fitted else "as it is" if point.temperature == 1 else "",
                "AUC": wording.MISSING if math.isnan(point.auc) else f"{point.auc:.6f}",
                "ECE": wording.error(point.ece),
                "Brier": wording.error(point.brier),
                "Log loss": wording.error(point.log_loss),
            }
            for point in points
        ]
    )


def _alt(curve: TemperatureCurve, title: str) -> str:
    unchanged, fitted = curve.unchanged, curve.fitted
    return (
        f"{title}. Log loss is {wording.error(unchanged.log_loss)} for the score as it is and "
        f"{wording.error(fitted.log_loss)} at the fitted temperature {wording.edge(fitted.temperature)}."
    )
