"""Subgroups by how much more often their labels contradict the score than those of other rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from calcore.group_contradictions import GroupContradictions, GroupSearch
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped, two_lines

ROW_HEIGHT = 32
FLAGGED, PLAIN, CHANCE = "Stands out", "Could be chance, or small", "Up to here by chance"


def group_contradictions_chart(found: GroupSearch, *, top: int = 15) -> Chart:
    """The difference of each of the first ``top`` subgroups with its interval, the worst first.

    Intersections of a subgroup that stands out itself are in the table only.
    The tick of each says up to what difference chance alone gives it as one of all that were tested; the band is
    the tolerance. Returns the dots, a table of every subgroup, and its words.
    """
    table = _table(found)
    shown = [group for group in found.groups if group.tested and not group.repeats][: max(top, 0)]
    if not shown:
        message = "No subgroup has enough rows to be compared."
        return Chart(theme.nothing(message), table, message)
    title = _finding(found)
    figure = go.Figure()
    _add_band(figure, found.tolerance)
    for flagged in (True, False):
        _add_dots(figure, shown, flagged)
    _add_chance(figure, shown)
    legend = [trace.name for trace in figure.data]
    extra = theme.title_height(title) + theme.legend_height(legend)
    theme.base_layout(figure, 84 + ROW_HEIGHT * len(shown) + extra, title)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(
        title={"text": "Contradictions beyond other rows<br>at the same scores (points)"},
        zeroline=True,
        zerolinecolor=theme.NEUTRAL,
        zerolinewidth=1.5,
        nticks=6,
    )
    figure.update_yaxes(
        range=[len(shown) - 0.4, -0.6],
        tickvals=list(range(len(shown))),
        ticktext=[two_lines(group.group) for group in shown],
        tickfont={"size": theme.SMALL},
        showgrid=False,
        zeroline=False,
    )
    return Chart(figure, table, _alt(found, shown, title))


def _add_band(figure: go.Figure, tolerance: float) -> None:
    ends = {"x0": -100 * tolerance, "x1": 100 * tolerance, "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="rect", **ends, fillcolor=theme.BAND, line={"width": 0}, layer="below")


def _add_dots(figure: go.Figure, shown: Sequence[GroupContradictions], flagged: bool) -> None:
    at = [(i, one) for i, one in enumerate(shown) if one.flagged == flagged]
    if not at:
        return
    look = theme.style(1 if flagged else 0)
    ends = [one.interval or (one.difference, one.difference) for _, one in at]
    figure.add_scatter(
        x=[round(100 * one.difference, 3) for _, one in at],
        y=[i for i, _ in at],
        mode="markers",
        marker={"color": look.color, "symbol": look.marker, "size": 10},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [
                round(100 * (high - one.difference), 3) for (_, high), (_, one) in zip(ends, at, strict=True)
            ],
            "arrayminus": [
                round(100 * (one.difference - low), 3) for (low, _), (_, one) in zip(ends, at, strict=True)
            ],
            "color": look.color,
            "thickness": 2,
            "width": 4,
        },
        hovertext=[_hover(one) for _, one in at],
        hoverinfo="text",
        name=FLAGGED if flagged else PLAIN,
    )


def _add_chance(figure: go.Figure, shown: Sequence[GroupContradictions]) -> None:
    figure.add_scatter(
        x=[round(100 * one.chance, 3) for one in shown],
        y=list(range(len(shown))),
        mode="markers",
        marker={
            "symbol": "line-ns",
            "size": 15,
            "color": theme.NEUTRAL,
            "line": {"color": theme.NEUTRAL, "width": 2},
        },
        hoverinfo="skip",
        name=CHANCE,
    )


def _hover(one: GroupContradictions) -> str:
    lines = [
        one.group,
        f"{_points(one.difference)} ({_interval(one)}), adjusted p {wording.p_value(one.adjusted)}",
        f"contradicts on {wording.rate(one.observed)}, by doubt {wording.rate(one.expected)}",
        f"{wording.rows(one.rows)}, mean weight {wording.error(one.weight)}",
    ]
    return "<br>".join(escaped(line) for line in lines)


def _points(value: float) -> str:
    """A difference in points with its sign, for a cell: "+3.2"."""
    if value != value:
        return wording.MISSING
    return f"{round(100 * value, 1) + 0.0:+.1f}".replace("-", "−").replace("+0.0", "0.0")


def _interval(one: GroupContradictions) -> str:
    return wording.interval(one.interval, _points).replace("–", " to ")


def _finding(found: GroupSearch) -> str:
    flagged = len(found.flagged)
    verb = "stands" if flagged == 1 else "stand"
    if not flagged:
        return f"None of {wording.count(found.tested)} subgroups' labels stand out"
    return f"Labels of {wording.count(flagged)} of {wording.count(found.tested)} subgroups {verb} out"


def _alt(found: GroupSearch, shown: Sequence[GroupContradictions], title: str) -> str:
    first = shown[0]
    text = (
        f"Dots with intervals of {len(shown)} subgroups. {title}. First: {first.group}, {_points(first.difference)} points "
        f"({_interval(first)}, {wording.rows(first.rows)}), up to {wording.points(first.chance)} by chance"
    )
    more = len(found.groups) - len(shown)
    return f"{text}; {more} more are in the table only." if more else f"{text}."


def _table(found: GroupSearch) -> pd.DataFrame:
    columns = {
        "Subgroup": [one.group for one in found.groups],
        "Rows": [one.rows for one in found.groups],
        "Stands out": [("yes" if one.flagged else "no") if one.tested else "too few" for one in found.groups],
        "Beyond others (points)": [_points(one.difference) for one in found.groups],
        "95 % interval": [_interval(one) for one in found.groups],
        "By chance up to": [_points(one.chance) for one in found.groups],
        "Adjusted p": [wording.p_value(one.adjusted) for one in found.groups],
        "Contradicts": [wording.rate(one.observed) for one in found.groups],
        "By doubt alone": [wording.rate(one.expected) for one in found.groups],
        "Excess (points)": [_points(one.excess) for one in found.groups],
        "Interval of the excess": [
            wording.interval(one.excess_interval, _points).replace("–", " to ") for one in found.groups
        ],
        "Mean LWCal weight": [wording.error(one.weight) for one in found.groups],
        "Interval of the weight": [wording.interval(one.weight_interval) for one in found.groups],
    }
    return pd.DataFrame(columns)
