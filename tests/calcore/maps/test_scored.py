"""Scored tables: nothing changes but the new column, and no cell runs as a formula."""

from __future__ import annotations

import csv
import datetime
import io
from time import perf_counter

import numpy as np
import pandas as pd
import pytest

from calcore.errors import InputError
from calcore.maps import scored_csv, scored_csv_chunks


def _read(data: bytes) -> dict[str, list[str]]:
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def test_formulas_in_cells_and_names_get_an_apostrophe_and_numbers_do_not() -> None:
    cells = [
        "=1+1",
        "+cmd|x",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\uff1d1",
        "plain",
        "-5",
        "+1e3",
        "-.5",
        "",
        None,
    ]
    table = pd.DataFrame({"=name": cells, "number": np.linspace(-1, 1, len(cells))})
    back = _read(scored_csv(table, np.full(len(cells), 0.5)))
    assert back["'=name"] == [
        "'=1+1",
        "'+cmd|x",
        "'-2+3",
        "'@SUM(A1)",
        "'\t=1",
        "'\r=1",
        "'\uff1d1",
        "plain",
        "-5",
        "+1e3",
        "-.5",
        "",
        "",
    ]
    assert [*map(float, back["number"])] == table["number"].tolist()


def test_formulas_hide_in_no_other_type_of_column() -> None:
    table = pd.DataFrame(
        {
            "category": pd.Categorical(["=a", "b"]),
            "mixed": pd.Series(["=a", 3], dtype=object),
            "bytes": [b"=a", b"\xff"],
            "lists": [["=a"], []],
            "half": pd.Series(["=\ud800", "x"], dtype=object),
            "span": pd.to_timedelta([-1, 1], unit="D"),
            "time": [datetime.time(1), None],
        }
    )
    back = _read(scored_csv(table, [0.1, 0.2]))
    for column in ("category", "mixed", "bytes", "half"):
        assert back[column][0].startswith("'="), column
    assert all(len(cells) == 2 for cells in back.values())
    assert back["time"] == ["01:00:00", ""]


def test_scores_read_back_to_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(1000), rng.random(1000) ** 100, [0.0, 1.0, 0.1 + 0.2, 5e-324]])
    table = pd.DataFrame({"id": np.arange(len(scores)), "score": rng.normal(size=len(scores))})
    back = _read(scored_csv(table, scores))
    assert [*map(float, back["calibrated_score"])] == scores.tolist()
    assert [*map(float, back["score"])] == table["score"].tolist()
    assert [*map(int, back["id"])] == table["id"].tolist()


def test_a_taken_name_gets_a_number_and_both_columns_stay() -> None:
    table = pd.DataFrame([[1, 2, 3]], columns=["calibrated_score", "Calibrated_Score_2", "calibrated_score"])
    header = scored_csv(table, [0.5]).splitlines()[0]
    assert header == b'"calibrated_score","Calibrated_Score_2","calibrated_score","calibrated_score_3"'


def test_text_with_commas_quotes_line_breaks_and_other_scripts_survives() -> None:
    cells = ["a,b", 'say "x"', "two\nlines", "né 数"]
    assert _read(scored_csv(pd.DataFrame({"t": cells}), np.zeros(4)))["t"] == cells


@pytest.mark.parametrize(
    "scores, said",
    [([0.5], "1 calibrated scores for 2 rows"), ([0.5, np.nan], "at row 1"), ([1.5, 0.5], "at row 0")],
)
def test_scores_that_do_not_fit_are_refused_before_the_first_byte(scores, said: str) -> None:
    with pytest.raises(InputError, match=said):
        scored_csv_chunks(pd.DataFrame({"a": [1, 2]}), scores)


def test_chunks_are_the_whole_and_an_empty_table_has_a_header() -> None:
    table = pd.DataFrame({"a": range(10), "t": list("abcdefghij")})
    scores = np.linspace(0, 1, 10)
    chunks = list(scored_csv_chunks(table, scores, rows=3))
    assert len(chunks) == 4
    assert b"".join(chunks) == scored_csv(table, scores)
    assert scored_csv(table[:0], []) == b'"a","t","calibrated_score"\n'


@pytest.mark.slow
def test_a_million_rows_take_seconds() -> None:
    n = 1_000_000
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"score": rng.random(n), "label": rng.integers(0, 2, n), "group": rng.choice(["=a", "b"], n)}
    )
    start = perf_counter()
    scored_csv(table, rng.random(n))
    assert perf_counter() - start < 10  # about 1 s on a laptop; a loop over rows takes far longer
