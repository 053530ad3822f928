"""The Data page: the file itself - upload, what was found, questions, preview, layout."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from calcore.errors import InputError
from calcore.ingest import FileFormat, Ingested, Question, answer
from calcore.verdicts import data_line
from dashboard import services
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.state import AppState, get_state

TYPES = ["csv", "tsv", "txt", "parquet", "pq", "dat"]
QUESTION_WORDS = {
    "probability": "They are probabilities as they are",
    "percent": "Percentages: divide by 100",
    "logit": "Logits: apply the sigmoid",
    "header": "The first row names the columns",
    "no header": "There are no column names",
    "leave out": "Leave this column out",
}
TIE_WORDS = {
    "leave out": "Leave these rows out",
    "half": "Half a positive, half a negative",
    "positive": "A positive",
    "negative": "A negative",
}


def uploader() -> None:
    """The drop zone; a file is parsed once, when it arrives."""
    upload = st.file_uploader(
        "Scores with labels: CSV, TSV, text or Parquet",
        type=TYPES,
        key="upload",
    )
    state = get_state()
    if upload is None or upload.file_id == st.session_state.get("parsed-upload"):
        return
    with st.status(f"Reading {escape(upload.name)} ({upload.size / 1e6:,.1f} MB)") as status:
        try:
            services.load(upload.getvalue(), upload.name)
        except InputError as error:
            status.update(label="This file cannot be read", state="error")
            failure: InputError | None = error
        else:
            status.update(label="Read", state="complete")
            failure = None
    if failure is not None:
        # outside the status box, which folds away
        problem(failure)
        return
    st.session_state["parsed-upload"] = upload.file_id
    assert get_state() is not state
    st.rerun()


def found(ingested: Ingested) -> None:
    """What was found, what was refused."""
    report = ingested.report
    st.markdown(f"**{escape(report.filename)}** · {escape(data_line(report))}")
    layout = report.format
    names = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "vertical bar", " ": "space", ".": "point"}
    parts = [
        f"{label} {names.get(value, value)}"
        for label, value in (
            ("encoding", layout.encoding),
            ("separator", layout.separator),
            ("decimal", layout.decimal),
        )
        if value
    ]
    if parts:
        st.caption(escape("Found: " + ", ".join(parts)))
    for warning in report.warnings:
        st.warning(escape(warning), icon=":material/info:")
    if report.refused:
        rows = [
            {
                "Reason": part.reason,
                "Rows": part.count,
                f"First {report.place}s": ", ".join(map(str, part.lines)),
            }
            for part in report.refused
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="refused")


def questions(state: AppState) -> None:
    """What only the user can say; an answer reads the file again."""
    assert state.ingested is not None
    for number, question in enumerate(state.ingested.report.questions):
        _ask(state, number, question)


def _ask(state: AppState, number: int, question: Question) -> None:
    st.markdown(f":material/contact_support: {escape(question.sentence)}")
    options = list(question.options)
    # a scale is never assumed: even the likely answer must be given
    open_question = question.kind == "score_scale" and state.choices.score_scale is None
    assumed = None if open_question else question.default
    words = TIE_WORDS if question.kind == "tied_label" else QUESTION_WORDS
    picked = st.radio(
        "Answer",
        options,
        index=options.index(assumed) if assumed in options else None,
        format_func=lambda option: escape(words.get(str(option), str(option))),
        key=state.key(f"question-{number}-{question.kind}-{question.column}"),
        horizontal=True,
        label_visibility="collapsed",
    )
    if picked is None or picked == assumed:
        return
    assert state.ingested is not None
    about_audit = (
        question.kind in ("positive_label", "tied_label") and question.column == state.ingested.roles.audit
    )
    choices = answer(state.choices, question, picked, audit=about_audit)
    if choices == state.choices:
        return
    _apply(choices)


def _apply(choices) -> None:
    state = get_state()
    try:
        if choices.format != state.choices.format:
            services.reparse(choices)
        else:
            services.reinterpret(choices)
    except InputError as error:
        problem(error)
        return
    st.rerun()


def preview(ingested: Ingested) -> None:
    """The first rows, as typed."""
    with st.expander("First rows", expanded=True, icon=":material/table_rows:"):
        st.dataframe(ingested.table.head(50), hide_index=True, key="preview")


def layout_choices(state: AppState) -> None:
    """Separator, decimal, encoding and header, where the guess was wrong."""
    assert state.ingested is not None
    if state.ingested.report.format.separator is None:
        return
    with st.expander("The file was read wrongly?", icon=":material/settings:"):
        current = state.choices.format
        separator = st.selectbox(
            "Separator",
            [None, ",", ";", "\t", "|"],
            index=[None, ",", ";", "\t", "|"].index(current.separator),
            format_func=lambda value: {None: "find it", "\t": "tab"}.get(value, value),
            key=get_state().key("separator"),
        )
        decimal = st.selectbox(
            "Decimal sign",
            [None, ".", ","],
            index=[None, ".", ","].index(current.decimal),
            format_func=lambda value: {None: "find it"}.get(value, value),
            key=get_state().key("decimal"),
        )
        encodings = [None, "utf-8", "utf-16", "windows-1252"]
        encoding = st.selectbox(
            "Encoding",
            encodings,
            index=encodings.index(current.encoding) if current.encoding in encodings else 0,
            format_func=lambda value: value or "find it",
            key=get_state().key("encoding"),
        )
        headers = [None, True, False]
        header = st.selectbox(
            "First row",
            headers,
            index=headers.index(current.header),
            format_func=lambda value: {None: "find it", True: "names the columns", False: "is data"}[value],
            key=get_state().key("header"),
        )
        wanted = FileFormat(encoding, separator, decimal, header)
        if wanted != current:
            _apply(replace(state.choices, format=wanted))


def pool(state: AppState) -> None:
    """A full sample of the population beside weak labels, from which the sizes of subgroups are taken."""
    if state.settings.labels in ("clean", "noisy", "posterior"):
        return
    with st.expander("Add a full sample of the population, without labels", icon=":material/groups:"):
        st.caption(
            "With it, sizes of subgroups come from its rows instead of the weak labels. It needs the same subgroup columns."
        )
        upload = st.file_uploader("Rows of the population", type=TYPES, key=state.key("pool"))
        if upload is not None and upload.file_id != st.session_state.get("parsed-pool"):
            try:
                services.load_pool(upload.getvalue(), upload.name)
            except InputError as error:
                problem(error)
            else:
                st.session_state["parsed-pool"] = upload.file_id
        if state.pool is not None:
            st.caption(escape(f"{state.pool.report.filename}: {state.pool.report.sentence()}"))
            if st.button("Remove it", key="remove-pool"):
                state.pool = None
                st.rerun()
