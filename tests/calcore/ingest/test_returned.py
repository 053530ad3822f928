"""Lists that come back: read whatever a spreadsheet made of them, refused in one sentence where they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.errors import InputError
from calcore.ingest import LabelMapping, positions, read_returned

PLAIN = "line,list,audit_label\n2,sample-abc-3,1\n7,sample-abc-3,0\n5,sample-abc-3,\n"


def read(text, mapping=None, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_returned(data, "list.csv", place="line", labels="audit_label", mapping=mapping, **options)


def test_a_filled_list():
    found = read(PLAIN)
    assert found.line.tolist() == [2, 7, 5]
    np.testing.assert_array_equal(found.label, [1, 0, np.nan])
    assert (found.list_name, found.filled) == ("sample-abc-3", 2)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffline;list;audit_label\r\n2;sample-abc-3;1\r\n7;sample-abc-3;0\r\n5;sample-abc-3;\r\n",
        "note;Audit_Label;x;LIST; Line \nseen;0;0,5;sample-abc-3;7\n;1;0,25;sample-abc-3;2\nlater;;1,5;sample-abc-3;5\n",
        "line\tlist\taudit_label\n2.0\tsample-abc-3\tyes\n7.0\tsample-abc-3\tNo \n5.0\tsample-abc-3\t?\n",
        PLAIN + ",,\n,,\n",
        PLAIN.encode("utf-16"),
    ],
)
def test_what_spreadsheets_do_changes_nothing(text):
    found = read(text)
    assert dict(zip(found.line.tolist(), np.nan_to_num(found.label, nan=-1), strict=True)) == {
        2: 1,
        7: 0,
        5: -1,
    }


def test_thousands_in_line_numbers():
    found = read("line;list;audit_label;p\n1.234;l-a;1;0,5\n12;l-a;0;0,25\n")
    assert found.line.tolist() == [1234, 12]


def test_the_files_own_words_come_first():
    """In this file the bad ones are the positives; a reader that guessed would turn every label round."""
    own = LabelMapping(("bad",), ("good",))
    text = "line,list,audit_label\n2,l-a,bad\n3,l-a,Good\n4,l-a,n/a\n"
    found = read(text, own)
    np.testing.assert_array_equal(found.label, [1, 0, np.nan])
    assert (found.positive, found.negative) == (("bad",), ("good",))
    with pytest.raises(InputError, match="cannot be read as labels; write 1"):
        read(text)
    np.testing.assert_array_equal(read(PLAIN, own).label, [1, 0, np.nan])


@pytest.mark.parametrize(
    "text, message",
    [
        (PLAIN.replace("line,", "row,"), 'has no column "line"'),
        (PLAIN.replace("list,", "group,"), 'has no column "list"'),
        (PLAIN.replace("audit_label", "label"), 'has no column "audit_label"'),
        (PLAIN.replace("\n7,", "\n2,"), r"has line 2 more than once \(on lines 2 and 3\)"),
        (PLAIN.replace("\n7,", "\nseven,"), r'"line" is no line number on line 3'),
        (PLAIN.replace("\n7,", "\n7.5,"), r'"line" is no line number on line 3'),
        (PLAIN.replace("\n7,", "\n,"), r'"line" is no line number on line 3'),
        (PLAIN.replace("\n7,", "\n-7,"), r'"line" is no line number on line 3'),
        (PLAIN.replace("7,sample-abc-3", "7,"), r'"list" is empty on line 3'),
        (PLAIN.replace("7,sample-abc-3", "7,sample-abc-9"), "mixes rows of 2 lists"),
        (PLAIN.replace(",1\n", ",maybe\n"), r'"audit_label" holds'),
        (PLAIN.replace(",1\n", ",2\n"), r'"audit_label" holds'),
        (PLAIN.replace(",0\n", ",-1\n"), r'"audit_label" holds'),
        (PLAIN + "9,sample-abc-3,1,extra\n", "repair these rows first"),
        ("line,list,audit_label\n", "no rows below it"),
        ("line,list,audit_label\n,,\n", "holds no row of a list"),
        (b"PK\x03\x04" + bytes(100), "list.csv"),
        ("", "empty"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(text, message):
    with pytest.raises(InputError, match=message) as found:
        read(text)
    assert "\n" not in str(found.value)


def test_a_single_strange_label_among_many_is_named_with_its_line():
    rows = "".join(f"{i},l-a,{i % 2}\n" for i in range(2, 40))
    with pytest.raises(InputError, match=r'"dunno" in "audit_label" is no label \(line 40\)'):
        read(f"line,list,audit_label\n{rows}99,l-a,dunno\n")


def test_rows_are_found_by_their_line_in_any_order():
    found = read(PLAIN)
    lines = np.array([9, 7, 2, 5])
    np.testing.assert_array_equal(positions(found, lines, "here"), [2, 1, 3])
    with pytest.raises(InputError, match="speaks of line 7, not here"):
        positions(found, np.array([2, 5]), "here")
    with pytest.raises(InputError, match="speaks of rows 2, 7 and 5, not here"):
        positions(found, np.array([1]), "here", "row")
