"""Calibrators side by side: error against loss, and paired differences to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calcore.comparison import Comparison, Entry
from calcore.metrics.differences import Difference
from calcore.metrics.results import Estimate
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped, shortened

ROW_HEIGHT = 30


def error_against_loss(comparison: Comparison) -> Chart:
    """ECE against log loss of every calibrator, with both intervals as a cross; lower left is better.

    Calibrators that do not exist here are left out and named in the words. Returns the scatter, a table of
    its numbers, and its words.
    """
    drawn = [entry for entry in comparison.entries if _finite(entry, "ECE") and _finite(entry, "log loss")]
    table = _scatter_table(drawn)
    if not drawn:
        figure = theme.nothing("No calibrator could be measured here.")
        return Chart(figure, table, f"No calibrator could be measured here.{_left_out(comparison, drawn)}")
    title = _scatter_finding(comparison, drawn)
    figure = go.Figure()
    for entry, look in zip(drawn, theme.styles([entry.title for entry in drawn]), strict=True):
        _add_cross(figure, entry, look)
    legend = [entry.title for entry in drawn]
    theme.base_layout(figure, 370 + theme.title_height(title) + theme.legend_height(legend), title)
    basis = drawn[0].metrics["ECE"].basis
    figure.update_xaxes(title={"text": f"Log loss, {basis}<br>(lower is better)"}, showgrid=True, nticks=6)
    figure.update_yaxes(title={"text": f"ECE, {basis}"}, rangemode="tozero", zeroline=False, nticks=6)
    figure.update_layout(showlegend=True)
    numbers = "; ".join(
        f"{e.title} ECE {wording.error(e.metrics['ECE'].value)}, "
        f"log loss {wording.error(e.metrics['log loss'].value)}"
        for e in sorted(drawn, key=lambda entry: entry.metrics["ECE"].value)[:3]
    )
    alt = f"ECE against log loss of {len(drawn)} calibrators. {title}. Lowest ECE: {numbers}."
    return Chart(figure, table, alt + _left_out(comparison, drawn))


def differences_chart(comparison: Comparison, metric: str) -> Chart:
    """Paired differences of ``metric`` ("Brier", "log loss" or "ECE") to the reference, with intervals.

    Below zero is better. Returns the forest plot, a table of its numbers, and its words.
    """
    reference = comparison.entry(comparison.reference)
    drawn = [
        entry
        for entry in comparison.entries
        if entry.name != comparison.reference
        and metric in entry.differences
        and np.isfinite(entry.differences[metric].value)
    ]
    drawn.sort(key=lambda entry: entry.differences[metric].value)
    table = _forest_table(drawn, metric)
    left_out = _left_out(comparison, [reference, *drawn])
    if not drawn:
        sentence = f"No calibrator has a difference in {metric} to {reference.title}."
        return Chart(theme.nothing(sentence), table, sentence + left_out)
    title = _forest_finding(comparison, drawn, metric, reference.title)
    figure = go.Figure()
    for separated in (True, False):
        _add_differences(figure, drawn, metric, separated)
    _add_better_and_worse(figure)
    legend = [trace.name for trace in figure.data]
    extra = theme.title_height(title) + theme.legend_height(legend)
    theme.base_layout(figure, 110 + ROW_HEIGHT * len(drawn) + extra, title)
    figure.update_xaxes(
        range=_around_zero([entry.differences[metric] for entry in drawn]),
        title={"text": _forest_axis(comparison, metric, reference)},
        showgrid=True,
        zeroline=False,
        nticks=5,
    )
    figure.update_yaxes(
        range=[len(drawn) - 0.5, -0.9],
        tickvals=list(range(len(drawn))),
        ticktext=[shortened(entry.title, 20) for entry in drawn],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(showlegend=True)
    best = drawn[0]
    alt = f"{title}. Lowest: {best.title}, {_words(best.differences[metric])}, on {wording.rows(comparison.measured.n)}."
    return Chart(figure, table, alt + left_out)


def _finite(entry: Entry, metric: str) -> bool:
    return (
        entry.missing is None and metric in entry.metrics and bool(np.isfinite(entry.metrics[metric].value))
    )


def _left_out(comparison: Comparison, drawn: Sequence[Entry]) -> str:
    names = [entry.title for entry in comparison.entries if all(entry is not other for other in drawn)]
    return f" Left out, not measurable here: {wording.listed(names, 12)}." if names else ""


def _add_cross(figure: go.Figure, entry: Entry, look: theme.Style) -> None:
    error, loss = entry.metrics["ECE"], entry.metrics["log loss"]
    hover = [
        entry.title,
        f"ECE {wording.error(error.value)} ({wording.interval(error.interval)})",
        f"log loss {wording.error(loss.value)} ({wording.interval(loss.interval)})",
        f"{wording.rows(error.n)}",
    ]
    figure.add_scatter(
        x=[round(loss.value, 5)],
        y=[round(error.value, 5)],
        error_x=_arms(loss, look.color),
        error_y=_arms(error, look.color),
        mode="markers",
        marker={"color": look.color, "symbol": look.marker, "size": 11},
        hovertext="<br>".join(escaped(line) for line in hover),
        hoverinfo="text",
        name=escaped(entry.title),
    )


def _arms(estimate: Estimate, color: str) -> dict[str, Any]:
    low, high = estimate.interval or (estimate.value, estimate.value)
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(float(np.nan_to_num(max(high - estimate.value, 0.0))), 5)],
        "arrayminus": [round(float(np.nan_to_num(max(estimate.value - low, 0.0))), 5)],
        "color": color,
        "thickness": 1,
        "width": 0,
    }


def _scatter_finding(comparison: Comparison, drawn: Sequence[Entry]) -> str:
    if comparison.basis.ranked == "no":
        return "Not a ranking: a map that copies the noise looks best on noisy labels"
    if len(drawn) == 1:
        return f"{drawn[0].title} is the only calibrator measured"
    error, loss = (min(drawn, key=lambda entry: entry.metrics[key].value) for key in ("ECE", "log loss"))
    text = f"{error.title} has the lowest ECE and {loss.title} the lowest log loss"
    if error is loss:
        text = f"{error.title} has the lowest ECE and log loss"
    return text if comparison.winner else f"{text}, but there is no clear winner"


def _scatter_table(drawn: Sequence[Entry]) -> pd.DataFrame:
    columns = ["Calibrator", "ECE", "ECE interval", "Log loss", "Log loss interval", "Rows"]
    records = [
        (
            entry.title,
            wording.error(entry.metrics["ECE"].value),
            wording.interval(entry.metrics["ECE"].interval),
            wording.error(entry.metrics["log loss"].value),
            wording.interval(entry.metrics["log loss"].interval),
            entry.metrics["ECE"].n,
        )
        for entry in drawn
    ]
    return pd.DataFrame(records, columns=columns)


def _words(difference: Difference) -> str:
    low, high = wording.signed(difference.lower), wording.signed(difference.upper)
    return f"{wording.signed(difference.value)} ({low} to {high})"


def _add_differences(figure: go.Figure, drawn: Sequence[Entry], metric: str, separated: bool) -> None:
    """Solid markers where the interval excludes 0, open grey ones where it does not."""
    at = [i for i, entry in enumerate(drawn) if entry.differences[metric].separated == separated]
    if not at:
        return
    found = [drawn[i].differences[metric] for i in at]
    color = theme.GOOD if separated else theme.NEUTRAL
    figure.add_scatter(
        x=[round(d.value, 6) for d in found],
        y=at,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [round(float(np.nan_to_num(max(d.upper - d.value, 0.0))), 6) for d in found],
            "arrayminus": [round(float(np.nan_to_num(max(d.value - d.lower, 0.0))), 6) for d in found],
            "color": color,
            "thickness": 2,
            "width": 4,
        },
        mode="markers",
        marker={
            "color": color,
            "symbol": "circle" if separated else "circle-open",
            "size": 10,
            "line": {"width": 2, "color": color},
        },
        hovertext=[
            f"{escaped(drawn[i].title)}<br>{escaped(_words(d))}" for i, d in zip(at, found, strict=True)
        ],
        hoverinfo="text",
        name="Interval excludes 0" if separated else "Not separated from 0",
    )


def _add_better_and_worse(figure: go.Figure) -> None:
    figure.add_shape(
        type="line",
        x0=0,
        x1=0,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
    )
    for text, anchor, shift in (("← better", "right", -6), ("worse →", "left", 6)):
        figure.add_annotation(
            x=0,
            y=1,
            yref="paper",
            yanchor="top",
            xanchor=anchor,
            xshift=shift,
            text=text,
            showarrow=False,
            font={"size": theme.FONT},
        )


def _around_zero(found: Sequence[Difference]) -> list[float]:
    """A range with room for both words on either side of 0."""
    ends = [v for d in found for v in (d.lower, d.value, d.upper) if np.isfinite(v)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    span = (high - low) or 0.01
    return [min(low - 0.05 * span, -0.3 * span), max(high + 0.05 * span, 0.3 * span)]


def _forest_axis(comparison: Comparison, metric: str, reference: Entry) -> str:
    name = f"{metric[0].upper()}{metric[1:]} minus that of {escaped(reference.title)}"
    return f"{name},<br>{escaped(comparison.measured.model.basis)}"


def _forest_finding(comparison: Comparison, drawn: Sequence[Entry], metric: str, reference: str) -> str:
    if comparison.basis.ranked == "no":
        return "Not a ranking: differences on noisy labels favour maps that copy the noise"
    better = [entry.title for entry in drawn if entry.differences[metric].upper < 0]
    worse = [entry.title for entry in drawn if entry.differences[metric].lower > 0]
    if not better and not worse:
        return f"No calibrator's {metric} is clearly different from that of {reference}"
    parts = [f"{wording.listed(better, 2)} clearly lower"] if better else []
    parts += [f"{wording.listed(worse, 2)} clearly higher"] if worse else []
    return f"{metric[0].upper()}{metric[1:]} against {reference}: {', '.join(parts)}"


def _forest_table(drawn: Sequence[Entry], metric: str) -> pd.DataFrame:
    columns = ["Calibrator", f"Difference in {metric}", "Lower", "Upper", "Verdict"]
    records = []
    for entry in drawn:
        found = entry.differences[metric]
        verdict = "not separated" if not found.separated else "better" if found.upper < 0 else "worse"
        numbers = (wording.signed(v) for v in (found.value, found.lower, found.upper))
        records.append((entry.title, *numbers, verdict))
    return pd.DataFrame(records, columns=columns)
