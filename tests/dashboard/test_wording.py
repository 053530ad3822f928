"""Sentences about lists that are filled in by hand."""

from __future__ import annotations

from dashboard import wording as w


def test_words_of_lists_that_come_back():
    assert "All 40 rows have to be checked" in w.to_check(40, 40, 0.05)
    assert "Check 292 of 1,200 rows" in w.to_check(292, 1200, 0.05)
    assert "too small" in w.to_check_for_verdict(800, 700, 0.05)
    assert w.checked(200, 200, True).startswith("All 200 rows")
    assert w.checked(200, 180, False).startswith("180 of 200 rows filled in: if the gaps are not random")
    assert "a random sample too" in w.checked(200, 180, True)
    assert w.spellings(("1",), ("0",)) == ""
    assert w.spellings(("bad",), ()) == "Read bad as positive."
    assert w.corrections(10, 10, 1).startswith("10 corrections applied; 1 changes a label.")
    assert "3 of 10 rows left open" in w.corrections(10, 7, 2)
    assert "still noisy" in w.after_corrections("noisy", False)
    assert "without them" in w.after_corrections("noisy", True)
    assert "Data page" in w.after_corrections("clean", False)
