"""What ``calcore apply`` writes is the file that was read, to the byte, with one more column."""

from __future__ import annotations

import codecs

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.calibrators import Platt
from calcore.errors import InputError
from calcore.ingest import FileFormat
from calcore.maps import CalibrationMap
from calcore.scoring.rows import open_rows
from calcore.scoring.source import Source
from tests.calcore.cli.runs import run

ROWS = ["0.5,1,007,1.50", "0.25,0,08,-3", "0.125,1,9,2026-01-31", "0.75,0, x ,+1e3"] * 3


@pytest.fixture
def platt(tmp_path):
    rng = np.random.default_rng(0)
    score = rng.random(500)
    path = tmp_path / "map.json"
    path.write_text(Platt().fit(score, rng.random(500) < score).map_.to_json())
    return path


def applied(platt, source, tmp_path, *options):
    out = tmp_path / "out.csv"
    run("apply", platt, source, "--out", out, "--force", "--score", "score", *options, code=0)
    return out.read_bytes()


def behind(text: str, separator: str, end: str, platt, decimal: str = ".", header: bool = True) -> str:
    """The rows of a text with the map's numbers behind them, put together by hand."""
    map_ = CalibrationMap.from_json(platt.read_text())
    lines = text.removesuffix(end).split(end)
    result = [f"{lines.pop(0)}{separator}calibrated_score"] if header else []
    for line in lines:
        score = float(line.split(separator)[0].strip('"').replace(decimal, "."))
        found = repr(float(map_.predict([score])[0])).replace(".", decimal)
        result.append(f"{line}{separator}{found}")
    return end.join([*result, ""])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "mark, codec",
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"", "windows-1252"),
    ],
)
def test_encoding_mark_and_line_ends_stay(platt, file, tmp_path, mark, codec, end):
    text = end.join(["score,label,cöde,when", *ROWS, ""])
    source = file(mark + text.encode(codec))
    assert applied(platt, source, tmp_path) == mark + behind(text, ",", end, platt).encode(codec)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_separator_and_decimal_mark_stay(platt, file, tmp_path, separator):
    rows = [row.replace(",", separator).replace(".", ",") for row in ROWS]
    text = "\n".join([separator.join(["score", "label", "code", "when"]), *rows, ""])
    assert applied(platt, file(text), tmp_path).decode() == behind(text, separator, "\n", platt, decimal=",")


def test_quotation_marks_stay_where_they_were(platt, file, tmp_path):
    text = 'score,"label",note\n"0.5","1","plain"\n0.25,0,"a, ""b"""\n0.75,1,5" pipe\n'
    expected = behind(text, ",", "\n", platt)
    assert applied(platt, file(text), tmp_path).decode() == expected


def test_a_file_without_a_header_gets_none(platt, file, tmp_path):
    text = "\n".join([*(f"{i / 40},{i % 2},north" for i in range(40)), ""])
    out = tmp_path / "out.csv"
    run("apply", platt, file(text), "--out", out, "--score", "column_1", code=0)
    assert out.read_text() == behind(text, ",", "\n", platt, header=False)


def test_the_line_that_names_the_separator_stays(platt, file, tmp_path):
    text = "score;label\n0,5;1\n0,25;0\n"
    found = applied(platt, file("sep=;\r\n" + text), tmp_path).decode()
    assert found == "sep=;\r\n" + behind(text, ";", "\n", platt, decimal=",")


def test_a_single_column_of_decimal_commas_gets_a_separator_that_tells(platt, file, tmp_path):
    found = applied(platt, file("score\n" + "0,50\n0,25\n" * 4), tmp_path).decode().splitlines()
    assert found[0] == "score;calibrated_score"
    assert found[1].split(";")[0] == "0,50"
    assert len(found[1].split(";")) == 2


def test_only_rows_with_formulas_are_written_anew(platt, file, tmp_path):
    text = 'score,label,"note"\n0.5,1,"x"\n0.25,0,"=cmd()"\n0.75,1,"y"\n'
    lines = applied(platt, file(text), tmp_path).decode().splitlines()
    assert lines[0] == 'score,label,"note",calibrated_score'
    assert lines[1].startswith('0.5,1,"x",')
    assert lines[2].startswith("0.25,0,'=cmd(),")
    assert lines[3].startswith('0.75,1,"y",')


@pytest.mark.parametrize("size", [140_000, 1_500_000])
def test_cells_that_the_reader_of_labels_takes_are_taken(platt, file, tmp_path, size):
    text = "score,label,note\n0.5,1," + "x" * size + "\n" + "0.25,0,y\n" * 20
    source = file(text)
    assert applied(platt, source, tmp_path).decode() == behind(text, ",", "\n", platt)
    run("audit", source, code=1)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text('ab,,"""; \t\né', max_size=12), min_size=1, max_size=8), st.sampled_from([1, 3, 100]))
def test_plain_lines_are_read_as_the_exact_reader_does(lines, size):
    data = "\n".join(["a,b", "0.5,1", *lines, ""]).encode()
    chosen = FileFormat("utf-8", ",", ".", True)

    def read():
        try:
            found = list(open_rows(Source.of(data), chosen).batches(size))
        except InputError as error:
            return str(error)
        rows = [row for one in found for row in zip(*(c.to_pylist() for c in one.table.columns), strict=True)]
        places, misfits, texts = (
            [x for one in found for x in getattr(one, name)] for name in ("places", "misfits", "texts")
        )
        return rows, places, misfits, texts

    quick = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calcore.scoring.text_rows.plain_cells", lambda *given: None)
        assert read() == quick
