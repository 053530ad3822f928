"""The user's rows with the calibrated score, as a file to download."""

from __future__ import annotations

import streamlit as st

from calcore import wording as w
from calcore.errors import InputError
from dashboard import services
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.services import Analysis, Exported
from dashboard.state import get_state


def scored_rows(found: Analysis, exported: Exported) -> None:
    """Written only when asked for, as text or Parquet, and read into memory only when taken."""
    st.subheader("Your rows with the calibrated score", anchor=False)
    is_parquet = found.ingested.report.place == "row"
    text, typed = "CSV" if is_parquet else "Text, laid out as the file", "Parquet"
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    kind = left.radio(
        "Format",
        (typed, text) if is_parquet else (text, typed),
        horizontal=True,
        key=get_state().key("scored-kind"),
    )
    parquet, place = kind == typed, right.empty()
    ready = services.scored_rows_ready(found, exported.map, parquet)
    if ready is None:
        if not place.button("Write scored rows", key="prepare-scored", icon=":material/table:"):
            return
        bar = st.progress(0.0, "Writing the rows")
        total = max(found.ingested.report.rows_read, 1)

        def told(done: int) -> None:
            bar.progress(min(done / total, 1.0), f"{w.rows(done)} written")

        try:
            ready = services.write_scored_rows(found, exported.map, parquet, told)
        except InputError as error:
            problem(error)
            return
        finally:
            bar.empty()
    place.download_button(
        f"Scored rows ({ready.size / 1e6:,.1f} MB)",
        ready.read,
        file_name=ready.name,
        mime="application/octet-stream" if parquet else "text/csv",
        on_click="ignore",
        key="download-scored",
        icon=":material/download:",
    )
    for sentence in ready.account.sentences():
        st.caption(escape(sentence))
