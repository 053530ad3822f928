"""A chart with its table twin and its words for people who do not see it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go


@dataclass(frozen=True, eq=False)
class Chart:
    """``figure`` to draw, ``table`` with the same numbers, ``alt`` the finding in one or two sentences."""

    figure: go.Figure
    table: pd.DataFrame
    alt: str
