"""Settings of one file on another: what fits is used, what does not is named, and nothing breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.ingest import Choices, ClassView, LabelMapping, Roles, interpret, parse
from calcore.meanings import MEANINGS
from calcore.session import Looked, fit_choices, fit_looked, fit_settings
from calcore.settings import Settings

WEEK = b"score,label,region,other,day\n0.9,1,north,0.8,13/01/2026\n0.2,0,south,0.3,02/01/2026\n0.6,1,north,0.5,03/01/2026\n"
NAMES = ["score", "label", "region", "other", "day", "gone"]
column = st.none() | st.sampled_from(NAMES)


def fitted(choices, roles=None, data=WEEK):
    parsed = parse(data, "week.csv")
    found, said = fit_choices(parsed, choices, roles or interpret(parsed).roles)
    return interpret(parsed, found), found, said


def test_the_same_layout_is_read_as_before():
    choices = Choices(label_mapping=LabelMapping(("0",), ("1",)), day_first=True, rivals=("other",))
    roles = Roles(score="score", label="label", time="day", groups=("region",))
    read, found, said = fitted(choices, roles)
    assert said == []
    assert read.roles == roles
    assert read.columns.label.tolist() == [0, 1, 0]
    assert list(read.columns.rivals) == ["other"]
    assert found.day_first


def test_columns_that_are_gone_are_named_with_what_is_taken():
    roles = Roles(score="model_score", label="outcome", weight="w", groups=("region", "age"))
    read, _, said = fitted(Choices(), roles)
    assert read.roles == Roles(score="score", label="label", groups=("region",))
    assert said == [
        'score: there is no column "model_score"; "score" is taken for it.',
        'label: there is no column "outcome"; "label" is taken for it.',
        'weight: there is no column "w"; no column is taken for it.',
        'subgroups: there is no column "age"; it is left out.',
    ]


def test_percentages_are_not_divided_where_scores_are_probabilities():
    read, _, said = fitted(Choices(score_scale="percent"))
    assert read.columns.score.tolist() == [0.9, 0.2, 0.6]
    assert "within 0 and 1" in said[0]


def test_percentages_stay_percentages():
    read, _, said = fitted(Choices(score_scale="percent"), data=WEEK.replace(b"0.9,1", b"90,1"))
    assert read.columns.score.tolist() == [0.9, 0.002, 0.006]
    assert said == []


def test_a_choice_that_breaks_the_reading_is_left_out_by_itself():
    choices = Choices(
        rivals=("gone",), day_first=True, classes=None, label_mapping=LabelMapping(("1",), ("0",))
    )
    read, found, said = fitted(choices)
    assert len(said) == 1
    assert said[0].startswith('rival scores: There is no column "gone"')
    assert found.label_mapping == choices.label_mapping
    assert read.columns.rivals == {}


def test_classes_that_are_gone_give_way_to_the_plain_reading():
    read, _, said = fitted(Choices(classes=ClassView(("a", "b"), "label")))
    assert read.roles.score == "score"
    assert said[0].startswith("classes of one model")


@pytest.mark.slow
@given(
    st.builds(
        Choices,
        roles=st.none() | st.builds(Roles, *[column] * 8, st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)),
        score_scale=st.sampled_from([None, "probability", "percent", "logit"]),
        label_mapping=st.none() | st.builds(LabelMapping, st.just(("1",)), st.sampled_from([("0",), (), ("1",)])),
        audit_mapping=st.none() | st.just(LabelMapping(("x",), ())),
        day_first=st.none() | st.booleans(),
        top_groups=st.none() | st.integers(1, 3),
        classes=st.none() | st.builds(ClassView, st.just(("score", "other")), st.sampled_from(NAMES), st.sampled_from(["top", *NAMES]), column),
        rivals=st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
    ),
    st.builds(Roles, *[column] * 8, st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple)),
    st.builds(
        Settings, labels=st.sampled_from(list(MEANINGS)), second_score=column, audit_random=st.booleans(),
        source_values=st.lists(st.sampled_from(["north", "south", "x"]), max_size=3).map(tuple),
        measure_on=st.sampled_from(["labels", "audit"]),
    ),
)  # fmt: skip
@settings(deadline=None, max_examples=200)
def test_whatever_a_session_says_the_file_is_read_or_refused_in_a_sentence(choices, roles, wanted):
    read, _, said = fitted(choices, roles)
    found, more = fit_settings(read, wanted, False)
    assert all("\n" not in one for one in said + more)
    assert found.measure_on == "labels" or (found.audit_random and read.roles.audit is not None)
    assert found.second_score in (None, *NAMES[:5])


def test_calibrators_and_subgroups_that_do_not_exist_are_named():
    seen = Looked(calibrators=("Identity", "LWCal"), compared=("LWCal", "BBQ"), group="region = east", ranked_on="MC", exported="LWCal")  # fmt: skip
    found, said = fit_looked(seen, ["Identity", "Platt"], [])
    assert found == Looked(compared=())
    assert len(said) == 5
    assert fit_looked(Looked(), ["Identity"], []) == (Looked(), [])


def test_values_of_the_source_column_that_are_gone_are_asked_again():
    read, _, _ = fitted(Choices(), Roles(score="score", source="region"))
    kept, said = fit_settings(read, Settings(labels="uu", source_values=("south", "north")), False)
    assert (kept.source_values, said) == (("south", "north"), [])
    dropped, said = fit_settings(read, Settings(labels="uu", source_values=("A", "B")), False)
    assert dropped.source_values == ()
    assert "A, B" in said[0]


def test_batches_that_the_file_cannot_have_are_named():
    seen = Looked(batch_by="month")
    assert fit_looked(seen, [], [], ["region"], True)[0].batch_by == "month"
    found, said = fit_looked(replace(seen, calibrators=()), [], [], ["region"], False)
    assert found.batch_by is None
    assert said == ["batches by month: no time column is chosen; the suggested batches are used."]
    seen = Looked(calibrators=(), batch_by="column", batch_column="wave")
    assert fit_looked(seen, [], [], ["wave"]) == (seen, [])
    found, said = fit_looked(seen, [], [], ["region"])
    assert (found.batch_by, found.batch_column) == (None, None)
    assert 'there is no column "wave"' in said[0]
