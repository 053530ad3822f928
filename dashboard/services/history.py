"""The history that this installation keeps, where its operator switched one on: never chosen by who uses the page."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

import streamlit as st

from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.monitoring import BatchResult, Plan, Watch
from calcore.monitoring.documents import from_document, to_document
from calcore.monitoring.plan_document import plan_to_document
from calcore.monitoring.store import AlertRecord, BatchRecord, LivePeriod, MapRecord, Run, Store, Stream
from dashboard.services.memory import once
from dashboard.services.over_time import batch_names
from dashboard.services.results import Analysis

VARIABLE = "CALCORE_HISTORY"


def history() -> Store | None:
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


def kept_batches(store: Store, stream: Stream) -> tuple[str, tuple[BatchResult, ...]]:
    """Batches of the stream, and what names this state of it. Raises InputError where they are damaged."""
    runs = store.runs(stream)
    state = f"{stream.id}:{runs[-1].id if runs else 0}:{len(runs)}"
    batches = once(
        ("kept", state),
        lambda: tuple(from_document(batch.record.document) for batch in store.batches(stream)),
    )
    return state, batches


def continued(plan: Plan, kept: Sequence[BatchResult]) -> Plan:
    """The plan with the centre that earlier batches were bet on."""
    centre = next((one.centre for one in kept if one.growth is not None), None)
    return plan if centre is None else replace(plan, centre=centre)


def save_run(store: Store, stream: Stream, found: Analysis, watched: Watch) -> Run:
    """Write the batches of the open file and what was found; saving the same again stores nothing."""
    report = found.ingested.report
    here = {key for key, _ in batch_names(found, watched.plan.batching)}
    records = [
        _record(one) for one in watched.results if one.key in here and one.kind in ("measured", "estimated")
    ]
    alerts = [
        AlertRecord(
            alert.key,
            alert.severity,
            alert.batch,
            {"sentence": alert.sentence, "kind": alert.kind, "since": alert.since, "group": alert.group},
        )
        for alert in watched.alerts
    ]
    settings = {"plan": plan_to_document(watched.plan), "labels": found.settings.labels}
    dataset = store.add_dataset(
        stream,
        sha256=report.sha256,
        filename=report.filename,
        rows=report.rows_kept,
        columns=[column.name for column in report.columns],
    )
    content = [report.sha256, settings, [record.document for record in records], [one.key for one in alerts]]
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return store.add_run(stream, dataset, settings, records, alerts, key=key)


def _record(one: BatchResult) -> BatchRecord:
    return BatchRecord(
        key=one.key,
        label=one.label,
        start=_moment(one.start),
        end=_moment(one.end),
        rows=one.rows,
        labelled=min(one.labelled, one.rows),
        kind="measured" if one.measured else "estimated",
        document=to_document(one),
    )


def _moment(iso: str | None) -> datetime | None:
    return None if iso is None else datetime.fromisoformat(iso).replace(tzinfo=UTC)


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
