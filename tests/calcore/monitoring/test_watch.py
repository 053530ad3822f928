"""A stream from its rows to its alerts; and runs that follow each other give what one run gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calcore import ingest
from calcore.file_evidence import evidence_of
from calcore.ingest import Choices, Roles
from calcore.monitoring import (
    Batching,
    FixedLimit,
    Plan,
    batches_of_file,
    fitting,
    joined,
    measure_batches,
    watch,
)
from calcore.observation import PU
from calcore.settings import Settings, smallest_share
from tests.calcore.monitoring.streams import clean, weekly


def watched(table, plan=None, earlier=()):
    plan = plan or Plan(Batching("week"))
    results, plan, without = measure_batches(
        plan, table.score.to_numpy(), clean(table), time=table.time.to_numpy(), earlier=earlier
    )
    return results, plan, watch((*earlier, *results), plan, without)


def test_a_calibrated_stream_raises_no_alert():
    _, _, found = watched(weekly(26))
    assert found.alarming == ()
    assert found.reference is not None
    assert found.reference.labels == ("2024-W01", "2024-W04")


def test_the_alert_says_what_since_when_and_where_first():
    def off(week, f, region):
        return np.where((region == "north") & (week >= 10), -0.2, 0) + np.where(week >= 18, -0.05, 0)

    _, _, found = watched(weekly(30, off=off))
    sentences = [alert.sentence for alert in found.alarming]
    overall = next(text for text in sentences if text.startswith("Not calibrated"))
    assert "Not calibrated within 2\u00a0points since 2024-W" in overall
    assert "too high" in overall
    north = next(text for text in sentences if text.startswith("region = north"))
    assert "since 2024-W1" in north
    assert "Noticed at" in north or "since 2024-W11" in north


def test_the_alert_says_where_it_is_worst_and_what_is_left_without_it():
    def off(week, f, region):
        return np.where((region == "north") & (week >= 8), 0.2, 0)

    _, _, found = watched(weekly(20, off=off))
    overall = next(alert for alert in found.alarming if alert.group is None)
    # 30 % of the rows are 20 points off: 6 overall
    assert "Most in region = north: 19\u00a0points too low; all other rows together" in overall.sentence
    rest = overall.sentence.split("together ")[1]
    assert float(rest.split("\u00a0")[0].replace("<", "")) < 1.5


def test_a_stream_that_was_always_off_tells_what_changed_too():
    """Off by 5 points from the start; in week 15 it becomes 15: unlike the reference period, which the first hides."""

    def off(week, f, region):
        return np.where(week >= 15, 0.15, 0.05)

    _, _, found = watched(weekly(25, off=off), Plan(Batching("week"), reference=10))
    kinds = {alert.kind: alert for alert in found.alarming if alert.group is None}
    assert "since 2024-W0" in kinds["calibration"].sentence
    assert "Unlike the reference period since 2024-W1" in kinds["change"].sentence
    assert "before that" in kinds["change"].sentence


def test_two_runs_are_one():
    def off(week, f, region):
        return np.where(week >= 14, 0.12, 0.0)

    table = weekly(20, off=off)
    whole, plan, at_once = watched(table)
    first, plan_1, _ = watched(table[table.time < "2024-03-18"])
    second, _, _ = watched(table[table.time >= "2024-03-18"], plan_1, earlier=first)
    together = joined(first, second)
    assert [one.key for one in together] == [one.key for one in whole]
    assert plan_1 == plan
    assert [alert.sentence for alert in watch(together, plan).alerts] == [a.sentence for a in at_once.alerts]


def test_bets_are_made_once_and_labels_replace_estimates():
    table = weekly(10)
    early = table.assign(label=table.label.where(table.time < "2024-02-26"))
    first, plan, _ = watched(early)
    assert first[-1].kind == "estimated"
    changed = table.assign(label=np.where(table.time < "2024-02-05", 1.0, table.label))
    second, _, _ = watched(changed, plan)
    together = joined(first, second)
    assert together[-1].kind == "measured"
    assert together[0].growth is first[0].growth  # what was bet on stays, whatever became of its labels
    assert together[0].value("event rate").value == pytest.approx(1.0)
    # and nothing measured is lost to a file that has no labels any more
    assert joined(together, first)[-1].kind == "measured"


def test_results_of_other_terms_count_without_their_bets():
    results, plan, _ = watched(weekly(6))
    other = Plan(plan.batching, tolerance=0.05, centre=plan.centre)
    assert all(one.growth is None and "other settings" in one.reason for one in fitting(results, other))
    assert fitting(results, plan) == results


def test_labels_that_come_slowly_wait_to_be_bet_on():
    table = weekly(6)
    rng = np.random.default_rng(0)
    late = (table.time >= "2024-02-05") & (rng.random(len(table)) < 0.5)
    results, _, _ = watched(table.assign(label=table.label.where(~late)))
    assert results[-1].measured
    assert results[-1].growth is None
    assert "of the rows so far" in results[-1].reason
    assert results[0].growth is not None


def test_a_fixed_limit_raises_an_alert():
    results, plan, _ = watched(weekly(6))
    strict = Plan(plan.batching, fixed=(FixedLimit("Brier", high=0.01),), centre=plan.centre)
    alerts = [alert for alert in watch(results, strict).alarming if alert.kind == "fixed"]
    assert len(alerts) == 6
    assert alerts[0].sentence.startswith("Brier score of 2024-W06 is 0.1")
    assert alerts[0].sentence.endswith("above the limit (0.010).")


def test_known_positives_are_watched_too():
    rng = np.random.default_rng(2)
    n = 8_000
    score = rng.beta(2, 5, n)
    y = rng.random(n) < score
    source = np.where(y & (rng.random(n) < 0.4), "positive", "unlabelled")
    # unlabelled rows must be a sample of everyone: draw them apart from the positives
    positive = score[source == "positive"]
    everyone = rng.beta(2, 5, n)
    scores = np.concatenate([positive, everyone])
    names = np.array(["positive"] * positive.size + ["unlabelled"] * n)
    month = rng.integers(0, 8, scores.size)
    time = (np.datetime64("2024-01", "M") + month).astype("datetime64[ns]")
    evidence = PU(2 / 7).evidence(scores, source=names)
    results, plan, _ = measure_batches(Plan(), scores, evidence, time=time)
    assert [one.kind for one in results] == ["measured"] * 8
    assert results[0].basis == "corrected for unlabelled rows"
    assert watch(results, plan).alarming == ()
    alone = pd.Series(names)[month == 7] == "unlabelled"
    assert alone.any()
    keep = (month < 7) | (names == "unlabelled")
    some = PU(2 / 7).evidence(scores[keep], source=names[keep])
    last = measure_batches(Plan(), scores[keep], some, time=time[keep])[0][-1]
    assert (last.kind, last.reason) == ("too few", 'no row of the source "positive"')


def of_file(path, roles, plan):
    read = ingest.read(path, filename="x.csv", choices=Choices(roles=roles))
    settings = Settings()
    evidence, _, _ = evidence_of(read, settings, smallest_share(settings, read.report.rows_kept))
    results, plan, without = batches_of_file(read, plan, evidence)
    return watch(results, plan, without)


def test_the_drift_of_the_car_loans_is_found_where_it_is(shared):
    """Made by NannyML to break in April 2019; one score range was off from the start."""
    roles = Roles(
        score="y_pred_proba", label="repaid", time="timestamp", groups=("salary_range", "size_of_downpayment")
    )
    found = of_file(shared / "data" / "nannyml_car_loan.parquet", roles, Plan())
    overall = [one for one in found.findings if one.group is None]
    assert {one.since_label for one in overall} == {"2018-01", "2019-04"}
    assert any(
        "size_of_downpayment" in (one.group or "") and one.since_label == "2019-04" for one in found.findings
    )
    assert found.limits["AUC"].outside[15:].sum() >= 3
    assert not found.limits["AUC"].outside[:15].any()


def test_a_century_of_forecasts(shared):
    """Elo ratings start blind: too low for the home team until 1925, and calibrated since."""
    roles = Roles(score="elo_prob1", label="result1", time="date", groups=("playoff", "neutral"))
    found = of_file(
        shared / "data" / "538_nfl_elo_1920on.csv", roles, Plan(Batching("column", column="season"))
    )
    first = found.findings[0]
    assert (first.pattern, first.since_label, first.over) == ("too low", "1920–1921", True)
    assert found.alarming == ()


def test_a_batch_is_complete_without_ties_that_are_left_out():
    table = weekly(6, 200)
    written = np.where(np.arange(len(table)) % 5 == 0, "0.5", table.label.astype(int).astype("str"))
    data = table.assign(label=written)[["score", "label", "time"]].to_csv(index=False).encode()
    found = of_file(data, None, Plan(Batching("week")))
    assert {one.labelled for one in found.results} == {160}
    many = of_file(data, None, Plan(Batching("week", min_rows=180)))
    assert {(one.labelled, one.kind) for one in many.results} == {(320, "measured")}  # two weeks each
    assert all(one.growth is not None for one in found.results)


def test_employment_stays_within_two_points(shared):
    roles = Roles(score="predicted_probability", label="employed", time="year", groups=("SEX", "RAC1P"))
    found = of_file(
        shared / "data" / "nannyml_employment_ma.parquet", roles, Plan(Batching("year"), reference=1)
    )
    assert found.test.alarms == ()
    assert found.limits["gap"].outside.tolist() == [False, True, True, True]  # it moves, by a point
