"""Data: drop a file, see what was found, say what the labels mean."""

from __future__ import annotations

import streamlit as st

from calcore.errors import InputError
from dashboard import services
from dashboard.components import data_file, data_labels, data_roles, data_scores, late_labels
from dashboard.components.page import VIEWS, head, problem
from dashboard.state import get_state

EXAMPLE = "score,label,region\n0.91,1,north\n0.08,0,south\n"


def landing() -> None:
    st.title("Can these scores be trusted?", anchor=False)
    st.write(
        "Drop a file with a classifier's scores and what became of each case. You get a verdict, where and for whom "
        "the scores are off, which labels look wrong, and a calibration map for production."
    )
    data_file.uploader()
    if st.button("Try the sample", icon=":material/play_arrow:", key="sample"):
        with st.spinner("Training a small random forest on handwritten digits"):
            services.load_sample()
        get_state().analysed = True
        st.switch_page(VIEWS["overview"])
    st.caption(
        "The sample: 899 random-forest scores on handwritten digits, 30 % of the labels flipped, the true label as "
        "an audit column."
    )
    with st.expander("What should the file look like?", icon=":material/description:"):
        st.write(
            "CSV, TSV, text or Parquet, one row a case. A score between 0 and 1, a label, and any columns that name "
            "subgroups. Nothing leaves this machine."
        )
        st.code(EXAMPLE, language=None)


def opened() -> None:
    state = get_state()
    assert state.ingested is not None
    head("Data", "What the file holds, which column is what, and what the labels mean.")
    data_file.found(state.ingested)
    data_file.questions(state)
    data_roles.roles(state)
    late_labels.late_labels(state)
    data_scores.several_scores(state)
    data_labels.meaning(state)
    data_file.pool(state)
    ready = True
    try:
        services.check_ready(state)
    except InputError as error:
        problem(error)
        ready = False
    if st.button("Analyse", type="primary", key="analyse", disabled=not ready, icon=":material/speed:"):
        analyse()
    data_file.preview(state.ingested)
    with st.expander("Open another file", icon=":material/upload_file:"):
        data_file.uploader()
    data_file.layout_choices(state)


def analyse() -> None:
    state = get_state()
    with st.status("Analysing", expanded=True) as status:
        try:
            st.write("Turning labels into evidence")
            found = services.analysis(state)
            st.write(f"Auditing {found.measured.n:,} rows and {len(found.choice.subgroups)} subgroups")
            services.audit_of(found)
        except InputError as error:
            status.update(label="This cannot be analysed yet", state="error")
            problem(error)
            return
        status.update(label="Done", state="complete")
    state.analysed = True
    st.switch_page(VIEWS["overview"])


def page() -> None:
    if get_state().ingested is None:
        landing()
    else:
        opened()


page()
