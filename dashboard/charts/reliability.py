"""The reliability diagram: event rate against mean score with intervals, over the rows of each bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.metrics.reliability import Reliability
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

TOO_FEW = "Too few rows"
CONTRADICTION = "Contradicts the stated rates"
Curve = tuple[str, Reliability]


def reliability_chart(curves: Sequence[Curve], *, title: str | None = None, tolerance: float = 0.0) -> Chart:
    """Event rate against mean score of one or several named scores.

    ``tolerance`` (a rate) is drawn as a band around the diagonal; ``title`` replaces the finding. The counts
    below are those of the first curve. Returns the diagram, a table of every bin that has rows, and its words.
    """
    drawn = [(name, curve) for name, curve in curves if _shown(curve).any()]
    table = _table(curves)
    if not drawn:
        figure = theme.nothing("No bin holds enough to draw an event rate.", title)
        return Chart(figure, table, "Reliability diagram without a point: no bin holds enough rows.")
    title = title or _finding(drawn, tolerance)
    figure = go.Figure()
    _add_diagonal(figure, tolerance)
    for (name, curve), look in zip(drawn, theme.styles([name for name, _ in drawn]), strict=True):
        _add_curve(figure, name, curve, look, crowded=len(drawn) > 3)
    _add_notes(figure, drawn)
    _add_counts(figure, *drawn[0], named=len(drawn) > 1)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 430 + theme.title_height(title) + theme.legend_height(legend), title)
    _axes(figure, drawn[0][1].basis)
    return Chart(figure, table, _alt(drawn, title))


def _shown(curve: Reliability) -> NDArray[np.bool_]:
    """Bins with a point: rows, and an event rate."""
    return curve.occupied & np.isfinite(curve.event_rate) & np.isfinite(curve.mean_score)


def _scores(curve: Reliability, j: int) -> str:
    low, high = wording.edge(float(curve.low[j])), wording.edge(float(curve.high[j]))
    return f"{low} to {high}" if low != high else low


def _words(curve: Reliability, j: int) -> str:
    """A bin in words, plain text."""
    interval = wording.rates(*(float(v) for v in np.clip((curve.lower[j], curve.upper[j]), 0, 1)))
    text = (
        f"Scores {_scores(curve, j)}: predicted {wording.rate(float(curve.mean_score[j]))}, "
        f"observed {wording.rate(float(curve.event_rate[j]))} ({interval}), "
        f"{wording.count(int(curve.rows[j]))} rows"
    )
    return text + "".join(f"; {note}" for note in _notes(curve, j))


def _notes(curve: Reliability, j: int) -> list[str]:
    notes = ["too few rows to test"] if curve.too_few[j] else []
    return [*notes, "contradicts the stated rates"] if curve.contradiction[j] else notes


def _add_diagonal(figure: go.Figure, tolerance: float) -> None:
    if tolerance > 0:
        t = min(tolerance, 1.0)
        figure.add_scatter(
            x=[0, 1 - t, 1, 1, t, 0],
            y=[t, 1, 1, 1 - t, 0, 0],
            fill="toself",
            fillcolor=theme.BAND,
            mode="lines",
            line={"width": 0, "color": theme.NEUTRAL},
            hoverinfo="skip",
            name=f"Within {wording.points(tolerance)}",
        )
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        name="Calibrated",
    )


def _add_curve(figure: go.Figure, name: str, curve: Reliability, look: theme.Style, crowded: bool) -> None:
    shown = _shown(curve)
    sure, few = np.flatnonzero(shown & ~curve.too_few), np.flatnonzero(shown & curve.too_few)
    if sure.size or not few.size:
        figure.add_scatter(
            **_points(name, curve, sure, look.color, crowded),
            mode="lines+markers" if sure.size > 1 else "markers",
            line={"color": look.color, "dash": look.dash, "width": 2},
            marker={"color": look.color, "symbol": look.marker, "size": 9},
            name=escaped(name),
            legendgroup=name,
        )
    if few.size:
        figure.add_scatter(
            **_points(name, curve, few, theme.NEUTRAL, crowded),
            mode="markers",
            marker={
                "color": theme.NEUTRAL,
                "symbol": f"{look.marker}-open",
                "size": 9,
                "line": {"width": 1.5},
            },
            name=TOO_FEW,
            legendgroup=name,
            showlegend=False,
        )


def _points(name: str, curve: Reliability, at: NDArray[Any], color: str, crowded: bool) -> dict[str, Any]:
    rate = np.clip(curve.event_rate[at], 0.0, 1.0)
    lower, upper = np.clip(curve.lower[at], 0.0, 1.0), np.clip(curve.upper[at], 0.0, 1.0)
    return {
        "x": curve.mean_score[at].round(4).tolist(),
        "y": rate.round(4).tolist(),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(np.maximum(upper - rate, 0.0)).round(4).tolist(),
            "arrayminus": np.nan_to_num(np.maximum(rate - lower, 0.0)).round(4).tolist(),
            "color": color,
            "thickness": 0.8 if crowded else 1.5,
            "width": 0 if crowded else 3,
        },
        "hovertext": [f"{escaped(name)}<br>{_lines(_words(curve, int(j)))}" for j in at],
        "hoverinfo": "text",
    }


def _lines(words: str) -> str:
    return escaped(words).replace(": ", ":<br>", 1).replace("; ", ";<br>")


def _add_notes(figure: go.Figure, drawn: Sequence[Curve]) -> None:
    """Rings around contradicting bins, and a legend entry for the grey points."""
    if any((_shown(curve) & curve.too_few).any() for _, curve in drawn):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": theme.NEUTRAL, "symbol": "circle-open", "size": 9, "line": {"width": 1.5}},
            name=TOO_FEW,
        )
    x, y = [], []
    for _, curve in drawn:
        at = _shown(curve) & curve.contradiction
        x += curve.mean_score[at].round(4).tolist()
        y += np.clip(curve.event_rate[at], 0.0, 1.0).round(4).tolist()
    if x:
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            marker={"color": theme.BAD, "symbol": "circle-open", "size": 17, "line": {"width": 2}},
            hoverinfo="skip",
            name=CONTRADICTION,
        )


def _add_counts(figure: go.Figure, name: str, curve: Reliability, named: bool) -> None:
    at = np.flatnonzero(curve.occupied)
    width = curve.high[at] - curve.low[at]
    figure.add_bar(
        x=((curve.low[at] + curve.high[at]) / 2).round(5).tolist(),
        y=curve.rows[at].tolist(),
        width=np.maximum(width * 0.94, 0.004).round(5).tolist(),
        marker={"color": theme.COUNTS, "line": {"width": 0}},
        yaxis="y2",
        hovertext=[f"Scores {_scores(curve, int(j))}: {wording.count(int(curve.rows[j]))} rows" for j in at],
        hoverinfo="text",
        name=f"Rows of {escaped(name)}",
        showlegend=named,
    )


def _axes(figure: go.Figure, basis: str) -> None:
    ticks = {"tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "ticktext": ["0", "0.2", "0.4", "0.6", "0.8", "1"]}
    observed = "Observed event rate"
    figure.update_layout(
        xaxis={
            "range": [-0.02, 1.02],
            "title": {"text": "Mean score"},
            "anchor": "y2",
            "showgrid": True,
            "zeroline": False,
            **ticks,
        },
        yaxis={
            "range": [-0.02, 1.02],
            "domain": [0.27, 1],
            "title": {"text": observed if basis == "against the labels" else f"{observed},<br>{basis}"},
            "zeroline": False,
            **ticks,
        },
        yaxis2={
            "domain": [0, 0.2],
            "title": {"text": "Rows"},
            "nticks": 3,
            "rangemode": "tozero",
            "tickformat": ",",
        },
        bargap=0,
    )


def _off(curve: Reliability, tolerance: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return _shown(curve) & (curve.adjusted < 0.05) & (np.abs(curve.residual) > tolerance)


def _finding(drawn: Sequence[Curve], tolerance: float) -> str:
    if len(drawn) > 2:
        return f"Event rate against mean score of {len(drawn)} calibrators"
    found = [_finding_of(curve, tolerance) for _, curve in drawn]
    if len(drawn) == 1:
        return found[0]
    return "; ".join(f"{name}: {_lower(text)}" for (name, _), text in zip(drawn, found, strict=True))


def _finding_of(curve: Reliability, tolerance: float) -> str:
    off, tested = np.flatnonzero(_off(curve, tolerance)), int(np.isfinite(curve.adjusted).sum())
    beyond = f" by more than {wording.points(tolerance)}" if tolerance > 0 else ""
    if not tested:
        return "Too few rows in every bin to tell"
    if not off.size:
        return f"No bin is clearly off{beyond}"
    occupied = np.flatnonzero(curve.occupied)
    together = ((occupied >= off[0]) & (occupied <= off[-1])).sum() == off.size
    signs = np.sign(curve.residual[off])
    if not together or abs(signs.sum()) != off.size:
        return f"{off.size} of {tested} bins are clearly off{beyond}"
    where = f"Scores {wording.edge(float(curve.low[off[0]]))} to {wording.edge(float(curve.high[off[-1]]))}"
    if off.size == occupied.size:
        where = "All scores"
    elif off[-1] == occupied[-1]:
        where = f"Scores above {wording.edge(float(curve.low[off[0]]))}"
    elif off[0] == occupied[0]:
        where = f"Scores below {wording.edge(float(curve.high[off[-1]]))}"
    return f"{where} are too {'high' if signs[0] < 0 else 'low'}"


def _alt(drawn: Sequence[Curve], title: str) -> str:
    """The title, and the largest gap: of each curve where there are two, else of the worst one."""
    found = []
    for name, curve in drawn:
        sure = np.flatnonzero(_shown(curve) & ~curve.too_few)
        if sure.size:
            worst = int(sure[np.argmax(np.abs(curve.residual[sure]))])
            found.append((abs(float(curve.residual[worst])), name, curve, worst))
    start = f"Reliability diagram. {title.rstrip('.')}."
    if not found:
        return f"{start} Every bin has too few rows to test."
    if len(found) > 2:
        found = [max(found, key=lambda one: one[0])]
    gaps = [
        f"{name} ({wording.count(curve.n)} rows), largest gap: {_lower(_words(curve, worst))}"
        for _, name, curve, worst in found
    ]
    return f"{start} {'. '.join(gaps)}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Every bin with rows, in words."""
    records: list[dict[str, Any]] = []
    for name, curve in curves:
        for j in np.flatnonzero(curve.occupied):
            lower, upper = float(curve.lower[j]), float(curve.upper[j])
            records.append(
                {
                    "Score of": name,
                    "Scores": _scores(curve, int(j)),
                    "Rows": int(curve.rows[j]),
                    "Mean score": wording.rate(float(curve.mean_score[j])),
                    "Event rate": wording.rate(float(curve.event_rate[j])),
                    f"{100 * curve.level:.0f} % interval": wording.rates(lower, upper),
                    "Gap": wording.points(float(curve.residual[j])),
                    "Score is": _direction(float(curve.residual[j])),
                    "p (adjusted)": wording.p_value(float(curve.adjusted[j])),
                    "Note": "; ".join(_notes(curve, int(j))),
                }
            )
    frame = pd.DataFrame(records)
    return frame.drop(columns="Score of") if len(curves) < 2 and len(frame) else frame


def _direction(residual: float) -> str:
    if np.isnan(residual) or residual == 0:
        return ""
    return "too high" if residual < 0 else "too low"
