"""What was named once for a stream goes from run to run."""

from __future__ import annotations

import json

from calcore.cli.file_options import FileOptions
from calcore.cli.remembered import TimeOptions, fitting, kept_with, said, sound
from calcore.ingest import parse

FILE = parse(b"score,y,when,zone\n0.2,0,2025-01-01,N\n0.3,1,2025-01-02,S\n", "a.csv").columns
NOTHING = dict.fromkeys(FileOptions.__dataclass_fields__) | {
    "group": (),
    "no_groups": False,
    "source_value": (),
}


def options(**given):
    return FileOptions(**NOTHING | given)


def test_nothing_said_is_nothing_kept():
    assert said(options(), TimeOptions()) == {}


def test_what_is_kept_survives_json_and_names_the_same_columns():
    kept = said(options(label="y", group=("zone",), positive="1"), TimeOptions("when", True))
    kept = sound(json.loads(json.dumps(kept)))
    found, when, notes = fitting(kept, FILE, options(), TimeOptions())
    assert (found.label, found.group, found.positive) == ("y", ("zone",), "1")
    assert (when, notes) == (TimeOptions("when", True), [])


def test_a_column_that_is_named_in_another_role_is_forgotten_in_the_first():
    assert kept_with({"label": "y", "positive": "1"}, {"score": "y"}) == {"positive": "1", "score": "y"}
    assert kept_with({"group": ["zone", "y"]}, {"label": "y"}) == {"group": ["zone"], "label": "y"}
    assert kept_with({"group": ["zone"]}, {"no_groups": True}) == {"no_groups": True}


def test_answers_about_a_column_go_with_it():
    assert kept_with({"time": "a", "day_first": True}, {"time": "b"}) == {"time": "b"}
    assert kept_with({"time": "a", "day_first": True}, {"time": "a"}) == {"time": "a", "day_first": True}


def test_a_damaged_document_is_read_as_far_as_it_is_sound():
    assert sound(None) == sound([1]) == {}
    assert sound({"label": 3, "time": "when", "day_first": "yes", "group": [1], "path": "/etc"}) == {
        "time": "when"
    }


def test_columns_that_are_not_there_are_said_and_left_out():
    found, when, notes = fitting({"label": "gone", "time": "later"}, FILE, options(), TimeOptions())
    assert (found.label, when.column) == (None, None)
    assert notes == [
        '"gone", the label of earlier files, is not in this file.',
        '"later", the time of earlier files, is not in this file.',
    ]
