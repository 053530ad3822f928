"""Lists that leave and come back: the random sample on Compare, corrections on Label noise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import streamlit as st

from calcore.errors import InputError
from dashboard import services
from dashboard import wording as w
from dashboard.components.page import problem
from dashboard.components.text import escape
from dashboard.services import Analysis
from dashboard.state import get_state

TYPES = ["csv", "tsv", "txt"]


def audit_sample(found: Analysis) -> None:
    """Draw a random sample, bring it back, forget it; only where no clean sample is there already."""
    state = get_state()
    in_use = services.lists_in_use(state)[0]
    if in_use is not None:
        status = services.sample_status(in_use, found.ingested, found.settings)
        said = w.checked(status.drawn, status.filled, status.in_order)
        complete = status.filled == status.drawn or status.in_order
        box = st.info if complete else st.warning
        box(
            escape(f"{status.filename}: {said} {w.spellings(status.positive, status.negative)}".strip()),
            icon=":material/fact_check:",
        )
        if status.filled < status.drawn:
            with _kept_open("Bring back a fuller list", "fuller-list", ":material/upload:"):
                _bring_back("The same list with more rows filled in", "sample", services.take_sample)
        _forget("Forget this sample", "forget-sample", services.forget_sample)
        return
    if state.sample is not None:
        st.warning(
            escape(
                f"{state.sample.filename} is not used: the file or its labels are read in another way since it came "
                "back. Bring it back again, or forget it."
            ),
            icon=":material/fact_check:",
        )
        _forget("Forget this sample", "forget-sample", services.forget_sample)
    if found.audit is None and services.can_draw(state):
        with _kept_open("Draw a random sample to check", "draw-sample", ":material/casino:"):
            _draw(found)


def _draw(found: Analysis) -> None:
    state = get_state()
    st.caption(
        "Noisy or indirect labels cannot settle how good a score is. A random sample of rows can, if somebody finds "
        "out for each what really happened. That person must be blind: the list shows neither the score nor the "
        "recorded label."
    )
    wanted = st.number_input(
        "Wanted precision (± points)",
        0.5,
        20.0,
        5.0,
        0.5,
        "%.1f",
        key=state.key("sample-precision"),
        help="Half the width of the 95 % interval of the event rate, if half of all cases were positive; else less.",
    )
    drawn = services.sample_list(state, wanted / 100)
    st.markdown(w.to_check(drawn.size, drawn.population, wanted / 100))
    if drawn.size < drawn.for_verdict:
        st.caption(w.to_check_for_verdict(drawn.for_verdict, drawn.population, drawn.gap))
    columns = found.ingested.columns
    if columns.unit is not None or columns.weight is not None:
        st.caption(
            "Rows of one unit, and weights that differ, tell less than as many plain rows: a bit wider then."
        )
    st.download_button(
        "Download the list to check",
        drawn.csv,
        file_name="random_sample_to_check.csv",
        mime="text/csv",
        on_click="ignore",
        key="download-sample",
        icon=":material/download:",
    )
    shown = f" It shows {w.listed(list(drawn.columns), 8)}." if drawn.columns else ""
    st.caption(
        escape(
            "Write 1 for a positive and 0 for a negative into audit_label, and leave the columns "
            f"{found.ingested.report.place} and list as they are. The rows are in random order: whoever stops early "
            f"has checked a smaller random sample.{shown} Take out what gives the score or the label away."
        )
    )
    _bring_back("Bring it back", "sample", services.take_sample)


def corrections(found: Analysis) -> None:
    """Bring corrected labels back, and what they are used for."""
    state = get_state()
    in_use = services.lists_in_use(state)[1]
    if in_use is not None:
        status = services.corrections_status(in_use, found.ingested)
        said = w.corrections(status.listed, status.filled, status.changed)
        st.info(
            escape(f"{status.filename}: {said} {w.spellings(status.positive, status.negative)}".strip()),
            icon=":material/edit_note:",
        )
        st.caption(escape(w.after_corrections(found.settings.labels, found.settings.rho0 is not None)))
        _forget("Forget corrections", "forget-corrections", services.forget_corrections)
    elif state.corrections is not None:
        st.warning(
            escape(
                f"{state.corrections.filename} is not used: the file or its labels are read in another way since it "
                "came back. Bring it back again, or forget it."
            ),
            icon=":material/edit_note:",
        )
        _forget("Forget corrections", "forget-corrections", services.forget_corrections)
    label = "Bring corrections back" if in_use is None else "Bring back another list, in place of this one"
    st.caption(
        "Fill in corrected_label where you found out what really happened, 1 or 0; leave it empty elsewhere."
    )
    _bring_back(label, "corrections", services.take_corrections)


def _bring_back(label: str, name: str, take: Callable[[bytes, str], None]) -> None:
    """An uploader whose file is taken once, when it arrives; what is wrong with it is said below."""
    state, taken = get_state(), f"taken-{name}"
    turn = st.session_state.get(taken, 0)
    # after a list was taken the next uploader is an empty one
    upload = st.file_uploader(label, type=TYPES, key=state.key(f"{name}-upload-{turn}"))
    if upload is None:
        return
    try:
        take(upload.getvalue(), upload.name)
    except InputError as error:
        problem(error)
        return
    st.session_state[taken] = turn + 1
    st.rerun()


def _kept_open(label: str, name: str, icon: str) -> AbstractContextManager[object]:
    """An expander that stays open while the page above it changes, as when a comparison has ended."""
    return st.expander(label, icon=icon, key=get_state().key(name), on_change="rerun")


def _forget(label: str, key: str, forget: Callable[[], None]) -> None:
    if st.button(label, key=key, icon=":material/delete:"):
        forget()
        st.rerun()
