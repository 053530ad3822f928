"""Several writers, killed writers and a crashed server: what was confirmed is there, and only once."""

from __future__ import annotations

import contextlib
import random
import signal
import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from calcore.errors import InputError
from calcore.monitoring.store import BatchRecord, Store
from tests.calcore.monitoring.test_store_lineage import a_map

AT = datetime(2025, 3, 1, tzinfo=UTC)


def check_complete(store: Store, confirmed: set[str]) -> None:
    """Every confirmed run is there, none twice, and every run that is there is whole."""
    (stream,) = store.streams()
    keys = [run.key for run in store.runs(stream)]
    assert len(keys) == len(set(keys))
    assert confirmed <= set(keys)
    batches = [entry.record.key for entry in store.batches(stream)]
    assert sorted(batches) == sorted(f"{key}-{j}" for key in keys for j in range(3))
    assert {alert.key for alert in store.alerts(stream)} == ({*keys, "always"} if keys else set())


def check_file(url: str) -> None:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()


@pytest.mark.slow
def test_two_processes_writing_at_once_lose_and_double_nothing(url, child, tmp_path):
    barrier = tmp_path / "go"
    writers = [child(url, name, "200", str(barrier)) for name in ("a", "b")]
    for writer in writers:
        assert writer.process.stdout.readline() == b"ready\n"
    barrier.touch()  # the history does not exist yet: both create it
    confirmed = [writer.finish() for writer in writers]
    assert [len(keys) for keys in confirmed] == [200, 200]
    with Store.open(url) as store:
        check_complete(store, {key for keys in confirmed for key in keys})
        assert len(store.runs(store.streams()[0])) == 400
    check_file(url)


@pytest.mark.slow
def test_processes_that_open_a_fresh_history_at_once(url, child, tmp_path):
    barrier = tmp_path / "go"
    writers = [child(url, f"w{i}", "1", str(barrier)) for i in range(6)]
    for writer in writers:
        assert writer.process.stdout.readline() == b"ready\n"
    barrier.touch()
    confirmed = {key for writer in writers for key in writer.finish()}
    assert len(confirmed) == 6
    with Store.open(url) as store:
        check_complete(store, confirmed)


def kill_writers(url: str, child, kills: int, seed: int) -> set[str]:
    """Writers one after the other, each killed at a random moment of its work; the keys that were confirmed."""
    rng = random.Random(seed)
    confirmed: set[str] = set()
    for i in range(kills):
        writer = child(url, f"k{i}", "100000")
        confirmed.add(writer.process.stdout.readline().decode().strip())
        time.sleep(rng.uniform(0, 0.1))
        confirmed.update(writer.kill())
        if url.startswith("sqlite"):
            check_file(url)
    return confirmed


@pytest.mark.slow
@pytest.mark.parametrize("url, kills", [("sqlite", 50), ("postgresql", 15)], indirect=["url"])
def test_a_killed_process_loses_nothing_that_was_confirmed(url, kills, child):
    confirmed = kill_writers(url, child, kills, seed=5)
    assert len(confirmed) > kills
    with Store.open(url) as store:
        check_complete(store, confirmed)
    check_file(url)


@pytest.mark.slow
def test_a_crashed_server_loses_nothing_that_was_confirmed(own_server):
    url = own_server.create("history")
    rng = random.Random(7)
    confirmed: set[str] = set()
    for crash in range(4):
        with Store.open(url) as store:
            stream = store.stream("weekly")
            dataset = store.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=[], at=AT)
            timer = threading.Timer(rng.uniform(0.1, 0.5), own_server.stop, [signal.SIGQUIT])
            timer.start()
            with contextlib.suppress(InputError):
                for i in range(100_000):
                    key = f"{crash}-{i}"
                    results = [BatchRecord(f"{key}-{j}", "b", AT, AT, 1, 1) for j in range(3)]
                    confirmed.add(store.add_run(stream, dataset, {}, results, [], None, AT, key=key).key)
            timer.join()
            own_server.start()
            # the write that was cut off may or may not have been stored: repeating it settles it
            confirmed.add(store.add_run(stream, dataset, {}, results, [], None, AT, key=key).key)
    assert len(confirmed) > 20
    with Store.open(url) as store:
        keys = [run.key for run in store.runs(stream)]
        assert len(keys) == len(set(keys))
        assert set(keys) == confirmed
        assert len(store.batches(stream)) == 3 * len(keys)


def at_once(*calls) -> list[object]:
    """Results or InputErrors of calls from threads that start together."""
    results: list[object] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(i: int) -> None:
        start.wait()
        try:
            results[i] = calls[i]()
        except InputError as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=[i]) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_maps_set_live_at_once_one_wins_and_the_others_are_told(url):
    with Store.open(url) as one, Store.open(url) as two:
        stream = one.stream("weekly", AT)
        record = one.put_map(stream, a_map().to_json(), "m", at=AT)
        last = None
        for round_ in range(10):
            since = AT + timedelta(days=round_)
            calls = [
                lambda store=store, by=by, since=since, last=last: store.set_live(
                    stream, record, since, by, replaces=last
                )
                for store, by in [(one, "ann"), (two, "bob"), (one, "cy"), (two, "di")]
            ]
            results = at_once(*calls)
            won = [result for result in results if not isinstance(result, InputError)]
            assert len(won) == 1
            assert all("meanwhile" in str(result) for result in results if isinstance(result, InputError))
            lineage = one.lineage(stream)
            last = lineage[-1]
            assert won == [last]
            assert len(lineage) == round_ + 1


def test_threads_share_a_store(store):
    stream = store.stream("weekly")
    dataset = store.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=[], at=AT)

    def write(name: str) -> int:
        return len([store.add_run(stream, dataset, {}, [], key=f"{name}{i}") for i in range(20)])

    assert at_once(*(lambda name=name: write(name) for name in "abcd")) == [20] * 4
    assert len({run.key for run in store.runs(stream)}) == len(store.runs(stream)) == 80


def test_the_same_run_from_many_threads_is_stored_once(store):
    created = at_once(*[lambda: store.stream("weekly", AT)] * 6)
    assert len({stream.id for stream in created}) == 1
    stream = created[0]
    dataset = store.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=[], at=AT)
    runs = at_once(*[lambda: store.add_run(stream, dataset, {}, [], key="k", at=AT)] * 6)
    assert sorted(run.repeated for run in runs) == [False] + [True] * 5
    assert len(store.runs(stream)) == 1


def test_a_reader_sees_all_of_a_run_or_nothing(url, tmp_path: Path):
    with Store.open(url) as writer, Store.open(url) as reader:
        stream = writer.stream("weekly")
        dataset = writer.add_dataset(stream, sha256="a" * 64, filename="a", rows=1, columns=[], at=AT)
        done = threading.Event()

        def write() -> None:
            for i in range(30):
                records = [BatchRecord(f"{i}-{j}", "b", AT, AT, 1, 1) for j in range(10)]
                writer.add_run(stream, dataset, {}, records, key=str(i))
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        sizes = []
        while not done.is_set():
            sizes.append(len(reader.batches(stream)))
        thread.join()
        assert all(size % 10 == 0 for size in sizes)
        assert len(reader.batches(stream)) == 300
