"""Several writers, killed writers and a crashed server: what was confirmed is there, and only once."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import signal
import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier

import pytest

from calcore.errors import InputError
from calcore.monitoring.store import BatchRecord, Store
from tests.calcore.monitoring.test_store_lineage import a_map
from tests.calcore.monitoring.writer import write

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


_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["calcore.monitoring.store"])  # imported once, not by every process


class Writer:
    """Another process that writes runs to the history; `together`: it starts when all of them are ready."""

    def __init__(self, url: str, name: str, runs: int, together: Barrier | None = None) -> None:
        self.heard, say = _PROCESSES.Pipe(duplex=False)
        self.process = _PROCESSES.Process(target=write, args=(url, name, runs, say, together))
        self.process.start()
        say.close()

    def next_key(self) -> str:
        assert self.heard.poll(60)
        return self.heard.recv()

    def kill(self) -> list[str]:
        """kill -9; the keys that were confirmed."""
        self.process.kill()
        return self.finish()

    def finish(self) -> list[str]:
        keys = []
        with contextlib.suppress(EOFError, ConnectionResetError):  # killed while it said something
            while (key := self.heard.recv()) is not None:
                keys.append(key)
        self.process.join(60)
        self.process.close()
        self.heard.close()
        return keys


@pytest.mark.slow
def test_two_processes_writing_at_once_lose_and_double_nothing(url):
    together = _PROCESSES.Barrier(2)  # the history does not exist yet: both create it
    writers = [Writer(url, name, 200, together) for name in ("a", "b")]
    confirmed = [writer.finish() for writer in writers]
    assert [len(keys) for keys in confirmed] == [200, 200]
    with Store.open(url) as store:
        check_complete(store, {key for keys in confirmed for key in keys})
        assert len(store.runs(store.streams()[0])) == 400
    check_file(url)


@pytest.mark.slow
def test_processes_that_open_a_fresh_history_at_once(url):
    together = _PROCESSES.Barrier(6)
    writers = [Writer(url, f"w{i}", 1, together) for i in range(6)]
    confirmed = {key for writer in writers for key in writer.finish()}
    assert len(confirmed) == 6
    with Store.open(url) as store:
        check_complete(store, confirmed)


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_confirmed(url):
    rng = random.Random(5)
    confirmed: set[str] = set()
    for i in range(50):
        writer = Writer(url, f"k{i}", 100_000)
        confirmed.add(writer.next_key())
        time.sleep(rng.uniform(0, 0.1))
        confirmed.update(writer.kill())
        check_file(url)
    assert len(confirmed) > 50
    with Store.open(url) as store:
        check_complete(store, confirmed)


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


def test_a_reader_sees_all_of_a_run_or_nothing(url):
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
