"""How WLMC went: the violation that each round took on, and the rows that it moved."""

from __future__ import annotations

import pandas as pd
from plotly.subplots import make_subplots

from calcore.calibrators.wlmc import WLMCAudit
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped

STOPPED = {
    "below alpha": "no cell is left above the threshold",
    "within noise": "only noise is left",
    "rounds": "the rounds ran out",
}


def trajectory_chart(audit: WLMCAudit, *, bins: int = 10) -> Chart:
    """The size of the violation that each round corrected, and below it how many rows it moved.

    ``bins`` of equal width are those of the method. Returns the chart, a table of the rounds, and its words.
    """
    table = _table(audit, bins)
    if not audit.rounds:
        words = "No cell is clear of noise: WLMC changes nothing."
        return Chart(theme.nothing(words), table, words)
    title = f"{len(audit.rounds)} corrections, then {STOPPED[audit.stopped]}"
    numbers = [entry.round + 1 for entry in audit.rounds]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.65, 0.35], vertical_spacing=0.08)
    hover = [
        f"Round {number}: {escaped(row['Subgroup'])}, scores {row['Scores']}<br>violation {row['Violation']}, "
        f"moved {row['Rows']} rows by {row['Step']}"
        for number, row in zip(numbers, table.to_dict("records"), strict=True)
    ]
    figure.add_scatter(
        x=numbers,
        y=[round(abs(entry.violation), 6) for entry in audit.rounds],
        mode="lines+markers",
        line={"color": theme.LINES[0], "width": 2},
        marker={"color": theme.LINES[0], "size": 7},
        hovertext=hover,
        hoverinfo="text",
        showlegend=False,
        row=1,
        col=1,
    )
    figure.add_bar(
        x=numbers,
        y=[entry.rows for entry in audit.rounds],
        marker={"color": theme.COUNTS},
        hovertext=hover,
        hoverinfo="text",
        showlegend=False,
        row=2,
        col=1,
    )
    theme.base_layout(figure, 380 + theme.title_height(title), title)
    figure.update_yaxes(title={"text": "Violation"}, rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title={"text": "Rows moved"}, rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title={"text": "Round"}, row=2, col=1)
    first, last = audit.rounds[0], audit.rounds[-1]
    alt = (
        f"{title}. The violation falls from {wording.error(abs(first.violation))} in round 1 to "
        f"{wording.error(abs(last.violation))} in round {len(audit.rounds)}."
    )
    return Chart(figure, table, alt)


def _table(audit: WLMCAudit, bins: int) -> pd.DataFrame:
    rows = [
        {
            "Round": entry.round + 1,
            "Subgroup": entry.name,
            "Scores": f"{wording.edge(entry.bin / bins)} to {wording.edge((entry.bin + 1) / bins)}",
            "Violation": wording.signed(entry.violation),
            "Mass": wording.rate(entry.mass),
            "Step": wording.signed(entry.step),
            "Rows": wording.count(entry.rows),
        }
        for entry in audit.rounds
    ]
    return pd.DataFrame(rows, columns=["Round", "Subgroup", "Scores", "Violation", "Mass", "Step", "Rows"])
