"""Overview: should I worry? A verdict, the picture behind it, the worst subgroups, the gate, what next."""

from __future__ import annotations

import streamlit as st

from calcore import verdicts
from calcore.monitoring.sentences import lately
from dashboard import noise_verdicts, services
from dashboard import wording as w
from dashboard.charts.reliability import reliability_chart
from dashboard.components.page import VIEWS, assumptions, banner, draw, head, measured_on, require_analysis
from dashboard.components.text import escape
from dashboard.services import Analysis


def headline(found: Analysis) -> None:
    audit = services.audit_of(found)
    scores = services.headline_scores(found)
    error = audit.error
    cells = st.columns(4)
    cells[0].metric(
        "Calibration error (ECE)",
        w.error(error.value),
        help=f"Mean gap between scores and event rates over {error.bins} bins. A calibrated score would show about "
        f"{w.error(error.noise_floor)} here, up to {w.error(error.noise_limit)}.",
    )
    cells[0].caption(
        f"95 % interval {w.interval(error.interval)}; chance alone gives up to {w.error(error.noise_limit)}"
    )
    cells[1].metric("Event rate", w.rate(audit.base_rate), help="Share of positives.")
    cells[1].caption(f"mean score {w.rate(audit.mean_score)}")
    auc = scores["AUC"]
    possible = 0 <= auc.value <= 1
    cells[2].metric(
        "Ranking (AUC)",
        w.error(auc.value) if possible else w.MISSING,
        help="1: every positive above every negative; 0.5: chance.",
    )
    cells[2].caption(
        f"95 % interval {w.interval(auc.interval)}" if auc.interval else escape("; ".join(auc.notes))
    )
    cells[3].metric("Rows", w.count(audit.n))
    if round(audit.positives + audit.negatives) == audit.n:
        cells[3].caption(f"about {w.count(max(audit.positives, 0))} positives")


def over_time(found: Analysis) -> None:
    """A verdict over all rows may hide a break that began lately."""
    watched = services.latest_watch(found)
    said = "" if watched is None else lately(watched)
    if said:
        st.warning(f"**Over time.** {escape(said)}", icon=":material/timeline:")
    if said or found.ingested.columns.time is not None:
        st.page_link(VIEWS["over_time"], label="Has this changed over time?", icon=":material/timeline:")


def worst_groups(found: Analysis) -> None:
    audit = services.audit_of(found)
    st.subheader("Worst subgroups", anchor=False)
    if not audit.groups:
        st.caption(w.no_subgroups(bool(found.choice.subgroups)))
        return
    for group in services.worst_groups(found):
        icon = ":material/warning:" if group.wrong else ":material/remove:"
        st.markdown(f"{icon} {escape(verdicts.group_line(group))}")
    st.caption(w.searched(len(audit.groups), audit.cells_tested))
    st.page_link(VIEWS["subgroups"], label="All subgroups", icon=":material/grid_on:")


def gate(found: Analysis) -> None:
    fitted = services.gate_of(found)
    st.subheader("Do the labels fit the scores?", anchor=False)
    if fitted is None:
        st.caption(w.NO_GATE)
        return
    rates = services.audited_flip_rates(found.ingested)
    if rates is not None:
        banner(noise_verdicts.audited(rates))
    banner(noise_verdicts.gate(fitted.audit_, services.contradictions_of(found), found.settings.tolerance))
    st.page_link(VIEWS["noise"], label="Labels to check first", icon=":material/rule:")


def page() -> None:
    head("Overview", "Should you worry, where, and what to do next.")
    found = require_analysis()
    measured_on(found)
    audit = services.audit_of(found)
    banner(verdicts.overall(audit, services.headline_scores(found)["AUC"]))
    over_time(found)
    if st.button("Compare calibrators", type="primary", icon=":material/compare_arrows:", key="to-compare"):
        st.switch_page(VIEWS["compare"])
    draw(
        reliability_chart(
            [("Score", audit.reliability)],
            tolerance=audit.tolerance,
        ),
        key="overview-reliability",
    )
    assumptions(audit.assumptions)
    headline(found)
    for note in found.measured.notes:
        st.caption(escape(f"Note: {note}."))
    for error, event_rate in services.sensitivity_of(found):
        sentence = verdicts.sensitivity(error, event_rate)
        if sentence:
            st.caption(escape(sentence))
    left, right = st.columns(2)
    with left:
        worst_groups(found)
    with right:
        gate(found)
    st.caption(escape(verdicts.data_line(found.ingested.report)))
    left_out = services.left_out(found)
    if left_out:
        st.caption(w.left_out(left_out))


page()
