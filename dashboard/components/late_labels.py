"""The Data page: labels that arrived later, in a file of their own."""

from __future__ import annotations

import streamlit as st

from calcore.errors import InputError
from calcore.ingest import JoinColumns
from dashboard import services
from dashboard.components.data_file import TYPES
from dashboard.components.page import problem
from dashboard.components.saved_session import after_loading
from dashboard.components.text import escape
from dashboard.state import AppState, LateLabels


def late_labels(state: AppState) -> None:
    """Drop the file, see what became of it, choose other columns, take it away again."""
    late, failed = state.late, st.session_state.pop("labels-problem", None)
    with st.expander(
        "Labels are in another file", expanded=bool(late or failed), icon=":material/join_inner:"
    ):
        if late is None:
            st.caption(
                "For labels that arrive after the scores: a file with an id and a label on each row. Both files need "
                "the same ids; rows without a label stay unlabelled."
            )
        elif late.joined is not None:
            assert state.ingested is not None
            _account(late, state.ingested.report.rows_kept)
        else:
            st.caption(escape(f"{late.parsed.filename} is read. Say which columns belong together."))
        if late is not None:
            failed = _columns(state, late) or failed
        if failed:
            problem(InputError(failed))
        _drop(state)


def _drop(state: AppState) -> None:
    words = "File of labels: CSV, TSV, text or Parquet"
    upload = st.file_uploader(
        words if state.late is None else "Another file of labels", type=TYPES, key=state.key("labels-file")
    )
    if upload is None or upload.file_id == st.session_state.get("parsed-labels"):
        return
    st.session_state["parsed-labels"] = upload.file_id
    try:
        services.load_labels(upload.getvalue(), upload.name)
    except InputError as error:
        st.session_state["labels-problem"] = str(error)
    else:
        after_loading(only_own=True)
    st.rerun()


def _account(late: LateLabels, rows_kept: int) -> None:
    assert late.joined is not None
    account = late.joined.account
    st.markdown(f"{escape(account.sentence())}.")
    for sentence in (*account.refused_after(rows_kept), *account.details()):
        st.caption(escape(sentence))


def _columns(state: AppState, late: LateLabels) -> str | None:
    """The columns of the join, to be changed by a button; why they cannot be joined, if so."""
    found = services.columns_to_join(late)
    ours, theirs = list(late.scores.columns), list(late.parsed.columns)
    on, labels_on, label = (
        place.selectbox(
            words,
            names,
            index=names.index(value) if value in names else None,
            placeholder="Choose a column",
            format_func=str,
            key=state.key(f"late-{role}-{late.parsed.sha256[:8]}"),
        )
        for place, role, words, names, value in zip(
            st.columns(3),
            ("on", "labels-on", "label"),
            ("Id in the scores", "Id in the labels", "Label"),
            (ours, theirs, theirs),
            (found.on, found.labels_on, found.label),
            strict=True,
        )
    )
    chosen = JoinColumns(on, labels_on, label)
    left, right = st.columns(2)
    ready = None not in (on, labels_on, label) and (late.joined is None or chosen != found)
    failed = None
    if left.button("Join", key="join-labels", disabled=not ready, icon=":material/join_inner:"):
        try:
            services.join(chosen)
        except InputError as error:
            failed = str(error)
        else:
            after_loading(only_own=True)
            st.rerun()
    if right.button("Remove these labels", key="forget-labels"):
        services.forget_labels()
        st.rerun()
    return failed
