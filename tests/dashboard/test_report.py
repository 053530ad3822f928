"""The report: complete, true to the file, without a row of it, and with nothing to fetch."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from calcore.ingest import Choices, Roles
from calcore.maps import CalibrationMap
from calcore.meanings import MEANINGS
from calcore.monitoring import Batching, Plan
from calcore.settings import Settings
from dashboard import services
from dashboard import wording as w
from dashboard.report import file_name
from dashboard.report.calibrator_sections import NO_COMPARISON
from dashboard.state import get_state

from .conftest import csv_bytes, upload
from .reports import Parts, file_with_ids, fresh_session, opened, reported
from .streams import stream_bytes
from .test_views import analysed, go
from .weak_files import PRIOR, weak_file

WITHOUT_MAP = ["verdict", "reliability", "subgroups", "gate", "comparison", "assumptions", "data", "card"]
EVIL = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def session():
    with fresh_session():
        yield


@pytest.fixture(scope="module")
def html():
    """The report on a file with ids, after a comparison."""
    with fresh_session():
        return reported(opened(file_with_ids()), "Platt", "Isotonic")


def test_every_section_is_there_with_its_charts_and_their_words(html):
    parts = Parts(html)
    assert parts.sections == [*WITHOUT_MAP[:5], "map", *WITHOUT_MAP[5:]]
    drawn = ["reliability", "subgroups", "gate", "differences", "reliability-after", "map"]
    assert parts.figures == [f"figure-{name}" for name in drawn]
    assert len(parts.all("details")) == len(drawn)
    assert all(one["aria-label"] for one in parts.all("div") if "data-figure" in one)
    for title in ("Isotonic", "Platt", "No change"):
        assert parts.text.count(title) >= 2
    for words in ("Harm check: if these scores were right", "Not calibrated. Scores too high", "north"):
        assert words in parts.text


def test_its_numbers_are_those_of_the_file():
    data = file_with_ids()
    parts = Parts(reported(opened(data)))
    labels = [int(line.split(",")[2]) for line in data.decode().split()[1:]]
    assert f"Event rate {w.rate(sum(labels) / len(labels))}" in parts.text
    assert hashlib.sha256(data).hexdigest() in parts.text
    assert re.search(r"Made \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", parts.text)
    assert "Rows read 600 Rows kept 600 Rows refused 0" in parts.text


def test_the_card_names_the_map_that_is_downloaded():
    found = opened(file_with_ids())
    parts = Parts(reported(found, "Platt"))
    exported = services.export_of(found, services.latest_comparison(found), "Platt")
    assert CalibrationMap.from_json(exported.json).checksum in parts.text


def test_refused_rows_and_warnings_are_counted_with_their_reason():
    data = file_with_ids() + b"SECRETX,not a number,1,north\nSECRETY,0.5,1\n"
    found = opened(data)
    parts = Parts(reported(found))
    assert "Rows read 602" in parts.text
    for refused in found.ingested.report.refused:
        assert refused.reason in parts.text


def test_without_a_comparison_it_says_that_there_is_no_map():
    parts = Parts(reported(opened(file_with_ids())))
    assert parts.sections == WITHOUT_MAP
    assert NO_COMPARISON in parts.text
    assert "no map was made" in parts.text


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["Platt", "Identity"])
def test_three_rows_make_a_report(chosen):
    found = opened(b"score,label\n0.91,1\n0.08,0\n0.3,1\n", "tiny.csv")
    parts = Parts(reported(found, "Platt") if chosen == "Platt" else reported(found))
    assert "Cannot tell" in parts.text
    assert w.no_subgroups(False) in parts.text


@pytest.mark.parametrize("kind", ["uu", "su"])
def test_labels_of_every_kind_make_a_report(kind):
    services.load(weak_file(kind, 400), f"{kind}.csv")
    state = get_state()
    names = set(state.parsed.columns)
    sources = {"uu": ("A", "B"), "su": ("similar", "unlabelled")}.get(kind, ())
    asked = {"prior": PRIOR, "theta1": 0.65, "theta2": 0.17, "r_min": 0.1}
    settings = {name: asked[name] for name in MEANINGS[kind].parameters}
    roles = {"source": "source", "confidence": "confidence", "unit": "pair"}
    chosen = {role: column for role, column in roles.items() if column in names}
    services.reinterpret(Choices(roles=Roles(score="score", groups=("region",), **chosen)))
    state.settings = Settings(labels=kind, source_values=sources, **settings)
    found = services.analysis(state)
    parts = Parts(reported(found, "Platt"))
    assert "map" in parts.sections
    assert w.NO_GATE in parts.text
    assert MEANINGS[kind].answer in parts.text
    assert "the class prior: 0.35" in parts.text
    assert "If the class prior were" in parts.text


def test_known_positives_make_a_report():
    rows = file_with_ids().decode().replace(",0,", ",,").encode()
    found = opened(rows, labels="pu", prior=0.5)
    parts = Parts(reported(found, "Platt"))
    assert "the class prior: 0.5" in parts.text
    assert "map" in parts.sections


@pytest.mark.parametrize("names", [(), ("Isotonic",), ("VennAbers",)])
def test_no_row_of_the_file_is_in_it(names):
    data = file_with_ids()
    html = reported(opened(data), *names)
    assert "SECRET" not in html
    ours = html[: html.index("* plotly.js")]
    numbers = {float(text) for text in re.findall(r"0\.\d+", ours)}
    for line in data.decode().split()[1:]:
        score = line.split(",")[1]
        assert score not in ours
        # knots of a map lie at scores of rows, whatever they are rounded to
        assert round(float(score), 6) not in numbers


def test_names_stay_names():
    text = file_with_ids().decode().replace("north", EVIL).replace("south", "**b** $x$ <img src=x>")
    data = text.replace("region", "<img src=y onerror=alert(2)>", 1).encode()
    parts = Parts(reported(opened(data, "</title><script>alert(3)</script>.csv"), "Platt"))
    kinds = [one.get("type") for one in parts.all("script")]
    assert kinds == ["application/json"] * (len(kinds) - 2) + [None, None]
    assert not parts.all("img")
    assert not any(key.startswith("on") for _, attributes in parts.tags for key in attributes)
    for name in (EVIL, "**b** $x$ <img src=x>", "<img src=y onerror=alert(2)>", "</title><script>alert(3)"):
        assert name in parts.text
    for document in parts.code["script"][:-2]:
        json.loads(document)


def test_nothing_is_fetched_and_only_its_own_scripts_may_run(html):
    parts = Parts(html)
    for _, attributes in parts.tags:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.search(r"url\(|@import|https?:", "".join(parts.code["style"]))
    assert not re.search(r"https?://", html[: html.index("* plotly.js")])
    policy = next(one["content"] for one in parts.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    hashes = [
        base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        for code in parts.code["script"][-2:]
    ]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes


def test_file_names_are_safe():
    assert file_name("scores.csv") == "scores.report.html"
    assert file_name("../../etc/<b>.csv") == "etc_b.report.html"
    assert file_name(".csv") == "scores.report.html"


def offered(app) -> list[str]:
    return [one.proto.label for one in app.get("download_button")]


@pytest.mark.parametrize("compare", [False, True])
def test_the_export_page_offers_it_with_and_without_a_comparison(app, few_calibrators, compare):
    analysed(app, csv_bytes(400))
    if compare:
        go(app, "compare")
    go(app, "export")
    assert not any(label.startswith("Report") for label in offered(app))
    app.button(key="prepare-report").click().run()
    assert not app.exception
    assert any(re.fullmatch(r"Report \(\d\.\d MB\)", label) for label in offered(app))


def test_nothing_is_offered_before_a_file_is_analysed(app):
    upload(app, csv_bytes())
    go(app, "export")
    assert "prepare-report" not in [button.key for button in app.button]


def test_a_watch_of_the_session_is_a_section_and_of_another_file_it_is_none():
    found = opened(stream_bytes(12, 300, broken_from=6, unlabelled=1), "stream.csv")
    assert Parts(reported(found)).sections == WITHOUT_MAP
    plan = Plan(Batching("month"), reference=2)
    services.remember_watch(found, services.watch_of(found, plan))
    parts = Parts(reported(found))
    assert parts.sections == [*WITHOUT_MAP[:4], "over-time", *WITHOUT_MAP[4:]]
    assert {"figure-over-time-ece", "figure-over-time-gap"} <= set(parts.figures)
    for words in (
        "since 2022-07",
        "2022-01 to 2022-02",
        "a month; joined with the next below 100 rows",
        "2 points",
        "cannot see a change",
    ):
        assert words in parts.text.replace("\xa0", " "), words
    assert Parts(reported(opened(file_with_ids()))).sections == WITHOUT_MAP
