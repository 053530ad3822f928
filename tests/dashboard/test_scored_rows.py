"""The scored rows of the export page: what ``calcore apply`` writes, to the byte, and nothing left behind."""

from __future__ import annotations

import gc
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from calcore import ingest
from calcore.calibrators import WLMC, Isotonic
from calcore.observation import Clean
from calcore.scoring import score_parsed
from calcore.subgroups import Membership, Subgroup
from tests.calcore.cli.runs import run
from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.lists import held
from tests.dashboard.test_views import go

pytestmark = pytest.mark.usefixtures("few_calibrators")


def written(app, data, name="scores.csv"):
    upload(app, data, name)
    app.button(key="analyse").click().run()
    go(app, "compare")
    go(app, "export")
    app.button(key="prepare-scored").click().run()
    assert not app.exception
    return held(app, "scored")


def by_command(app, data, tmp_path, suffix="csv"):
    (tmp_path / "map.json").write_text(held(app, "export").json)
    (tmp_path / f"in.{suffix}").write_bytes(data)
    out = tmp_path / f"out.{suffix}"
    run("apply", tmp_path / "map.json", tmp_path / f"in.{suffix}", "--out", out, code=0)
    return out.read_bytes()


def _with_refused_rows():
    lines = csv_bytes(400).decode().splitlines()
    lines[3] = "," + lines[3].split(",", 1)[1]
    lines[5] = "what" + lines[5][lines[5].index(",") :]
    lines[7] = lines[7].split(",")[0]
    lines[9] = lines[9].split(",")[0] + ",perhaps,north"
    lines[11] += ",more"
    return "\n".join([*lines, ""]).encode()


FILES = {
    "plain": csv_bytes(400),
    "semicolons, decimal commas, Windows": csv_bytes(400)
    .decode()
    .replace(",", ";")
    .replace(".", ",")
    .replace("\n", "\r\n")
    .replace("north", "nörd")
    .encode("windows-1252"),
    "UTF-16": csv_bytes(400).decode().encode("utf-16"),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + csv_bytes(400),
    "rows that are refused": _with_refused_rows(),
    "formulas": csv_bytes(400).replace(b"north", b"=north"),
    "a taken name": csv_bytes(400, header="score,label,Calibrated_Score"),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_the_page_writes_what_the_command_line_writes(app, tmp_path, data):
    rows = written(app, data)
    found = rows.read()
    assert found == by_command(app, data, tmp_path)
    assert rows.size == len(found)
    assert rows.read() == found, "it can be taken twice"
    assert "Write scored rows" not in [button.label for button in app.button]


def test_refused_rows_stay_in_their_place_and_are_explained(app):
    data = _with_refused_rows()
    lines = written(app, data).read().decode().splitlines()
    assert len(lines) == len(data.decode().splitlines())
    assert all(lines[i].endswith(",") for i in (3, 5, 7, 11))
    assert not lines[9].endswith(","), "a label that cannot be read is no reason not to score"
    said = messages(app)
    assert "Scored 396 of 400 rows" in said
    for reason in ("score is missing (line 4)", "score is not a number (line 6)", "too few fields"):
        assert reason in said


def test_a_taken_name_is_changed_and_said(app):
    rows = written(app, FILES["a taken name"])
    assert rows.read().startswith(b"score,label,Calibrated_Score,calibrated_score_2\n")
    assert "calibrated_score_2" in messages(app)


@pytest.mark.slow
def test_text_as_parquet_and_parquet_as_parquet(app, tmp_path):
    data = csv_bytes(400)
    written(app, data)
    of_file(app, "radio", "scored-kind").set_value("Parquet").run()
    app.button(key="prepare-scored").click().run()
    back = pd.read_parquet(io.BytesIO(held(app, "scored").read()))
    assert list(back) == ["score", "label", "region", "calibrated_score"]
    assert back["calibrated_score"].notna().all()

    table = pd.read_csv(io.BytesIO(data)).assign(
        when=pd.Timestamp("2026-01-31"), ids=np.arange(400, dtype="uint8")
    )
    file = io.BytesIO()
    table.to_parquet(file, index=False)
    go(app, "data")
    rows = written(app, file.getvalue(), "scores.parquet")
    assert rows.name == "scores_scored.parquet"
    schema = pq.read_schema(io.BytesIO(rows.read()))
    assert str(schema.field("ids").type) == "uint8"
    assert str(schema.field("when").type).startswith("timestamp")
    assert rows.read() == by_command(app, file.getvalue(), tmp_path, "parquet")


def test_the_likeliest_class_is_scored_though_no_column_holds_its_score():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 1.0, 1.0], 600).round(4)
    label = [("cat", "dog", "cow")[rng.choice(3, p=row / row.sum())] for row in p]
    rows = [f"{a},{b},{c},{y}" for (a, b, c), y in zip(p, label, strict=True)]
    data = "\n".join(["p_cat,p_dog,p_cow,animal", *rows, ""]).encode()
    parsed = ingest.parse(data, "animals.csv")
    choices = ingest.Choices(classes=ingest.ClassView(("p_cat", "p_dog", "p_cow"), "animal"))
    read = ingest.interpret(parsed, choices)
    map_ = Isotonic().fit(read.columns.score, read.columns.label).map_
    out = io.BytesIO()
    account = score_parsed(map_, parsed, data, replace(choices, roles=read.roles), out, parquet=False)
    back = pd.read_csv(io.BytesIO(out.getvalue()))
    np.testing.assert_array_equal(back["calibrated_score"], map_.predict(p.max(axis=1)))
    assert account.scored == 600


def test_the_commonest_groups_are_those_of_the_fit():
    rng = np.random.default_rng(0)
    score, shop = rng.random(3000), np.minimum(rng.geometric(0.02, 3000), 400)
    label = (rng.random(3000) < np.where(shop > 60, score**3, score)).astype(int)
    rows = [f"{s:.4f},{y},shop {g}" for s, y, g in zip(score, label, shop, strict=True)]
    data = "\n".join(["score,label,shop", *rows, ""]).encode()
    parsed = ingest.parse(data, "shops.csv")
    roles = ingest.Roles(score="score", label="label", groups=("shop",))
    choices = ingest.Choices(roles=roles, top_groups=20)
    read = ingest.interpret(parsed, choices)
    groups = [Subgroup.equals("shop", level) for level in read.columns.groups["shop"].cat.categories]
    member = Membership.of_subgroups(groups, read.columns.groups)
    map_ = WLMC().fit(Clean().evidence(read.columns.score, read.columns.label, groups=member)).map_
    assert any(group.value == "other" for group in map_.definitions())
    out = io.BytesIO()
    score_parsed(map_, parsed, data, choices, out, parquet=False)
    back = pd.read_csv(io.BytesIO(out.getvalue()))
    np.testing.assert_array_equal(back["calibrated_score"], map_.predict(read.columns.score, member))


def test_the_file_on_the_disk_goes_with_the_session(app):
    rows = written(app, csv_bytes(400))
    file = rows._file
    rows = None
    go(app, "data")
    app.session_state["calcore"].results.clear()
    gc.collect()
    assert file.closed
