"""The Over time page: what a calibration map, applied from a date on, does to the series."""

from __future__ import annotations

from datetime import UTC, datetime, time

import numpy as np
import streamlit as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.monitoring import Watch
from calcore.monitoring.sentences import broke_at
from calcore.monitoring.store import Store, Stream
from dashboard import services
from dashboard.charts.over_time_mapped import mapped_chart
from dashboard.components.over_time_controls import Asked
from dashboard.components.page import draw, problem
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.state import get_state

NONE, UPLOADED, EXPORTED, LIVE = "none", "uploaded", "exported", "live"
WORDS = {
    NONE: "no map",
    UPLOADED: "a map file (JSON)",
    EXPORTED: "the map on the Export page",
    LIVE: "the live map of the stream",
}


def before_and_after(
    found: Analysis, watched: Watch, asked: Asked, store: Store | None, stream: Stream | None
) -> None:
    """The series as it is and with a map from a date on, over each other; ``watched`` says which date is suggested."""
    st.subheader("With a calibration map from a date on", anchor=False)
    state = get_state()
    live = None if store is None or stream is None else services.live_since(store, stream)
    exported = services.exported_map(found)
    options = [NONE, UPLOADED]
    options += [EXPORTED] if exported is not None else []
    options += [LIVE] if live is not None else []
    left, right = st.columns(2)
    source = left.selectbox("Map", options, format_func=WORDS.__getitem__, key=state.key("map-source"))
    if source == NONE:
        st.caption("Choose a map to see what the batches would look like with it.")
        return
    since = _since(found, right, live[1] if source == LIVE and live is not None else broke_at(watched))
    try:
        if source == LIVE:
            assert store is not None
            assert live is not None
            map_: CalibrationMap | None = store.load_map(live[0])
        else:
            map_ = exported if source == EXPORTED else _uploaded()
        if map_ is None:
            return
        with st.spinner("Measuring the batches at the mapped scores"):
            raw = services.watch_of(found, asked.plan)
            mapped = services.mapped_watch_of(found, asked.plan, map_, since)
    except InputError as error:
        problem(error)
        return
    if map_.data_sha256 == found.ingested.report.sha256:
        st.warning(
            "This map was fitted on rows of this file: on them it looks better than it will on new ones.",
            icon=":material/info:",
        )
    moment = None if since is None else str(since.astype("datetime64[s]"))
    draw(mapped_chart(raw, mapped, asked.metric, moment), key="over-time-mapped")


def _since(found: Analysis, place, suggested: datetime | None) -> np.datetime64 | None:
    """The first moment (UTC) at which the map is applied; None where there is no time."""
    known = found.ingested.columns.time
    if known is None or np.isnat(known).all():
        place.caption("Without a time column the map is applied to every row.")
        return None
    first, last = (end.astype("datetime64[D]").astype(object) for end in (np.nanmin(known), np.nanmax(known)))
    middle = first + (last - first) / 2
    start = middle if suggested is None else min(max(suggested.date(), first), last)
    chosen = place.date_input(
        "Applied from (UTC)",
        start,
        min_value=first,
        max_value=last,
        format="YYYY-MM-DD",
        # another suggestion replaces what was chosen
        key=get_state().key(f"map-since-{start}"),
    )
    if not hasattr(chosen, "year"):
        return None
    return np.datetime64(datetime.combine(chosen, time(), UTC).replace(tzinfo=None), "ns")


def _uploaded() -> CalibrationMap | None:
    upload = st.file_uploader("Calibration map (JSON)", type=["json"], key=get_state().key("map-upload"))
    if upload is None:
        return None
    map_ = CalibrationMap.from_json(upload.getvalue())
    st.caption(escape(f"{upload.name}: {map_.calibrator}, fitted on {map_.n:,} rows."))
    return map_
