"""Export: the chosen map, read back and checked, in the forms that production needs."""

from __future__ import annotations

import streamlit as st

from calcore import verdicts
from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from dashboard import services
from dashboard.components.page import VIEWS, draw_maps, head, problem, require_analysis
from dashboard.components.text import escape
from dashboard.services import Analysis, Exported
from dashboard.state import get_state


def page() -> None:
    head("Export", "A calibration map for production, read back and compared before you get it.")
    found = require_analysis()
    result = services.latest_comparison(found)
    if result is None:
        st.info(
            "Compare calibrators first: the map leaves with its measured numbers.",
            icon=":material/compare_arrows:",
        )
        if st.button("Compare calibrators", type="primary", key="export-to-compare"):
            st.switch_page(VIEWS["compare"])
        return
    names = [entry.name for entry in result.entries if entry.missing is None]
    suggestion = get_state().export_choice or verdicts.suggested(result)
    name = st.selectbox(
        "Calibrator",
        names,
        index=names.index(suggestion) if suggestion in names else 0,
        format_func=lambda one: REGISTRY[one].title,
        key="export-name",
    )
    entry = result.entry(name)
    try:
        exported = services.export_of(found, result, name)
    except InputError as error:
        problem(error)
        return
    st.caption(escape(REGISTRY[name].summary))
    st.markdown(escape(verdicts.harm(entry)))
    for warning in exported.map.warnings:
        st.warning(escape(warning[:1].upper() + warning[1:]), icon=":material/warning:")
    st.caption(escape(result.verdict))
    for check in exported.checks:
        show = st.success if check.ok else st.error
        show(escape(check.sentence), icon=":material/verified:" if check.ok else ":material/error:")
    formats(found, exported, name)
    draw_maps(found, [(entry.title, exported.map)], key="export-map")
    with st.expander("The JSON", icon=":material/data_object:"):
        st.code(exported.json[:20_000], language="json")
    if exported.python is not None:
        with st.expander("The Python module", icon=":material/code:"):
            st.code(exported.python[:20_000], language="python")


def formats(found: Analysis, exported: Exported, name: str) -> None:
    """The downloads; an export that differs from its map cannot be taken."""
    first, second, third = st.columns(3)
    ok = {check.format: check.ok for check in exported.checks}
    first.download_button(
        "Map as JSON",
        exported.json,
        file_name=f"{name}.calibration.json",
        mime="application/json",
        on_click="ignore",
        type="primary",
        key="download-json",
        disabled=not ok.get("JSON", False),
        icon=":material/data_object:",
    )
    if exported.python is None:
        second.caption(escape(exported.without_python))
    else:
        second.download_button(
            "Python module",
            exported.python,
            file_name=f"{name.lower()}_calibration.py",
            mime="text/x-python",
            on_click="ignore",
            key="download-python",
            disabled=not ok.get("Python", False),
            icon=":material/code:",
        )
    with third:
        if not st.button("Prepare scored CSV", key="prepare-scored", icon=":material/table:"):
            return
        with st.spinner("Writing the rows"):
            data = services.scored_table(found, exported.map)
        st.download_button(
            f"Scored CSV ({len(data) / 1e6:,.1f} MB)",
            data,
            file_name="scored.csv",
            mime="text/csv",
            on_click="ignore",
            key="download-scored",
            icon=":material/download:",
        )


page()
