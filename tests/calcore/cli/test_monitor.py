"""``calcore monitor``: what a scheduler gets, run after run."""

from __future__ import annotations

import http.server
import json
import threading

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from calcore.cli import main, monitor
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


@pytest.mark.parametrize("columns", [["score", "label", "region", "time"], ["score", "region", "time"]])
def test_scores_without_any_label_are_estimated_until_labels_come(weeks, store, columns, file):
    monitored(weeks(0, 8), "--store", store, "--by", "week", expect=0)
    table = weekly(20, 400, off=broken).iloc[3_200:4_000].assign(label="")[columns]
    found = monitored(file(table.to_csv(index=False), "today.csv"), "--store", store, expect=0)
    assert {one["kind"] for one in found["batches"]} == {"estimated"}
    assert any("label" in note for note in found["notes"])
    assert found["batches"][0]["metrics"]["Brier"]["value"] > 0
    found = monitored(weeks(8, 10), "--store", store, expect=0)
    assert {one["kind"] for one in found["batches"]} == {"measured"}
    alone = monitored(
        file(table.to_csv(index=False), "today.csv"), "--store", store, "--stream", "x", "--by", "week"
    )
    assert alone["exit_code"] == 3


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
    result = run("monitor", "http://127.0.0.1:9/x.csv?token=secret", "--store", store)
    assert result.exit_code == 2
    assert "cannot be fetched" in result.stderr
    assert "secret" not in result.stderr


@pytest.mark.parametrize(
    "address",
    [
        "http://[",
        "http://",
        "http://127.0.0.1:99999/secret",
        "http://127.0.0.1:9x/secret",
        "http://user:secret@127.0.0.1:9/x.csv",
        "http://user:secret word@127.0.0.1:9/x.csv",
        "http://b\u00fccher.example/secret",
    ],
)
def test_what_is_no_address_is_one_sentence_without_its_secrets(weeks, store, address):
    for arguments in ((address,), (weeks(0, 2), "--webhook", address)):
        result = run("monitor", *arguments, "--store", store)
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: ")
        assert "secret" not in result.stderr


@pytest.fixture
def server(weeks):
    """A server with odd answers: its address, and what was asked of it."""
    asked, body = [], weeks(0, 20).read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, code, content=b"", length=None, **headers):
            self.send_response(code)
            for name, value in (headers | {"Content-Length": length or len(content)}).items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(("POST", self.path))
            self.answer(302, Location="/ok") if self.path == "/moved" else self.answer(204)

        def do_GET(self):
            asked.append(("GET", self.path))
            if self.path.startswith("/cut.csv"):
                self.answer(200, body[: len(body) // 2], len(body))
            elif self.path == "/huge.csv":
                self.answer(200, b"a", 9_000_000_000)
            else:
                self.answer(200, body)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", asked
        running.shutdown()


def test_a_part_of_a_file_from_the_web_is_not_taken_for_the_file(server, store):
    address, _ = server
    result = run("monitor", f"{address}/cut.csv?token=secret", "--store", store, "--by", "week")
    assert result.exit_code == 2
    assert "was cut off after" in result.stderr
    assert "secret" not in result.stderr
    assert "larger than 2 GB" in run("monitor", f"{address}/huge.csv", "--store", store).stderr


def test_an_address_may_be_written_as_people_write_it(server, store):
    address, asked = server
    file = f"{address}/M\u00e4rz 24.csv".replace("http", "HTTP")
    assert monitored(file, "--store", store, "--by", "week", expect=1)["file"]["name"] == "M\u00e4rz 24.csv"
    assert asked == [("GET", "/M%C3%A4rz%2024.csv")]


def test_labels_of_a_file_of_their_own_join_a_file_from_the_web(server, store, file):
    table = weekly(20, 400, off=broken)
    numbers = np.arange(len(table))
    labels = file(pd.DataFrame({"id": numbers, "label": table.label}).to_csv(index=False), "labels.csv")
    scores = file(table.drop(columns="label").assign(id=numbers).to_csv(index=False), "weeks.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitor, "fetched", lambda address: (scores.read_bytes(), "weeks.csv"))
        found = monitored(
            "https://example.org/weeks.csv",
            "--labels-file",
            labels,
            "--id",
            "id",
            "--store",
            store,
            "--by",
            "week",
        )
    assert found["batches"][0]["kind"] == "measured"


def test_a_webhook_that_moved_did_not_get_the_alert(server, weeks, store):
    address, asked = server
    result = run("monitor", weeks(0, 20), "--store", store, "--by", "week", "--webhook", f"{address}/moved")
    assert result.exit_code == 1
    assert "answered 302: it may not have got the alert" in result.stderr
    assert asked == [("POST", "/moved")]


def test_the_webhook_is_called_where_nobody_reads_what_is_printed(server, weeks, store, monkeypatch):
    address, asked = server

    def closed(text, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(monitor.click, "echo", closed)
    result = CliRunner().invoke(
        main, ["monitor", str(weeks(0, 20)), "--store", store, "--by", "week", "--webhook", f"{address}/hook"]
    )
    assert result.exit_code == 2
    assert asked == [("POST", "/hook")]


def test_a_stream_without_subgroups_goes_on(weeks, store):
    monitored(weeks(0, 4), "--no-groups", "--store", store, "--by", "week", expect=0)
    found = monitored(weeks(4, 8), "--no-groups", "--store", store, expect=0)
    assert found["batches_kept"] == 8


def test_a_subgroup_is_not_off_before_it_was_there(weeks, store):
    monitored(weeks(0, 6), "--group", "region", "--store", store, "--by", "week", expect=0)
    monitored(weeks(6, 14), "--no-groups", "--store", store, expect=1)
    found = monitored(weeks(14, 20), "--group", "region", "--store", store, expect=1)
    since = {alert["group"]: alert["since"] for alert in found["alerts"]}
    assert since == {None: "2024-W13", "region = north": "2024-W15", "region = south": "2024-W15"}


def test_bins_are_those_that_were_asked_for(weeks, store):
    monitored(weeks(0, 4), "--bins", "20", "--store", store, "--by", "week", expect=0)
    monitored(weeks(4, 8), "--store", store, expect=0)
    with Store.open(store) as history:
        runs = history.runs(history.stream("default"))
        assert [run.settings["plan"]["bins"] for run in runs] == [20, 20]
    assert "bins must be" in run("monitor", weeks(8, 10), "--bins", "300", "--store", store).stderr


def test_a_random_sample_of_labels_in_one_file_says_nothing_of_the_next(weeks, store):
    label = weekly(20, 400, off=broken).label.astype("object")
    half = label.where(np.arange(len(label)) % 2 == 0, "")
    monitored(
        weeks(0, 4, checked=half), "--audit-label", "checked", "--store", store, "--by", "week", expect=0
    )
    found = monitored(weeks(4, 6, label=half), "--store", store, expect=0)
    assert all("not in the test before 90 %" in one["reason"] for one in found["batches"])


def test_rows_of_weight_0_are_waited_for_by_nobody(weeks, store):
    weight = (np.arange(2_400) >= 600).astype(float)
    found = monitored(
        weeks(0, 6, weight=weight), "--weight", "weight", "--store", store, "--by", "week", expect=0
    )
    assert [(one["kind"], one["reason"]) for one in found["batches"][:2]] == [
        ("too few", "every row has the weight 0"),
        ("measured", ""),
    ]


def test_no_row_is_tested_in_two_batches(store, file):
    table = weekly(8, 400).sort_values("time", kind="stable")
    days = np.datetime64("2024-01-01") + np.arange(len(table)) * np.timedelta64(10, "m")
    table = table.assign(time=days)
    options = ("--store", store, "--by", "rows", "--rows", "400")
    monitored(file(table[:1_600].to_csv(index=False)), *options, expect=0)
    window = monitored(file(table[1_000:2_600].to_csv(index=False), "window.csv"), *options, expect=0)
    assert ["overlaps in time" in one["reason"] for one in window["batches"]] == [True, True, False, False]


def test_a_few_early_labels_keep_no_batch_from_being_measured_later(weeks, store):
    label = weekly(20, 400, off=broken).label.astype("object")
    few = label.where(np.arange(len(label)) % 8 == 0, "")
    early = monitored(weeks(0, 4, label=few), "--store", store, "--by", "week", expect=3)
    assert [(one["rows"], one["labelled"]) for one in early["batches"]] == [(400, 50)] * 4
    assert "too few to measure" in early["batches"][0]["reason"]
    late = monitored(weeks(0, 4), "--store", store, expect=0)
    assert [(one["label"], one["rows"]) for one in late["batches"]] == [
        (f"2024-W0{w}", 400) for w in (1, 2, 3, 4)
    ]
    assert late["batches_kept"] == 4
    assert late["notes"] == []


@pytest.mark.slow
def test_what_comes_back_after_it_was_over_is_a_new_alert(store, file, server):
    def twice(week, score, region):
        return np.where(((week >= 6) & (week < 10)) | (week >= 22), 0.12, 0.0)

    address, asked = server
    table = weekly(30, 500, off=twice)

    def until(week, expect):
        part = file(table.iloc[: week * 500].to_csv(index=False), f"{week}.csv")
        options = ("--store", store, "--by", "week", "--no-groups", "--webhook", f"{address}/hook")
        return monitored(part, *options, expect=expect)

    first = until(10, 1)["alerts"]
    with Store.open(store) as history:
        for alert in history.alerts(history.stream("default"), open_only=True):
            history.acknowledge(alert, "Ada", "known")
    assert until(22, 0)["alerts"] == []
    (again,) = until(30, 1)["alerts"]
    assert again["new"]
    assert again["key"] != first[0]["key"]
    assert again["since"] in ("2024-W22", "2024-W23", "2024-W24")
    assert len(asked) == 2


@pytest.fixture
def lender(file):
    """Writes weeks of a stream whose columns have names that nobody could guess, and dates in an open order."""
    table = weekly(20, 400, off=broken)
    table = pd.DataFrame(
        {
            "sum": table.score,
            "seen": pd.to_datetime(table.time).dt.strftime("%d/%m/%Y"),
            "zone": table.region,
            "res": np.where(table.label == 1, "paid late", "in time"),
        }
    )

    def write(first, last, drop=()):
        part = table.iloc[first * 400 : last * 400].drop(columns=list(drop))
        return file(part.to_csv(index=False), f"loans-{first}-{last}.csv")

    return write


NAMED = (
    "--score", "sum", "--label", "res", "--positive", "paid late", "--time", "seen", "--day-first", "--group", "zone"
)  # fmt: skip


def test_what_was_named_once_is_remembered(lender, store):
    first = monitored(lender(0, 8), "--store", store, "--by", "week", *NAMED, expect=0)
    assert first["batches_kept"] == 8
    second = monitored(lender(8, 12), "--store", store)
    assert second["batches_kept"] == 12
    assert {one["kind"] for one in second["batches"]} == {"measured"}
    assert monitored(lender(8, 12), "--store", store)["repeated"]
    waiting = monitored(lender(12, 14, drop=["res"]), "--store", store)
    assert {one["kind"] for one in waiting["batches"]} == {"estimated"}
    assert '"res", the label of earlier files, is not in this file.' in waiting["notes"]
    third = monitored(lender(12, 16), "--store", store)  # it is still known after a file without it
    assert {one["kind"] for one in third["batches"]} == {"measured"}


def test_what_is_said_now_wins_over_what_is_remembered(lender, store):
    monitored(lender(0, 8), "--store", store, "--by", "week", *NAMED)
    other = monitored(lender(8, 10), "--store", store, "--positive", "in time")
    assert other["batches"][0]["metrics"]["AUC"]["value"] < 0.5
    kept = monitored(lender(10, 12), "--store", store)
    assert kept["batches"][0]["metrics"]["AUC"]["value"] < 0.5


def test_without_times_the_options_that_help_are_named(weeks, store):
    result = run("monitor", weeks(0, 2, time="soon"), "--store", store, "--by", "month", code=2)
    assert "--time COLUMN" in result.stderr
    assert "--by rows" in result.stderr
    assert result.stderr.count("\n") == 1


def test_one_row_without_a_time_is_one_row(weeks, store, file):
    table = pd.read_csv(weeks(0, 8), dtype=str)
    table.loc[3, "time"] = ""
    found = monitored(file(table.to_csv(index=False), "one.csv"), "--store", store, "--by", "week")
    assert "1 row has no time or no value in the batch column: it is in no batch." in found["notes"]
