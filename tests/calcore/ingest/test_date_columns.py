"""Columns of dates that no telling name gives away, in a lender's file and in others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calcore import ingest
from calcore.ingest import Choices

DAYS = pd.date_range("2025-01-06", periods=400, freq="D")


def lender(rows, dates, name="applied_on", **more):
    rng = np.random.default_rng(3)
    score = np.round(rng.uniform(0, 1, rows), 4)
    table = pd.DataFrame(
        {
            "id": [f"L{i:05d}" for i in range(rows)],
            name: [dates[i % len(dates)] for i in range(rows)],
            "product": rng.choice(["car", "home"], rows),
            "region": rng.choice(["North", "South"], rows),
            "amount": np.round(rng.lognormal(9, 1, rows), 2),
            "score": score,
            "defaulted": np.where(rng.uniform(0, 1, rows) < score, "yes", "no"),
        }
        | more
    )
    return table.to_csv(index=False, sep=";", decimal=",").encode()


def read(data, **choices):
    return ingest.read(data, "loans.csv", Choices(**choices))


def asked(found):
    return {(question.kind, question.column) for question in found.report.questions}


@pytest.mark.parametrize("rows", [40, 600, 3000])
@pytest.mark.parametrize("name", ["applied_on", "created", "when", "Datum"])
@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%SZ", "%d %b %Y"]
)
def test_dates_are_the_time_by_their_content(rows, name, form):
    found = read(lender(rows, DAYS.strftime(form), name))
    assert found.roles.time == name
    assert found.roles.groups == ("product", "region")
    assert asked(found) == {("positive_label", "defaulted")}
    assert found.report.date_range[0].startswith("2025-01-06")


def test_the_column_that_is_called_a_time_comes_first():
    days = list(DAYS.strftime("%Y-%m-%d"))
    found = read(lender(600, days, "paid_out", scored_at=[days[i % 300] for i in range(600)]))
    assert found.roles.time == "scored_at"
    assert found.roles.groups == ("product", "region"), "other dates are no subgroups"
    assert ("too_many_groups", "paid_out") not in asked(found)


def test_a_name_that_says_when_goes_before_one_that_does_not():
    days = list(DAYS.strftime("%Y-%m-%d"))
    found = read(lender(600, days, "seen", applied_on=[days[(7 * i) % 300] for i in range(600)]))
    assert found.roles.time == "applied_on"


@pytest.mark.parametrize("name", ["dob", "expires", "born_on"])
def test_when_somebody_was_born_is_neither_time_nor_subgroup(name):
    found = read(lender(600, DAYS.strftime("%Y-%m-%d"), name))
    assert found.roles.time is None
    assert found.roles.groups == ("product", "region")
    assert ("too_many_groups", name) not in asked(found)


@pytest.mark.parametrize(
    ("values", "group"),
    [
        (["2024-Q1", "2024-Q2", "2024-Q3"], True),
        (["2024-01", "2024-02", "2024-03"], True),
        (["2021", "2022", "2023"], True),
        (["1.2.34", "1.3.34", "1.3.35"], True),
        (["12-2024-7", "13-2024-8"], True),
        ([str(20_240_101 + i) for i in range(28)], False),
    ],
)
def test_categories_years_and_ids_stay_what_they_were(values, group):
    found = read(lender(600, values, "cohort"))
    assert found.roles.time is None
    assert ("cohort" in found.roles.groups) is group


def test_an_open_order_is_asked_about_only_where_the_name_says_that_it_is_a_time():
    dates = ["03/04/2025", "05/06/2025", "07/08/2025"]
    named, other = read(lender(600, dates)), read(lender(600, dates, "seen"))
    assert named.roles.time == "applied_on"
    assert ("date_order", "applied_on") in asked(named)
    assert (other.roles.time, other.roles.groups) == (None, ("product", "region"))


def test_a_column_half_of_dates_is_none():
    assert read(lender(600, ["2025-01-06", "later"], "seen")).roles.time is None


def test_a_day_that_does_not_exist_is_refused_in_plain_words():
    days = list(DAYS.strftime("%Y-%m-%d"))
    days[7] = "31.02.2026"
    found = read(lender(400, days))
    assert found.roles.time == "applied_on"
    assert [(one.reason, one.lines) for one in found.report.refused] == [("time is not a date", (9,))]


def test_the_order_is_named_where_it_is_why_a_date_cannot_be_read():
    days = list(DAYS.strftime("%d.%m.%Y"))
    days[7] = "01.13.2025"
    found = read(lender(400, days), day_first=True)
    assert [one.reason for one in found.report.refused] == ["time is not a date with the day first"]
