"""What charts over batches share: where a batch lies on the axis, how a metric is scaled, the reference period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from calcore.monitoring import BatchResult, Watch
from calcore.monitoring.results import TITLES
from calcore.validation import Floats
from dashboard.charts import theme
from dashboard.charts.names import shortened

REFERENCE = "Reference period"
MOST_TICKS = 5
#: Names of batches on a phone's screen, and how many letters they have together.
MOST_NAMES, TOGETHER = 4, 40


@dataclass(frozen=True, eq=False)
class BatchAxis:
    """``x`` (batches,) for plotly: the middle of each batch in time where batches follow each other there, else places.

    ``before`` and ``after`` are where a batch's own stretch of the axis begins and ends.
    """

    x: list[Any]
    before: list[Any]
    after: list[Any]
    timed: bool
    labels: tuple[str, ...]

    def style(self, figure: go.Figure, **where: int) -> None:
        """Ticks that can be read on a phone."""
        if self.timed:
            figure.update_xaxes(
                type="date", nticks=MOST_TICKS, title={"text": "Time (UTC)"}, tickangle=0, **where
            )
            return
        step = max(1, -(-len(self.labels) // MOST_NAMES))
        places = list(range(0, len(self.labels), step))
        names, title = self.labels, "Batch"
        if all(label.startswith("rows ") for label in names):
            names, title = tuple(label.split()[1] for label in names), "Batch, by its first row"
        figure.update_xaxes(
            tickvals=places,
            ticktext=[shortened(names[i], TOGETHER // len(places)) for i in places],
            range=[-0.6, len(self.labels) - 0.4],
            title={"text": title},
            tickangle=0,
            **where,
        )


def batch_axis(results: Sequence[BatchResult]) -> BatchAxis:
    labels = tuple(one.label for one in results)
    if len(results) > 1 and all(one.start and one.end for one in results):
        start = np.array([one.start for one in results], dtype="datetime64[s]").astype(np.int64)
        end = np.array([one.end for one in results], dtype="datetime64[s]").astype(np.int64)
        if (start[1:] >= end[:-1]).all() and (np.diff(start) > 0).all():
            middle = (start + end) // 2
            low, high = _stretches(middle)
            return BatchAxis(_iso(middle), _iso(low), _iso(high), True, labels)
    place = np.arange(len(results), dtype=np.float64)
    return BatchAxis(place.tolist(), (place - 0.5).tolist(), (place + 0.5).tolist(), False, labels)


def _stretches(middle: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    between = (middle[1:] + middle[:-1]) // 2
    low = np.concatenate([[2 * middle[0] - between[0]], between])
    return low, np.concatenate([between, [2 * middle[-1] - between[-1]]])


def _iso(seconds: NDArray[np.int64]) -> list[str]:
    return [str(one) for one in seconds.astype("datetime64[s]")]


def scaled(metric: str, values: Sequence[float] | Floats) -> Floats:
    """A metric as it is drawn: gaps in points."""
    return np.asarray(values, dtype=np.float64) * (100 if metric == "gap" else 1)


def style_metric(figure: go.Figure, metric: str, low: float, high: float) -> None:
    """The axis of a metric from ``low`` to ``high``, both as drawn."""
    form = {"gap": "+.1f", "event rate": ".0%", "mean score": ".0%"}.get(metric, ".3~f")
    text = f"{TITLES[metric]}{', points' if metric == 'gap' else ''}"
    if metric in ("event rate", "mean score") and high - low < 0.05:
        form = ".1%"
    if metric == "gap" and high - low > 10:
        form = "+.0f"
    figure.update_yaxes(
        title={"text": text}, tickformat=form, range=[low, high], nticks=6, zeroline=metric == "gap"
    )


def add_reference(figure: go.Figure, watch: Watch, axis: BatchAxis) -> None:
    """The reference period shaded."""
    if watch.reference is None:
        return
    positions = sorted(watch.reference.positions)
    runs: list[list[int]] = []
    for place in positions:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    for k, (first, last) in enumerate(runs):
        figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=axis.before[first],
            x1=axis.after[last],
            y0=0,
            y1=1,
            fillcolor=theme.REGIONS[0],
            line={"width": 0},
            layer="below",
            name=REFERENCE,
            showlegend=k == 0,
        )


def stretches(known: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Positions of each run of consecutive True values."""
    at = np.flatnonzero(known)
    return [run for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1) if run.size]
