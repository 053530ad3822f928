"""The report on the Export page: made when asked for, then offered to download."""

from __future__ import annotations

import streamlit as st

from calcore.comparison import Comparison
from calcore.errors import InputError
from dashboard.components.page import problem
from dashboard.report import file_name, report_html
from dashboard.services import Analysis


def report(found: Analysis, compared: Comparison | None = None, name: str | None = None) -> None:
    """Offer the report on the file, and on the calibrator ``name`` where a comparison was run."""
    st.subheader("Report", anchor=False)
    st.caption(
        "One HTML file to keep, send or print: verdict, diagrams, subgroups, assumptions, data quality and a model card. "
        "Aggregates only, no row of the file; it fetches nothing."
    )
    if not st.button("Prepare report", key="prepare-report", icon=":material/description:"):
        return
    try:
        with st.spinner("Writing the report"):
            data = report_html(found, compared, name).encode()
    except InputError as error:
        problem(error)
        return
    st.download_button(
        f"Report ({len(data) / 1e6:,.1f} MB)",
        data,
        file_name=file_name(found.ingested.report.filename),
        mime="text/html",
        on_click="ignore",
        key="download-report",
        icon=":material/download:",
    )
