"""Label columns with a third value between 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import ingest
from calcore.ingest import Choices, FileFormat, LabelMapping, Question, answer
from calcore.verdicts import data_line

ROWS = "0.9,1\n0.2,0\n0.6,0.5\n0.4,\n0.7,0.5\n"


def read(text, **choices):
    return ingest.read(text.encode(), "games.csv", Choices(**choices))


def test_ties_are_left_out_and_asked_about():
    found = read("score,label\n" + ROWS)
    assert found.report.questions == (
        Question(
            "tied_label",
            "label",
            '"label" holds 2 rows with 0.5 between 0 and 1: what does a tie count as?',
            ("leave out", "half", "positive", "negative"),
            "leave out",
        ),
    )
    assert np.array_equal(found.columns.label, [1, 0, np.nan, np.nan, np.nan], equal_nan=True)
    assert data_line(found.report).replace("\u00a0", " ").endswith(" 2 rows with a tie (0.5) are left out.")
    assert found.report.unlabelled == 3


@pytest.mark.parametrize(
    ("option", "label", "words"),
    [
        ("half", [1, 0, 0.5, np.nan, 0.5], "counted as half a positive and half a negative"),
        ("positive", [1, 0, 1, np.nan, 1], "counted as positive"),
        ("negative", [1, 0, 0, np.nan, 0], "counted as negative"),
        ("leave out", [1, 0, np.nan, np.nan, np.nan], "left out"),
    ],
)
def test_every_answer_is_taken_and_can_be_changed(option, label, words):
    text = "score,label\n" + ROWS
    asked = read(text).report.questions[0]
    choices = answer(Choices(), asked, option)
    found = ingest.read(text.encode(), "games.csv", choices)
    assert np.array_equal(found.columns.label, label, equal_nan=True)
    assert f"2 rows with a tie (0.5) are {words}." in data_line(found.report).replace("\u00a0", " ")
    again = found.report.questions[0]
    assert (again.kind, again.default) == ("tied_label", option)
    back = ingest.read(text.encode(), "games.csv", answer(choices, again, "leave out"))
    assert np.isnan(back.columns.label[2])


@pytest.mark.parametrize("tie", ["0.5", ".5", "0.50", " 0.5 ", "00.5"])
def test_spellings_of_a_tie(tie):
    found = read(f"score;label\n0.9;1\n0.2;0\n0.6;{tie}\n", format=FileFormat(separator=";", decimal="."))
    assert found.report.tied == 1


def test_a_decimal_comma():
    found = read("score;label\n0,91;1\n0,25;0\n0,66;0,5\n")
    assert (found.report.format.decimal, found.report.tied) == (",", 1)


def test_values_that_are_no_ties_stay_a_question_of_another_kind():
    assert [q.kind for q in read("score,label\n0.9,1\n0.2,0.5\n").report.questions] == ["positive_label"]
    assert read("score,label\n0.9,1\n0.2,0\n").report.tied == 0
    mapped = read("score,label\n" + ROWS, label_mapping=LabelMapping(("1", "0.5"), ("0",)))
    assert mapped.columns.label.tolist()[2] == 1.0


def test_other_odd_values_are_still_refused_beside_ties():
    found = read("score,label\n" + "0.9,1\n0.2,0\n" * 10 + "0.6,0.5\n0.4,0.37\n")
    assert [(part.reason, part.count) for part in found.report.refused] == [
        ("label 0.37 is neither positive nor negative", 1)
    ]
    assert found.report.tied == 1


def test_an_audit_column_has_its_own_answer():
    text = "score,label,audit_label\n0.9,1,\n0.2,0,0\n0.6,1,0.5\n0.4,0,1\n"
    found = read(text)
    asked = next(q for q in found.report.questions if q.kind == "tied_label")
    assert asked.column == "audit_label"
    half = ingest.read(text.encode(), "f", answer(Choices(), asked, "half", audit=True))
    assert half.columns.audit[2] == 0.5
