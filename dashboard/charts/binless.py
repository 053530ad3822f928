"""Curves without bins: the isotonic event rate with its bands, and the decision curve."""

from __future__ import annotations

import plotly.graph_objects as go

from calcore.metrics import Corp, DecisionCurve
from calcore.validation import Floats
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

BAND = "If calibrated"


def corp_chart(name: str, curve: Corp) -> Chart:
    """The isotonic event rate over the score of one named score, its confidence band, and where calibration would be."""
    table = curve.to_frame()
    share = float(curve.mass[curve.outside].sum())
    title = (
        f"{wording.rate(share)} of the scores lie outside what a calibrated score would show"
        if share >= 0.01
        else "The curve stays within what a calibrated score would show"
    )
    figure = go.Figure()
    _band(figure, curve.score, curve.consistency_lower, curve.consistency_upper, BAND)
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        name="Calibrated",
    )
    look = theme.styles([name])[0]
    for bound in (curve.lower, curve.upper):
        figure.add_scatter(
            x=curve.score.round(4).tolist(),
            y=bound.round(4).tolist(),
            mode="lines",
            line={"color": look.color, "width": 1, "dash": "dot"},
            hoverinfo="skip",
            name="95 % band of the curve",
            legendgroup="band",
            showlegend=bound is curve.lower,
        )
    figure.add_scatter(
        x=curve.score.round(4).tolist(),
        y=curve.event_rate.round(4).tolist(),
        mode="lines" if len(curve) > 1 else "markers",
        line={"color": look.color, "width": 2},
        marker={"color": look.color},
        hovertext=[
            f"Score {wording.rate(s)}: event rate {wording.rate(r)}"
            for s, r in zip(curve.score, curve.event_rate, strict=True)
        ],
        hoverinfo="text",
        name=escaped(name),
    )
    _finish(figure, title, "Score", "Event rate, isotonic")
    figure.update_xaxes(range=[-0.02, 1.02])
    figure.update_yaxes(range=[-0.02, 1.02])
    alt = f"Isotonic event rate of {name} over the score with 95 % bands at each score. {title}."
    return Chart(figure, table, alt)


def decision_chart(name: str, curve: DecisionCurve) -> Chart:
    """Net benefit over the threshold: acting by the score, on everyone, and on no one."""
    better = curve.threshold[curve.advantage_lower > 0]
    title = (
        f"Acting by the score beats acting on everyone or no one at {better.size} of {len(curve)} thresholds"
        if better.size
        else "At no threshold is acting by the score surely better than acting on everyone or no one"
    )
    figure, look = go.Figure(), theme.styles([name])[0]
    _band(figure, curve.threshold, curve.lower, curve.upper, "95 % interval")
    for values, label, dash, color in (
        (curve.net_benefit, escaped(name), "solid", look.color),
        (curve.treat_all, "Acting on everyone", "dash", theme.NEUTRAL),
        (0.0 * curve.threshold, "Acting on no one", "dot", theme.NEUTRAL),
    ):
        figure.add_scatter(
            x=curve.threshold.round(4).tolist(),
            y=values.round(5).tolist(),
            mode="lines",
            line={"color": color, "width": 2, "dash": dash},
            hovertemplate="Threshold %{x:.0%}: net benefit %{y:.3f}<extra></extra>",
            name=label,
        )
    _finish(figure, title, "Threshold: act where the score is at least", "Net benefit per row")
    top = max(float(curve.net_benefit.max()), curve.base_rate, 0.01)
    figure.update_yaxes(range=[-0.25 * top, 1.1 * top])
    return Chart(figure, curve.to_frame(), f"Decision curve of {name}. {title}.")


def _band(figure: go.Figure, x: Floats, lower: Floats, upper: Floats, name: str) -> None:
    figure.add_scatter(
        x=[*x.round(4).tolist(), *x[::-1].round(4).tolist()],
        y=[*upper.round(5).tolist(), *lower[::-1].round(5).tolist()],
        fill="toself",
        fillcolor=theme.BAND,
        mode="lines",
        line={"width": 0, "color": theme.NEUTRAL},
        hoverinfo="skip",
        name=name,
    )


def _finish(figure: go.Figure, title: str, x: str, y: str) -> None:
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 400 + theme.title_height(title) + theme.legend_height(legend), title)
    figure.update_layout(xaxis={"title": {"text": x}}, yaxis={"title": {"text": y}})
