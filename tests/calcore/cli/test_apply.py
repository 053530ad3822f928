"""``calcore apply``: every row kept, the map's numbers to the last bit, in memory that does not grow."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calcore.calibrators import WLMC, Isotonic, Platt
from calcore.maps import CalibrationMap
from calcore.observation import Clean
from calcore.subgroups import Subgroup
from tests.calcore.cli.runs import ROOT, refused, run

#: What a run of 1,000,000 rows may take at most; importing the libraries alone takes 180 MB.
MOST_MEGABYTES = 350


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    score = rng.random(10_000)
    region = rng.choice(["1", "2", "NA", ""], 10_000)
    label = (rng.random(10_000) < np.where(region == "1", score**3, score)).astype(int)
    return pd.DataFrame({"score": score, "label": label, "region": region, "note": "a, b"})


def saved(map_, tmp_path):
    path = tmp_path / "map.json"
    path.write_text(map_.to_json())
    return path


@pytest.fixture
def platt(rows, tmp_path):
    return saved(Platt().fit(rows.score, rows.label).map_, tmp_path)


def by_region(rows):
    groups = [Subgroup.equals("region", one) for one in ("1", "2", "NA", "(missing)")]
    table = rows[["region"]].replace({"": "(missing)"})
    return WLMC().fit(Clean().evidence(rows.score, rows.label, groups=groups, table=table)).map_


def applied(map_, path, *options):
    return list(csv.DictReader(io.StringIO(run("apply", map_, path, "--out", "-", *options, code=0).stdout)))


@pytest.mark.parametrize("size", [1, 97, 50_000])
def test_calibrated_scores_are_the_maps_to_the_last_bit_in_any_batch(rows, tmp_path, size):
    rows = rows[: 10_000 if size > 1 else 300]
    map_ = Isotonic().fit(rows.score, rows.label).map_
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = applied(saved(map_, tmp_path), tmp_path / "rows.csv", "--batch-rows", size)
    np.testing.assert_array_equal([float(row["calibrated_score"]) for row in out], map_.predict(rows.score))
    assert [row["note"] for row in out] == list(rows.note)
    assert [row["region"] for row in out] == list(rows.region)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 97, 50_000])
def test_a_map_of_subgroups_looks_at_their_columns(rows, tmp_path, size):
    rows = rows[: 10_000 if size > 1 else 300]
    map_ = by_region(rows)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = applied(saved(map_, tmp_path), tmp_path / "rows.csv", "--batch-rows", size)
    expected = map_.predict(rows.score, rows[["region"]].replace({"": "(missing)"}))
    np.testing.assert_array_equal([float(row["calibrated_score"]) for row in out], expected)


def test_a_level_that_is_spelled_as_another_number_is_the_same_level(rows, tmp_path):
    map_ = by_region(rows)
    rows = rows[rows.region.isin(["1", "2"])]
    rows.assign(region=rows.region + ".0").to_csv(tmp_path / "rows.csv", index=False)
    out = applied(saved(map_, tmp_path), tmp_path / "rows.csv")
    np.testing.assert_array_equal(
        [float(row["calibrated_score"]) for row in out], map_.predict(rows.score, rows[["region"]])
    )


def test_columns_that_the_map_needs_are_asked_for(rows, tmp_path):
    map_ = saved(by_region(rows), tmp_path)
    rows.drop(columns="region").to_csv(tmp_path / "without.csv", index=False)
    assert "needs the column" in refused("apply", map_, tmp_path / "without.csv", "--out", tmp_path / "o.csv")
    rows.assign(region="elsewhere").to_csv(tmp_path / "other.csv", index=False)
    assert "that the map knows" in refused("apply", map_, tmp_path / "other.csv", "--out", tmp_path / "o.csv")
    assert not (tmp_path / "o.csv").exists()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")], "nothing half written is left"


def test_parquet_keeps_types_and_gives_the_same_numbers(rows, platt, tmp_path):
    table = pa.Table.from_pandas(rows.assign(when=pd.Timestamp("2026-01-01")), preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=999)
    run(
        "apply",
        platt,
        tmp_path / "rows.parquet",
        "--out",
        tmp_path / "scored.parquet",
        "--batch-rows",
        777,
        code=0,
    )
    back = pq.read_table(tmp_path / "scored.parquet")
    assert (
        back.drop_columns("calibrated_score")
        .cast(table.schema.remove_metadata())
        .equals(table.replace_schema_metadata(None))
    )
    expected = CalibrationMap.from_json(platt.read_text()).predict(rows.score)
    np.testing.assert_array_equal(back["calibrated_score"].to_numpy(), expected)
    run("apply", platt, tmp_path / "rows.parquet", "--out", tmp_path / "scored.csv", code=0)
    again = list(csv.DictReader((tmp_path / "scored.csv").read_text().splitlines()))
    np.testing.assert_array_equal([float(row["calibrated_score"]) for row in again], expected)


def test_rows_that_cannot_be_scored_are_written_and_counted(platt, file):
    path = file("score,label\n0.5,1\n,0\nx,1\n1.7,0\n0.4\n0.3,0,more,\n\n0.2,0\n" + "0.5,1\n" * 300)
    result = run("apply", platt, path, "--out", "-", code=0)
    lines = result.stdout.splitlines()
    assert len(lines) == 1 + 7 + 300
    assert lines[2:7] == [",0,", "x,1,", "1.7,0,", "0.4,,", '0.3,"0,more,",']
    assert "Scored 302 of 307 rows" in result.stderr
    for said in (
        "score is missing (line 3)",
        "score is not a number (line 4)",
        "outside 0 to 1 (line 5)",
        "(lines 6 and 7)",
    ):
        assert said in result.stderr
    assert run("apply", platt, path, "--out", "-", "--quiet", code=0).stderr == ""


def test_rows_without_a_score_are_null_in_parquet(platt, tmp_path):
    pq.write_table(
        pa.table({"score": [0.5, None, 2.0, *[0.1] * 400], "n": [1, None, 3, *[4] * 400]}),
        tmp_path / "a.parquet",
    )
    result = run("apply", platt, tmp_path / "a.parquet", "--out", tmp_path / "b.parquet", code=0)
    back = pq.read_table(tmp_path / "b.parquet")
    assert back["calibrated_score"].null_count == 2
    assert back["n"].to_pylist()[:3] == [1, None, 3]
    assert "(row 2)" in result.stderr
    run("apply", platt, tmp_path / "a.parquet", "--out", tmp_path / "b.csv", code=0)
    assert (tmp_path / "b.csv").read_text().splitlines()[2:4] == [",,", "2,3,"]


def test_no_cell_is_run_as_a_formula_and_quotes_survive(platt, file):
    path = file(
        'score,label,"=name"\n0.5,1,=cmd()\n0.4,0,"a ""b"", c"\n0.3,1,-5\n0.2,0,"two\nlines"\n0.2,0,@x\n'
    )
    out = list(csv.reader(io.StringIO(run("apply", platt, path, "--out", "-", code=0).stdout)))
    assert [row[2] for row in out] == ["'=name", "'=cmd()", 'a "b", c', "-5", "two\nlines", "'@x"]
    assert out[0][-1] == "calibrated_score"


def test_the_layout_of_the_file_stays(platt, file):
    path = file("score;label\n" + "0,50;1\n0,25;0\n" * 5)
    lines = run("apply", platt, path, "--out", "-", code=0).stdout.splitlines()
    assert lines[0] == "score;label;calibrated_score"
    score, label, calibrated = lines[1].split(";")
    assert (score, label) == ("0,50", "1")
    assert (
        float(calibrated.replace(",", ".")) == CalibrationMap.from_json(platt.read_text()).predict([0.5])[0]
    )


def test_a_taken_name_is_changed_and_said(platt, file):
    path = file("score,Calibrated_Score\n0.5,0.1\n0.25,0.2\n")
    result = run("apply", platt, path, "--out", "-", "--score", "score", code=0)
    assert result.stdout.startswith("score,Calibrated_Score,calibrated_score_2\n")
    assert '"calibrated_score_2"' in result.stderr


def test_percentages_need_their_scale(platt, file, tmp_path):
    path = file("score,label\n50,1\n25,0\n")
    assert "--scale percent" in refused("apply", platt, path, "--out", tmp_path / "o.csv")
    out = applied(platt, path, "--scale", "percent")
    np.testing.assert_array_equal(
        [float(row["calibrated_score"]) for row in out],
        CalibrationMap.from_json(platt.read_text()).predict([0.5, 0.25]),
    )


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "is empty"),
        ("score,label\n", "no rows"),
        ("a,b\nx,y\n", "--score"),
        ("score,label\nx,1\ny,0\n", "No row"),
        ("score,score\n0.5,0.5\n", "Two columns"),
        (b"PK\x03\x04 xl/ and more", "Excel"),
        ('score,label\n0.5,1\n0.4,"0\n0.3,1\n0.2,0\n', "never closed"),
        ('score,label\n0.5,1\n0.4,"0\n' + "0.3,1\n" * 50_000, "never closed"),
    ],
)
def test_files_that_cannot_be_scored_leave_nothing_behind(platt, file, tmp_path, content, said):
    out = tmp_path / "out.csv"
    extra = (
        ("--score", "score")
        if b"x,1" in (content if isinstance(content, bytes) else content.encode())
        else ()
    )
    assert said in refused("apply", platt, file(content), "--out", out, *extra)
    assert not out.exists()


def test_a_damaged_map_and_a_wrong_target_are_refused(platt, file, tmp_path):
    path = file("score\n0.5\n0.25\n")
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"format": "other"}))
    assert "calibration map" in refused("apply", bad, path, "--out", "-")
    assert "no file" in refused("apply", tmp_path / "none.json", path, "--out", "-")
    assert "let it end in" in refused("apply", platt, path, "--out", tmp_path / "out.xlsx")
    assert "is the file that is read" in refused("apply", platt, path, "--out", path, "--force")


def test_a_stray_byte_late_in_the_file_is_read_as_windows_1252(platt, file):
    path = file(b"score,name\n" + b"0.5,plain text\n" * 40_000 + b"0.25,Z\xfcrich\n")
    result = run("apply", platt, path, "--out", "-", code=0)
    assert b"Z\xfcrich" in result.stdout_bytes.splitlines()[-1]
    path = file(b"score,name\n" + b"0.5,plain text\n" * 40_000 + b"0.25,\x81\xfc\n")
    assert b"\x81\xfc" in run("apply", platt, path, "--out", "-", code=0).stdout_bytes.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_million_rows_take_no_more_memory_than_a_few(platt, tmp_path, kind):
    rng = np.random.default_rng(0)
    n = 1_000_000
    table = pa.table(
        {"score": rng.random(n), "region": rng.choice(["north", "south"], n), "text": ["some words"] * n}
    )
    source = tmp_path / f"rows.{kind}"
    if kind == "csv":
        from pyarrow import csv as arrow

        arrow.write_csv(table, source)
    else:
        pq.write_table(table, source)
    code = (
        "import sys; from calcore.cli import main\n"
        "try: main(sys.argv[1:])\n"
        # of this program alone: getrusage would count the tests that it was started from
        "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "apply", platt, source, "--out", tmp_path / f"out.{kind}"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
        check=True,
    )
    assert b"Scored 1,000,000 of 1,000,000 rows" in done.stderr
    assert int(done.stdout) < 1024 * MOST_MEGABYTES
