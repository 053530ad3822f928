"""``calcore monitor``: what a scheduler gets, run after run."""

from __future__ import annotations

import http.server
import json
import threading

import numpy as np
import pytest

from calcore.monitoring.store import Store
from tests.calcore.cli.runs import run
from tests.calcore.monitoring.streams import weekly


def broken(week, f, region):
    return np.where(week >= 12, 0.12, 0.0)


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / "history.db")


@pytest.fixture
def weeks(file):
    """Writes weeks of a stream that breaks in week 13 to a file."""
    table = weekly(20, 400, off=broken)

    def write(first, last, **changes):
        part = table.iloc[first * 400 : last * 400].assign(**changes)
        return file(part.to_csv(index=False), f"weeks-{first}-{last}.csv")

    return write


def monitored(*arguments, expect=None):
    result = run("monitor", *arguments)
    if expect is not None:
        assert result.exit_code == expect, result.stderr
    return json.loads(result.stdout)


def test_runs_follow_each_other_and_alarm_when_it_breaks(weeks, store):
    first = monitored(weeks(0, 8), "--store", store, "--by", "week", expect=0)
    assert first["alerts"] == []
    assert len(first["batches"]) == 8
    assert first["reference"] == ["2024-W01", "2024-W04"]
    second = monitored(weeks(8, 16), "--store", store, expect=1)  # by week: as the stream was kept
    assert second["batches_kept"] == 16
    overall = second["alerts"][0]
    assert overall["new"]
    assert "since 2024-W13" in overall["sentence"]
    assert "\u00a0" not in overall["sentence"]
    third = monitored(weeks(16, 20), "--store", store, expect=1)
    assert [alert["new"] for alert in third["alerts"] if alert["key"] == overall["key"]] == [False]
    again = monitored(weeks(16, 20), "--store", store, expect=1)
    assert again["repeated"]
    assert again["batches_kept"] == 20


def test_an_acknowledged_alert_lets_the_scheduler_go_on(weeks, store):
    monitored(weeks(0, 20), "--store", store, "--by", "week", expect=1)
    with Store.open(store) as history:
        for alert in history.alerts(history.stream("default"), open_only=True):
            history.acknowledge(alert, "Ada", "a new product")
    assert monitored(weeks(0, 20), "--store", store, expect=0)["alerts"] == []


def test_labels_that_come_later_replace_the_estimates(weeks, store):
    table = weekly(20, 400, off=broken).iloc[:4_000]
    blank = table.label.astype("object").where(table.time < "2024-02-26", "")
    early = weeks(0, 10, label=blank)
    found = monitored(early, "--store", store, "--by", "week", expect=0)
    assert [one["kind"] for one in found["batches"]][-3:] == ["measured", "estimated", "estimated"]
    found = monitored(weeks(0, 10), "--store", store, expect=0)
    assert {one["kind"] for one in found["batches"]} == {"measured"}


def test_nothing_measured_is_an_exit_code_of_its_own(weeks, store):
    assert (
        monitored(weeks(0, 2, label="1"), "--store", store, "--by", "week", "--min-rows", "5000")["exit_code"]
        == 3
    )


def test_a_fixed_limit_and_a_webhook(weeks, store):
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def do_GET(self):
            body = weeks(0, 6).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        options = ("--store", store, "--by", "week", "--max", "brier=0.01", "--webhook", f"{address}/hook")
        # the file comes from an address too
        found = monitored(f"{address}/data/weeks.csv?token=secret", *options, expect=1)
        assert found["file"]["name"] == "weeks.csv"
        monitored(f"{address}/data/weeks.csv?token=secret", *options, expect=1)
        server.shutdown()
    assert len(got) == 1  # the alerts were new once
    assert {alert["kind"] for alert in got[0]["alerts"]} == {"fixed"}


def test_a_webhook_that_is_not_there_is_said_and_changes_no_exit_code(weeks, store):
    result = run(
        "monitor",
        weeks(0, 20),
        "--store",
        store,
        "--by",
        "week",
        "--webhook",
        "http://127.0.0.1:9/secret-token",
    )
    assert result.exit_code == 1
    assert "could not be reached" in result.stderr
    assert "secret-token" not in result.stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--by", "week", "--batch-column", "region"), "give one of them"),
        (("--rows", "10"), "add --by rows"),
        (("--max", "ECE"), "METRIC=VALUE"),
        (("--max", "F1=2"), "METRIC=VALUE"),
        (("--max", "ECE=0.01", "--min", "ECE=0.5"), "cross"),
        (("--webhook", "file:///etc/passwd"), "begins with http"),
        (("--time", "nothing"), 'no column "nothing"'),
        (("--time", "label"), "is the label"),
        (("--batch-column", "nothing"), 'no column "nothing"'),
        (("--by", "fortnight"), "fortnight"),
        (("--false-alarms", "0"), "--false-alarms"),
    ],
)
def test_what_cannot_be_is_one_sentence(weeks, store, arguments, words):
    result = run("monitor", weeks(0, 2), "--store", store, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("Error:") <= 1
    assert "Traceback" not in result.stderr


def test_a_stream_goes_on_with_its_own_batches(weeks, store):
    monitored(weeks(0, 4), "--store", store, "--by", "week", expect=0)
    result = run("monitor", weeks(4, 8), "--store", store, "--by", "month")
    assert result.exit_code == 2
    assert "begin another stream" in result.stderr
    other = monitored(weeks(4, 8), "--store", store, "--by", "month", "--stream", "monthly", expect=0)
    assert other["stream"] == "monthly"


def test_a_part_of_a_batch_replaces_nothing(weeks, store, file):
    monitored(weeks(0, 4), "--store", store, "--by", "week", expect=0)
    part = weekly(4, 400).iloc[3 * 400 : 3 * 400 + 150]
    found = monitored(file(part.to_csv(index=False), "part.csv"), "--store", store, expect=0)
    assert any("150 rows of it and 400 are kept" in note for note in found["notes"])
    assert found["batches"][0]["rows"] == 400


def test_addresses_that_do_not_answer(store):
    result = run("monitor", "http://user:password@127.0.0.1:9/x.csv", "--store", store)
    assert result.exit_code == 2
    assert "cannot be fetched" in result.stderr
    assert "password" not in result.stderr
