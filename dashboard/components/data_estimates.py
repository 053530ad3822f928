"""The Data page: what the file itself suggests for numbers that only the user can vouch for. Never used silently."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from calcore.errors import InputError
from calcore.observation.priors import FlipRates, RateEstimate
from dashboard import services
from dashboard import wording as w
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.state import AppState, change_settings, get_state

WARNING = "An estimate from the same scores can be far off where its assumption fails: results are then indicative only."


def flip_rates(state: AppState) -> None:
    """Flip rates by three methods, each with its interval and assumption; one click takes one over."""
    with st.expander("Estimate the flip rates from this file", icon=":material/calculate:"):
        found = _on_demand(state, "estimate-rates", services.estimated_flip_rates)
        if found is None:
            return
        _table(
            [(pair.rho0, pair.rho1) for pair in found],
            ("Negatives recorded positive", "Positives recorded negative"),
        )
        names = [pair.rho0.method for pair in found]
        picked = st.selectbox(
            "Use", names, index=None, key=state.key("use-estimate"), placeholder="none of them"
        )
        chosen = next((pair for pair in found if pair.rho0.method == picked), None)
        if chosen is not None and chosen.rho0.value + chosen.rho1.value >= 1:
            st.caption("These rates sum to 1 or more: the labels would say nothing, so they cannot be used.")
        elif chosen is not None and st.button("Take over as estimated", key="take-rates"):
            take_over(state, chosen, "estimated")


def take_over(state: AppState, rates: FlipRates, origin: str) -> None:
    """Write flip rates to the settings, and start the page again."""
    change_settings(rho0=round(rates.rho0.value, 4), rho1=round(rates.rho1.value, 4), rates_origin=origin)
    for name in ("rates-known", "rho0", "rho1"):
        st.session_state.pop(state.key(name), None)
    get_state().analysed = False
    st.rerun()


def class_prior(state: AppState) -> None:
    """The class prior from the scores of known positives and unchecked rows, by two methods."""
    with st.expander("Estimate the class prior from this file", icon=":material/calculate:"):
        found = _on_demand(state, "estimate-prior", services.estimated_priors)
        if found is not None:
            _table([(one,) for one in found], ("Share of positives",))


def _on_demand(state: AppState, key: str, compute):
    """The estimates once they are asked for; None before, or where they cannot be made."""
    if not st.toggle("Show", key=state.key(key)):
        return None
    assert state.ingested is not None
    try:
        with st.spinner("Estimating"):
            found = compute(state.ingested)
    except InputError as error:
        problem(error)
        return None
    st.caption(WARNING)
    return found


def _table(rows: Sequence[tuple[RateEstimate, ...]], names: tuple[str, ...]) -> None:
    table = [
        {
            "Method": estimates[0].method,
            **{
                name: f"{w.rate(one.value)} ({w.rates(*one.interval)})"
                for name, one in zip(names, estimates, strict=True)
            },
        }
        for estimates in rows
    ]
    st.dataframe(pd.DataFrame(table), hide_index=True)
    for estimates in rows:
        st.caption(escape(f"{estimates[0].method}: holds if {'; '.join(estimates[0].assumptions)}."))
