"""Subgroups by their calibration error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calcore.audit import Gap, GroupFinding
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped, two_lines

ROW_HEIGHT = 30


def group_error_bars(
    groups: Sequence[GroupFinding],
    *,
    top: int = 20,
    reference: float | None = None,
    basis: str | None = None,
) -> Chart:
    """The ECE of each of the first ``top`` subgroups, those that are clearly off first, then the largest.

    ``reference`` is the whole population's ECE, drawn as a line; ``basis`` says what the error is measured
    against. Returns the bars, a table of them, and its words.
    """
    known = [group for group in groups if np.isfinite(group.error)]
    shown = sorted(known[: max(top, 0)], key=lambda group: (not group.wrong, -group.error))
    table = _table(shown)
    if not shown:
        figure = theme.nothing("No subgroup is large enough to measure.")
        return Chart(figure, table, "No subgroup is large enough to measure.")
    title = _finding(known)
    figure = go.Figure()
    _add_bars(figure, shown, wrong=False)
    _add_bars(figure, shown, wrong=True)
    _add_reference(figure, reference, len(shown))
    legend = [trace.name for trace in figure.data]
    extra = theme.title_height(title) + theme.legend_height(legend)
    theme.base_layout(figure, 70 + ROW_HEIGHT * len(shown) + extra, title)
    line = [reference] if reference is not None and np.isfinite(reference) else []
    furthest = max([*(group.error for group in shown), *line])
    figure.update_layout(barmode="overlay", bargap=0.3, showlegend=True)
    figure.update_xaxes(
        title={"text": "ECE of the subgroup" if basis is None else f"ECE of the subgroup, {basis}"},
        range=[0, 1.22 * furthest or 0.01],
        nticks=5,
        rangemode="tozero",
    )
    figure.update_yaxes(
        range=[len(shown) - 0.5, -0.5],
        tickvals=list(range(len(shown))),
        ticktext=[two_lines(group.group) for group in shown],
        tickfont={"size": theme.SMALL},
        showgrid=False,
        zeroline=False,
    )
    return Chart(figure, table, _alt(shown, known, title, reference))


def _add_bars(figure: go.Figure, shown: Sequence[GroupFinding], wrong: bool) -> None:
    at = [i for i, group in enumerate(shown) if group.wrong == wrong]
    if not at:
        return
    color = theme.BAD if wrong else theme.GOOD
    figure.add_bar(
        orientation="h",
        width=0.7,
        x=[round(shown[i].error, 5) for i in at],
        y=at,
        text=[escaped(wording.error(shown[i].error)) for i in at],
        textposition="outside",
        textfont={"size": theme.SMALL},
        cliponaxis=False,
        marker={
            "color": color,
            "line": {"color": color, "width": 1},
            "pattern": {"shape": "/" if wrong else "", "size": 7, "solidity": 0.35, "fillmode": "replace"},
        },
        hovertext=[_hover(shown[i]) for i in at],
        hoverinfo="text",
        name="Clearly off in some bin" if wrong else "Not clearly off",
    )


def _add_reference(figure: go.Figure, value: float | None, rows: int) -> None:
    if value is None or not np.isfinite(value):
        return
    figure.add_scatter(
        x=[round(value, 5)] * 2,
        y=[-0.5, rows - 0.5],
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 2, "dash": "dash"},
        hovertext=f"Whole population: {escaped(wording.error(value))}",
        hoverinfo="text",
        name=f"Whole population ({escaped(wording.error(value))})",
    )


def gap_words(gap: Gap | None) -> str:
    """The largest gap of a subgroup in words."""
    if gap is None:
        return "too few rows in every bin to test"
    return (
        f"scores {wording.edge(gap.low)} to {wording.edge(gap.high)} {wording.points(gap.residual)} {wording.side(gap.residual)} "
        f"({wording.rows(gap.rows)})"
    )


def _hover(group: GroupFinding) -> str:
    lines = [
        group.group,
        f"ECE {wording.error(group.error)}",
        f"{wording.rows(group.rows)}, {wording.rate(group.mass)} of the mass",
        f"largest gap: {gap_words(group.gap)}",
    ]
    return "<br>".join(escaped(line) for line in lines)


def _finding(known: Sequence[GroupFinding]) -> str:
    wrong = sum(group.wrong for group in known)
    if not wrong:
        return f"None of {wording.count(len(known))} subgroups is clearly off"
    return f"{wording.count(wrong)} of {wording.count(len(known))} subgroups are clearly off"


def _alt(
    shown: Sequence[GroupFinding], known: Sequence[GroupFinding], title: str, reference: float | None
) -> str:
    first = shown[0]
    text = f"Bars of the ECE of {len(shown)} subgroups. {title}. Largest drawn: {first.group}, "
    text += f"{wording.error(first.error)} ({wording.rows(first.rows)})"
    if reference is not None and np.isfinite(reference):
        text += f"; the whole population has {wording.error(reference)}"
    return f"{text}. {len(known) - len(shown)} more are not drawn." if len(known) > len(shown) else f"{text}."


def _table(shown: Sequence[GroupFinding]) -> pd.DataFrame:
    columns = ["Subgroup", "Rows", "Mass", "ECE", "Clearly off", "Largest gap"]
    return pd.DataFrame(
        [
            (
                group.group,
                group.rows,
                wording.rate(group.mass),
                wording.error(group.error),
                "yes" if group.wrong else "no",
                gap_words(group.gap),
            )
            for group in shown
        ],
        columns=columns,
    )
