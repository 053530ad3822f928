"""Saved sessions and links: what this session would store, and what an opened one brings to the file."""

from __future__ import annotations

from dataclasses import replace

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import Choices, Ingested, Parsed
from calcore.meanings import check_columns, observation_model
from calcore.session import (
    Link,
    ListUsed,
    Looked,
    Session,
    columns_print,
    fit_choices,
    fit_looked,
    fit_settings,
    read_link,
    unfit_numbers,
    write_link,
)
from calcore.settings import Settings
from dashboard.services.comparing import available
from dashboard.services.late_labels import joined_again
from dashboard.services.over_time import batch_columns
from dashboard.services.results import analysis
from dashboard.state import AppState, Notice, get_state
from dashboard.wording import listed, rows

LIST_WORDS = {
    "sample": "the random sample that was checked, on Compare",
    "corrections": "the corrected labels, on Label noise",
    "population": "the sample of the population, on Data",
    "labels": "these labels, on Data",
}


def session_of(state: AppState, view: str) -> Session:
    """How the open file is read and judged now, with nothing of its rows."""
    assert state.ingested is not None
    report = state.ingested.report
    lists = [
        ListUsed(kind, one.filename, one.sha256)
        for kind, one in (("sample", state.sample), ("corrections", state.corrections))
        if one is not None
    ]
    if state.pool is not None:
        lists.append(ListUsed("population", state.pool.report.filename, state.pool.report.sha256))
    if state.late is not None and state.late.joined is not None:
        for kind, part in (("labels", state.late.parsed), ("scores", state.late.scores)):
            lists.append(ListUsed(kind, part.filename, part.sha256))
    looked = replace(state.looked, exported=state.export_choice)
    if looked.compared is None and state.latest_comparison is not None:
        looked = replace(looked, compared=state.latest_comparison[-2], ranked_on=state.latest_comparison[-1])
    return Session(
        report.sha256,
        report.filename,
        report.rows_kept,
        state.choices,
        state.ingested.roles,
        state.settings,
        looked,
        tuple(lists),
        state.analysed,
        view,
    )


def link_of(state: AppState, view: str) -> str:
    """The query of a link to this view with these settings."""
    assert state.ingested is not None
    looked = replace(state.looked, exported=state.export_choice)
    return write_link(state.settings, looked, view, state.ingested.report.sha256, state.choices)


def follow_link(query: dict[str, list[str]]) -> None:
    """Take the settings of the address that the session was opened with, once."""
    state = get_state()
    if state.link_read:
        return
    state.link_read = True
    link = read_link(query)
    if link is None:
        return
    state.waiting = link
    state.notice = Notice(_link_waits(link), link.problems, good=not link.problems)


def _link_waits(link: Link) -> str:
    which = "" if link.data is None else f" Its SHA-256 starts with {link.data}."
    return f"This link brings settings, not data: drop the file that they are for.{which}"


def open_session(data: bytes) -> str | None:
    """Open a session file: at once where a file is open, else as soon as one is. Returns the page to go to, if any.

    Raises InputError, state untouched, for what is no session file.
    """
    session = Session.from_json(data)
    state = get_state()
    put_aside = isinstance(state.waiting, Link)
    state.waiting, state.waits_for_own = session, False
    if state.parsed is not None:
        return apply_waiting()
    state.notice = Notice(
        f"This session is for {session.filename} ({rows(session.rows)}, SHA-256 {session.sha256[:12]}). Drop that "
        "file, and all is as it was; of another file with the same columns, what fits is used.",
        ("The settings of the link are put aside.",) if put_aside else (),
    )
    return None


def apply_waiting(only_own: bool = False) -> str | None:
    """Bring what was opened to the file that is open now. Returns the page to go to; None: stay.

    With ``only_own`` another file than the one it was made for is left alone, as after it was used for one before.
    """
    state = get_state()
    opened = state.waiting
    if opened is None:
        return None
    own = _is_for(state, opened)
    if not own and (only_own or state.waits_for_own):
        return None
    if own:
        state.waiting = None
    state.waits_for_own = not own
    return _apply_session(state, opened) if isinstance(opened, Session) else _apply_link(state, opened)


def _is_for(state: AppState, opened: Session | Link) -> bool:
    """Is the open file the one that it was made for? A link may name none."""
    assert state.parsed is not None
    if isinstance(opened, Session):
        return state.parsed.sha256 == opened.sha256
    return state.parsed.sha256.startswith(opened.data or "")


def _apply_session(state: AppState, session: Session) -> str | None:
    assert state.parsed is not None
    same = state.parsed.sha256 == session.sha256
    said = _read_as(state, session, same)
    assert state.ingested is not None
    said += _keep_lists(state, session)
    state.settings, unfit = fit_settings(state.ingested, session.settings, state.sample is not None)
    state.looked, state.export_choice = session.looked, session.looked.exported
    state.latest_comparison = None
    said += unfit
    reason = _not_ready(state)
    state.analysed = same and session.analysed and reason is None
    said += _fit_looked(state, reason)
    if reason is not None and (session.analysed or not same):
        said.append(reason)
    state.turn += 1
    if same:
        title = (
            f"Session opened: {session.filename} is read, judged and shown as it was."
            if not said
            else f"Session opened for {session.filename}, except for this:"
        )
    elif _scores_of(session, state.parsed):
        title = f"Session opened for {session.filename} without its labels: bring them, and all is as it was."
    else:
        title = (
            f"This is not the file of the session: that one was {session.filename} ({rows(session.rows)}, SHA-256 "
            f"{session.sha256[:12]}), this one is {state.parsed.filename} (SHA-256 {state.parsed.sha256[:12]}). "
        ) + ("Its settings are used where they fit." if said else "All its settings fit and are used.")
    state.notice = Notice(title, tuple(said), good=same and not said)
    return session.view if state.analysed else "data"


def _scores_of(session: Session, parsed: Parsed) -> bool:
    """Are these the scores that labels of another file were joined to?"""
    return any(one.kind == "scores" and one.sha256 == parsed.sha256 for one in session.lists)


def _read_as(state: AppState, session: Session, same: bool) -> list[str]:
    """Read the file as the session did, or as far as that is possible."""
    assert state.parsed is not None
    assert state.data is not None
    parsed = state.parsed
    said: list[str] = []
    layout = session.choices.format
    if layout != state.choices.format:
        try:
            parsed, late = ingest.parse(state.data, state.filename, layout), state.late
            if late is not None:
                late = joined_again(late, parsed, state.data)
                parsed = parsed if late.joined is None else late.joined.parsed
            ingest.interpret(parsed, Choices(format=layout))
            state.late = late
        except InputError as error:
            parsed, layout = state.parsed, state.choices.format
            said.append(f"layout of the file: {str(error).rstrip('.')}; it is read as it was.")
    choices = replace(session.choices, format=layout)
    ingested = _as_it_was(parsed, choices, session) if same else None
    if ingested is None:
        choices, unfit = fit_choices(parsed, choices, session.roles)
        said += unfit
        ingested = ingest.interpret(parsed, choices)
    state.parsed, state.choices, state.ingested = parsed, choices, ingested
    return said


def _as_it_was(parsed: Parsed, choices: Choices, session: Session) -> Ingested | None:
    """The file of the session under its choices; None where columns are guessed in another way by now."""
    try:
        found = ingest.interpret(parsed, choices)
    except InputError:
        return None
    return found if found.roles == session.roles else None


def _keep_lists(state: AppState, session: Session) -> list[str]:
    """Lists of the session that are here stay; the others are named, for their contents are not stored."""
    here = {one.sha256 for one in (state.sample, state.corrections) if one is not None}
    if state.pool is not None:
        here.add(state.pool.report.sha256)
    if state.late is not None and state.late.joined is not None:
        here.add(state.late.parsed.sha256)
    wanted = {one.sha256 for one in session.lists}
    state.sample = state.sample if state.sample and state.sample.sha256 in wanted else None
    state.corrections = (
        state.corrections if state.corrections and state.corrections.sha256 in wanted else None
    )
    state.pool = state.pool if state.pool and state.pool.report.sha256 in wanted else None
    return [
        f"{one.filename} (SHA-256 {one.sha256[:12]}) is not in a session file: bring back {LIST_WORDS[one.kind]}."
        for one in session.lists
        if one.sha256 not in here and one.kind != "scores"
    ]


def _not_ready(state: AppState) -> str | None:
    """Why the file cannot be analysed yet."""
    assert state.ingested is not None
    try:
        check_columns(state.ingested, state.settings)
        observation_model(state.settings)
        _ = state.ingested.columns
    except InputError as error:
        return str(error)
    return None


def _fit_looked(state: AppState, reason: str | None) -> list[str]:
    """What was looked at, as far as these labels and subgroups have it; without evidence nobody can tell."""
    if reason is not None:
        return []
    try:
        found = analysis(state)
    except InputError:
        return []  # the page says why
    member = found.measured.membership
    looked, said = fit_looked(
        replace(state.looked, exported=state.export_choice),
        available(found),
        () if member is None else member.names,
        batch_columns(found),
        found.ingested.columns.time is not None,
    )
    state.looked, state.export_choice = looked, looked.exported
    return said


def _apply_link(state: AppState, link: Link) -> str | None:
    assert state.parsed is not None
    assert state.ingested is not None
    said = list(link.problems)
    changes = dict(link.settings)
    if "labels" not in changes:
        said += unfit_numbers(changes, state.settings.labels)
    wanted: Settings = replace(state.settings, **changes)
    state.settings, unfit = fit_settings(state.ingested, wanted, state.sample is not None)
    looked: Looked = replace(state.looked, **link.looked)
    state.looked, state.export_choice = looked, looked.exported
    reason = _not_ready(state)
    said += unfit + _fit_looked(state, reason)
    other = not _is_for(state, link)
    if other:
        said.append(f"data is {link.data}: this is another file, SHA-256 {state.parsed.sha256[:12]}.")
    elif link.columns not in (None, columns_print(state.choices, state.settings)):
        said.append(
            "columns: the file was read in another way where the link was copied. Check below which column is what; "
            "a session file brings that too."
        )
        reason = reason or "columns"
    state.analysed = reason is None and not other
    state.turn += 1
    title = "The settings of the link are used" + (", except for this:" if said else ".")
    state.notice = Notice(title, tuple(said), good=not said)
    return (link.view or "overview") if state.analysed else None


def session_words(session: Session) -> str:
    """What a session file would hold, in words."""
    said = "Settings only, never rows: bring the data file along."
    names = [one.filename for one in session.lists if one.kind != "scores"]
    if names:
        said += f" {listed(names, 3)} {'is' if len(names) == 1 else 'are'} not in it either: bring {'it' if len(names) == 1 else 'them'} too."
    return said
