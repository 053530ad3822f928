"""The evidence of the two sequential tests after each batch, against the line that chance hardly ever reaches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calcore.monitoring import Watch
from calcore.monitoring.sentences import evidence_title
from calcore.monitoring.sequential import SequentialTest
from calcore.validation import Floats
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped
from dashboard.charts.over_time_axis import BatchAxis, add_reference, batch_axis

#: Evidence is drawn up to a million and down to a hundredth: beyond that the size says nothing more.
HIGHEST, LOWEST = 6.0, -2.0
TICKS = {-2: "0.01", -1: "0.1", 0: "1", 4: "10,000", 6: "1,000,000"}


def evidence_chart(watch: Watch) -> Chart:
    """How many times what was staked the bets have become. Returns the lines, a table of them, and their words."""
    axis, title = batch_axis(watch.results), evidence_title(watch)
    within = f"'calibrated within {wording.points(watch.plan.tolerance)}'"
    tests = [(f"Against {within}", watch.test)]
    if watch.reference is not None:
        tests.append(("Against 'as in the reference period'", watch.change))
    figure = go.Figure()
    for k, (name, test) in enumerate(tests):
        _add_test(figure, watch, axis, name, test, k)
    threshold = watch.test.threshold / np.log(10)
    figure.add_scatter(
        x=[axis.before[0], axis.after[-1]] if axis.x else [],
        y=[threshold, threshold] if axis.x else [],
        mode="lines",
        line={"color": theme.BAD, "width": 2, "dash": "longdash"},
        hoverinfo="skip",
        name=f"Alarm at {np.exp(watch.test.threshold):.0f}",
    )
    add_reference(figure, watch, axis)
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    theme.base_layout(figure, 230 + theme.title_height(title) + theme.legend_height(legend), title)
    axis.style(figure)
    drawn = np.concatenate([_drawn(test.log_evidence) for _, test in tests])
    top = max(float(drawn.max(initial=0.0)), threshold) + 0.4
    figure.update_yaxes(
        title={"text": "Evidence"},
        tickvals=[*TICKS, threshold],
        ticktext=[*TICKS.values(), f"{np.exp(watch.test.threshold):.0f}"],
        range=[min(float(drawn.min(initial=0.0)), 0.0) - 0.3, min(top, HIGHEST + 0.4)],
        zeroline=False,
    )
    for shape in figure.layout.shapes:
        shape.showlegend = False
    return Chart(figure, _table(watch), f"{title}. {_last(watch)}")


def _drawn(log_evidence: Floats) -> Floats:
    return np.clip(log_evidence / np.log(10), LOWEST, HIGHEST)


def _add_test(
    figure: go.Figure, watch: Watch, axis: BatchAxis, name: str, test: SequentialTest, k: int
) -> None:
    look, y = theme.style((0, 2)[k]), _drawn(test.log_evidence)
    figure.add_scatter(
        x=axis.x,
        y=y.round(4).tolist(),
        mode="lines+markers",
        line={"color": look.color, "width": 2, "dash": look.dash},
        marker={"color": look.color, "symbol": look.marker, "size": 5},
        hovertext=[
            escaped(f"{one.label}: {name[:1].lower()}{name[1:]} {evidence_number(value)}")
            for one, value in zip(watch.results, test.log_evidence, strict=True)
        ],
        hoverinfo="text",
        name=escaped(name),
    )
    if test.alarms:
        figure.add_scatter(
            x=[axis.x[i] for i in test.alarms],
            y=[float(y[i]) for i in test.alarms],
            mode="markers",
            marker={
                "color": theme.BAD,
                "symbol": "diamond-open" if k else "diamond",
                "size": 13,
                "line": {"width": 2},
            },
            hovertext=[escaped(f"Alarm at {watch.results[i].label}") for i in test.alarms],
            hoverinfo="text",
            name="Alarm (change)" if k else "Alarm",
        )


def evidence_number(log_evidence: float) -> str:
    """Evidence as a number of times; beyond a million only that."""
    if log_evidence >= HIGHEST * np.log(10):
        return "over 1,000,000"
    value = float(np.exp(log_evidence))
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _last(watch: Watch) -> str:
    if not len(watch.test.log_evidence):
        return f"The alarm is at {np.exp(watch.test.threshold):.0f}."
    return (
        f"After the last of {len(watch.results)} batches it is {evidence_number(float(watch.test.log_evidence[-1]))}, "
        f"and the alarm is at {np.exp(watch.test.threshold):.0f}."
    )


def _table(watch: Watch) -> pd.DataFrame:
    within = f"Against calibrated within {wording.points(watch.plan.tolerance)}"
    return pd.DataFrame(
        {
            "Batch": [one.label for one in watch.results],
            within: [evidence_number(float(value)) for value in watch.test.log_evidence],
            "Against the reference period": [
                evidence_number(float(value)) for value in watch.change.log_evidence
            ],
            "Alarm": [
                "yes" if i in watch.test.alarms or i in watch.change.alarms else ""
                for i in range(len(watch.results))
            ],
        }
    )
