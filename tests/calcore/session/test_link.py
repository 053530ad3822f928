"""Settings in an address: what is written is read, and nothing that cannot be used goes without a word."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.ingest import Choices, Roles
from calcore.monitoring.limits import FixedLimit
from calcore.session import LOOKED, SETTINGS, Looked, read_link, write_link
from calcore.session.fields import says_nothing
from calcore.settings import Settings
from tests.calcore.session.test_session_file import judged, looked

SHA = "0123456789abcdef" * 4


def query(**said):
    return {name: [value] for name, value in said.items()}


@given(judged, looked)
@settings(deadline=None, max_examples=80)
def test_what_is_written_is_read(wanted, seen):
    text = write_link(wanted, seen, "reliability", SHA, Choices())
    link = read_link(parse_qs(text, keep_blank_values=True))
    assert link.view == "reliability"
    assert SHA.startswith(link.data)
    numbers = [name for name in SETTINGS if name not in ("source_values", "second_score")]
    for name in numbers:
        if says_nothing(name, wanted.labels):
            assert name not in link.settings
        elif not link.problems:  # numbers that these labels cannot have together are taken out, and named
            value = vars(wanted)[name]
            assert link.settings.get(name) == value
    found = replace(Looked(), **link.looked)
    # None means "as usual" and is not written
    assert found == seen


@given(
    st.dictionaries(
        st.sampled_from([*SETTINGS, *LOOKED, "sorted_by", "export", "view", "data", "columns"]) | st.text(max_size=9),
        st.lists(st.text(max_size=20) | st.sampled_from(["1e999", "-0", "0x1", "true", "1_0", "٣", ""]), min_size=1, max_size=3),
        min_size=1,
        max_size=8,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_every_parameter_is_used_or_named(given_query):
    link = read_link(given_query)
    used = {*link.settings, *link.looked}
    used |= {"sorted_by"} if "ranked_on" in used else set()
    used |= {"export"} if "exported" in used else set()
    used |= {name for name in ("view", "data", "columns") if vars(link)[name] is not None}
    assert len(set(given_query) - used) <= len(link.problems) * 6
    for name in set(given_query) - used:
        start = "".join(c if c.isprintable() else "?" for c in name[:60])
        assert any(start in problem for problem in link.problems)
    for problem in link.problems:
        assert "\n" not in problem


@pytest.mark.parametrize("text", ["nan", "inf", "1_0", "0,1", "٠.١", " 0.1", "0x1p-3", "1e999", "1" * 50, ""])
def test_only_plain_numbers_are_numbers(text):
    link = read_link(query(tolerance=text))
    assert not link.settings
    assert "tolerance" in link.problems[0]
    assert "0.02 is used" in link.problems[0]


def test_numbers_of_other_labels_are_named():
    link = read_link(query(labels="pu", prior="0.3", rho0="0.1", theta1="0.2"))
    assert link.settings == {"labels": "pu", "prior": 0.3}
    assert [problem.split()[0] for problem in link.problems] == ["rho0", "theta1"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"labels": "noisy", "rho0": "0.5", "rho1": "0.5"}, "rho0 is 0.5 and rho1 is 0.5"),
        ({"labels": "sd", "prior": "0.5"}, "not identifiable"),
        ({"labels": "uu", "prior": "0.3", "theta1": "0.4", "theta2": "0.4"}, "theta1 is 0.4 and theta2 is 0.4"),
        ({"labels": "pu", "prior": "1"}, "prior is 1"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_left_out_and_named(said, words):
    link = read_link(query(**said))
    assert link.settings == {"labels": said["labels"]}
    assert words in link.problems[0]


def test_a_link_holds_no_names_of_columns():
    choices = Choices(roles=Roles(score="secret_score", groups=("secret_group",)))
    settings_ = Settings(labels="uu", source_values=("secret_a", "secret_b"), second_score="secret")
    assert "secret" not in write_link(settings_, Looked(), "overview", SHA, choices)


def test_a_file_that_is_read_in_another_way_has_another_fingerprint():
    one = write_link(Settings(), Looked(), "overview", SHA, Choices())
    other = write_link(Settings(), Looked(), "overview", SHA, Choices(roles=Roles(score="s")))
    assert read_link(parse_qs(one)).columns != read_link(parse_qs(other)).columns


def test_thousands_of_parameters_are_said_once():
    link = read_link({f"p{i}": ["1"] for i in range(5000)})
    assert len(link.problems) == 61


def test_no_query_is_no_link():
    assert read_link({}) is None


def test_a_link_names_no_column_of_batches():
    seen = Looked(
        batch_by="column", batch_column="wave", metric="gap", fixed_limits=(FixedLimit("gap", -0.02),)
    )
    found = parse_qs(write_link(Settings(), seen, "over_time", SHA, Choices()))
    assert not {"batch_by", "batch_column"} & set(found)
    assert found["metric"] == ["gap"]
    assert found["fixed_limits"] == ["gap:-0.02:"]
    assert "what the page suggests is used" in read_link(query(batch_by="fortnight")).problems[0]
    assert read_link(query(batch_column="wave")).problems
