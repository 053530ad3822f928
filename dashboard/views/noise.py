"""Label noise: which labels contradict the score, for whom, what the gate does about it, which to check."""

from __future__ import annotations

import streamlit as st

from dashboard import noise_verdicts, services
from dashboard import wording as w
from dashboard.charts.gate import gate_chart
from dashboard.charts.weights import weights_histogram
from dashboard.components import noise_gate, noise_groups, noise_rates
from dashboard.components.page import banner, draw, head, require_analysis
from dashboard.components.returned_lists import corrections
from dashboard.services import Analysis


def gate(found: Analysis) -> None:
    """Do labels contradict the scores more than right ones would, and how far does the gate back off?"""
    fitted = services.gate_of(found)
    assert fitted is not None
    audit = fitted.audit_
    rates = services.audited_flip_rates(found.ingested)
    if rates is not None:
        banner(noise_verdicts.audited(rates))
    banner(noise_verdicts.gate(audit, services.contradictions_of(found), found.settings.tolerance))
    draw(gate_chart(audit, center=fitted.center, width=fitted.width), key="gate")
    st.caption(f"Contradiction rate {w.error(audit.d_hat)}, gate rho {w.error(audit.rho)}.")


def weights(found: Analysis) -> None:
    """How much LWCal trusts each row."""
    fitted, labels = services.gate_of(found), found.evidence.label
    assert fitted is not None
    assert labels is not None
    st.subheader("How much each label counts", anchor=False)
    draw(weights_histogram(fitted.audit_, found.evidence.score, labels), key="weights")
    if fitted.audit_.equal_losses:
        st.caption("All losses are equal (their median absolute deviation is 0): every weight there is 0.5.")


def labels_to_check(found: Analysis) -> None:
    """The list of suspicious labels, to download, and what it must not be used for."""
    suspicious = services.suspicious_of(found)
    st.subheader("Labels to check first", anchor=False)
    shown = len(suspicious.table)
    st.caption(
        f"Labels that contradict the score, the least trusted first: {w.rows(suspicious.total)}"
        + (f", the first {w.count(shown)} shown." if suspicious.total > shown else ".")
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
    with st.expander("Why corrections never become the audit column", icon=":material/help:"):
        for paragraph in noise_verdicts.CORRECTIONS_EXPLAINED:
            st.markdown(paragraph)


def page() -> None:
    head("Label noise", "Where labels contradict the score, and what to do about it.")
    found = require_analysis()
    if services.gate_of(found) is None:
        st.info(
            f"LWCal, the gate and suspicious labels do not exist under {found.evidence.model.name}: its rows carry no recorded label.",
            icon=":material/rule:",
        )
        return
    gate(found)
    noise_gate.contradictions(found)
    noise_gate.protocol(found)
    noise_gate.other_settings(found)
    noise_groups.groups(found)
    noise_rates.prevalence(found)
    noise_rates.flip_rates(found)
    weights(found)
    labels_to_check(found)


page()
