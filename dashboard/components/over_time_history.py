"""The Over time page: the stream that a file belongs to, its runs, alerts and maps; only where a history is kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from calcore.errors import InputError
from calcore.monitoring import Watch
from calcore.monitoring.history import Earlier
from calcore.monitoring.store import Dataset, Store, Stream
from dashboard import services
from dashboard import wording as w
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.state import get_state

CHOSEN = "history-stream"
#: What could not be done before this run, and what was done.
FAILED, TOLD = "history-failed", "history-told"
#: What was deleted: said until it is put away.
DELETED = "history-deleted"
NEW = "a new stream"
OFF = (
    "No history is kept: batches of earlier files are not remembered. Whoever runs this page can switch it on with the "
    "environment variable CALCORE_HISTORY, or in .streamlit/secrets.toml under [connections.history] as url, for "
    'example "sqlite:///history.db".'
)


def stream_choice(store: Store | None) -> Stream | None:
    """The stream that the open file continues; None where it stands alone."""
    if store is None:
        return None
    known = {stream.name: stream for stream in store.streams()}
    options = [None, *known, NEW] if NEW not in known else [None, *known]
    before = st.session_state.get(CHOSEN)
    left, right = st.columns(2)
    picked = left.selectbox(
        "Continues the stream",
        options,
        index=options.index(before) if before in known else 0,
        format_func=lambda name: "(none: this file alone)" if name is None else name,
        key=get_state().key("stream"),
        help="Batches that were saved in a stream join those of this file.",
    )
    if picked == NEW and NEW not in known:
        name = right.text_input("Name of the new stream", key=get_state().key("stream-name"), max_chars=200)
        ready = bool((name or "").strip())
        right.button(
            "Create",
            key="create-stream",
            disabled=not ready,
            on_click=_create,
            args=(store, (name or "").strip()),
        )
        return None
    st.session_state[CHOSEN] = picked
    return None if picked is None else known[picked]


def _create(store: Store, name: str) -> None:
    """Before the next run: a widget takes another value only then."""
    try:
        made = store.stream(name).name
    except InputError as error:
        st.session_state[FAILED] = error
        return
    st.session_state[CHOSEN] = st.session_state[get_state().key("stream")] = made


def history(
    found: Analysis, watched: Watch, store: Store | None, stream: Stream | None, earlier: Earlier | None
) -> None:
    """Save this run, acknowledge alerts, see runs and maps, delete."""
    st.subheader("History", anchor=False)
    if store is None:
        st.caption(escape(OFF))
        return
    told, failed = st.session_state.pop(TOLD, None), st.session_state.pop(FAILED, None)
    if told:
        st.success(escape(told), icon=":material/check:")
    if failed is not None:
        problem(failed)
    _was_deleted()
    if stream is None or earlier is None:
        st.caption("Choose or create a stream above to save these batches and to see earlier ones.")
        return
    try:
        _save(found, watched, store, earlier)
        _alerts(store, stream)
        _runs(store, stream)
        _maps(found, store, stream)
        _delete(store, stream)
    except InputError as error:
        problem(error)


def _was_deleted() -> None:
    """What was deleted, until it is put away."""
    told, box = st.session_state.get(DELETED), st.container()
    if not told:
        return
    if st.button("Close this notice", key="close-deleted", type="tertiary", icon=":material/close:"):
        del st.session_state[DELETED]
        st.rerun()
    box.success(escape(told), icon=":material/delete:")


def _save(found: Analysis, watched: Watch, store: Store, earlier: Earlier) -> None:
    if st.button("Save this run", key="save-run", type="primary", icon=":material/save:"):
        done = services.save_run(store, earlier, found, watched)
        new = [one for one in done.new if one.severity == "alert"]
        st.session_state[TOLD] = (
            "This run was saved already."
            if done.run.repeated
            else f"Saved as run {done.run.id} of {earlier.stream.name}; new alerts: {len(new)}."
        )
        st.rerun()


def _alerts(store: Store, stream: Stream) -> None:
    alerts = store.alerts(stream)
    open_ones = [one for one in alerts if one.acknowledged is None and one.level == "alert"]
    if open_ones:
        with st.expander(f"Acknowledge alerts ({len(open_ones)} open)", icon=":material/notifications:"):
            one = st.selectbox(
                "Alert",
                open_ones,
                format_func=lambda alert: str(alert.document.get("sentence", alert.key)),
                key="alert-to-acknowledge",
            )
            left, right = st.columns(2)
            by = left.text_input("Your name", key="acknowledged-by", max_chars=100)
            note = right.text_input("Note", key="acknowledge-note", max_chars=500)
            ready = bool((by or "").strip())
            if st.button("Acknowledge", key="acknowledge", disabled=not ready):
                done = store.acknowledge(one, (by or "").strip(), (note or "").strip())
                st.session_state[TOLD] = (
                    f"{done.by} had acknowledged it already."
                    if done.kept_earlier
                    else f"Acknowledged by {done.by}."
                )
                st.rerun()


def _runs(store: Store, stream: Stream) -> None:
    runs = store.runs(stream)
    if not runs:
        st.caption("No run is saved in this stream yet.")
        return
    files = {one.id: one for one in store.datasets(stream)}
    with st.expander(f"Saved runs ({len(runs)})", icon=":material/history:"):
        rows = [
            {
                "Run": run.id,
                "At (UTC)": minute(run.at),
                "File": files[run.dataset_id].filename,
                "Rows": files[run.dataset_id].rows,
                "SHA-256": files[run.dataset_id].sha256[:12],
            }
            for run in reversed(runs)
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="runs")


def _maps(found: Analysis, store: Store, stream: Stream) -> None:
    periods = store.lineage(stream)
    exported = services.exported_map(found)
    if exported is None and not periods:
        st.caption("To note which map is live, compare calibrators and open the Export page first.")
        return
    with st.expander("Live maps", icon=":material/timeline:"):
        if periods:
            rows = [
                {
                    "Map": "(scores as they are)" if one.map is None else one.map.name,
                    "From (UTC)": minute(one.since),
                    "Until (UTC)": "" if one.until is None else minute(one.until),
                    "Set by": one.by,
                    "Checksum": "" if one.map is None else one.map.sha256[:12],
                }
                for one in reversed(periods)
            ]
            st.dataframe(pd.DataFrame(rows), hide_index=True, key="live-maps")
        choices = ["map", "none"] if exported is not None else ["none"]
        what = st.selectbox(
            "Make live",
            choices,
            format_func=lambda one: (
                f"the exported map ({exported.calibrator})"
                if one == "map" and exported
                else "scores as they are"
            ),
            key="make-live-what",
        )
        left, right = st.columns(2)
        since = left.date_input(
            "From (UTC)", datetime.now(UTC).date(), format="YYYY-MM-DD", key="make-live-since"
        )
        by = right.text_input("Your name", key="make-live-by", max_chars=100)
        if st.button("Make live", key="make-live", disabled=not (by or "").strip()):
            map_ = exported if what == "map" else None
            name = "" if map_ is None else f"{map_.calibrator}, {map_.n:,} rows"
            period = services.make_live(store, stream, map_, name, since, by or "")
            st.session_state[TOLD] = f"Live from {minute(period.since)} UTC: {name or 'scores as they are'}."
            st.rerun()


def _delete(store: Store, stream: Stream) -> None:
    files = store.datasets(stream)
    with st.expander("Delete my data", icon=":material/delete:"):
        what = st.selectbox(
            "What to delete",
            [stream, *files],
            index=None,
            placeholder="nothing is chosen yet",
            format_func=lambda one: (
                f"the whole stream {stream.name}"
                if isinstance(one, Stream)
                else f"{one.filename} ({w.rows(one.rows)}, {one.sha256[:12]})"
            ),
            key=f"delete-what-{stream.id}",
        )
        sure = st.checkbox("Yes, delete it; this cannot be undone", key="delete-sure")
        st.button(
            "Delete",
            key="delete-history",
            disabled=not sure or what is None,
            icon=":material/delete:",
            on_click=_deleted,
            args=(store, stream, what),
        )


def _deleted(store: Store, stream: Stream, what: Stream | Dataset) -> None:
    whole = isinstance(what, Stream)
    try:
        done = store.delete_dataset(what) if isinstance(what, Dataset) else store.delete_stream(stream)
    except InputError as error:
        st.session_state[FAILED] = error
        return
    st.session_state[DELETED] = done.sentence
    st.session_state["delete-sure"] = False
    st.session_state[f"delete-what-{stream.id}"] = None
    if whole:
        st.session_state[CHOSEN] = st.session_state[get_state().key("stream")] = None


def minute(at: datetime) -> str:
    """A moment in UTC to the minute."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
