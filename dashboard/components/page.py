"""Pieces of every page: the head, the guard, verdict banners, charts with their table twins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.verdicts import Level, Verdict
from dashboard import services
from dashboard import wording as w
from dashboard.charts.chart import Chart
from dashboard.charts.maps import maps_chart
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.state import change_settings, get_state

VIEWS = {
    "data": "views/data.py",
    "overview": "views/overview.py",
    "reliability": "views/reliability.py",
    "subgroups": "views/subgroups.py",
    "noise": "views/noise.py",
    "compare": "views/compare.py",
    "over_time": "views/over_time.py",
    "export": "views/export.py",
    "learn": "views/learn.py",
}


def head(title: str, intro: str) -> None:
    """The title of a page and the question that it answers."""
    st.title(title, anchor=False)
    st.caption(intro)


def require_analysis() -> Analysis:
    """The session's analysis; without one the page says what is missing and stops."""
    state = get_state()
    if state.ingested is None:
        st.info(
            "No data yet. Drop a file of scores, or look at the sample first. If the page was reloaded: that forgets the "
            "file; a session that was saved brings its settings back on Data.",
            icon=":material/upload_file:",
        )
        left, right = st.columns(2)
        left.page_link(VIEWS["data"], label="Go to Data", icon=":material/upload_file:")
        if right.button("Try the sample", key="sample-from-guard"):
            services.load_sample()
            view = services.apply_waiting(only_own=True)
            if view is None:
                get_state().analysed = True
                st.rerun()
            st.switch_page(VIEWS.get(view, VIEWS["overview"]))
        st.stop()
    if not state.analysed:
        st.info(
            "The file is read. Say what its columns and labels mean, then press Analyse.",
            icon=":material/tune:",
        )
        left, right = st.columns(2)
        left.page_link(VIEWS["data"], label="Go to Data", icon=":material/upload_file:")
        try:
            services.check_ready(state)
        except InputError as error:
            problem(error)
        else:
            if right.button("Analyse", type="primary", key="analyse-here", icon=":material/speed:"):
                state.analysed = True
                st.rerun()
        st.stop()
    try:
        return services.analysis(state)
    except InputError as error:
        problem(error)
        st.page_link(VIEWS["data"], label="Go to Data", icon=":material/upload_file:")
        st.stop()


def problem(error: InputError) -> None:
    """One sentence about something that cannot be used."""
    text = str(error)
    first = text.split(" ", 1)[0]
    # a file's name stays as it is
    if first.isalpha():
        text = text[:1].upper() + text[1:]
    st.error(escape(text), icon=":material/error:")


def banner(verdict: Verdict) -> None:
    """A verdict: word, icon and sentence; colour is only the fourth sign."""
    show = {
        Level.GOOD: (st.success, ":material/check_circle:"),
        Level.WATCH: (st.warning, ":material/visibility:"),
        Level.BAD: (st.error, ":material/warning:"),
        Level.UNKNOWN: (st.info, ":material/help:"),
    }
    box, icon = show[verdict.level]
    box(f"**{escape(verdict.title)}.** {escape(verdict.sentence)}", icon=icon)
    for note in verdict.notes:
        st.caption(escape(note))


def draw(
    chart: Chart,
    key: str,
    *,
    on_select: Literal["ignore", "rerun"] = "ignore",
    table_label: str = "The same as a table",
) -> Any:
    """A chart with alt text, picture download and its table twin. Returns the selection."""
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": key},
    }
    event: Any = st.plotly_chart(
        chart.figure,
        theme="streamlit",
        key=key,
        alt=chart.alt,
        config=config,
        on_select=on_select,
        selection_mode="points",
    )
    with st.expander(table_label, icon=":material/table:"):
        st.dataframe(chart.table, hide_index=True, key=f"{key}-table")
    return event


def draw_maps(found: Analysis, maps: Sequence[tuple[str, CalibrationMap]], key: str) -> None:
    """Maps over each other; those that differ between subgroups have no one curve, and are named."""
    curves = [(title, map_) for title, map_ in maps if not map_.function.needs_groups]
    if curves:
        draw(maps_chart(curves, found.evidence.score, found.evidence.covariate_weight), key=key)
    for title, map_ in maps:
        if map_.function.needs_groups:
            st.caption(f"{escape(title)} differs between subgroups: it has no single curve.")


def assumptions(sentences: Sequence[str]) -> None:
    """What must hold for the numbers above, beside them."""
    if sentences:
        st.caption("Holds if " + escape("; ".join(sentences)) + ".")


def measured_on(found: Analysis) -> None:
    """Which labels the page measures on, with the choice where there is one."""
    settings = get_state().settings
    if found.audit is None:
        return
    options = {
        "audit": f"Clean audit labels ({w.count(found.audit.n)})",
        "labels": f"Recorded labels ({w.count(found.evidence.n)})",
    }
    picked = st.segmented_control(
        "Measured on",
        list(options),
        format_func=options.__getitem__,
        default=settings.measure_on,
        key=get_state().fresh("measure-on"),
        required=True,
    )
    if picked != settings.measure_on:
        change_settings(measure_on=picked)
        st.rerun()
