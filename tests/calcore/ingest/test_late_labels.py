"""Labels of another file, joined by id."""

from __future__ import annotations

import io
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import join_labels, parse_with_text_ids


def parsed(text, name, on=None):
    data = text if isinstance(text, bytes) else text.encode()
    found = ingest.parse(data, name)
    return found if on is None else parse_with_text_ids(found, data, on)


def join(scores, labels, on=None, labels_on=None, **more):
    return join_labels(
        parsed(scores, "scores.csv", on), parsed(labels, "labels.csv", labels_on or on), on, labels_on, **more
    )


def labels_of(joined):
    return ingest.interpret(joined.parsed).columns.label.tolist()


def same(found, expected):
    return np.array_equal(found, expected, equal_nan=True)


NONE = np.nan
SCORES = "id,score,region\na1,0.9,n\na2,0.2,s\na3,0.7,n\n"


def test_labels_find_their_rows_whatever_the_order_and_the_layout():
    joined = join(SCORES, "label;seen by;id\n0;x;a2\n1;y;a1\n")
    assert (joined.on, joined.labels_on, joined.column) == ("id", "id", "label")
    assert same(labels_of(joined), [1, 0, NONE])
    assert joined.account.sentence() == 'labels.csv gave 2 of 3 rows a label, by "id"; 1 row has none'
    assert joined.account.details() == ()


def test_ids_are_trimmed_text_and_nothing_else():
    scores = 'id,score\n" a 1",0.9\nB2 ,0.2\n😀x,0.7\n7,0.6\né,0.5\n"q,""z",0.4\n'
    labels = 'id,label\na 1,1\nb2,1\n😀x,0\n007,1\né,1\n"q,""z",0\n'
    joined = join(scores, labels, "id")
    assert same(labels_of(joined), [1, NONE, 0, NONE, 1, 0])
    assert joined.account.no_score.count == 2
    assert "lines 3 and 5" in joined.account.details()[0]
    assert 'Ids are compared as they are written: "b2" is not "B2".' in joined.account.details()


@pytest.mark.parametrize(("one", "other"), [("7", "7.0"), ("7", "007"), ("1.5", "1.50"), ("1", "01")])
def test_numbers_written_differently_do_not_match(one, other):
    scores = f"case,score\n{one},0.9\n2.25,0.2\n"
    labels = f"case,label\n{other},1\n2.25,0\n"
    joined = join(scores, labels, "case")
    assert same(labels_of(joined), [NONE, 0])
    assert joined.account.alike == (other, one) or joined.account.alike is None


def test_when_nothing_matches_the_first_ids_are_shown():
    with pytest.raises(InputError) as error:
        join("id,score\n7,0.9\n8,0.2\n9,0.3\n10,0.3\n", "id,label\n007,1\n008,0\n", "id")
    assert str(error.value) == (
        'No id of labels.csv is in scores.csv: the first ids are "007" and "008" there, and "7", "8" and "9" in the '
        'scores; "007" and "7" are not the same text: write the ids alike.'
    )
    with pytest.raises(InputError, match="choose the columns that hold the same ids"):
        join(SCORES, "id,label\nzz,1\n")
    with pytest.raises(InputError, match="the first ids are none there"):
        join(SCORES, "id,label\n,1\n,0\n")


def test_repeated_ids():
    scores = "id,score\na,0.9\na,0.8\nb,0.3\n,0.4\n"
    joined = join(scores, "id,label\na,1\na,1.0\nb,\nb,0\n,1\nc,?\nc, yes\n", label="label")
    assert joined.parsed.rows == 4
    assert joined.parsed.columns["label"].categories.values == ("1", "0", "yes")
    account = joined.account
    assert (account.labelled, account.repeated_ids, account.repeated_rows, account.again) == (3, 1, 2, 1)
    assert (account.without_id, account.blank_id.where, account.no_score.where) == (1, "line 6", "line 7")
    assert "1 id stands on several rows of scores.csv: all 2 got the label." in account.details()


def test_two_labels_for_one_id_are_refused_with_their_lines():
    with pytest.raises(InputError) as error:
        join(SCORES, "id,label\na1,1\na2,0\na1,\na1,0\na2,1\na3,1\n")
    assert str(error.value) == (
        'labels.csv has two labels for the id "a1": 1 (line 2) and 0 (line 5), and so it is with 1 more; keep one '
        "label for each id."
    )


def test_labels_that_are_there_already_stay():
    scores = "id,score,label\na,0.9,yes\nb,0.2,\nc,0.7,no\nd,0.5,n/a\n"
    joined = join(scores, "id,outcome\na,0\nb,1\nc,0\nd,0\n")
    assert joined.column == "label"
    assert joined.parsed.columns["label"].as_text().tolist() == ["yes", "yes", "no", "no"]
    account = joined.account
    assert (account.labelled, account.kept, account.against.count) == (2, 2, 1)
    assert account.details()[0] == (
        "1 row of scores.csv had another label than labels.csv gives, and kept it (line 2)."
    )


def test_columns_that_cannot_be_guessed_have_to_be_named():
    labels = "case,label\na1,1\n"
    with pytest.raises(InputError, match="do not share one id column"):
        join(SCORES, labels)
    with pytest.raises(
        InputError, match=r'labels\.csv has no column "id"; name its id column: it has case, label'
    ):
        join_labels(parsed(SCORES, "scores.csv"), parsed(labels, "labels.csv"), "id")
    joined = join_labels(parsed(SCORES, "scores.csv"), parsed(labels, "labels.csv"), "id", "case")
    assert same(labels_of(joined), [1, NONE, NONE])
    assert 'by "id" and "case"' in joined.account.sentence()
    with pytest.raises(InputError, match=r'no column "nope" in labels\.csv'):
        join_labels(parsed(SCORES, "scores.csv"), parsed(labels, "labels.csv"), "id", "nope")
    with pytest.raises(InputError, match="no column that is plainly the label"):
        join(SCORES, "id,u,v\na1,x,k\na2,x,l\n")


def test_the_fingerprint_depends_on_both_files_and_on_how_they_were_joined():
    first = join(SCORES, "id,label\na1,1\na2,0\n").parsed.sha256
    assert first == join(SCORES, "id,label\na1,1\na2,0\n").parsed.sha256
    others = {
        join(SCORES, "id,label\na1,0\na2,0\n").parsed.sha256,
        join(SCORES.replace("0.7", "0.6"), "id,label\na1,1\na2,0\n").parsed.sha256,
        join(SCORES, "id,label,y\na1,1,0\na2,0,0\n", label="y").parsed.sha256,
        ingest.parse(SCORES.encode()).sha256,
    }
    assert first not in others
    assert len(others) == 4
    assert len(first) == 64


def test_typed_files():
    def parquet(columns):
        out = io.BytesIO()
        pq.write_table(pa.table(columns), out)
        return out.getvalue()

    scores = parquet({"id": pa.array([1, 2, 3], pa.int64()), "score": [0.1, 0.2, 0.3]})
    labels = parquet({"id": pa.array([3.0, 1.0, None]), "label": [True, False, True]})
    joined = join_labels(parsed(scores, "s.parquet"), parsed(labels, "l.parquet"))
    assert same(labels_of(joined), [0, NONE, 1])
    assert joined.account.blank_id.where == "row 3"
    assert (
        'Ids of l.parquet are decimals there, and whole ones were read without ".0".'
        in joined.account.details()
    )
    text = join_labels(parsed(scores, "s.parquet"), parsed("id,label\n1,1\n2,0\n", "l.csv", "id"))
    assert same(labels_of(text), [1, 0, NONE])


def test_refused_rows_and_quoted_lines_keep_their_line_numbers():
    labels = 'id,label,note\n"a\n1",1,x\nbroken\nzz,1,"two\nlines"\nyy,0,z\n'
    joined = join('id,score\n"a\n1",0.4\nb,0.2\n', labels, label="label")
    assert joined.account.labelled == 1
    assert joined.account.no_score.where == "lines 5 and 7"
    assert joined.account.refused == 1


def test_ties_and_every_meaning_work_on_joined_labels():
    joined = join(SCORES, "id,result\na1,1\na2,0\na3,0.5\n")
    assert ingest.interpret(joined.parsed).report.questions[0].kind == "tied_label"


@pytest.mark.slow
def test_a_million_labels_for_a_million_scores(capsys):
    n = 1_000_000
    rng = np.random.default_rng(0)
    ids = np.char.add("c", rng.permutation(n).astype(str))
    order = rng.permutation(n)
    label = rng.integers(0, 2, n)
    scores = pa.table({"id": ids, "score": rng.random(n)})
    labels = pa.table({"id": ids[order], "label": label[order]})
    files = []
    for table, name in ((scores, "scores.csv"), (labels, "labels.csv")):
        out = io.BytesIO()
        pa.csv.write_csv(table, out)
        files.append(parsed(out.getvalue(), name))
    start = time.perf_counter()
    joined = join_labels(*files)
    took = time.perf_counter() - start
    with capsys.disabled():
        print(f"\n1,000,000 scores x 1,000,000 labels joined in {took:.2f} s")
    assert joined.account.labelled == n
    np.testing.assert_array_equal(ingest.interpret(joined.parsed).columns.label, label)
