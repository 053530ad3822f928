"""Compare: calibrators side by side, on rows they were not fitted on."""

from __future__ import annotations

import streamlit as st

from calcore import verdicts
from calcore.calibrators import REGISTRY
from calcore.comparison import RANKED_ON, Comparison
from calcore.comparison_table import comparison_table
from calcore.errors import InputError
from calcore.maps import CalibrationMap
from dashboard import services
from dashboard import wording as w
from dashboard.charts.comparison import differences_chart, error_against_loss
from dashboard.components.page import (
    VIEWS,
    banner,
    draw,
    draw_maps,
    head,
    measured_on,
    problem,
    require_analysis,
)
from dashboard.components.returned_lists import audit_sample
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.services.comparing import map_file_name
from dashboard.state import get_state


def chosen(found: Analysis) -> tuple[tuple[str, ...], str]:
    """The calibrators to compare, the reference first, and what they are sorted by."""
    state = get_state()
    looked = state.looked
    left, right = st.columns([3, 1])
    offered = services.available(found)
    before = services.usual(found) if looked.compared is None else looked.compared
    names = left.multiselect(
        "Calibrators",
        list(offered),
        default=[name for name in before if name in offered],
        format_func=lambda name: REGISTRY[name].title,
        key=state.fresh("compared"),
    )
    options = [kind for kind in RANKED_ON if kind != "MC" or found.evidence.membership is not None]
    place = options.index(looked.ranked_on) if looked.ranked_on in options else 0
    ranked_on = right.selectbox("Sorted by", options, index=place, key=state.fresh("ranked-on"))
    return tuple(dict.fromkeys(["Identity", *names])), ranked_on


def compared(found: Analysis, names: tuple[str, ...], ranked_on: str) -> Comparison | None:
    if services.comparison_ready(found, names, ranked_on):
        return services.comparison_of(found, names, ranked_on)
    with st.status(
        f"Comparing {len(names)} calibrators on {w.rows(found.evidence.n)}", expanded=True
    ) as status:
        bar = st.progress(0.0)

        def told(step: str, share: float) -> None:
            bar.progress(min(share, 1.0), step)

        try:
            result = services.comparison_of(found, names, ranked_on, told)
        except InputError as error:
            status.update(label="These cannot be compared", state="error")
            problem(error)
            return None
        bar.progress(1.0, "Done")
        status.update(label="Compared", state="complete", expanded=False)
    return result


def page() -> None:
    head(
        "Compare",
        "Each calibrator is measured on rows that it was not fitted on; lower is better, except AUC.",
    )
    found = require_analysis()
    measured_on(found)
    rivals(found)
    names, ranked_on = chosen(found)
    result = compared(found, names, ranked_on)
    if result is None:
        return
    banner(verdicts.comparison(result))
    audit_sample(found)
    st.dataframe(comparison_table(result), hide_index=True, key="comparison-table")
    st.caption(
        f"Measured {services.measured_words(found)} on {w.rows(result.measured.n)}, {result.folds} folds; intervals 95 %. "
        "Harm: how far the method moves scores that are right. AUC change: less that of no change, on the same rows. Log loss: scores clipped at 1e-6."
    )
    if found.calibration is not found.evidence:
        st.caption("Fitted on corrected labels, measured on others: see Label noise.")
    for entry in result.entries:
        if entry.missing:
            st.caption(escape(f"{entry.title}: {entry.missing}."))
        for warning in entry.map.warnings if entry.map else ():
            st.caption(escape(f"{entry.title}: {warning}."))
    suggestion = verdicts.suggested(result)
    finish(found, result, suggestion)
    draw(differences_chart(result, ranked_on), key="differences")
    draw(error_against_loss(result), key="error-against-loss")
    draw_maps(found, shown_maps(result, suggestion), key="maps")


def rivals(found: Analysis) -> None:
    """The score against those of other models on the same rows, before any is calibrated."""
    try:
        result = services.rivals_of(found, "Brier")
    except InputError as error:
        problem(error)
        return
    if result is None:
        return
    st.subheader("Which model?", anchor=False)
    banner(verdicts.comparison(result))
    st.dataframe(comparison_table(result), hide_index=True, key="rivals-table")
    st.caption(
        f"The scores as they are, measured {services.measured_words(found)} on the {w.rows(result.measured.n)} that have "
        "all of them; intervals 95 %. AUC says how well a model ranks, ECE how far its numbers can be believed."
    )
    draw(differences_chart(result, "Brier"), key="rivals-differences")
    st.subheader("Which calibrator?", anchor=False)


def shown_maps(result: Comparison, suggestion: str) -> list[tuple[str, CalibrationMap]]:
    """The suggested map, the score and the two best others: more curves could not be told apart."""
    present = [entry for entry in result.entries if entry.missing is None]
    best = sorted(present, key=lambda entry: entry.metrics[result.ranked_on].value)
    names = dict.fromkeys([suggestion, *(entry.name for entry in best), result.reference])
    return [
        (entry.title, entry.map) for name in list(names)[:4] if (entry := result.entry(name)).map is not None
    ]


def finish(found: Analysis, result: Comparison, suggestion: str) -> None:
    entry = result.entry(suggestion)
    st.subheader("What to do", anchor=False)
    st.markdown(escape(verdicts.advice(result, services.audit_of(found))))
    caution = result.harm_warning(suggestion)
    if caution:
        st.warning(escape(f"{caution}."), icon=":material/warning:")
    elif suggestion != result.reference:
        st.caption(escape(verdicts.harm(entry)))
    left, right = st.columns(2)
    if suggestion != result.reference:
        try:
            exported = services.export_of(found, result, suggestion)
        except InputError as error:
            problem(error)
            return
        left.download_button(
            f"Download the map of {entry.title}",
            exported.json,
            file_name=map_file_name(suggestion, "json"),
            mime="application/json",
            on_click="ignore",
            type="primary",
            key="download-suggested",
            icon=":material/download:",
        )
    if right.button("All formats and other calibrators", key="to-export", icon=":material/arrow_forward:"):
        get_state().export_choice = suggestion
        st.switch_page(VIEWS["export"])


page()
