"""What is said of a stream: whether to worry, since when, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from calcore.monitoring import Batching, FixedLimit, Plan, measure_batches, watch
from calcore.monitoring.alert_table import alert_table
from calcore.monitoring.caveats import estimates, pending, unplaced, untested
from calcore.monitoring.sentences import (
    batch_words,
    evidence_title,
    first_alert,
    groups_title,
    series_title,
    verdict,
)
from calcore.monitoring.series import (
    batch_reliability,
    group_series,
    pooled_gap,
    reference_reliability,
)
from calcore.monitoring.suggest import suggested_batching, suggested_reference
from calcore.observation import Clean
from calcore.subgroups import Membership, make_subgroups
from calcore.verdicts import Level

import pandas as pd  # isort: skip


def stream(
    months=12, rows=600, broken_from=None, region_from=None, unlabelled=0, tolerance=0.02, seed=0, fixed=()
):
    """A watch over ``months``; scores are 20 points too high from ``broken_from`` on, in "north" from ``region_from``."""
    rng = np.random.default_rng(seed)
    n = months * rows
    month = np.repeat(np.arange(months), rows)
    score = rng.uniform(0.25, 0.95, n)
    table = pd.DataFrame({"region": rng.choice(["north", "south"], n)})
    off = np.zeros(n, dtype=bool)
    if broken_from is not None:
        off |= month >= broken_from
    if region_from is not None:
        off |= (month >= region_from) & (table["region"] == "north").to_numpy()
    label = (rng.random(n) < score - 0.2 * off).astype(float)
    known = month < months - unlabelled
    time = (np.datetime64("2022-01") + month).astype("datetime64[ns]")
    member = Membership.of_subgroups(make_subgroups(table, ["region"]).subgroups, table)
    label[~known] = np.nan
    evidence = Clean().evidence(score, label, groups=member)
    plan = Plan(Batching("month"), tolerance=tolerance, fixed=fixed)
    return watch(*measure_batches(plan, score, evidence, time=time))


def test_calibrated_within_the_tolerance_in_all_batches():
    found = verdict(stream(24, 1200))
    assert found.level is Level.GOOD
    assert found.title == "Calibrated within 2\xa0points"
    assert "all 24 batches (2022-01 to 2023-12)" in found.sentence


def test_few_rows_are_no_proof_of_calibration():
    found = verdict(stream(6, 100))
    assert found.level is Level.UNKNOWN
    assert found.title == "No alert"
    assert "leave room" in found.sentence


def test_an_alert_says_since_when_and_by_how_much():
    watched = stream(14, broken_from=8)
    found = verdict(watched)
    assert found.level is Level.BAD
    assert "since 2022-09" in found.sentence
    assert watched.results[first_alert(watched)].label == "2022-09"
    assert "2022-09" in evidence_title(watched)


def test_what_has_passed_is_no_alert():
    rng = np.random.default_rng(4)
    score = rng.uniform(0.25, 0.95, 24 * 600)
    month = np.repeat(np.arange(24), 600)
    label = (rng.random(score.size) < score - 0.2 * ((month >= 3) & (month < 6))).astype(float)
    time = (np.datetime64("2022-01") + month).astype("datetime64[ns]")
    found = verdict(
        watch(*measure_batches(Plan(Batching("month")), score, Clean().evidence(score, label), time=time))
    )
    assert found.level is Level.WATCH
    assert found.title == "Over again"


def test_without_labels_nothing_is_claimed():
    watched = stream(6, 200)
    bare = [
        replace(one, kind="no labels", labelled=0, values={}, bins=None, growth=None, groups=())
        for one in watched.results
    ]
    found = verdict(watch(bare, watched.plan))
    assert found.level is Level.UNKNOWN
    assert found.title == "No labels yet"
    assert verdict(watch([], watched.plan)).level is Level.UNKNOWN


def test_batches_that_wait_for_labels_are_named():
    watched = stream(8, unlabelled=2)
    assert pending(watched).startswith("2 batches have no labels yet (2022-07 and 2022-08)")
    assert pending(watched) in verdict(watched).notes
    assert batch_words(watched.results[-1], "event rate").count("estimated") >= 1


def not_in_the_test(watched, places):
    """The same watch with the batches at ``places`` measured on 66 % of their labels."""
    reason = "labels of 66 % of the rows so far: not in the test before 90 %"
    results = [
        replace(one, growth=None, shift=None, reason=reason) if i in places else one
        for i, one in enumerate(watched.results)
    ]
    return watch(results, watched.plan)


def test_a_newest_batch_that_is_unusual_and_not_tested_yet_is_said_first():
    found = verdict(not_in_the_test(stream(13, 1200, broken_from=12), {12}))
    assert found.level is Level.WATCH
    assert found.title == "Look here"
    assert found.sentence.startswith("2023-01, the newest measured batch, is outside")
    assert "1 measured batch is not in the test yet (2023-01: labels of 66 % of the rows" in found.sentence
    assert "Nothing speaks against" not in found.sentence


def test_measured_batches_that_are_not_tested_are_counted_beside_a_good_verdict():
    watched = not_in_the_test(stream(24, 1200), {22, 23})
    found = verdict(watched)
    assert found.level is Level.GOOD
    assert "the 22 tested batches (2022-01 to 2023-10)" in found.sentence
    assert "2 of the measured batches are not in the test yet (2023-12 and 2023-11: labels" in found.sentence
    assert untested(stream(4, 100)) == ""


def test_nothing_speaks_against_it_is_said_only_where_nothing_does():
    watched = stream(24, 1200)
    outside = watched.limits["gap"].outside.copy()
    outside[9] = True
    limits = {**watched.limits, "gap": replace(watched.limits["gap"], outside=outside)}
    found = verdict(replace(watched, limits=limits))
    assert "Nothing speaks against" not in found.sentence
    assert "2022-10 was outside what the reference period leads to expect" in found.sentence


def test_an_estimate_is_said_to_repeat_the_reference_period():
    watched = stream(8, unlabelled=2)
    assert "repeats the gaps of the reference period and cannot see a change" in estimates(watched, "ECE")
    assert "2022-07 and 2022-08" in estimates(watched, "ECE")
    assert estimates(stream(8), "ECE") == ""


@pytest.mark.parametrize(
    "rows, said",
    [(0, ""), (1, "1 row has no time and is in no batch."), (3, "3 rows have no time and are in no batch.")],
)
def test_rows_without_a_place_are_counted(rows, said):
    assert unplaced(replace(stream(4, 100), without_place=rows)) == said


def test_titles_of_a_series_say_the_finding():
    assert series_title(stream(12), "gap").endswith(
        "as the reference period leads to expect in all 12 batches"
    )
    assert "first 2022-09" in series_title(stream(14, broken_from=8), "gap")
    limited = stream(8, fixed=(FixedLimit("event rate", high=0.2),))
    assert "beyond the fixed limit" in series_title(limited, "event rate")


def test_the_subgroup_that_broke_comes_first_and_is_named():
    watched = stream(16, 800, region_from=8)
    found = group_series(watched)
    assert found[0].name == "region = north"
    assert found[0].alarmed
    assert not found[1].alarmed
    assert "region = north" in groups_title(found)
    # 20 points in all batches after the reference: those from month 8 of 4 to 15
    assert found[0].pooled.value == pytest.approx(-0.2 * 8 / 12, abs=0.03)


def test_subgroups_come_by_what_they_are_like_now():
    """West is off by most on the whole but was put right; east is off now, by less, and by more than south."""
    rng = np.random.default_rng(5)
    month = np.repeat(np.arange(14), 900)
    score = rng.uniform(0.3, 0.9, month.size)
    region = rng.choice(["west", "east", "south"], month.size)
    table = pd.DataFrame({"region": region})
    off = 0.25 * ((region == "west") & (month >= 4) & (month < 9)) + 0.12 * (
        (region == "east") & (month >= 10)
    )
    label = (rng.random(month.size) < score - off).astype(float)
    member = Membership.of_subgroups(make_subgroups(table, ["region"]).subgroups, table)
    evidence = Clean().evidence(score, label, groups=member)
    time = (np.datetime64("2022-01") + month).astype("datetime64[ns]")
    found = group_series(watch(*measure_batches(Plan(Batching("month")), score, evidence, time=time)))
    assert found[0].name == "region = east"
    assert not found[0].over
    late = (region == "east") & (month >= 11)
    assert found[0].recent.value == pytest.approx((label - score)[late].mean(), abs=1e-9)
    west = next(one for one in found if one.name == "region = west")
    assert west.alarmed
    assert west.over
    assert list(np.flatnonzero(west.during)) == [4, 5, 6, 7, 8]
    assert found[0].during[10:].all()
    assert not found[0].during[:9].any()


def test_pooled_gap_is_that_of_all_rows_together():
    watched = stream(6, 400)
    values = [one.value("gap").value for one in watched.results]
    assert pooled_gap(watched.results).value == pytest.approx(np.mean(values))


def test_the_diagram_of_a_batch_has_its_event_rates():
    rng = np.random.default_rng(2)
    score, months = rng.random(1200), np.repeat(np.arange(2), 600)
    label = (rng.random(1200) < score).astype(float)
    time = (np.datetime64("2022-01") + months).astype("datetime64[ns]")
    plan = Plan(Batching("month"), bins=5, reference=1)
    watched = watch(*measure_batches(plan, score, Clean().evidence(score, label), time=time))
    for month, table in enumerate(
        (reference_reliability(watched.reference, watched.results), batch_reliability(watched.results[1]))
    ):
        for j in range(5):
            inside = (months == month) & (score >= j / 5) & (score < (j + 1) / 5)
            assert table.event_rate[j] == pytest.approx(label[inside].mean())
            assert table.mean_score[j] == pytest.approx(score[inside].mean())
            assert table.rows[j] == inside.sum()


def test_intervals_of_a_batch_are_shares_and_small_bins_are_too_few():
    rng = np.random.default_rng(3)
    score = np.concatenate([rng.uniform(0.0, 0.2, 400), rng.uniform(0.4, 0.6, 12), rng.uniform(0.8, 1.0, 19)])
    label = (rng.random(score.size) < score).astype(float)
    label[-19:] = 1.0
    time = np.full(score.size, np.datetime64("2022-01-01"))
    plan = Plan(Batching("month"), bins=5, reference=1)
    watched = watch(*measure_batches(plan, score, Clean().evidence(score, label), time=time))
    table = batch_reliability(watched.results[0])
    held = table.rows > 0
    assert (table.lower[held] >= 0).all()
    assert (table.upper[held] <= 1 + 1e-12).all()
    assert list(table.too_few[held]) == [False, True, True]
    assert table.method == "Wilson"
    for j in np.flatnonzero(held):
        inside = (score >= j / 5) & (score < (j + 1) / 5)
        expected = binomtest(int(label[inside].sum()), int(inside.sum())).proportion_ci(method="wilson")
        assert table.lower[j] == pytest.approx(expected.low, abs=0.02)
        assert table.upper[j] == pytest.approx(expected.high, abs=0.02)


def test_the_table_of_alerts_has_what_since_and_where():
    watched = stream(14, broken_from=8)
    table = alert_table(watched.alerts, watched.results)
    assert len(table) == len(watched.alerts)
    assert table["Since"][0] == "2022-09"
    assert table["Where"][0] == "Everyone"


@pytest.mark.parametrize(
    "days, rows, unit",
    [
        (365 * 30, 60_000, "year"),
        (365 * 2, 20_000, "month"),
        (200, 20_000, "week"),
        (240, 2_000, "month"),
        (25, 9_000, "day"),
    ],
)
def test_the_unit_of_batches_follows_the_span_and_the_labels(days, rows, unit):
    rng = np.random.default_rng(0)
    time = np.datetime64("2020-01-01") + rng.integers(0, days, rows)
    assert suggested_batching(rows, rows, time).by == unit


def test_a_few_years_are_batches_and_one_moment_is_none():
    years = np.repeat(np.array(["2015", "2016", "2017", "2018"], dtype="datetime64[Y]"), 500)
    assert suggested_batching(2000, 2000, years).by == "year"
    assert suggested_batching(2000, 2000, years[:500].repeat(4)).by == "rows"
    assert suggested_batching(2000, 2000, None) == Batching("rows", size=100, min_rows=100)


@pytest.mark.parametrize("batches, reference", [(1, 1), (4, 1), (8, 2), (50, 4)])
def test_the_reference_leaves_most_batches_to_be_judged(batches, reference):
    assert suggested_reference(batches) == reference
