"""The label noise page: flip rates with their assumptions, and how many are positive."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from calcore.observation.priors import FlipRates
from dashboard import noise_verdicts, services
from dashboard import wording as w
from dashboard.components.page import banner
from dashboard.components.text import escape
from dashboard.services import Analysis


def flip_rates(found: Analysis) -> None:
    """Flip rates by audited rows where there are some, and by the scores; used nowhere unless taken over."""
    st.subheader("How often labels are flipped", anchor=False)
    counted, estimated = services.audited_flip_rates(found.ingested), services.forward_flip_rates(found)
    rates = [one for one in (counted, estimated) if one is not None]
    if not rates:
        st.caption("Flip rates cannot be estimated here: one class of labels only.")
        return
    st.dataframe(pd.DataFrame([_row(one) for one in rates]), hide_index=True, key="flip-rates")
    for one in rates:
        st.caption(escape(f"{one.rho0.method}: holds if {'; '.join(one.rho0.assumptions)}."))
    if estimated is not None:
        cautions = noise_verdicts.rates_cautions(found.ingested.columns.unit is not None)
        st.caption(escape(" ".join(cautions)) + " To use rates, state them on the Data page.")


def _row(rates: FlipRates) -> dict[str, str]:
    wrong = rates.disagreement
    return {
        "Found by": rates.rho0.method,
        "Negatives recorded positive": f"{w.rate(rates.rho0.value)} ({w.rates(*rates.rho0.interval)})",
        "Positives recorded negative": f"{w.rate(rates.rho1.value)} ({w.rates(*rates.rho1.interval)})",
        "Wrong labels": f"{w.rate(wrong.value)} ({w.rates(*wrong.interval)})",
        "Rows": w.count(wrong.n),
    }


def prevalence(found: Analysis) -> None:
    """The share of positives by every account of it, and a warning where they are apart."""
    st.subheader("How many are positive", anchor=False)
    shares = services.prevalence_of(found)
    verdict = noise_verdicts.prevalence(shares)
    if verdict is not None:
        banner(verdict)
    table = pd.DataFrame(
        [
            {
                "By": noise_verdicts.share_name(one),
                "Share of positives": w.estimated(one.value),
                "95 % interval": w.MISSING if one.interval is None else w.rates(*one.interval),
                "Rows": w.count(one.n),
            }
            for one in shares.shares
        ]
    )
    st.dataframe(table, hide_index=True, key="prevalence")
