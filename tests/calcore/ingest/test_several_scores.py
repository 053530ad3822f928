"""Several score columns: rival models, and the classes of one model seen one at a time or by the likeliest."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import TOP, Choices, ClassView, interpret, parse, score_columns
from calcore.rivals import compare_scores

CLASSES = (
    "id,p_cat,p_dog,p_not_cat,animal,region\n"
    "1,0.7,0.2,0.1,cat,north\n"
    "2,0.2,0.5,0.3,not_cat,south\n"
    "3,0.1,0.6,0.3,Dog,north\n"
    "4,0.4,0.4,0.2,dog,south\n"
    "5,0.3,0.3,0.4,,south\n"
)
VIEW = ClassView(("p_cat", "p_dog", "p_not_cat"), "animal")


def seen(view, text=CLASSES):
    return interpret(parse(text.encode(), "pets.csv"), Choices(classes=view))


def test_classes_are_found_by_names_and_sums():
    parsed = parse(CLASSES.encode(), "pets.csv")
    found = score_columns(parsed, interpret(parsed).roles)
    assert found.classes == ("p_cat", "p_dog", "p_not_cat")
    rivals = parse(b"a_score,b_score,label\n0.2,0.4,0\n0.9,0.7,1\n", "x.csv")
    found = score_columns(rivals, interpret(rivals).roles)
    assert found.classes == ()
    assert found.others == ("b_score",)


def test_the_likeliest_class_is_right_or_not():
    found = seen(VIEW)
    np.testing.assert_allclose(found.columns.score, [0.7, 0.5, 0.6, 0.4, 0.4])
    # ties go to the first; an empty label stays empty; spellings differ in case
    np.testing.assert_array_equal(found.columns.label, [1, 0, 1, 0, np.nan])
    assert list(found.table["top class"]) == ["cat", "dog", "dog", "cat", "not_cat"]
    assert "top class" in found.columns.groups


def test_a_class_against_the_rest():
    found = seen(ClassView(VIEW.columns, "animal", "p_cat"))
    np.testing.assert_allclose(found.columns.score, [0.7, 0.2, 0.1, 0.4, 0.3])
    np.testing.assert_array_equal(found.columns.label, [1, 0, 0, 0, np.nan])
    # "p_not_cat" ends with "cat" too
    other = seen(ClassView(VIEW.columns, "animal", "p_not_cat"))
    np.testing.assert_array_equal(other.columns.label, [0, 1, 0, 0, np.nan])


def test_checked_classes_are_seen_the_same_way():
    text = CLASSES.replace("animal,region", "animal,truth").replace("cat,north", "cat,dog")
    found = seen(
        ClassView(VIEW.columns, "animal", TOP, "truth"), text.replace("south", "").replace("north", "dog")
    )
    np.testing.assert_array_equal(found.columns.audit, [0, np.nan, 1, np.nan, np.nan])


def test_a_row_without_the_score_of_a_class_is_refused():
    found = seen(VIEW, CLASSES.replace("0.7,0.2,0.1", "0.7,,0.1"))
    assert found.report.rows_kept == 4
    assert "score is missing" in found.report.refused[0].reason


def test_numbered_classes():
    text = "p_0,p_1,p_2,y\n0.5,0.3,0.2,0\n0.1,0.8,0.1,2\n0.2,0.3,0.5,1\n"
    found = seen(ClassView(("p_0", "p_1", "p_2"), "y", "p_2"), text)
    np.testing.assert_array_equal(found.columns.label, [0, 1, 0])


@pytest.mark.parametrize(
    "view, message",
    [
        (ClassView(("p_cat", "p_dog"), "animal"), '"not_cat" cannot be matched'),
        (ClassView(VIEW.columns, "region"), "cannot be matched"),
        (ClassView((*VIEW.columns, "p_cow"), "animal"), 'no column "p_cow"'),
        (ClassView(VIEW.columns, "animal", "region"), "no class column"),
    ],
)
def test_what_cannot_be_a_class_is_refused(view, message):
    with pytest.raises(InputError, match=message):
        seen(view)


# --- rivals


def rivals(n=600, seed=0, hole=0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    label = (rng.random(n) < score).astype(int)
    off = score**2
    lines = [f"{a:.6f},{b:.6f},{y}" for a, b, y in zip(score, off, label, strict=True)]
    for k in range(hole):
        lines[k] = f"{score[k]:.6f},,{label[k]}"
    return "\n".join(["score,challenger_score,label", *lines, ""]).encode()


def test_rivals_are_read_beside_the_score_and_refuse_no_row():
    parsed = parse(rivals(hole=3), "x.csv")
    found = interpret(parsed, Choices(rivals=("challenger_score",)))
    values = found.columns.rivals["challenger_score"]
    assert found.report.rows_kept == 600
    assert np.isnan(values).sum() == 3
    assert any("no usable score on 3 rows" in warning for warning in found.report.warnings)
    np.testing.assert_allclose(values[3:], found.columns.score[3:] ** 2, atol=2e-6)


@pytest.mark.parametrize("name, message", [("nothing", "no column"), ("label", "is the label already")])
def test_what_cannot_be_a_rival_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        interpret(parse(rivals(), "x.csv"), Choices(rivals=(name,)))


def test_a_rival_in_percent_is_read_as_the_score_is():
    text = b"score,b_score,label\n" + b"".join(b"%d,%d,%d\n" % (k, 100 - k, k > 50) for k in range(5, 96, 10))
    with pytest.raises(InputError, match="Rival scores must be on the scale"):
        interpret(parse(text, "x.csv"), Choices(rivals=("b_score",)))
    found = interpret(parse(text, "x.csv"), Choices(rivals=("b_score",), score_scale="percent"))
    np.testing.assert_allclose(found.columns.rivals["b_score"], 1 - found.columns.score)


def test_rivals_are_compared_by_paired_differences():
    from calcore.observation import Clean, Noisy

    columns = ingest.read(rivals(4000), "x.csv", Choices(rivals=("challenger_score",))).columns
    evidence = Clean().evidence(columns.score, columns.label)
    found = compare_scores(evidence, {"score": columns.score, **columns.rivals})
    assert found.winner == "score"
    gap = found.entry("challenger_score").differences["Brier"]
    by_hand = np.mean(
        (columns.rivals["challenger_score"] - columns.label) ** 2 - (columns.score - columns.label) ** 2
    )
    assert gap.value == pytest.approx(by_hand)
    assert gap.lower > 0
    # squaring keeps the order: the rival ranks as well and is only believed too little
    assert found.entry("challenger_score").auc_change == pytest.approx(0, abs=1e-4)
    noisy = compare_scores(
        Noisy().evidence(columns.score, columns.label), {"a": columns.score, **columns.rivals}
    )
    assert noisy.winner is None
    assert noisy.basis.ranked == "no"
    with pytest.raises(InputError, match="at least two"):
        compare_scores(evidence, {"score": columns.score})
