"""A session file: what is saved is what is opened, and nothing else is opened at all."""

from __future__ import annotations

import copy
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calcore.calibrators import REGISTRY
from calcore.comparison import RANKED_ON
from calcore.errors import InputError
from calcore.ingest import Choices, ClassView, FileFormat, LabelMapping, Roles
from calcore.meanings import MEANINGS
from calcore.monitoring.limits import FixedLimit
from calcore.monitoring.results import METRICS
from calcore.session import ListUsed, Looked, Session
from calcore.session.fields import CLASSES, FORMAT, LOOKED, MAPPING, PLAIN_CHOICES, ROLES, SETTINGS
from calcore.settings import Settings

HEX = "0123456789abcdef"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.none() | texts
shares = st.none() | st.floats(0, 1)
shas = st.text(HEX, min_size=64, max_size=64)
many = st.lists(texts, max_size=4, unique=True).map(tuple)
calibrators = st.lists(st.sampled_from(list(REGISTRY)), max_size=5, unique=True).map(tuple)
roles = st.builds(
    Roles, **{f.name: names for f in fields(Roles) if f.name != "groups"}, groups=many
)  # fmt: skip
mappings = st.none() | st.builds(LabelMapping, many, many, many, many)
choices = st.builds(
    Choices,
    format=st.builds(
        FileFormat,
        st.sampled_from([None, "utf-8", "utf-16", "windows-1252"]),
        st.sampled_from([None, ",", ";", "\t", "|"]),
        st.sampled_from([None, ".", ","]),
        st.sampled_from([None, True, False]),
    ),
    roles=st.none() | roles,
    score_scale=st.sampled_from([None, "probability", "percent", "logit"]),
    label_mapping=mappings,
    audit_mapping=mappings,
    day_first=st.sampled_from([None, True, False]),
    top_groups=st.none() | st.integers(1, 1000),
    classes=st.none() | st.builds(ClassView, st.just(("a", "b")), st.just("y"), texts, st.none()),
    rivals=many,
)
judged = st.builds(
    Settings,
    labels=st.sampled_from(list(MEANINGS)),
    **dict.fromkeys(("rho0", "rho1", "prior", "theta1", "theta2", "r_min"), shares),
    rates_origin=st.sampled_from(["given", "estimated"]),
    source_values=st.lists(texts, max_size=3).map(tuple),
    second_score=names,
    audit_random=st.booleans(),
    measure_on=st.sampled_from(["labels", "audit"]),
    weighting=st.sampled_from(["importance", "frequency"]),
    tolerance=st.floats(0, 0.1),
    bins=st.integers(2, 40),
    min_mass=st.floats(0, 0.1),
)


def limits_of(metric):
    """Any limit on a metric."""
    ends = st.lists(st.floats(-1000, 1000).map(lambda x: x + 0.0), min_size=2, max_size=2).map(sorted)
    sides = st.sampled_from([(True, True), (True, False), (False, True)])
    return st.builds(
        lambda pair, side: FixedLimit(
            metric, *(end if used else None for end, used in zip(pair, side, strict=True))
        ),
        ends,
        sides,
    )


looked = st.builds(
    Looked,
    strategy=st.sampled_from(["width", "mass", "isotonic"]),
    reliability_bins=st.none() | st.integers(2, 40),
    calibrators=calibrators,
    group=names,
    find=texts,
    wlmc_form=st.sampled_from(["PatchedWLMC", "WLMC"]),
    compared=st.none() | calibrators,
    ranked_on=st.sampled_from(RANKED_ON),
    exported=st.sampled_from([None, *REGISTRY]),
    batch_by=st.sampled_from([None, "day", "month", "rows"]),
    batch_size=st.none() | st.integers(10, 10**8),
    fewest_rows=st.none() | st.integers(1, 10**7),
    complete=st.none() | st.integers(0, 100),
    metric=st.sampled_from(list(METRICS)),
    reference=st.sampled_from(["first", "range"]),
    reference_first=st.none() | st.integers(1, 2000),
    reference_from=st.none() | st.integers(1, 2000),
    reference_to=st.none() | st.integers(1, 2000),
    fixed_limits=st.lists(st.sampled_from(list(METRICS)), unique=True, max_size=4).flatmap(
        lambda metrics: st.tuples(*(limits_of(metric) for metric in metrics))
    ),
)
lists = st.lists(
    st.builds(
        ListUsed, st.sampled_from(["sample", "corrections", "population", "labels", "scores"]), texts, shas
    ),
    max_size=3,
).map(tuple)
sessions = st.builds(
    Session, shas, texts, st.integers(0, 10**9), choices, roles, judged, looked, lists, st.booleans(),
    st.text("abc_", min_size=1, max_size=9),
)  # fmt: skip
PLAIN = Session("a" * 64, "scores.csv", 3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("table", "type_"),
    [(SETTINGS, Settings), (LOOKED, Looked), (ROLES, Roles), (MAPPING, LabelMapping), (CLASSES, ClassView), (FORMAT, FileFormat)],
)  # fmt: skip
def test_every_field_is_saved(table, type_):
    """A new field belongs into its table, and raises the version of the file."""
    assert list(table) == [f.name for f in fields(type_)]


def test_every_choice_but_the_limits_is_saved():
    objects = {"format", "roles", "label_mapping", "audit_mapping", "classes"}
    limits = {"max_rows", "max_bytes"}
    assert set(PLAIN_CHOICES) | objects | limits == {f.name for f in fields(Choices)}


@given(sessions)
@settings(deadline=None, max_examples=60)
def test_what_is_saved_is_what_is_opened(session):
    text = session.to_json()
    assert Session.from_json(text) == session
    assert Session.from_json(b"\xef\xbb\xbf" + text.encode()) == session


def places(value, path=()):
    """The path of every part of a JSON value."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in parts:
        yield from places(inner, (*path, name))


def put(whole, path, value):
    if not path:
        return value
    whole = copy.deepcopy(whole)
    place = whole
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return whole


def same(one, other):
    """Equal values of equal kinds: 1 is not true, and 1 may be 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@given(sessions, st.data())
@settings(deadline=None, max_examples=150)
def test_a_changed_file_is_refused_or_opened_as_exactly_what_it_says(session, data):
    content = json.loads(session.to_json())
    path = data.draw(st.sampled_from(list(places(content))))
    changed = put(content, path, data.draw(json_values))
    refused = found = None
    try:
        found = Session.from_json(json.dumps(changed))
    except InputError as error:
        refused = str(error)
    if found is not None:
        assert same(json.loads(found.to_json()), changed)
    else:
        assert "\n" not in refused
        assert len(refused) < 500


@given(st.binary(max_size=200) | st.text(max_size=200) | json_values.map(json.dumps))
@settings(deadline=None, max_examples=150)
def test_anything_else_is_refused_with_a_sentence(data):
    with pytest.raises(InputError):
        Session.from_json(data)


@given(sessions, st.data())
@settings(deadline=None, max_examples=50)
def test_a_torn_file_is_refused(session, data):
    text = session.to_json()
    with pytest.raises(InputError):
        Session.from_json(text[: data.draw(st.integers(0, len(text.strip()) - 1))])


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("version",), 2, "version 2, and version 1 can be opened"),
        (("version",), 1.0, "version 1.0, and version 1"),
        (("version",), True, "version true"),
        (("format",), "map", "does not call itself one"),
        (("settings", "prior"), 7, '"settings.prior" is 7 and must be a number from 0 to 1, or null'),
        (("settings", "prior"), "0.3", "a number from 0 to 1"),
        (("settings", "audit_random"), 1, "true or false"),
        (("settings", "bins"), 10**400, "a very large number"),
        (("settings", "bins"), 12.5, "whole number from 2 to 40"),
        (("settings", "labels"), "__class__", "one of clean, noisy"),
        (("settings", "tolerance"), None, "a number from 0 to 0.1"),
        (("looked_at", "calibrators"), ["Identity", "Platte"], '"Platte" is not'),
        (("looked_at", "compared"), ["Platt", "Platt"], "different values"),
        (("looked_at", "exported"), "../map", "the name of a calibrator"),
        (("choices", "format", "separator"), "\n", "a comma, a semicolon, a tab"),
        (("choices", "classes"), {"columns": ["a"], "label": "a", "view": "top", "audit": None}, "holds the labels too"),
        (("data", "sha256"), "A" * 64, "64 hexadecimal digits"),
        (("data", "rows"), -1, "whole number"),
        (("data", "filename"), "x" * 2000, "at most 1,000 characters"),
        (("view",), "../secret", "name of a page"),
        (("lists",), [{}] * 6, "at most 5"),
        (("more",), 1, '"more" that is not known'),
    ],
)  # fmt: skip
def test_a_file_with_one_wrong_value_says_which(path, value, words):
    changed = put(json.loads(PLAIN.to_json()), path, value)
    with pytest.raises(InputError) as refused:
        Session.from_json(json.dumps(changed))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 5000, "nested too deeply"),
        (" " * 3_000_000, "3.0 MB"),
        ("9" * 10_000, "no JSON text"),
        (PLAIN.to_json().replace('"rows": 3', '"rows": NaN'), "holds NaN"),
        (PLAIN.to_json().replace('"rows": 3', '"rows": 3, "rows": 4'), "there twice"),
        ('"\\ud800"', "must be an object"),
    ],
)
def test_text_that_breaks_readers_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        Session.from_json(text)


def test_half_a_character_is_refused():
    with pytest.raises(InputError, match="text of at most"):
        Session.from_json(PLAIN.to_json().replace("scores.csv", "\\ud800"))


def test_a_session_that_could_not_be_opened_again_is_not_saved():
    with pytest.raises(InputError, match="cannot be saved"):
        replace(PLAIN, roles=Roles(score="x" * 2000)).to_json()


def test_files_of_version_1_are_opened_for_ever():
    text = (Path(__file__).parent / "version_1.session.json").read_bytes()
    session = Session.from_json(text)
    assert session.filename == "scores.csv"
    assert session.choices.label_mapping == LabelMapping(("yes",), ("no",))
    assert session.settings == Settings(labels="noisy", rho0=0.07, rho1=0.13, tolerance=0.035)
    assert session.looked == Looked(
        reliability_bins=17,
        compared=("Identity", "Platt"),
        ranked_on="ECE",
        batch_by="month",
        fewest_rows=50,
        metric="gap",
        reference_first=3,
        fixed_limits=(FixedLimit("ECE", high=0.05),),
    )
    assert session.lists == (ListUsed("sample", "checked.csv", "b" * 64),)


def test_over_time_is_in_the_file_with_the_column_of_its_batches():
    seen = Looked(batch_by="column", batch_column="wave", reference="range", reference_from=2, reference_to=4)
    assert Session.from_json(replace(PLAIN, looked=seen).to_json()).looked == seen


@pytest.mark.parametrize(
    "limits",
    [
        {},
        [[]],
        [{"metric": "ECE", "low": None}],
        [{"metric": "ECE", "low": None, "high": None}],
        [{"metric": "ECE", "low": 0.2, "high": 0.1}],
        [{"metric": "nonsense", "low": 0.2, "high": None}],
        [{"metric": "ECE", "low": True, "high": None}],
        [{"metric": "ECE", "low": 0.2, "high": None, "more": 1}],
        [{"metric": "ECE", "low": 0.2, "high": None}] * 2,
        [{"metric": ["ECE"], "low": 0.2, "high": None}],
    ],
)
def test_limits_that_are_none_are_refused(limits):
    document = json.loads(PLAIN.to_json())
    document["looked_at"]["fixed_limits"] = limits
    with pytest.raises(InputError, match=r"looked_at\.fixed_limits"):
        Session.from_json(json.dumps(document))
