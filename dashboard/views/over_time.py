"""Over time: is the score still right, since when not, and where first?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from calcore.errors import InputError
from calcore.monitoring import Watch
from calcore.monitoring.alert_table import alert_table
from calcore.monitoring.alerts import Alert
from calcore.monitoring.caveats import estimates
from calcore.monitoring.sentences import evidence_words, groups_order, of_alert, reference_words, verdict
from calcore.monitoring.series import batch_reliability, reference_reliability
from calcore.monitoring.store import Acknowledgement
from dashboard import services
from dashboard import wording as w
from dashboard.charts.over_time import series_chart
from dashboard.charts.over_time_evidence import evidence_chart
from dashboard.charts.over_time_groups import groups_chart
from dashboard.charts.reliability import reliability_chart
from dashboard.components.over_time_controls import controls
from dashboard.components.over_time_history import history, minute, stream_choice
from dashboard.components.over_time_map import before_and_after
from dashboard.components.page import assumptions, banner, draw, head, measured_on, problem, require_analysis
from dashboard.components.text import escape
from dashboard.state import get_state

#: Alerts that are said in full; the others are one click away.
PROMINENT = 3
MOST_GROUPS = 12
MOST_SENTENCES = 200


def worry(watched: Watch, seen: Mapping[str, Acknowledgement]) -> None:
    """The verdict, and every alert in a sentence; notices, and what somebody has ``seen`` already, folded."""
    alarming = [one for one in watched.alarming if one.key not in seen]
    banner(verdict(watched, seen))
    for alert in alarming[1:PROMINENT]:
        banner(of_alert(alert))
    _folded("more alerts", alarming[PROMINENT:], ":material/warning:")
    _seen([one for one in watched.alarming if one.key in seen], seen)
    _folded("notices", [one for one in watched.alerts if one.severity != "alert"], ":material/info:")


def _seen(alerts: list[Alert], seen: Mapping[str, Acknowledgement]) -> None:
    if not alerts:
        return
    with st.expander(f"Seen ({w.count(len(alerts))})", icon=":material/done_all:"):
        for alert in alerts:
            said = seen[alert.key]
            note = f": {said.note}" if said.note else ""
            st.markdown(f"- {escape(alert.sentence)}")
            st.caption(escape(f"Seen by {said.by}, {minute(said.at)} UTC{note}"))


def _folded(what: str, alerts: list, icon: str) -> None:
    if not alerts:
        return
    with st.expander(f"{w.count(len(alerts))} {what if len(alerts) > 1 else what[:-1]}", icon=icon):
        for alert in alerts[:30]:
            st.markdown(f"- {escape(alert.sentence)}")
        if len(alerts) > 30:
            st.caption(f"The other {w.count(len(alerts) - 30)} are in the list of alerts below.")
        if what == "notices":
            st.caption(
                "Notices are over again, or are control limits: with many batches, some are crossed by chance."
            )


def series(watched: Watch, metric: str) -> None:
    draw(series_chart(watched, metric), key="over-time-series", table_label="Every batch as a table")
    for words in (reference_words(watched), estimates(watched, metric)):
        if words:
            st.caption(escape(words))
    limits = watched.limits.get(metric)
    if limits is not None and limits.note:
        st.caption(escape(f"Limits: {limits.note}."))
    draw(evidence_chart(watched), key="over-time-evidence")
    st.caption(escape(evidence_words(watched)))


def groups(watched: Watch) -> None:
    found = services.group_series_of(watched)
    st.subheader("Subgroups", anchor=False)
    if not found:
        st.caption("No subgroup columns are chosen, or none of their values holds enough rows.")
        return
    names = [one.name for one in found]
    picked = []
    if len(found) > MOST_GROUPS:
        picked = st.multiselect(
            "Add a subgroup",
            names,
            key=get_state().key("over-time-groups"),
            max_selections=MOST_GROUPS,
            placeholder=f"{MOST_GROUPS} of {w.count(len(names))} are drawn",
        )
    chosen = [one for one in found if one.name in picked]
    drawn = [*chosen, *(one for one in found if one.name not in picked)][:MOST_GROUPS]
    draw(groups_chart(watched, drawn, every=found), key="over-time-groups-chart")
    st.caption(escape(f"Order: {'those chosen, ' if picked else ''}{groups_order(found)}"))


def batch_diagram(watched: Watch) -> None:
    """One batch against the reference period."""
    st.subheader("One batch", anchor=False)
    measured = [i for i, one in enumerate(watched.results) if one.measured]
    if not measured:
        st.caption("No batch has labels enough for a diagram.")
        return
    picked = st.selectbox(
        "Batch",
        measured,
        index=len(measured) - 1,
        format_func=lambda i: watched.results[i].label,
        key=get_state().key(f"over-time-batch-{len(watched.results)}"),
    )
    one = watched.results[picked]
    table = batch_reliability(one)
    curves = [] if table is None else [(one.label, table)]
    if watched.reference is not None and watched.reference.keys != (one.key,):
        curves.append(("Reference period", reference_reliability(watched.reference, watched.results)))
    draw(reliability_chart(curves, tolerance=watched.plan.tolerance), key="over-time-reliability")
    method = "" if table is None else f"; intervals 95 % ({table.method})"
    st.caption(escape(f"{w.rows(one.labelled)} with labels, {one.basis}{method}."))
    assumptions(one.assumptions)


def alerts(watched: Watch) -> None:
    st.subheader("Alerts", anchor=False)
    if not watched.alerts:
        st.caption("No alert and no notice.")
        return
    table = alert_table(watched.alerts, watched.results)
    st.dataframe(table.drop(columns="Sentence"), hide_index=True, key="alerts")
    with st.expander("The same in sentences", icon=":material/notes:"):
        said = table[["Severity", "Sentence"]].head(MOST_SENTENCES)
        st.table(said.assign(Sentence=said["Sentence"].map(escape)), border="horizontal", hide_index=True)
        if len(table) > MOST_SENTENCES:
            st.caption(f"The other {w.count(len(table) - MOST_SENTENCES)} are in the download.")
    st.download_button(
        "Download the alerts",
        services.alerts_csv(watched),
        file_name="alerts.csv",
        mime="text/csv",
        on_click="ignore",
        key="download-alerts",
        icon=":material/download:",
    )


def not_replaced(sentences: Sequence[str]) -> None:
    """Batches of which this file holds only a part: the first in words, the others counted."""
    if not sentences:
        return
    more = f" And {w.count(len(sentences) - 1)} more." if len(sentences) > 1 else ""
    st.warning(f"{escape(sentences[0])}{more}", icon=":material/info:")


def page() -> None:
    head("Over time", "Is the score still right? Since when not, and where first?")
    found = require_analysis()
    measured_on(found)
    verdict_place = st.container()
    store, stream, earlier, kept, seen = None, None, None, "", {}
    try:
        store = services.open_history()
        stream = stream_choice(store)
        if store is not None and stream is not None:
            kept, earlier = services.earlier_of(store, stream)
            seen = services.acknowledged(store, stream)
    except InputError as error:
        problem(error)
    try:
        asked = controls(found, None if earlier is None else earlier.plan)
        with verdict_place, st.spinner("Measuring the batches"):
            watched = services.watch_of(found, asked.plan, earlier, kept)
    except InputError as error:
        problem(error)
        return
    services.remember_watch(found, watched)
    with verdict_place:
        worry(watched, seen)
        if earlier is not None:
            not_replaced(services.parts_of(found, watched, earlier, kept))
    if watched.results:
        series(watched, asked.metric)
        groups(watched)
        batch_diagram(watched)
        alerts(watched)
        before_and_after(found, watched, asked, store, stream)
    history(found, watched, store, stream, earlier)


page()
