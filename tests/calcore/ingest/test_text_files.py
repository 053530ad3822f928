"""Text files as they really are: separators, decimal marks, encodings, headers, ragged and quoted rows."""

from __future__ import annotations

import hashlib
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import Choices, FileFormat


def read(text: str | bytes, **choices):
    data = text.encode() if isinstance(text, str) else text
    return ingest.read(data, "f.csv", Choices(**choices))


def kinds(ingested) -> list[str]:
    return [question.kind for question in ingested.report.questions]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_decimal_comma_under_every_separator_is_not_one_text_column(separator, end):
    ingested = read(end.join([f"score{separator}label", f"0,91{separator}1", f"0,2{separator}0"]))
    assert ingested.columns.score.tolist() == [0.91, 0.2]
    assert ingested.columns.label.tolist() == [1, 0]
    assert ingested.report.format == FileFormat("utf-8", separator, ",", True)


def test_decimal_comma_in_quotes_between_commas():
    ingested = read('score,label\n"0,91","1"\n"0,2","0"\n')
    assert ingested.columns.score.tolist() == [0.91, 0.2]


def test_single_column_of_decimal_commas_is_not_two_columns():
    assert read("score\n0,91\n0,85\n").columns.score.tolist() == [0.91, 0.85]


def test_a_chosen_format_overrides_what_would_be_found():
    ingested = read("score;label\n0,5;1\n", format=FileFormat(separator=";", decimal=","))
    assert ingested.columns.score.tolist() == [0.5]
    with pytest.raises(InputError, match="one character"):
        read("score;label\n0,5;1\n", format=FileFormat(separator=";;"))


def test_excel_separator_hint_is_not_a_header():
    ingested = read("sep=;\nscore;label\n0,9;1\nx;0\n")
    assert ingested.columns.score.tolist() == [0.9]
    assert ingested.report.refused[0].lines == (4,)


@pytest.mark.parametrize(
    "text",
    ["score,label\n0.9,1,\n0.1,0,", "score,label\n0.9,1,,\n0.1,0,,\n", "score,label,\n0.9,1,\n0.1,0,\n"],
)
def test_trailing_comma_does_not_move_labels_into_scores(text):
    ingested = read(text)
    assert ingested.columns.score.tolist() == [0.9, 0.1]
    assert ingested.columns.label.tolist() == [1, 0]
    assert any("empty field more" in warning for warning in ingested.report.warnings)


def test_trailing_comma_on_some_rows_keeps_all_of_them():
    ingested = read("score,label\n0.9,1,\n0.1,0\n0.2,1,\r\n")
    assert ingested.columns.score.tolist() == [0.9, 0.1, 0.2]
    assert ingested.columns.line.tolist() == [2, 3, 4]


def test_trailing_comma_in_the_header_alone():
    assert read("score,label,\n0.9,1\n").columns.label.tolist() == [1]


def test_a_column_without_a_name_is_kept_and_named():
    ingested = read(",score,label\n0,0.9,1\n1,0.1,0\n")
    assert list(ingested.table.columns) == ["column_1", "score", "label"]
    assert "column_1" in ingested.report.warnings[0]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32-le"),
        ("cp1252", "windows-1252"),
    ],
)
def test_encodings_are_decoded_and_named(encoding, found):
    ingested = read("score,label,café\n0.9,1,Zürich\n0.1,0,Orléans\n".encode(encoding))
    assert list(ingested.table.columns) == ["score", "label", "café"]
    assert ingested.table["café"].tolist() == ["Zürich", "Orléans"]
    assert ingested.report.format.encoding == found


def test_utf16_big_endian_with_a_mark():
    ingested = read(b"\xfe\xff" + "score,label\n0.9,1\n".encode("utf-16-be"))
    assert ingested.columns.score.tolist() == [0.9]


def test_windows_1252_far_down_the_file_is_decoded_and_said():
    text = "score,label,city\n" + "0.5,1,Bern\n" * 20_000 + "0.5,0,Zürich\n"
    ingested = read(text.encode("cp1252"))
    assert ingested.table["city"].iloc[-1] == "Zürich"
    assert "Line 20,002 is not UTF-8" in ingested.report.warnings[0]


def test_a_wrong_chosen_encoding_names_the_line():
    with pytest.raises(InputError, match=r"cannot be read as utf-8 \(line 2\)"):
        read("score,g\n0.5,é\n".encode("cp1252"), format=FileFormat(encoding="utf-8"))
    with pytest.raises(InputError, match="not an encoding"):
        read("score\n0.5\n", format=FileFormat(encoding="klingon"))


@pytest.mark.parametrize("text", ["", "\n\n", "  \n", "\ufeff"])
def test_empty_file_has_its_own_sentence(text):
    with pytest.raises(InputError, match=r"f\.csv is empty"):
        read(text)


@pytest.mark.parametrize("text", ["score,label", "score,label\n", "\ufeffscore;label\r\n\r\n", "score\n"])
def test_header_only_has_its_own_sentence(text):
    with pytest.raises(InputError, match=r"has a header .* but no rows"):
        read(text)


@pytest.mark.parametrize("text", ["score,score\n0.9,1\n", "score, score \n0.9,1\n"])
def test_two_columns_of_one_name_are_an_error_that_names_both(text):
    with pytest.raises(InputError, match=r'Two columns are called "score" \(columns 1 and 2\)'):
        read(text)


@pytest.mark.parametrize("text", ["0.9,1\n0.2,0\n", "0,9;1\n0,2;0\n", "0.9,1,north\n0.2,0,south\n"])
def test_a_first_row_of_numbers_is_not_the_header(text):
    ingested = read(text)
    assert ingested.columns.score.tolist() == [0.9, 0.2]
    assert ingested.roles.score == "column_1"
    assert "no_header" in kinds(ingested)
    again = ingest.answer(Choices(), ingested.report.questions[0], "header")
    assert ingest.parse(text.encode(), "f.csv", again.format).rows == 1


def test_numeric_names_over_numbers_are_a_header_when_others_are_words():
    parsed = ingest.parse(b"0,1,Label\n0,0,1\n1,0,-1\n", "f.csv")
    assert list(parsed.columns) == ["0", "1", "Label"]


def test_spaces_around_names_and_values_do_not_make_new_ones():
    ingested = read(" score , label , city \n 0.9 , 1 , Bern \n 9e-1 , 0 ,Bern\n+.25,1, Basel\n")
    assert ingested.columns.score.tolist() == [0.9, 0.9, 0.25]
    assert ingested.columns.groups["city"].cat.categories.tolist() == ["Bern", "Basel"]


def test_ragged_rows_are_refused_with_their_lines():
    ingested = read('score,label,g\n0.9,1,a\n0.2\n\n0.3,0,"b\nc"\n0.4,1,a,5\n   \n0.5,0,d\n')
    assert ingested.columns.score.tolist() == [0.9, 0.3, 0.5]
    assert ingested.columns.line.tolist() == [2, 5, 9]
    assert [(r.count, r.lines) for r in ingested.report.refused] == [(1, (3,)), (1, (7,))]
    assert ingested.report.rows_read == ingested.report.rows_kept + 2


def test_rows_that_never_fit_the_header_are_one_sentence():
    with pytest.raises(InputError, match="has 2 fields but line 2 has 3"):
        read("a,b\n1,2,3\n4,5,6\n")


def test_line_numbers_hold_after_blank_lines_and_quoted_line_breaks():
    ingested = read('\n\nscore,label,"long\nname"\n0.9,1,"a\n\nb"\n\nx,0,c\n0.1,0,"say ""hi""\n"\ny,1,d\n')
    assert ingested.report.refused[0].lines == (9, 12)
    assert ingested.columns.line.tolist() == [5, 10]
    assert ingested.table["long\nname"].tolist() == ["a\n\nb", 'say "hi"']


def test_separators_in_quotes_and_quotes_in_texts():
    ingested = read('score,label,g\n0.9,1,"a,b"\n0.1,0,5" pipe\n0.2,0,"a ""b"""\n')
    assert ingested.table["g"].tolist() == ["a,b", '5" pipe', 'a "b"']


def test_an_unclosed_quote_does_not_swallow_rows():
    rows = ["0.5,1,x"] * 300_000
    rows[200_000] = '0.5,1,"x'
    with pytest.raises(InputError, match=r"line 200,002 of f\.csv is never closed"):
        read("score,label,g\n" + "\n".join(rows))


def test_quoted_line_breaks_across_blocks_of_the_parser_lose_no_row():
    rows = ['0.5,1,"x\ny"', "0.25,0,z"] * 150_000
    ingested = read("score,label,g\n" + "\n".join(rows))
    assert ingested.report.rows_kept == 300_000
    assert ingested.columns.line[-1] == 1 + 150_000 * 3


@pytest.mark.parametrize("tail", range(12))
def test_a_cell_that_looks_like_rows_is_never_split_at_a_block_of_the_parser(tail):
    block = 1 << 21
    lines = ["0.5,1,x"] * (block // 8 - 4)
    cell = "\n".join(["0.25,0,y"] * 12)
    data = (
        "score,label,g\n"
        + "\n".join(lines)
        + "\n"
        + "0.5,1,xxx"[: 7 + tail % 3]
        + f'\n0.75,1,"{cell}"\n0.5,0,z\n'
    )
    data = "score,label,g\n" + "0.5,1,xx\n" * tail + data.split("\n", 1)[1]
    ingested = read(data)
    assert ingested.report.rows_kept == len(lines) + tail + 3
    assert ingested.table["g"].iloc[-2] == cell


def test_na_is_a_country_and_only_nothing_is_missing():
    ingested = read("score,label,country\n0.9,1,NA\n0.3,0,\n0.4,1,DE\n0.5,1,NA\n0.5,1,null\n0.1,0,  \n")
    assert ingested.columns.groups["country"].tolist() == ["NA", "(missing)", "DE", "NA", "null", "(missing)"]


def test_leading_zeros_of_ids_and_groups_survive():
    rows = "\n".join(f"{i:07d},{'01' if i % 2 else '1'},0.{i % 89 + 10},{i % 2}" for i in range(3000))
    ingested = read("customer_id,branch,score,label\n" + rows)
    assert ingested.table["customer_id"].iloc[7] == "0000007"
    assert ingested.columns.groups["branch"].cat.categories.tolist() == ["1", "01"]


def test_a_group_of_0_and_1_that_turns_into_codes_keeps_its_text():
    ingested = read("score,label,g\n" + "0.5,1,0\n0.25,0,1\n" * 5000 + "0.5,1,007\n")
    assert ingested.columns.groups["g"].iloc[-1] == "007"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(200), "old Excel"),
        (b"\x1f\x8b\x08" + bytes(100), "gzip"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b'[{"score": 1}]', "JSON"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (bytes(range(32)) * 20, "null bytes"),
        (b"score,label\n0.5,\x00\n", "null bytes"),
        (b"\x01\x02\x03\x04\x05" * 50, "not a text table"),
        (b"PAR1 not really", "damaged Parquet"),
    ],
)
def test_other_kinds_of_files_get_a_sentence_of_their_own(data, sentence):
    with pytest.raises(InputError, match=sentence):
        ingest.read(data, "f.csv")


@pytest.mark.parametrize(
    ("member", "sentence"), [("xl/workbook.xml", "Excel file; save"), ("a.csv", "zip archive")]
)
def test_excel_and_zip_are_told_apart(member, sentence):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, "x")
    with pytest.raises(InputError, match=sentence):
        ingest.read(stream.getvalue(), "scores.csv")


def test_a_file_over_the_limit_says_rows_and_other_ways_in():
    data = b"score,label\n" + b"0.25,1\n" * 1000
    with pytest.raises(
        InputError, match=r"limit is .* rows like these; save it as Parquet.*calcore.ingest.read"
    ):
        ingest.read(data, "f.csv", Choices(max_bytes=700))
    with pytest.raises(InputError, match="1,000 rows and the limit is 10"):
        ingest.read(data, "f.csv", Choices(max_rows=10))


def test_bytes_path_and_a_stream_that_was_read_give_the_same(tmp_path: Path):
    data = b"score,label\n0.9,1\n"
    path = tmp_path / "scores.csv"
    path.write_bytes(data)
    stream = io.BytesIO(data)
    stream.read()
    for source in (data, path, str(path), stream, bytearray(data)):
        report = ingest.read(source).report
        assert report.sha256 == hashlib.sha256(data).hexdigest()
        assert (report.rows_kept, report.bytes) == (1, len(data))
    assert ingest.read(path).report.filename == "scores.csv"
    with pytest.raises(InputError, match="There is no file"):
        ingest.read(tmp_path / "nothing.csv")


def test_a_parsed_file_can_be_interpreted_twice_and_pickled():
    parsed = ingest.parse(b"a,b,label,pair_id\n0.9,0.8,1,x\n0.2,0.4,0,x\n", "f.csv")
    first = ingest.interpret(parsed, Choices(roles=ingest.Roles(score="a", label="label", unit="pair_id")))
    second = ingest.interpret(parsed, Choices(roles=ingest.Roles(score="b", label="label")))
    assert first.columns.score.tolist() == [0.9, 0.2]
    assert second.columns.score.tolist() == [0.8, 0.4]
    copy = pickle.loads(pickle.dumps(first))
    assert copy.columns.unit.tolist() == [0, 0]
    assert copy.columns.line.tolist() == [2, 3]
    assert pickle.loads(pickle.dumps(parsed)).sha256 == parsed.sha256


def test_numbers_are_correctly_rounded():
    values = np.random.default_rng(0).random(2000)
    text = "score,label\n" + "\n".join(f"{float(v)!r},1" for v in values)
    assert np.array_equal(read(text).columns.score, values)
    broken = text + "\n#DIV/0!,0\n"
    assert np.array_equal(read(broken).columns.score, values)
