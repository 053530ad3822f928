"""The history that this installation keeps, where its operator switched one on: never chosen by who uses the page."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time

import streamlit as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.monitoring import Watch
from calcore.monitoring.history import Earlier, Recorded, earlier_runs, record
from calcore.monitoring.store import Acknowledgement, LivePeriod, MapRecord, Store, Stream
from dashboard.services.memory import once
from dashboard.services.over_time import batch_names
from dashboard.services.results import Analysis, measured_words

VARIABLE = "CALCORE_HISTORY"


def open_history() -> Store | None:
    """The store of this installation; None where none is configured. Raises InputError where it cannot be opened."""
    url = _url()
    return None if url is None else _open(url)


def _url() -> str | None:
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    if not st.secrets.load_if_toml_exists():
        return None
    found = st.secrets.get("connections", {}).get("history", {}).get("url")
    return str(found) if found else None


@st.cache_resource(show_spinner=False)
def _open(url: str) -> Store:
    return Store.open(url)


def earlier_of(store: Store, stream: Stream) -> tuple[str, Earlier]:
    """The stream as its last run left it, and what names that state. Raises InputError where it is damaged."""
    runs = store.runs(stream)
    state = f"{stream.id}:{runs[-1].id if runs else 0}:{len(runs)}"
    return state, once(("earlier", state), lambda: earlier_runs(store, stream.name))


def acknowledged(store: Store, stream: Stream) -> dict[str, Acknowledgement]:
    """Who has seen which alert of the stream, by the key of the alert."""
    return {one.key: one.acknowledged for one in store.alerts(stream) if one.acknowledged is not None}


def save_run(store: Store, earlier: Earlier, found: Analysis, watched: Watch) -> Recorded:
    """Write the batches of the open file and what was found; saving the same again stores nothing."""
    meaning = {
        "kind": found.settings.labels,
        "measured": measured_words(found),
    } | found.measured.model.to_dict()
    here = {key for key, _ in batch_names(found, watched.plan.batching)}
    new = [one for one in watched.results if one.key in here]
    return record(store, earlier, found.ingested, watched, new, meaning)


def make_live(
    store: Store, stream: Stream, map_: CalibrationMap | None, name: str, since: date, by: str
) -> LivePeriod:
    """Note that from the first moment of ``since`` (UTC) on the map is live; None: the scores as they are."""
    if not by.strip():
        raise InputError("Say who makes the map live; write a name.")
    record = None if map_ is None else store.put_map(stream, map_.to_json(), name)
    periods = store.lineage(stream)
    return store.set_live(
        stream,
        record,
        datetime.combine(since, time(), UTC),
        by.strip(),
        replaces=periods[-1] if periods else None,
    )


def live_since(store: Store, stream: Stream) -> tuple[MapRecord, datetime] | None:
    """The map that is live now and since when; None where scores are used as they are."""
    periods = store.lineage(stream)
    if not periods or periods[-1].map is None:
        return None
    return periods[-1].map, periods[-1].since
