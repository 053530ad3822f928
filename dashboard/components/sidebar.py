"""The sidebar: which file is open, and how results are judged."""

from __future__ import annotations

import streamlit as st

from dashboard import wording as w
from dashboard.components.saved_session import save_and_share
from dashboard.components.text import escape
from dashboard.state import change_settings, forget_file, get_state


def sidebar(view: str) -> None:
    """Draw it on the page ``view``; a change of the tolerance holds from the page that follows."""
    state = get_state()
    with st.sidebar:
        if state.ingested is None:
            st.caption("No file open.")
            return
        report = state.ingested.report
        st.caption(
            f"**{escape(report.filename)}**  \n{w.rows(report.rows_kept)} · SHA-256 {report.sha256[:12]}"
        )
        tolerance = st.slider(
            "Tolerance (points)",
            0.0,
            10.0,
            100 * state.settings.tolerance,
            0.5,
            key=state.fresh("tolerance"),
            help="A gap below this is never called wrong, however many rows show it.",
        )
        if abs(tolerance / 100 - state.settings.tolerance) > 1e-12:
            change_settings(tolerance=tolerance / 100)
        save_and_share(view)
        if st.button("Close file and forget it", key="forget", icon=":material/delete:"):
            state.waiting = None
            forget_file()
            st.rerun()
