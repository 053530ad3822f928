"""The Over time page: how rows become batches, what is normal, and which limits hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from calcore.monitoring import Batching, FixedLimit, Plan
from calcore.monitoring.batches import CALENDAR
from calcore.monitoring.results import METRICS, TITLES
from calcore.monitoring.suggest import suggested_reference
from dashboard import services
from dashboard.components.page import VIEWS
from dashboard.services import Analysis
from dashboard.state import get_state

UNITS = {**{unit: f"each {unit}" for unit in CALENDAR}, "rows": "number of rows", "column": "a column"}
#: Metrics that are drawn in points or percent are limited in them.
PERCENT = ("gap", "event rate", "mean score")


@dataclass(frozen=True)
class Asked:
    """What the controls say."""

    plan: Plan
    metric: str


def controls(found: Analysis, kept: Plan | None = None) -> Asked:
    """Pre-filled as a specialist would, or as the stream is ``kept``; raises InputError where that cannot be."""
    usual = services.default_batching(found) if kept is None else kept.batching
    timed = found.ingested.columns.time is not None
    units = [unit for unit in UNITS if timed or unit not in CALENDAR]
    first, last, second = st.columns(3)
    by = first.selectbox(
        "A batch is",
        units,
        index=units.index(usual.by) if usual.by in units else 0,
        format_func=UNITS.__getitem__,
        key=_key("batches-by", kept),
    )
    if by == "rows":
        size = second.number_input(
            "Rows a batch", 10, 10**8, max(usual.size, 10), step=100, key=_key("batch-size", kept)
        )
        batching = replace(usual, by=by, column=None, size=int(size))
    elif by == "column":
        names = services.batch_columns(found)
        column = second.selectbox(
            "Column",
            names,
            index=names.index(usual.column) if usual.column in names else 0,
            key=_key("batch-column", kept),
        )
        batching = replace(usual, by=by, column=column)
    else:
        batching = replace(usual, by=by, column=None)
    metric = last.selectbox(
        "Shown", list(METRICS), format_func=TITLES.__getitem__, key=get_state().key("over-time-metric")
    )
    if not timed:
        no_time(by)
    with st.expander("Reference period, limits, fewest rows", icon=":material/tune:"):
        plan = _details(found, batching, metric, kept)
    return Asked(plan, metric)


def no_time(by: str) -> None:
    st.caption(
        "No time column is chosen"
        + (": batches are made of rows in the order of the file." if by == "rows" else ".")
        + " If the file says when each case was scored, choose that column on the Data page under 'More roles'."
    )
    st.page_link(VIEWS["data"], label="Choose a time column", icon=":material/schedule:")


def _key(name: str, kept: Plan | None) -> str:
    """Another stream starts with its own settings."""
    return get_state().key(name if kept is None else f"{name}-{hash(kept)}")


def _details(found: Analysis, batching: Batching, metric: str, kept: Plan | None) -> Plan:
    settings = found.settings
    left, middle, right = st.columns(3)
    fewest = left.number_input(
        "Fewest rows a batch",
        1,
        10**7,
        batching.min_rows,
        step=10,
        key=_key("fewest-rows", kept),
        help="Smaller batches are joined with the next one, until they are enough.",
    )
    batching = replace(batching, min_rows=int(fewest))
    names = services.batch_names(found, batching)
    complete = right.number_input(
        "Labels that complete a batch (%)",
        0,
        100,
        round(100 * (services.usual_completeness(found) if kept is None else kept.complete)),
        step=5,
        key=_key("complete", kept),
        help="Labels that come early may differ from those that come late: a batch is tested when so many are there. "
        "0 where labels are missing at random.",
    )
    reference = _reference(names, middle, kept)
    fixed = _fixed(metric, kept)
    return Plan(
        batching=batching,
        bins=settings.bins,
        tolerance=settings.tolerance,
        reference=reference,
        fixed=fixed,
        complete=complete / 100,
    )


def _reference(names: tuple[tuple[str, str], ...], place, kept: Plan | None) -> int | tuple[str, ...]:
    """The first so many batches, or those from one to another; of a stream: as its last run had it, unless changed."""
    count = len(names)
    kinds = {"first": "the first batches", "range": "from one batch to another"}
    if kept is not None:
        kinds = {"kept": "as the stream has it", **kinds}
    chosen = place.selectbox(
        "Reference period: what was normal",
        list(kinds),
        format_func=kinds.__getitem__,
        key=_key("reference-kind", kept),
    )
    if chosen == "kept" and kept is not None:
        return kept.reference
    if chosen == "first" or count < 2:
        first = place.number_input(
            "How many",
            1,
            None if kept is not None else max(count, 1),
            suggested_reference(count),
            # another split offers another number
            key=_key(f"reference-first-{count}", kept),
        )
        return int(first)
    places = list(range(count))
    start = place.selectbox(
        "From", places, format_func=lambda i: names[i][1], key=_key(f"reference-from-{count}", kept)
    )
    end = place.selectbox(
        "To",
        places[start:],
        index=min(suggested_reference(count) - 1, len(places[start:]) - 1),
        format_func=lambda i: names[i][1],
        key=_key(f"reference-to-{count}-{start}", kept),
    )
    return tuple(key for key, _ in names[start : end + 1])


def _fixed(metric: str, kept: Plan | None) -> tuple[FixedLimit, ...]:
    """Limits that somebody sets for the metric that is shown, and those set before for others or in the stream."""
    of_stream = {} if kept is None else {one.metric: one for one in kept.fixed}
    limits: dict[str, FixedLimit] = st.session_state.setdefault(_key("fixed-limits", kept), of_stream)
    known = limits.pop(metric, None)
    scale = 100 if metric in PERCENT else 1
    unit = {"gap": " (points)", "event rate": " (%)", "mean score": " (%)"}.get(metric, "")
    before = (None, None) if known is None else (known.low, known.high)
    ends = [
        place.number_input(
            f"{side} {TITLES[metric]} allowed{unit}",
            value=None if end is None else scale * end,
            step=1.0 if scale == 100 else 0.01,
            format="%.2f" if scale == 100 else "%.3f",
            placeholder="no limit",
            key=_key(f"limit-{side.lower()}-{metric}", kept),
        )
        for place, side, end in zip(st.columns(2), ("Lowest", "Highest"), before, strict=True)
    ]
    low, high = (None if end is None else end / scale for end in ends)
    if low is not None or high is not None:
        limits[metric] = FixedLimit(metric, low, high)
    return tuple(limits[name] for name in METRICS if name in limits)
