"""Pool-adjacent-violators at one of its steps: the points, the blocks, and what was pooled last."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from calcore.lessons import Block, Pooling
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.chart import Chart
from dashboard.charts.names import escaped


def pooling_chart(pooling: Pooling, step: int) -> Chart:
    """Blocks after ``step`` merges, 0 ... len(pooling.steps), over the points that they come from.

    Returns the chart, a table of the blocks, and its words.
    """
    blocks = pooling.blocks_after(step)
    last = pooling.steps[step - 1].merged if step else None
    title = _title(pooling, step)
    figure = go.Figure()
    figure.add_scatter(
        x=pooling.score.round(4).tolist(),
        y=pooling.rate.round(4).tolist(),
        mode="markers",
        marker={"color": theme.NEUTRAL, "symbol": "circle-open", "size": 13, "line": {"width": 2}},
        hovertext=[
            f"score {wording.edge(float(x))}<br>label {wording.edge(float(y))}"
            for x, y in zip(pooling.score, pooling.rate, strict=True)
        ],
        hoverinfo="text",
        name="Labels",
    )
    _add_blocks(figure, pooling, [block for block in blocks if block != last], "Blocks", theme.style(0))
    if last is not None:
        _add_blocks(figure, pooling, [last], "Just pooled", theme.style(1))
    legend = [trace.name for trace in figure.data]
    theme.base_layout(figure, 330 + theme.title_height(title) + theme.legend_height(legend), title)
    figure.update_xaxes(range=[-0.03, 1.03], title={"text": "Score"}, zeroline=False)
    figure.update_yaxes(range=[-0.07, 1.07], title={"text": "Value of the block"}, zeroline=False)
    return Chart(figure, _table(pooling, blocks), _alt(title, blocks))


def _add_blocks(
    figure: go.Figure, pooling: Pooling, blocks: Sequence[Block], name: str, look: theme.Style
) -> None:
    x: list[float | None] = []
    y: list[float | None] = []
    hover: list[str] = []
    for block in blocks:
        for member in block.members:
            x.append(round(float(pooling.score[member]), 4))
            y.append(round(block.value, 4))
            hover.append(f"scores {members(pooling, block)}<br>value {escaped(wording.exact(block.value))}")
        x.append(None)
        y.append(None)
        hover.append("")
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": look.color, "dash": "solid", "width": 4},
        marker={"color": look.color, "symbol": look.marker, "size": 8},
        hovertext=hover,
        hoverinfo="text",
        name=name,
    )


def members(pooling: Pooling, block: Block) -> str:
    """The scores of a block: "0.25 and 0.33"."""
    return wording.listed([wording.edge(float(pooling.score[i])) for i in block.members], 10)


def _title(pooling: Pooling, step: int) -> str:
    total = len(pooling.steps)
    if not total:
        return "Nothing to pool: the labels rise with the score"
    if not step:
        return f"Before the first of {total} merges: each score is a block"
    merged = pooling.steps[step - 1].merged
    return f"Merge {step} of {total}: scores {members(pooling, merged)} get {wording.exact(merged.value)}"


def _table(pooling: Pooling, blocks: Sequence[Block]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Scores of the block": members(pooling, block),
                "Labels": ", ".join(wording.edge(float(pooling.rate[i])) for i in block.members),
                "Value": wording.exact(block.value),
            }
            for block in blocks
        ]
    )


def _alt(title: str, blocks: Sequence[Block]) -> str:
    noun = "block" if len(blocks) == 1 else "blocks"
    values = ", ".join(wording.exact(block.value) for block in blocks)
    return f"{title}. {len(blocks)} {noun}, of value {values}."
