"""Deleting: everything of a stream or dataset goes, from the tables and from the bytes of the file."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from calcore.errors import InputError
from calcore.monitoring.store import AlertRecord, BatchRecord, Store, deletion, engine
from tests.calcore.monitoring.test_store_lineage import a_map

AT = datetime(2025, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MARKER = "Erika-Mustermann-4711"


def filled(store: Store, name: str, marker: str):
    """A stream with some of everything, the marker in every place that takes a text."""
    stream = store.stream(name, AT)
    for i in range(3):
        dataset = store.add_dataset(
            stream, sha256=f"{i}" * 64, filename=f"{marker}.csv", rows=1, columns=[marker], at=AT
        )
        records = [
            BatchRecord(f"{marker} {k}", marker, AT, None, 5, 5, document={"who": marker * 50})
            for k in range(20)
        ]
        alerts = [
            AlertRecord(f"{marker} {i}", marker, marker, {"who": marker}),
            AlertRecord("always", "wrong"),
        ]
        store.add_run(stream, dataset, {"who": marker}, records, alerts, {"who": marker}, AT + i * DAY)
        store.keep_rows(dataset, b"PAR1" + marker.encode() * 3000 + b"PAR1")
    store.acknowledge(store.alerts(stream)[0], marker, marker, AT)
    parent = store.put_map(stream, a_map().to_json(), marker, at=AT)
    child = store.put_map(stream, a_map(1.2).to_json(), marker, parent, AT)
    first = store.set_live(stream, child, AT, marker, replaces=None)
    store.set_live(stream, parent, AT + DAY, marker, replaces=first)
    return stream


def test_a_stream_goes_with_everything_in_it(store):
    stream, other = filled(store, "weekly", MARKER), filled(store, "other", "x")
    before = [
        store.runs(other),
        store.batches(other),
        store.alerts(other),
        store.lineage(other),
        store.maps(other),
    ]
    deleted = store.delete_stream(stream)
    assert deleted.sentence == (
        'Deleted the stream "weekly": 3 datasets, 3 runs, 60 batch records, 4 alerts, 2 maps, 2 live periods, '
        "the kept rows of 3 of the datasets."
    )
    assert deleted.erased
    assert store.streams() == (other,)
    assert store.runs(stream) == store.batches(stream) == store.alerts(stream) == store.maps(stream) == ()
    after = [
        store.runs(other),
        store.batches(other),
        store.alerts(other),
        store.lineage(other),
        store.maps(other),
    ]
    assert after == before
    assert store.rows(store.datasets(other)[0])


def test_a_dataset_goes_with_the_runs_on_it(store):
    stream = filled(store, "weekly", MARKER)
    first, second, third = store.datasets(stream)
    deleted = store.delete_dataset(third)
    assert deleted.sentence == (
        f'Deleted the dataset "{MARKER}.csv": 1 dataset, 1 run, 20 batch records, 1 alert, '
        "the kept rows of 1 of the datasets."
    )
    assert store.datasets(stream) == (first, second)
    assert [alert.key for alert in store.alerts(stream)] == [f"{MARKER} 0", "always", f"{MARKER} 1"]
    assert store.alerts(stream)[1].last_seen == AT + DAY
    assert {entry.run_id for entry in store.batches(stream)} == {store.runs(stream)[1].id}  # the one before
    assert store.rows(third) is None
    with pytest.raises(InputError, match="not one of the stream"):
        store.delete_dataset(third)


def test_what_was_deleted_cannot_be_written_to(store):
    stream = filled(store, "weekly", MARKER)
    (dataset, *_), (alert, *_) = store.datasets(stream), store.alerts(stream)
    store.delete_stream(stream)
    again = store.stream("weekly")
    assert again.id != stream.id  # or an old object would write into the new stream
    for call in (
        lambda: store.add_run(stream, dataset, {}, []),
        lambda: store.keep_rows(dataset, b"PAR1PAR1"),
        lambda: store.acknowledge(alert, "ann"),
        lambda: store.delete_stream(stream),
        lambda: store.set_live(stream, None, AT, "ann", replaces=None),
    ):
        with pytest.raises(InputError, match="not in the history any more"):
            call()
    assert store.runs(again) == ()


def bytes_of(folder) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("what", ["stream", "datasets"])
def test_deleted_bytes_are_gone_from_the_files(tmp_path, what):
    with Store.open(tmp_path / "history.db") as store:
        stream, other = filled(store, "weekly", MARKER), filled(store, "other", "Max-Muster-0815")
        assert bytes_of(tmp_path).count(MARKER.encode()) > 1000
        if what == "stream":
            assert store.delete_stream(stream).erased
        else:
            assert all(store.delete_dataset(dataset).erased for dataset in store.datasets(stream))
        # maps and who set them live stay with the stream, where only datasets are deleted
        left = bytes_of(tmp_path).count(
            MARKER.encode()
        )  # while the history is open: the log is looked into too
        assert left == 0 if what == "stream" else left < 20
        assert MARKER.encode()[:12] not in bytes_of(tmp_path) or what == "datasets"
        assert len(store.batches(other)) == 20
    assert b"Max-Muster-0815" in bytes_of(tmp_path)


def test_a_deletion_that_others_hold_up_is_finished_later(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_LOCK_WAIT", 0.2)
    path = tmp_path / "history.db"
    with Store.open(path) as store:
        stream = filled(store, "weekly", MARKER)
    reader = sqlite3.connect(path, isolation_level=None)
    with Store.open(path) as store:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM calcore_runs").fetchone()
        deleted = store.delete_stream(stream)
        assert not deleted.erased
        assert "its free space is overwritten later" in deleted.sentence
        assert MARKER.encode() in bytes_of(tmp_path)
        reader.execute("COMMIT")
        reader.close()
    Store.open(path).close()
    assert MARKER.encode() not in bytes_of(tmp_path)


def test_a_process_killed_after_its_deletion_is_made_up_for(tmp_path, monkeypatch):
    path = tmp_path / "history.db"
    with Store.open(path) as store:
        stream = filled(store, "weekly", MARKER)
        with monkeypatch.context() as patch:
            patch.setattr(deletion, "erase_freed", lambda database: False)
            store.delete_stream(stream)
        with Store.open(path):
            assert MARKER.encode() not in bytes_of(tmp_path)
