"""Settings in the query of an address: written so that people can read and change it, read with nothing dropped silently."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from calcore.errors import InputError
from calcore.ingest import Choices
from calcore.meanings import MEANINGS, observation_model
from calcore.settings import Settings

from .fields import LOOKED, SETTINGS, Looked, default, says_nothing
from .kinds import Kind, Pattern, shown
from .session_file import VIEW

#: A link names no values of columns, except a subgroup that is looked at.
_NOT_IN_LINKS = ("source_values", "second_score", "batch_column")
#: Names of Looked in a link, where they differ from its fields.
_RENAMED = {"ranked_on": "sorted_by", "exported": "export"}
_DATA = Pattern("[0-9a-f]{8,64}", "the first 8 or more hexadecimal digits of a SHA-256")
_COLUMNS = Pattern("[0-9a-f]{8}", "8 hexadecimal digits")
#: What a file itself suggests: without a usable value in the link that stays.
_SUGGESTED = ("labels", "audit_random", "measure_on")
_SUGGESTED_OVER_TIME = (
    "batch_by",
    "batch_size",
    "fewest_rows",
    "complete",
    "reference_first",
    "reference_from",
    "reference_to",
)
#: Longer values and more parameters than any link has that was copied here.
_LONGEST, _MOST = 4000, 60


@dataclass(frozen=True)
class Link:
    """What a link brings: ``settings`` and ``looked`` by field, the ``view``, the start of the SHA-256 of its ``data``.

    ``columns`` is the fingerprint of how the file was read; ``problems``: sentences about parameters that cannot be
    used, each with what is used instead.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    looked: Mapping[str, Any] = field(default_factory=dict)
    view: str | None = None
    data: str | None = None
    columns: str | None = None
    problems: tuple[str, ...] = ()


def write_link(settings: Settings, looked: Looked, view: str, sha256: str, choices: Choices) -> str:
    """The query ("labels=pu&prior=0.3&...") of a link to this view with these settings."""
    said: dict[str, str] = {}
    values = vars(settings)
    for name, kind in SETTINGS.items():
        value = values[name]
        if name in _NOT_IN_LINKS or value is None or says_nothing(name, settings.labels):
            continue
        said[name] = kind.write(value)
    for name, kind in LOOKED.items():
        value = vars(looked)[name]
        if name in _NOT_IN_LINKS or (name == "batch_by" and value == "column"):
            continue  # without its column it would be batches of another one
        if value is not None and value != default(name):
            said[_RENAMED.get(name, name)] = kind.write(value)
    said |= {"view": view, "data": sha256[:12], "columns": columns_print(choices, settings)}
    return urlencode(said)


def columns_print(choices: Choices, settings: Settings) -> str:
    """Eight digits that differ where a file is read in another way: its choices, and which columns and values mean what."""
    said = [asdict(choices), settings.source_values, settings.second_score]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:8]


def read_link(query: Mapping[str, Sequence[str]]) -> Link | None:
    """The settings of a query, each parameter with all its values; None where it is empty. Never raises."""
    if not query:
        return None
    problems: list[str] = []
    settings: dict[str, Any] = {}
    looked: dict[str, Any] = {}
    other: dict[str, Any] = {}
    places = _places(settings, looked, other)
    if len(query) > _MOST:
        problems.append(
            f"The link has {len(query):,} parameters; those after the first {_MOST} are left out."
        )
    for name in list(query)[:_MOST]:
        given = list(query[name])
        if name not in places:
            problems.append(f"{_short(name)}: there is no such parameter; it is left out.")
            continue
        if len(given) > 1:
            problems.append(f"{name} is there {len(given)} times; the first is used.")
        place, key, kind = places[name]
        try:
            if len(given[0]) > _LONGEST:
                raise InputError(kind.words)
            place[key] = kind.parse(given[0])
        except InputError as wanted:
            problems.append(f"{name} is {shown(given[0])} and must be {wanted}; {_instead(key)}")
    left_out = unfit_numbers(settings, settings["labels"]) if "labels" in settings else []
    return Link(settings, looked, problems=(*problems, *left_out), **other)


def unfit_numbers(settings: dict[str, Any], labels: str) -> list[str]:
    """Take numbers out of ``settings`` that labels of this meaning do not have, or that they cannot have together.

    Returns a sentence for each.
    """
    said = []
    for name in [name for name in settings if says_nothing(name, labels)]:
        value = settings.pop(name)
        meaning = MEANINGS[labels].answer
        said.append(
            f'{name} is {shown(value)}, but labels={labels} ("{meaning}") has no {name}; it is left out.'
        )
    numbers = [name for name in MEANINGS[labels].parameters if name in settings]
    required = [name for name in MEANINGS[labels].parameters if name != "r_min"]
    complete = all(name in settings for name in required)
    if numbers and (complete or labels == "noisy"):
        try:
            observation_model(replace(Settings(labels=labels), **{name: settings[name] for name in numbers}))
        except InputError as error:
            given = " and ".join(f"{name} is {shown(settings.pop(name))}" for name in numbers)
            said.append(
                f"{given}: {str(error).rstrip('.')}; {'it is' if len(numbers) == 1 else 'they are'} left out."
            )
    return said


def _places(
    settings: dict[str, Any], looked: dict[str, Any], other: dict[str, Any]
) -> dict[str, tuple[dict[str, Any], str, Kind]]:
    """For each parameter: where its value goes, under which name, and what it may be."""
    return {
        **{name: (settings, name, kind) for name, kind in SETTINGS.items() if name not in _NOT_IN_LINKS},
        **{
            _RENAMED.get(name, name): (looked, name, kind)
            for name, kind in LOOKED.items()
            if name not in _NOT_IN_LINKS
        },
        **{
            name: (other, name, kind)
            for name, kind in (("view", VIEW), ("data", _DATA), ("columns", _COLUMNS))
        },
    }


def _instead(name: str) -> str:
    if name in _SUGGESTED:
        return "what the file suggests is used."
    if name not in SETTINGS and name not in LOOKED:
        return "it is left out."
    value = default(name)
    if name in _SUGGESTED_OVER_TIME:
        return "what the page suggests is used."
    if value is None or value == "" or value == ():
        return "none is used."
    return f"{', '.join(value) if isinstance(value, tuple) else shown(value)} is used."


def _short(name: str) -> str:
    return shown(name)[1:-1]
