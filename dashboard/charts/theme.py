"""How every chart looks: the one palette, the dashes and markers, the margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from calcore.calibrators import REGISTRY
from dashboard.charts.names import title_lines

#: Each passes 3:1 against white and against the dark page.
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "star",
    "pentagon",
    "hexagram",
    "hourglass",
    "bowtie",
)

#: LINES in the same order, as areas behind them.
BANDS = ("rgba(0,114,178,0.18)", "rgba(213,94,0,0.18)", "rgba(0,158,115,0.18)", "rgba(204,121,167,0.22)")

#: The diagonal, reference lines, and whatever has too few rows to say anything.
NEUTRAL = "#868C96"
#: Bars that only say how many rows there are.
COUNTS = "rgba(134,140,150,0.55)"
#: Areas behind the data: the tolerance around the diagonal, a region of an axis.
BAND = "rgba(134,140,150,0.16)"
CLEAR = "rgba(0,0,0,0)"

GOOD, BAD = LINES[0], LINES[1]
#: Event rate below the score is purple, above it orange, no difference grey; MARK can be read on all of it.
DIVERGING = (
    (0.0, "#9961E0"),
    (0.25, "#B093D2"),
    (0.5, "#C4C4C4"),
    (0.75, "#DDA574"),
    (1.0, "#E0661A"),
)
#: From nothing (grey) to all (orange); MARK can be read on all of it.
SEQUENTIAL = ((0.0, "#C4C4C4"), (0.5, "#DDA574"), (1.0, "#E0661A"))
#: Dots on coloured cells: dark with a light rim, so that they show on every shade and on both pages.
MARK, MARK_RIM = "#111111", "#FFFFFF"
#: Laid over the cells of a heatmap to be hovered and clicked; a selected cell is dimmed.
TOUCH, TOUCHED = "rgba(134,140,150,0.01)", "rgba(17,17,17,0.45)"
#: Regions of the gate's axis, from "use the map" to "audit labels first".
REGIONS = ("rgba(0,114,178,0.14)", "rgba(134,140,150,0.22)", "rgba(213,94,0,0.16)")

FONT, SMALL, TITLE = 12, 10.5, 15
LINE_HEIGHT = 19


@dataclass(frozen=True)
class Style:
    """How one series is drawn; two styles differ in marker and, for the first six, in dash."""

    color: str
    dash: str
    marker: str


def band(color: str) -> str:
    """The area that goes with a line of this ``color``, one of ``LINES``."""
    return BANDS[LINES.index(color)]


def style(position: int) -> Style:
    """The style of a series by its position; the first twelve differ without their colours."""
    return Style(
        LINES[position % len(LINES)], DASHES[position % len(DASHES)], MARKERS[position % len(MARKERS)]
    )


def styles(names: Sequence[str]) -> list[Style]:
    """A style for each name: a calibrator keeps its own in every chart, other names take what is free."""
    # the score itself always looks like a chart's only series
    order = sorted(REGISTRY, key=lambda name: name != "Identity")
    known = {key: i for i, name in enumerate(order) for key in (name, REGISTRY[name].title)}
    wanted = [known.get(name) for name in names]
    taken = {place for place in wanted if place is not None}
    free = (i for i in range(len(names) + len(taken) + 1) if i not in taken)
    used: set[int] = set()
    result = []
    for place in wanted:
        if place is None or place in used:
            place = next(free)
        used.add(place)
        result.append(style(place))
    return result


def base_layout(figure: go.Figure, height: int, title: str | None = None) -> go.Figure:
    """Margins, legend and background that hold from 390 px to a wide screen; returns the figure.

    ``height`` in px includes the title (wrapped here, names in it escaped) and the legend, which lies below
    the axes and keeps its own room there.
    """
    lines = title_lines(title) if title else []
    figure.update_layout(
        template=go.layout.Template(),
        height=height,
        autosize=True,
        margin={"l": 8, "r": 12, "t": 12, "b": 8, "pad": 2, "autoexpand": True},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"size": FONT},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": NEUTRAL},
        dragmode=False,
        hovermode="closest",
        hoverlabel={"align": "left", "namelength": 0},
        legend={
            "orientation": "h",
            "xref": "container",
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "itemsizing": "constant",
            "font": {"size": FONT},
        },
    )
    figure.update_xaxes(automargin=True, title_standoff=8, tickfont_size=FONT, title_font_size=FONT + 1)
    figure.update_yaxes(automargin=True, title_standoff=8, tickfont_size=FONT, title_font_size=FONT + 1)
    if lines:
        figure.update_layout(
            title={
                "text": "<br>".join(lines),
                "font": {"size": TITLE},
                "xref": "container",
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                # the baseline of the first line: plotly forgets it in titles of several lines unless at the bottom
                "y": 1 - 19 / height,
                "yanchor": "bottom",
            },
            margin_t=title_height(title),
        )
    return figure


def title_height(title: str | None) -> int:
    """Px that a wrapped title takes, to be added to the height of what is drawn."""
    return 16 + LINE_HEIGHT * len(title_lines(title)) if title else 0


def legend_height(names: Sequence[str], width: int = 360) -> int:
    """Px that a horizontal legend of these names takes on a screen of ``width`` px."""
    if not names:
        return 0
    longest = max(len(name) for name in names) * 7 + 50
    columns = max(1, width // longest)
    return LINE_HEIGHT * -(-len(names) // columns) + 8


def nothing(message: str, title: str | None = None) -> go.Figure:
    """A figure without data that says, in one escaped sentence, why there is nothing to draw."""
    figure = base_layout(go.Figure(), 72 + title_height(title), title)
    figure.add_annotation(
        text="<br>".join(title_lines(message)),
        x=0,
        y=1,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="top",
        align="left",
        showarrow=False,
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure
