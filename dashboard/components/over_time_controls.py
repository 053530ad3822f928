"""The Over time page: how rows become batches, what is normal, and which limits hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from calcore.errors import InputError
from calcore.monitoring import Batching, FixedLimit, Plan
from calcore.monitoring.batches import CALENDAR
from calcore.monitoring.results import METRICS, TITLES
from calcore.monitoring.suggest import suggested_reference
from calcore.session import Looked
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
    state = get_state()
    state.over_time_widgets.clear()
    usual = services.default_batching(found) if kept is None else kept.batching
    looked = state.looked if kept is None else Looked(metric=state.looked.metric)
    timed = found.ingested.columns.time is not None
    units = [unit for unit in UNITS if timed or unit not in CALENDAR]
    first, last, second = st.columns(3)
    by = first.selectbox(
        "A batch is",
        units,
        index=_index(units, looked.batch_by, usual.by),
        format_func=UNITS.__getitem__,
        key=_key("batches-by", kept, "batch_by", usual.by),
    )
    if by == "rows":
        size = second.number_input(
            "Rows a batch",
            10,
            10**8,
            looked.batch_size or max(usual.size, 10),
            step=100,
            key=_key("batch-size", kept, "batch_size", max(usual.size, 10)),
        )
        batching = replace(usual, by=by, column=None, size=int(size))
    elif by == "column":
        names = services.batch_columns(found)
        column = second.selectbox(
            "Column",
            names,
            index=_index(names, looked.batch_column, usual.column),
            key=_key("batch-column", kept, "batch_column"),
        )
        batching = replace(usual, by=by, column=column)
    else:
        batching = replace(usual, by=by, column=None)
    metric = last.selectbox(
        "Shown",
        list(METRICS),
        index=list(METRICS).index(looked.metric),
        format_func=TITLES.__getitem__,
        key=_key("over-time-metric", None, "metric"),
    )
    if not timed:
        no_time(by)
    with st.expander("Reference period, limits, fewest rows", icon=":material/tune:"):
        plan = _details(found, batching, metric, kept, looked)
    return Asked(plan, metric)


def no_time(by: str) -> None:
    st.caption(
        "No time column is chosen"
        + (": batches are made of rows in the order of the file." if by == "rows" else ".")
        + " If the file says when each case was scored, choose that column on the Data page under 'More roles'."
    )
    if st.button("Choose a time column", key="choose-time", type="tertiary", icon=":material/schedule:"):
        get_state().more_roles = True
        st.switch_page(VIEWS["data"])


def _key(name: str, kept: Plan | None, remembered: str | None = None, usual: Any = None) -> str:
    """Another stream starts with its own settings; without one the value is ``remembered`` in Looked, unless it is usual."""
    if kept is not None:
        return get_state().key(f"{name}-{hash(kept)}")
    if remembered is not None:
        get_state().over_time_widgets[remembered] = (name, usual)
    return get_state().key(name)


def _index(options: Sequence[str], *wanted: str | None) -> int:
    """The place of the first of ``wanted`` that is an option."""
    return next((options.index(one) for one in wanted if one in options), 0)


def _details(found: Analysis, batching: Batching, metric: str, kept: Plan | None, looked: Looked) -> Plan:
    settings = found.settings
    left, middle, right = st.columns(3)
    fewest = left.number_input(
        "Fewest rows a batch",
        1,
        10**7,
        looked.fewest_rows or batching.min_rows,
        step=10,
        key=_key("fewest-rows", kept, "fewest_rows", batching.min_rows),
        help="Smaller batches are joined with the next one, until they are enough.",
    )
    batching = replace(batching, min_rows=int(fewest))
    names = services.batch_names(found, batching)
    usual = round(100 * (services.usual_completeness(found) if kept is None else kept.complete))
    complete = right.number_input(
        "Labels that complete a batch (%)",
        0,
        100,
        usual if looked.complete is None else looked.complete,
        step=5,
        key=_key("complete", kept, "complete", usual),
        help="Labels that come early may differ from those that come late: a batch is tested when so many are there. "
        "0 where labels are missing at random.",
    )
    reference = _reference(names, middle, kept, looked)
    fixed = _fixed(metric, kept)
    return Plan(
        batching=batching,
        bins=settings.bins,
        tolerance=settings.tolerance,
        reference=reference,
        fixed=fixed,
        complete=complete / 100,
    )


def _reference(
    names: tuple[tuple[str, str], ...], place, kept: Plan | None, looked: Looked
) -> int | tuple[str, ...]:
    """The first so many batches, or those from one to another; of a stream: as its last run had it, unless changed."""
    count = len(names)
    kinds = {"first": "the first batches", "range": "from one batch to another"}
    if kept is not None:
        kinds = {"kept": "as the stream has it", **kinds}
    chosen = place.selectbox(
        "Reference period: what was normal",
        list(kinds),
        index=0 if kept is not None else list(kinds).index(looked.reference),
        format_func=kinds.__getitem__,
        key=_key("reference-kind", kept, "reference"),
    )
    if chosen == "kept" and kept is not None:
        return kept.reference
    if chosen == "first" or count < 2:
        first = place.number_input(
            "How many",
            1,
            None if kept is not None else max(count, 1),
            _within(looked.reference_first, count, place) or suggested_reference(count),
            # another split offers another number
            key=_key(f"reference-first-{count}", kept, "reference_first", suggested_reference(count)),
        )
        return int(first)
    places = list(range(count))
    start = place.selectbox(
        "From",
        places,
        index=(_within(looked.reference_from, count, place) or 1) - 1,
        format_func=lambda i: names[i][1],
        key=_key(f"reference-from-{count}", kept, "reference_from"),
    )
    usual = min(start + suggested_reference(count), count)
    last = _within(looked.reference_to, count, place) or usual
    end = place.selectbox(
        "To",
        places[start:],
        index=min(max(last - 1 - start, 0), len(places[start:]) - 1),
        format_func=lambda i: names[i][1],
        key=_key(f"reference-to-{count}-{start}", kept, "reference_to", usual),
    )
    return tuple(key for key, _ in names[start : end + 1])


def _within(wanted: int | None, count: int, place) -> int | None:
    """A remembered place of a batch, where there are so many."""
    if wanted is not None and wanted > count:
        place.caption(f"Batch {wanted} was chosen before; there are {count} now, and the last is taken.")
        return count
    return wanted


def _fixed(metric: str, kept: Plan | None) -> tuple[FixedLimit, ...]:
    """Limits that somebody sets for the metric that is shown, and those set before for others or in the stream."""
    limits: dict[str, FixedLimit]
    if kept is None:
        limits = {one.metric: one for one in get_state().looked.fixed_limits}
    else:
        limits = st.session_state.setdefault(
            _key("fixed-limits", kept), {one.metric: one for one in kept.fixed}
        )
    known = limits.pop(metric, None)
    scale = 100 if metric in PERCENT else 1
    unit = {"gap": " (points)", "event rate": " (%)", "mean score": " (%)"}.get(metric, "")
    before = (None, None) if known is None else (known.low, known.high)
    ends = [
        place.number_input(
            f"{side} {TITLES[metric]} allowed{unit}",
            value=None if end is None else round(scale * end, 10),
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
    fixed = tuple(limits[name] for name in METRICS if name in limits)
    if kept is None:
        get_state().over_time_widgets["fixed_limits"] = (metric, scale)
    return fixed


def remember_controls() -> None:
    """Keep what the controls say before anything is drawn: Streamlit forgets them once another page is open."""
    state, changes = get_state(), dict[str, Any]()
    for name, (key, usual) in state.over_time_widgets.items():
        if name == "fixed_limits":
            changes |= _limits_said(key, usual)
        elif state.key(key) in st.session_state:
            value = st.session_state[state.key(key)]
            if name in ("reference_from", "reference_to"):
                value += 1
            changes[name] = None if value == usual else value
    state.looked = replace(state.looked, **changes)


def _limits_said(metric: str, scale: int) -> dict[str, Any]:
    """The fixed limits with what the two fields of ``metric`` say now; nothing where they are not there or cross."""
    state = get_state()
    keys = [state.key(f"limit-{side}-{metric}") for side in ("lowest", "highest")]
    if any(key not in st.session_state for key in keys):
        return {}
    low, high = (None if st.session_state[key] is None else st.session_state[key] / scale for key in keys)
    limits = {one.metric: one for one in state.looked.fixed_limits if one.metric != metric}
    try:
        if low is not None or high is not None:
            limits[metric] = FixedLimit(metric, low, high)
    except InputError:
        return {}  # the page says so
    return {"fixed_limits": tuple(limits[name] for name in METRICS if name in limits)}
