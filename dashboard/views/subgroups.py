"""Subgroups: for whom is the score off? Bars, a heatmap of every cell, and the rows behind one."""

from __future__ import annotations

import streamlit as st

from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from calcore.metrics import EVERYONE
from calcore.session import PATCHED
from dashboard import services
from dashboard import wording as w
from dashboard.charts.groups import group_error_bars
from dashboard.charts.heatmap import cell_heatmap, residual_limit
from dashboard.charts.reliability import reliability_chart
from dashboard.charts.trajectory import trajectory_chart
from dashboard.components.page import VIEWS, assumptions, draw, head, measured_on, problem, require_analysis
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.state import change_settings, get_state


def summary(found: Analysis) -> None:
    audit, maxima = services.audit_of(found), services.maxima_of(found)
    left, right = st.columns(2)
    for place, (name, words) in zip(
        (left, right),
        (("maxECE", "Worst subgroup's error (maxECE)"), ("MC", "Largest cell (multicalibration error)")),
        strict=True,
    ):
        found_value = maxima[name]
        place.metric(words, w.error(found_value.value))
        place.caption(
            escape(
                f"{found_value.where or 'no subgroup is large enough'}: chance alone gives up to {w.error(found_value.noise_limit)}; without its own "
                f"noise about {w.error(found_value.debiased)}, 95 % interval {w.interval(found_value.interval)}"
            )
        )
    if services.pool_in_use(found):
        st.caption("Sizes of subgroups in maxECE come from the sample of the population that was added.")
    small = found.choice.too_small + audit.too_small_groups
    st.caption(
        f"{w.count(len(audit.groups))} subgroups; {w.count(small)} were too small (up to {w.rate(found.settings.min_mass)} of the "
        f"rows) and {w.count(found.choice.over_cap)} over the limit of 200: listed nowhere, ranked nowhere."
    )


def cell_rows(found: Analysis, group: int, place: int) -> None:
    audit = services.audit_of(found)
    cells = audit.cells
    name = cells.groups[group]
    rows = services.rows_of_cell(found, group, place)
    st.subheader(f"Scores {cells.bins.label(place)}", anchor=False)
    st.text(name)
    st.caption(
        f"{w.rows(cells.rows[group, place])}"
        + (", the first 500 shown" if cells.rows[group, place] > 500 else "")
    )
    with st.container(key="cell-rows"):
        st.dataframe(found.ingested.table.iloc[rows], hide_index=True)
    if name != EVERYONE:
        own = services.reliability_of(found, "Identity", found.settings.bins, "width", group - 1)
        draw(
            reliability_chart(
                [("Score", own)], title="This subgroup's reliability", tolerance=found.settings.tolerance
            ),
            key="group-reliability",
        )


def correction(found: Analysis) -> None:
    """What WLMC would change: its rounds, and the heatmap before and after on rows that it was not fitted on."""
    audit, state = services.audit_of(found), get_state()
    with st.expander("What correcting subgroups would change (WLMC)", icon=":material/build:"):
        name = st.segmented_control(
            "Form",
            PATCHED,
            format_func=lambda one: REGISTRY[one].title,
            default=state.looked.wlmc_form,
            key=state.fresh("wlmc-form"),
            required=True,
        )
        st.caption(REGISTRY[name].summary)
        if not st.toggle("Show", key="wlmc-show"):
            return
        try:
            with st.spinner("Correcting"):
                fit, after = services.cross_fit_of(found, name), services.corrected_cells(found, name)
        except InputError as error:
            problem(error)
            return
        fitted = fit.fitted
        draw(trajectory_chart(fitted.audit_, bins=fitted.bins), key="wlmc-rounds")
        limit = max(residual_limit(audit.cells), residual_limit(after))
        st.markdown("**Before**")
        draw(cell_heatmap(audit.cells, tolerance=audit.tolerance, limit=limit, top=20), key="wlmc-before")
        st.markdown("**After**, on rows that it was not fitted on")
        draw(cell_heatmap(after, tolerance=audit.tolerance, limit=limit, top=20), key="wlmc-after")
        st.caption("To export it, add it on the Compare page.")


def page() -> None:
    head("Subgroups", "For whom is the score off, and in which direction?")
    found = require_analysis()
    measured_on(found)
    audit = services.audit_of(found)
    smallest = st.slider(
        "Leave out subgroups below this share of rows (%)",
        0.0,
        10.0,
        100 * found.settings.min_mass,
        0.5,
        key=get_state().fresh("min-mass"),
    )
    if abs(smallest / 100 - found.settings.min_mass) > 1e-12:
        change_settings(min_mass=smallest / 100)
        st.rerun()
    if not found.choice.subgroups:
        st.info(
            "No subgroup columns are chosen, or none of their values holds enough rows. Choose columns on the Data page, or allow smaller subgroups above.",
            icon=":material/grid_off:",
        )
        st.page_link(VIEWS["data"], label="Go to Data", icon=":material/upload_file:")
        return
    summary(found)
    draw(
        group_error_bars(audit.groups, reference=audit.error.value, basis=services.measured_words(found)),
        key="group-bars",
    )
    state = get_state()
    search = st.text_input(
        "Find a subgroup", state.looked.find, key=state.fresh("group-search"), placeholder="part of a name"
    )
    event = draw(
        cell_heatmap(audit.cells, search=search or "", tolerance=audit.tolerance),
        key="cell-heatmap",
        on_select="rerun",
    )
    points = event.selection.points if event and getattr(event, "selection", None) else []
    if points and "customdata" in points[0]:
        group, place = points[0]["customdata"][:2]
        cell_rows(found, int(group), int(place))
    else:
        st.caption("Click a cell to see its rows.")
    correction(found)
    assumptions(audit.assumptions)


page()
