"""The test of a stream: when it speaks, about what, since when, and that it is quiet again."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.errors import InputError
from calcore.monitoring.betting import SHAPES, STAKES, Allowed, Growth, growth
from calcore.monitoring.sequential import ALPHA, HALF_BEGUN, sequential_test
from tests.calcore.monitoring.streams import clean, weekly


def grown(table, rows=1_000, tolerance=0.02):
    weeks = len(table) // rows
    parts = [table.iloc[w * rows : (w + 1) * rows] for w in range(weeks)]
    return [growth(clean(part), Allowed.around_zero(tolerance, 10), 5) for part in parts]


def test_it_says_since_when_and_what():
    test = sequential_test(grown(weekly(30, off=lambda week, f, region: np.where(week >= 18, 0.06, 0.0))))
    (alarm,) = test.alarms
    assert 18 <= alarm <= 22
    overall = test.changes[0]
    assert (overall.group, overall.pattern, overall.over) == (None, "too low", False)
    assert abs(overall.since - 18) <= 1
    assert overall.until >= 28


def test_it_says_in_which_subgroup_first():
    def off(week, f, region):
        return np.where((region == "north") & (week >= 8), -0.15, 0) + np.where(week >= 20, -0.06, 0)

    test = sequential_test(grown(weekly(30, off=off)))
    groups = {change.group: change for change in test.changes}
    assert abs(groups["region = north"].since - 8) <= 1
    assert groups["region = south"].since >= 18
    order = [change.group for change in test.changes if change.group]
    assert order[0] == "region = north"


def test_overconfidence_is_called_by_its_name():
    def off(week, f, region):
        return 0.3 * (0.5 - f)

    assert sequential_test(grown(weekly(25, off=off))).changes[0].pattern == "overconfident"


def test_after_an_alarm_that_is_over_it_listens_again():
    def off(week, f, region):
        return np.where((week >= 5) & (week < 10), 0.1, 0) - np.where(week >= 30, 0.1, 0)

    test = sequential_test(grown(weekly(40, off=off)))
    assert len(test.alarms) == 2
    overall = [change for change in test.changes if change.group is None]
    assert [(one.pattern, one.over) for one in overall] == [("too low", True), ("too high", False)]
    assert overall[0].until in (9, 10)


def test_the_money_adds_up():
    """All money is accounted for: without any bet won or lost it stays 1, whatever has begun."""
    nothing = Growth(np.zeros((len(SHAPES) + 20, len(STAKES))), np.zeros((0, 4, len(STAKES))), ())
    test = sequential_test([nothing] * 60)
    assert test.log_evidence == pytest.approx(np.zeros(60), abs=1e-12)
    # one bet that doubles every time, against the sum written out
    doubles = np.zeros((24, len(STAKES)))
    doubles[0, 0] = np.log(2)
    one = Growth(doubles, np.zeros((0, 4, len(STAKES))), ())
    found = sequential_test([one] * 5, alpha=1e-9).log_evidence
    share = 1 / 6 / len(STAKES)
    money = [
        1 - share
        + share
        * (
            sum(
                HALF_BEGUN / ((j + HALF_BEGUN - 1) * (j + HALF_BEGUN)) * 2.0 ** (t - j + 1)
                for j in range(1, t + 1)
            )
            + HALF_BEGUN / (t + HALF_BEGUN)
        )
        for t in range(1, 6)
    ]  # fmt: skip
    assert np.exp(found) == pytest.approx(money, rel=1e-12)


def test_batches_without_labels_are_waited_for():
    streams = grown(weekly(20, off=lambda week, f, region: np.full(f.size, 0.1)))
    gaps = [None, *streams[:3], None, None, *streams[3:]]
    test = sequential_test(gaps)
    assert test.alarms
    assert test.log_evidence[0] == pytest.approx(0, abs=1e-12)
    assert len(sequential_test([None, None]).alarms) == 0
    assert sequential_test([]).log_evidence.size == 0


def test_subgroups_may_come_and_go():
    early, late = grown(weekly(2))
    smaller = Growth(late.whole, late.groups[:1], late.names[:1])
    assert sequential_test([early, smaller, early]).log_evidence.shape == (3,)
    assert sequential_test([Growth(early.whole, early.groups[:0], ()), late]).log_evidence.shape == (2,)


@pytest.mark.parametrize("alpha", [0, 1, -1, float("nan")])
def test_a_rate_of_false_alarms_is_a_rate(alpha):
    with pytest.raises(InputError, match="false alarms"):
        sequential_test([], alpha)


@pytest.mark.slow
def test_looking_every_week_for_a_year_raises_few_false_alarms():
    """60 calibrated streams, 52 looks each: at most 5 %, and three errors of that."""
    rng = np.random.default_rng(12)
    false = 0
    for seed in rng.integers(0, 2**31, 60):
        false += bool(sequential_test(grown(weekly(52, 100, seed=int(seed)), 100, tolerance=0.0)).alarms)
    assert false / 60 <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / 60)
