"""The label noise page: subgroups whose labels look worse than those of other rows."""

from __future__ import annotations

import streamlit as st

from dashboard import noise_verdicts, services
from dashboard.charts.group_contradictions import group_contradictions_chart
from dashboard.components.page import VIEWS, banner, draw
from dashboard.services import Analysis


def groups(found: Analysis) -> None:
    st.subheader("Whose labels look worse?", anchor=False)
    if found.evidence.membership is None:
        st.caption("No subgroup columns are chosen, or none of their values holds enough rows.")
        st.page_link(VIEWS["data"], label="Choose columns", icon=":material/upload_file:")
        return
    with st.spinner("Comparing subgroups"):
        search = services.group_contradictions_of(found)
    banner(noise_verdicts.groups(search))
    draw(
        group_contradictions_chart(search),
        key="group-contradictions",
        table_label="Every subgroup as a table",
    )
    st.caption(noise_verdicts.GROUPS_EXPLAINED)
