"""Save a session, share its settings as a link, open either; and the notice that says what became of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from urllib.parse import urlsplit

import streamlit as st

from calcore.errors import InputError
from dashboard import services
from dashboard.components.page import VIEWS, problem
from dashboard.components.text import escape
from dashboard.state import get_state

RELOADED = (
    "A reload or a closed tab forgets everything here. Drop the data file again; a session file that was saved from the "
    "sidebar brings back how it was read and judged."
)


def follow_link() -> None:
    """Read the settings in the address, once a session."""
    query = st.query_params
    services.follow_link({name: query.get_all(name) for name in query})


def notice() -> None:
    """What became of a session or a link that was opened, until it is put away."""
    state = get_state()
    said = state.notice
    if said is None:
        return
    box, icon = (
        (st.info, ":material/bookmark_added:") if said.good else (st.warning, ":material/bookmark_flag:")
    )
    with st.container(key="opened-notice"):
        box("\n".join([escape(said.title), *(f"- {escape(line)}" for line in said.lines)]), icon=icon)
        if st.button("Close this notice", key="close-notice", type="tertiary", icon=":material/close:"):
            state.notice = None
            st.rerun()


def save_and_share(view: str) -> None:
    """The sidebar's box: this session as a file, its settings as a link, and another session to open."""
    state = get_state()
    # drawn only while it is open: most of the time nobody needs it
    box = st.expander("Save or share", icon=":material/bookmark:", key="save-or-share", on_change="rerun")
    if not box.open:
        return
    with box:
        try:
            session = services.session_of(state, view)
            text = session.to_json()
        except InputError as error:
            problem(error)
        else:
            st.download_button(
                "Save session",
                text,
                file_name=f"{PurePath(session.filename).stem[:60]}.session.json",
                mime="application/json",
                on_click="ignore",
                key="save-session",
                icon=":material/download:",
            )
            st.caption(escape(services.session_words(session)))
        st.markdown("**Link to these settings**")
        st.code(_address(view) + "?" + services.link_of(state, view), language=None, wrap_lines=True)
        st.caption(
            "It holds no rows, at most the name of a subgroup that is looked at; which column is what is in a session only."
        )
        _open_session("Open session", "open-session")


def returning() -> None:
    """For the landing page: how to get back what a reload forgot."""
    box = st.expander(
        "Reloaded, or coming back? Open a saved session",
        icon=":material/history:",
        key="coming-back",
        on_change="rerun",
    )
    if box.open:
        with box:
            st.caption(RELOADED)
            _open_session("Session file", "coming-back-session")


def after_loading(only_own: bool = False) -> None:
    """Once a file was read: bring what was opened before it, and go where it was looked at."""
    _go_to(services.apply_waiting(only_own))


def _open_session(label: str, key: str) -> None:
    """An uploader for a session file, which is taken once, when it arrives."""
    turn = st.session_state.get("sessions-taken", 0)
    upload = st.file_uploader(label, type=["json"], max_upload_size=1, key=f"{key}-{turn}")
    if upload is None:
        return
    try:
        view = services.open_session(upload.getvalue())
    except InputError as error:
        problem(error)
        return
    # the next uploader is an empty one
    st.session_state["sessions-taken"] = turn + 1
    _go_to(view)
    st.rerun()


def _go_to(view: str | None) -> None:
    """Open the page; one that does not exist here gives way to the Overview, none to the present page."""
    if view is None:
        return
    state = get_state()
    if view not in VIEWS and state.notice is not None:
        line = f'view: there is no page "{view}" here; the Overview is opened.'
        state.notice = replace(state.notice, lines=(*state.notice.lines, line), good=False)
    st.switch_page(VIEWS.get(view, VIEWS["overview"]))


def _address(view: str) -> str:
    """The address of the landing page; empty where the browser did not say."""
    here = urlsplit(st.context.url or "")
    if not here.netloc:
        return ""
    path = here.path.rstrip("/")
    return f"{here.scheme}://{here.netloc}{path.removesuffix(f'/{view}')}/"
