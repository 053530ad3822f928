"""The label noise page: the split of the contradictions, the protocol, and the gate at other settings."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import noise_verdicts, services
from dashboard import wording as w
from dashboard.charts.gate_grid import gate_grid_chart
from dashboard.components.page import draw
from dashboard.components.text import escape
from dashboard.services import Analysis


def contradictions(found: Analysis) -> None:
    """What explains the contradiction rate, as a table."""
    st.subheader("Where the contradictions come from", anchor=False)
    rows = noise_verdicts.split_rows(
        services.contradictions_of(found), services.clean_contradictions_of(found)
    )
    st.dataframe(
        pd.DataFrame(rows, columns=["What", "Share of rows", "95 % interval", "How it is known"]),
        hide_index=True,
        key="contradictions",
    )
    st.caption(noise_verdicts.EXCESS_EXPLAINED)


def protocol(found: Analysis) -> None:
    """The paper's three recommendations, the present one marked, and what speaks against following it."""
    st.subheader("What the paper recommends", anchor=False)
    for row in services.protocol_of(found):
        with st.container(border=row.here):
            here = ":material/arrow_forward: **These labels:** " if row.here else ""
            st.markdown(
                f"{here}{escape(f'{w.rates(row.low, row.high)} of labels contradict')}: **{row.score}**. {row.action}"
            )
            st.caption(noise_verdicts.PROTOCOL_REASONS[row.score])
    fitted = services.gate_of(found)
    assert fitted is not None
    st.warning(
        escape(
            noise_verdicts.recommendation(
                services.harm_of(found, "LWCal").at_n, services.harm_of(found, "GatedLWCal").at_n
            )
        ),
        icon=":material/balance:",
    )
    st.caption(noise_verdicts.PROTOCOL_EXPLAINED)


def other_settings(found: Analysis) -> None:
    """The gate at the centres and widths of the paper, folded away."""
    with st.expander("Does the gate's setting matter here?", icon=":material/tune:"):
        grid = services.gate_grid_of(found)
        st.markdown(escape(noise_verdicts.gate_grid(grid)))
        draw(gate_grid_chart(grid), key="gate-grid")
        st.caption(
            f"The frame marks the present setting. {w.rows(grid.n)}"
            + (f"; Brier scores on rows left out in turn ({grid.folds} folds)." if grid.measured else ".")
        )
