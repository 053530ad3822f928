"""Label noise: which labels contradict the score, what the gate does about it, which to check."""

from __future__ import annotations

import streamlit as st

from dashboard import services, verdicts
from dashboard import wording as w
from dashboard.charts.gate import gate_chart
from dashboard.charts.weights import weights_histogram
from dashboard.components.page import banner, draw, head, require_analysis
from dashboard.components.returned_lists import corrections
from dashboard.components.text import escape


def page() -> None:
    head("Label noise", "Where labels contradict the score, and what to do about it.")
    found = require_analysis()
    fitted = services.gate_of(found)
    if fitted is None:
        st.info(
            f"LWCal, the gate and suspicious labels do not exist under {found.evidence.model.name}: its rows carry no recorded label.",
            icon=":material/rule:",
        )
        return
    audit, labels = fitted.audit_, found.evidence.label
    assert labels is not None
    suspicious = services.suspicious_of(found)
    rates = services.audited_flip_rates(found.ingested)
    if rates is not None:
        banner(verdicts.audited(rates))
    banner(verdicts.gate(audit, found.evidence.n))
    draw(gate_chart(audit, center=fitted.center, width=fitted.width), key="gate")
    harm = services.harm_of(found, "GatedLWCal" if audit.rho else "LWCal")
    st.markdown(f"**What the paper recommends.** {escape(verdicts.recommendation(audit, harm.at_n))}")
    st.caption(f"Contradiction rate {w.error(audit.d_hat)}, gate rho {w.error(audit.rho)}.")
    st.caption(
        "The contradiction rate mixes wrong labels with a weak model: a model that is unsure contradicts right labels too."
    )
    draw(
        weights_histogram(audit, found.evidence.score, labels),
        key="weights",
    )
    if audit.equal_losses:
        st.caption("All losses are equal (their median absolute deviation is 0): every weight there is 0.5.")
    st.subheader("Labels to check first", anchor=False)
    st.caption(
        f"Labels that contradict the score, the least trusted first: {w.rows(suspicious.total)}"
        + (
            f", the first {w.count(len(suspicious.table))} shown."
            if suspicious.total > len(suspicious.table)
            else "."
        )
        + " Corrections repair the labels that calibrators are fitted on; rows picked this way are no audit sample."
    )
    st.dataframe(suspicious.table, hide_index=True, key="suspicious")
    st.download_button(
        "Download the list",
        services.suspicious_csv(found),
        file_name="labels_to_check.csv",
        mime="text/csv",
        on_click="ignore",
        key="download-suspicious",
        icon=":material/download:",
    )
    corrections(found)


page()
