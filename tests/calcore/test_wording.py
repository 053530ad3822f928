"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from calcore import wording as w
from calcore.errors import InputError
from calcore.subgroups import Subgroup


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0421, "0.042"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (0.0004, "<0.001"),
        (-0.0004, "> -0.001"),
        (math.nan, "n/a"),
    ],
)
def test_errors_have_three_decimals_and_never_minus_zero(value, text):
    assert w.error(value) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (0.914, "91 %"),
        (0.05, "5 %"),
        (0.0512, "5.1 %"),
        (0.0999, "10 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.0002, "<0.1 %"),
    ],
)
def test_rates_are_whole_from_ten_percent(value, text):
    assert w.rate(value) == text.replace(" ", "\u00a0")


def test_a_rate_of_minus_nothing_is_not_shown_as_minus_zero():
    assert w.rate(-0.0) == "0\u00a0%"


def test_points_are_unsigned_and_singular_for_one():
    assert w.points(-0.12) == "12\u00a0points"
    assert w.points(0.01) == "1\u00a0point"
    assert w.points(0.014) == "1.4\u00a0points"


def test_an_interval_of_rates_keeps_one_percent_sign():
    assert w.rates(0.8, 0.88) == "80–88\u00a0%"


def test_long_lists_say_how_many_more():
    assert w.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert w.listed(["a", "b"]) == "a and b"
    assert w.listed([]) == ""


def test_an_estimate_beyond_what_is_possible_is_not_given_as_a_fact():
    assert w.estimated(1.36) == "over 100\u00a0%"
    assert w.estimated(-0.2) == "below 0\u00a0%"
    assert w.estimated(0.42) == "42\u00a0%"


def test_a_long_text_of_the_users_is_cut_and_the_sentence_stays():
    long = "x" * 150_000
    for sentence in (f'"{long}" is no label.', f"label {long} is no label."):
        found = w.readable(sentence)
        assert len(found) < 120
        assert "…" in found
        assert found.endswith("is no label.")
    assert w.short("two\nlines") == "two lines"
    assert w.readable("A sentence. " * 100) == "A sentence. " * 100
    assert str(InputError(f'"{long}" is no label.')) == w.readable(f'"{long}" is no label.')


def test_long_levels_of_subgroups_stay_distinct():
    one, other = Subgroup.equals("note", "x" * 1000), Subgroup.equals("note", "x" * 1000 + "y")
    assert one.name != other.name
    assert len(one.name) < 120
