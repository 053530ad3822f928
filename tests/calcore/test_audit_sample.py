"""The sample to check: as many rows as the precision needs, each as likely as any other, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.audit import audit
from calcore.audit_sample import draw, fingerprint, rows_for_average_gap, sample_size, seed_of
from calcore.errors import InputError
from calcore.observation import Clean
from calcore.ranking import FEWEST


@pytest.mark.parametrize(
    "precision, population, rate, expected",
    [
        (0.05, 10**9, 0.5, 385),  # 1.96^2 / 4 / .05^2 = 384.1
        (0.02, 10**9, 0.5, 2401),
        (0.05, 2000, 0.5, 323),  # 384.1 / (1 + 383.1 / 2000) = 322.4
        (0.05, 10**9, 0.1, 139),
        (0.2, 10**9, 0.5, FEWEST),  # 25 would not be ranked on
        (0.005, 400, 0.5, 396),  # 38,415 without an end to the rows
        (0.05, 12, 0.5, 12),
    ],
)
def test_rows_for_a_precision(precision, population, rate, expected):
    assert sample_size(precision, population, rate) == expected


def test_the_size_gives_the_precision():
    """Rates of samples of the computed size lie within the precision 95 times in a hundred."""
    rng = np.random.default_rng(0)
    label = rng.random(3000) < 0.5
    size = sample_size(0.05, label.size)
    errors = [label[draw(label.size, size, seed)].mean() - label.mean() for seed in range(2000)]
    assert np.mean(np.abs(errors) <= 0.05) == pytest.approx(0.95, abs=0.02)


def test_every_row_is_equally_likely_and_none_comes_twice():
    counts = np.zeros(20)
    for seed in range(4000):
        drawn = draw(20, 5, seed)
        assert np.unique(drawn).size == 5
        counts[drawn] += 1
    # binomial(4000, 1/4): standard deviation 27
    assert np.abs(counts - 1000).max() < 4 * 27


def test_a_seed_repeats_a_draw_and_a_larger_one_goes_on():
    np.testing.assert_array_equal(draw(500, 60, 7), draw(500, 60, 7))
    np.testing.assert_array_equal(draw(500, 60, 7), draw(500, 200, 7)[:60])
    assert seed_of("ab" * 32) == seed_of("ab" * 32) != seed_of("cd" * 32)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (0.3, 0.3)])
def test_rows_for_an_average_gap_are_those_that_a_verdict_would_ask_for(shape):
    """The audit simulates what chance gives; the closed form must come to the same within its two digits."""
    rng = np.random.default_rng(0)
    score = rng.beta(*shape, 200)
    told = audit(Clean().evidence(score, rng.random(200) < score), resolution=0.05).rows_needed
    assert rows_for_average_gap(score, 0.05) == pytest.approx(told, rel=0.12)
    # four times the rows for half the gap
    assert rows_for_average_gap(score, 0.025) == pytest.approx(
        4 * rows_for_average_gap(score, 0.05), rel=0.05
    )


def test_scores_of_only_zero_and_one_leave_nothing_to_chance():
    assert rows_for_average_gap(np.array([0.0, 1.0, 1.0]), 0.05) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [((0, 100), "precision"), ((1.0, 100), "precision"), ((0.05, 0), "rows to draw from")],
)
def test_impossible_requests_are_sentences(arguments, message):
    with pytest.raises(InputError, match=message):
        sample_size(*arguments)


def test_more_rows_than_there_are_cannot_be_drawn():
    with pytest.raises(InputError, match="rows to draw"):
        draw(10, 11, 0)


def test_a_fingerprint_tells_files_and_rows_apart_and_is_no_number():
    lines = np.arange(2, 50)
    names = {fingerprint(sha, lines[:n]) for sha in ("a" * 64, "b" * 64) for n in (10, 48)}
    assert len(names) == 4
    assert all(name.isalpha() and len(name) == 8 for name in names)
