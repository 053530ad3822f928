"""What columns hold: scores, labels, weights, times and groups that are not what they seem."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import Choices, LabelMapping, Roles


def read(text: str, **choices):
    return ingest.read(text.encode(), "f.csv", Choices(**choices))


def question(ingested, kind: str):
    return next(q for q in ingested.report.questions if q.kind == kind)


def column_of(name: str, values) -> str:
    """A file with a score, a label and one more column."""
    return (
        f"score,label,{name}\n"
        + "\n".join(f"0.{i % 8 + 1}5,{i % 2},{v}" for i, v in enumerate(values))
        + "\n"
    )


@pytest.mark.parametrize(
    "broken", ["inf", "-inf", "nan", "#DIV/0!", "NA", "None", "n/a", "0.5.1", "1e999", "1_000"]
)
def test_a_broken_score_does_not_turn_the_column_to_text(broken):
    ingested = read(f"score,label\n0.9,1\n{broken},1\n0.3,0\n")
    assert ingested.columns.score.tolist() == [0.9, 0.3]
    assert ingested.report.refused == (ingest.Refused("score is not a number", 1, (3,)),)
    assert ingested.report.sentence() == "Kept 2 of 3 rows; refused 1: score is not a number (line 3)"


def test_broken_scores_far_down_are_counted_and_the_first_five_lines_shown():
    good = [f"{v:.15f},1" for v in np.random.default_rng(1).random(30_000)]
    rows = [*good, "inf,1", "#DIV/0!,1", "nan,0", ",1", "x,1", "y,1", "z,1"]
    ingested = read("score,label\n" + "\n".join(rows))
    by_reason = {r.reason: r for r in ingested.report.refused}
    assert by_reason["score is missing"].lines == (30_005,)
    assert by_reason["score is not a number"].count == 6
    assert by_reason["score is not a number"].lines == (30_002, 30_003, 30_004, 30_006, 30_007)
    assert ingested.report.rows_kept == 30_000
    assert "lines 30,002, 30,003, 30,004, 30,006, 30,007 and 1 more" in ingested.report.sentence()


def test_nothing_left_is_one_sentence():
    with pytest.raises(InputError, match=r"No row of f\.csv can be used: score is not a number"):
        read("score,label\nx,1\ny,0\n", roles=Roles(score="score", label="label"))


@pytest.mark.parametrize(
    ("scores", "scale", "expected"),
    [
        (["91%", "5 %"], "percent", [0.91, 0.05]),
        (["91", "5"], "percent", [0.91, 0.05]),
        (["91.5", "0.2"], "percent", [0.915, 0.002]),
        (["2.3", "-1.2"], "logit", [1 / (1 + np.exp(-2.3)), 1 / (1 + np.exp(1.2))]),
        (["-800", "800"], "logit", [0, 1]),
    ],
)
def test_scores_on_another_scale_are_rescaled_only_when_said(scores, scale, expected):
    text = "score,label\n" + "\n".join(f"{s},{i % 2}" for i, s in enumerate(scores))
    asked = read(text)
    assert question(asked, "score_scale").default == scale
    assert asked.table["score"].tolist() == [float(s.rstrip("% ")) for s in scores]
    with pytest.raises(InputError, match="scale"):
        _ = asked.columns
    answered = ingest.read(
        text.encode(), "f", ingest.answer(Choices(), question(asked, "score_scale"), scale)
    )
    assert answered.columns.score == pytest.approx(expected, rel=1e-15)
    assert not answered.report.questions


def test_a_stray_score_above_one_is_refused_and_the_rest_kept():
    rows = [f"0.{i:03d},{i % 2}" for i in range(1, 500)]
    ingested = read("score,label\n" + "\n".join([*rows, "1.7,1", "1.0000005,1", "-0.0000005,0"]))
    assert ingested.report.refused == (ingest.Refused("score is outside 0 to 1", 1, (501,)),)
    assert ingested.report.clipped == 2
    assert ingested.columns.score.max() == 1
    assert ingested.columns.score.min() == 0


def test_percent_signs_on_some_rows_only_are_not_mixed_up():
    mostly = read("score,label\n91%,1\n0.5,0\n50%,1\n40%,0\n", score_scale="percent")
    assert mostly.columns.score.tolist() == [0.91, 0.5, 0.4]
    assert mostly.report.refused[0].lines == (3,)
    rarely = read("score,label\n0.91,1\n0.5,0\n50%,1\n0.4,0\n")
    assert rarely.columns.score.tolist() == [0.91, 0.5, 0.4]
    assert rarely.report.refused[0].lines == (4,)


@pytest.mark.parametrize(
    ("positive", "negative", "asks"),
    [
        ("1", "0", False),
        ("1.0", "0.0", False),
        ("True", "False", False),
        ("yes", "No ", True),
        (" YES", "no", True),
        ("good", "bad", True),
        ("good", "poor", True),
        ("spam", "ham", True),
        ("1", "-1", True),
    ],
)
def test_label_encodings_are_mapped_and_shown(positive, negative, asks):
    ingested = read(f"score,label\n0.9,{positive}\n0.2,{negative}\n0.3,\n0.4,{positive}\n")
    assert np.array_equal(ingested.columns.label, [1, 0, np.nan, 1], equal_nan=True)
    assert ingested.report.unlabelled == 1
    assert ingested.report.label_mapping.positive == (positive.strip().casefold().removesuffix(".0"),)
    assert bool(ingested.report.questions) == asks


@pytest.mark.parametrize(
    "values", [("1", "2"), ("a", "b"), ("Genuine", "Forged"), ("0", "1", "2"), ("A", "B", "C")]
)
def test_unknown_label_values_wait_for_the_user(values):
    text = "score,label\n" + "".join(f"0.{i + 2},{v}\n" for i, v in enumerate(values))
    ingested = read(text)
    asked = question(ingested, "positive_label")
    assert asked.options == tuple(v.casefold() for v in sorted(values))
    assert asked.default is None
    with pytest.raises(InputError, match="which one is positive"):
        _ = ingested.columns
    answered = ingest.read(text.encode(), "f", ingest.answer(Choices(), asked, asked.options[-1]))
    assert answered.columns.label.sum() == 1
    assert not np.isnan(answered.columns.label).any()


def test_minus_one_is_asked_about():
    text = "score,label\n0.9,1\n0.2,-1\n0.3,-1\n"
    asked = question(read(text), "positive_label")
    assert asked.default == "negative"
    answered = ingest.read(text.encode(), "f", ingest.answer(Choices(), asked, "unlabelled"))
    assert answered.report.unlabelled == 2
    abstaining = read("score,label\n0.9,1\n0.2,-1\n0.3,0\n")
    assert abstaining.report.unlabelled == 1


def test_a_value_between_labels_is_refused_by_name():
    ingested = read("score,label\n" + "0.3,1\n0.2,0\n" * 10 + "0.5,0.3\n")
    assert ingested.report.refused == (
        ingest.Refused("label 0.3 is neither positive nor negative", 1, (22,)),
    )


def test_a_column_of_names_is_no_label_column():
    text = "score,name\n" + "".join(f"0.{i + 10},n{i}\n" for i in range(50))
    ingested = read(text, roles=Roles(score="score", label="name"))
    with pytest.raises(InputError, match="50 different values"):
        _ = ingested.columns


def test_missing_and_negative_weights_are_refused_and_all_zero_is_an_error():
    ingested = read("score,label,weight\n0.9,1,2\n0.1,0,\n0.2,0,-1\n0.4,1,x\n0.5,1,0\n")
    assert ingested.columns.weight.tolist() == [2, 0]
    assert {r.reason: r.lines for r in ingested.report.refused} == {
        "weight is missing": (3,), "weight is not a number": (5,), "weight is negative": (4,)
    }  # fmt: skip
    with pytest.raises(InputError, match="Every weight"):
        read("score,label,weight\n0.9,1,0\n0.1,0,0\n")


def test_thousands_separators_are_not_misread():
    ingested = read('score,label,weight\n0.9,1,"1,234.5"\n0.1,0,"1,234"\n0.2,0,"12,34"\n')
    assert ingested.columns.weight.tolist() == [1234.5, 1234]
    assert "thousands" in ingested.report.warnings[0]
    german = read("score;label;weight\n0,9;1;1.234,5\n0,1;0;2,5\n")
    assert german.columns.weight.tolist() == [1234.5, 2.5]


@pytest.mark.parametrize("separator", ["/", ".", "-"])
def test_a_day_beyond_twelve_decides_for_the_whole_column(separator):
    dates = ["02/01/2026", "13/01/2026", "03/04/2026"]
    ingested = read(column_of("date", [d.replace("/", separator) for d in dates]))
    assert ingested.columns.time.astype("datetime64[D]").astype(str).tolist() == [
        "2026-01-02", "2026-01-13", "2026-04-03"
    ]  # fmt: skip
    american = read(column_of("date", ["02/01/2026", "01/13/2026 14:30"]))
    assert american.report.date_range == ("2026-01-13 14:30:00", "2026-02-01")


def test_ambiguous_dates_are_asked_once_and_never_guessed():
    text = column_of("date", ["03/01/2026", "02/01/2026", ""])
    ingested = read(text)
    asked = question(ingested, "date_order")
    assert asked.default is None
    assert ingested.columns.time is None
    answered = ingest.read(text.encode(), "f", ingest.answer(Choices(), asked, "month first"))
    assert answered.report.date_range == ("2026-02-01", "2026-03-01")
    assert np.isnat(answered.columns.time[2])


def test_dates_that_contradict_each_other_are_refused_by_reason():
    ingested = read(column_of("date", ["13/01/2026", "25/02/2026", "01/14/2026"]))
    assert ingested.report.refused[0].lines == (4,)
    assert "day first" in ingested.report.refused[0].reason
    assert question(ingested, "date_order").default == "day first"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["1767225600", "1767312000"], "epoch seconds"),
        (["1767225600000", "1767312000000"], "epoch milliseconds"),
        (["1767225600000000", "1767312000000000"], "epoch microseconds"),
        (["20260101", "20260102"], "YYYYMMDD"),
    ],
)
def test_epochs_are_times_and_their_range_is_shown(values, found):
    ingested = read(column_of("timestamp", values))
    assert ingested.report.date_range == ("2026-01-01", "2026-01-02")
    assert found in ingested.report.warnings[0]
    assert str(ingested.table["timestamp"].dtype) == "datetime64[ns, UTC]"


@pytest.mark.parametrize(
    "value", ["2026-01-05", "2026-1-5", "2026/01/05", "5 Jan 2026", "2026-01-05T01:00:00+01:00"]
)
def test_dates_of_one_reading_need_no_question(value):
    ingested = read(column_of("date", [value, value, "soon"]))
    assert ingested.report.date_range == ("2026-01-05", "2026-01-05")
    assert [r.lines for r in ingested.report.refused] == [(4,)]


def test_a_group_column_of_thousands_of_values_is_left_out_until_the_top_is_chosen():
    values = [f"city{i // 2}" for i in range(2000)] + ["Bern"] * 30 + ["other"] * 20 + [""]
    text = column_of("city", values)
    ingested = read(text)
    asked = question(ingested, "too_many_groups")
    assert ingested.roles.groups == ()
    assert "1,002 different values" in asked.sentence
    roles = Roles(score="score", label="label", groups=("city",))
    assert list(read(text, roles=roles).columns.groups) == []
    top = read(text, roles=roles, top_groups=2).columns.groups["city"]
    assert top.value_counts().to_dict() == {"(other)": 2000, "Bern": 30, "other": 20, "(missing)": 1}


def test_sources_confidences_and_units_are_read():
    ingested = read(
        "score,source,confidence,pair_id,label\n0.9,positive,0.8,a,1\n0.2,unlabelled,,a,\n0.3,,0.1,b,\n0.4,positive,2,b,1\n"
        "0.5,unlabelled,0.5,,\n0.6,unlabelled,0.5,,\n",
        roles=Roles("score", "label", source="source", confidence="confidence", unit="pair_id"),
    )
    assert ingested.columns.source.tolist() == ["positive", "unlabelled", "unlabelled", "unlabelled"]
    assert np.array_equal(ingested.columns.confidence, [0.8, np.nan, 0.5, 0.5], equal_nan=True)
    unit = ingested.columns.unit
    assert unit[0] == unit[1]
    assert len(set(unit.tolist())) == 3
    assert ingested.report.sentence().startswith("Kept 4 of 6 rows; refused 2: ")


def test_wrong_roles_are_a_sentence():
    with pytest.raises(InputError, match=r'no column "nope"'):
        read("score,label\n0.9,1\n", roles=Roles(score="nope"))
    with pytest.raises(InputError, match="both the score and the label"):
        read("score,label\n0.9,1\n", roles=Roles(score="score", label="score"))


def test_a_file_without_scores_is_shown_and_asks_for_them():
    ingested = read("city,label\nBern,1\nBasel,0\nBern,0\n")
    assert ingested.report.rows_kept == 3
    with pytest.raises(InputError, match="No column looks like a score"):
        _ = ingested.columns


def test_every_row_read_is_kept_or_counted():
    rng = np.random.default_rng(3)
    cells = ["0.5", "", "x", "2", "nan", "0.25", "-1", "1e-3"]
    labels = ["1", "0", "", "maybe"]
    rows = [f"{rng.choice(cells)},{rng.choice(labels, p=[0.45, 0.45, 0.05, 0.05])}" for _ in range(500)]
    rows[10:400:40] = ["0.5"] * 10
    ingested = read("score,label\n" + "\n".join(rows), score_scale="probability")
    report = ingested.report
    assert report.rows_read == 500
    assert report.rows_kept + sum(r.count for r in report.refused) == 500
    assert len(ingested.table) == report.rows_kept == len(ingested.columns.score)
    for row, line in enumerate(ingested.columns.line[:50]):
        assert float(rows[line - 2].split(",")[0]) == ingested.columns.score[row]


@pytest.mark.parametrize(
    "never", ["9999-12-31", "9999-12-31 00:00:00", "31.12.9999", "0001-01-01", "2262-04-12"]
)
def test_a_date_beyond_the_calendar_is_no_date_instead_of_another_one(never):
    usual = "28.02.2024" if never.startswith("31") else "2024-02-28"
    found = read(column_of("time", [usual] * 5 + [never]))
    assert (found.columns.time == np.datetime64("2024-02-28")).all()
    assert [(one.reason.split(" with")[0], one.lines) for one in found.report.refused] == [
        ("time is not a date", (7,))
    ]


def test_days_written_as_numbers_beyond_the_calendar_are_none():
    found = read(column_of("time", ["20240228"] * 5 + ["99991231"]))
    assert (found.columns.time == np.datetime64("2024-02-28")).all()
    assert [one.count for one in found.report.refused] == [1]


LABELS = b"score,defaulted\n" + b"".join(
    b"0.%d,%s\n" % (i % 9 + 1, [b"yes", b"no"][i % 2]) for i in range(40)
)


@pytest.mark.parametrize(
    ("more", "mapping", "sentence"),
    [
        (
            b"0.5,maybe\n",
            (("yes",), ("no", "maybe")),
            '"defaulted": maybe (1 row) counts as negative, beside no.',
        ),
        (
            b"0.5,maybe\n0.4,maybe\n0.5,later\n",
            (("yes",), ("maybe", "no", "later")),
            '"defaulted": maybe (2 rows) and later (1 row) count as negative, beside no.',
        ),
        (
            b"0.5,maybe\n",
            (("yes", "maybe"), ("no",)),
            '"defaulted": maybe (1 row) counts as positive, beside yes.',
        ),
        (b"0.5,0\n0.5,N\n", (("yes",), ("no", "0", "n")), None),
        (b"", (("yes",), ("no", "maybe")), None),
    ],
)
def test_values_that_count_as_one_are_named_unless_they_are_usual_spellings(more, mapping, sentence):
    found = ingest.read(LABELS + more, "loans.csv", Choices(label_mapping=LabelMapping(*mapping)))
    assert found.report.warnings == (() if sentence is None else (sentence,))
