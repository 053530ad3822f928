"""Reliability: the diagram in detail, bins as you like, calibrators overlaid, one subgroup at a time."""

from __future__ import annotations

import streamlit as st

from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from calcore.session import STRATEGIES
from dashboard import services
from dashboard import wording as w
from dashboard.charts.binless import corp_chart, decision_chart
from dashboard.charts.reliability import reliability_chart
from dashboard.components.number_table import number_table
from dashboard.components.page import assumptions, draw, head, measured_on, problem, require_analysis
from dashboard.services import Analysis
from dashboard.state import get_state


def controls(found: Analysis) -> tuple[str, int, list[str], int | None]:
    state = get_state()
    looked = state.looked
    left, right = st.columns(2)
    strategy = left.segmented_control(
        "Bins of",
        STRATEGIES,
        format_func={
            "width": "equal width",
            "mass": "equal number of rows",
            "isotonic": "no bins: isotonic",
        }.__getitem__,
        default=looked.strategy,
        key=state.fresh("strategy"),
        required=True,
    )
    bins = right.slider(
        "Number of bins",
        2,
        40,
        looked.reliability_bins or found.settings.bins,
        key=state.fresh("bins"),
        disabled=strategy == "isotonic",
    )
    names = list(services.available(found))
    chosen = left.multiselect(
        "Calibrators",
        names,
        default=[name for name in looked.calibrators if name in names],
        format_func=lambda name: REGISTRY[name].title,
        key=state.fresh("overlaid"),
        help="Each is drawn at predictions for rows that it was not fitted on.",
    )
    member = found.measured.membership
    group_names = () if member is None else member.names
    groups: list[int | None] = [None, *range(len(group_names))]
    state.group_names = tuple(group_names)
    group = right.selectbox(
        "Subgroup",
        groups,
        index=1 + group_names.index(looked.group) if looked.group in group_names else 0,
        format_func=lambda g: "Everyone" if g is None else group_names[g],
        key=state.fresh("reliability-group"),
        disabled=len(groups) == 1,
    )
    return strategy or "width", bins, chosen or ["Identity"], group


def page() -> None:
    head("Reliability", "Of all the cases scored 0.7, did the event happen 70 % of the time?")
    found = require_analysis()
    measured_on(found)
    strategy, bins, names, group = controls(found)
    if strategy == "isotonic":
        without_bins(found, names, group)
    else:
        with_bins(found, strategy, bins, names, group)
    for name in names:
        numbers(found, name, group)
    title = REGISTRY[names[0]].title
    with st.expander(f"What acting on the score is worth: {title}", icon=":material/balance:"):
        try:
            curve = services.decision_curve_of(found, names[0], group)
        except InputError as error:
            problem(error)
        else:
            draw(decision_chart(title, curve), key="decision-chart")


def without_bins(found: Analysis, names: list[str], group: int | None) -> None:
    """The isotonic curve of each calibrator, one below the other: bands over each other cannot be read."""
    for name in names:
        try:
            curve = services.corp_of(found, name, group)
        except InputError as error:
            problem(error)
            continue
        draw(corp_chart(REGISTRY[name].title, curve), key=f"corp-chart-{name}")
        st.caption(
            f"{w.rows(curve.n)}, measured {services.measured_words(found)}; bands 95 % at each score by itself."
        )
        assumptions(curve.assumptions)


def numbers(found: Analysis, name: str, group: int | None) -> None:
    """Numbers that need no bins, with their intervals and p-values."""
    with st.expander(f"More numbers: {REGISTRY[name].title}", icon=":material/calculate:"):
        try:
            rows = services.numbers_of(found, name, group)
        except InputError as error:
            problem(error)
        else:
            st.dataframe(number_table(rows), hide_index=True, key=f"numbers-{name}")


def with_bins(found: Analysis, strategy: str, bins: int, names: list[str], group: int | None) -> None:
    curves, drawn = [], []
    for name in names:
        try:
            curves.append((REGISTRY[name].title, services.reliability_of(found, name, bins, strategy, group)))
        except InputError as error:
            problem(error)
        else:
            drawn.append(name)
    if not curves:
        return
    draw(
        reliability_chart(curves, tolerance=found.settings.tolerance),
        key="reliability-chart",
        table_label="Every bin as a table",
    )
    first = curves[0][1]
    st.caption(
        f"{w.rows(first.n)}, measured {services.measured_words(found)}; intervals 95 % ({first.method}); grey: too few rows to test."
    )
    if group is None:
        for name in drawn:
            found_error = services.error_of(found, name, bins, strategy)
            st.caption(
                f"{REGISTRY[name].title}: ECE {w.error(found_error.value)} (95 % interval {w.interval(found_error.interval)}); a calibrated "
                f"score would show about {w.error(found_error.noise_floor)}, up to {w.error(found_error.noise_limit)}."
            )
    assumptions(first.assumptions)


page()
