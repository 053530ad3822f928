"""How the files of a stream were read so far: what was named once need not be named again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from calcore.cli.file_options import FileOptions
from calcore.ingest.columns import Column


@dataclass(frozen=True)
class TimeOptions:
    """The time column that was named on the command line, and whether days come before months in it."""

    column: str | None = None
    day_first: bool | None = None


_COLUMNS = {
    "score": "score", "label": "label", "audit_label": "column of checked labels", "weight": "weight", "unit": "unit",
}  # fmt: skip
_WORDS = (*_COLUMNS, "positive", "ties", "scale", "id_column", "labels_id")


def said(options: FileOptions, when: TimeOptions) -> dict[str, Any]:
    """What was named on the command line, as plain JSON; empty where everything was guessed."""
    found: dict[str, Any] = {name: getattr(options, name) for name in _WORDS}
    found |= {"time": when.column, "day_first": when.day_first}
    found |= {"group": list(options.group) or None, "no_groups": options.no_groups or None}
    return {name: value for name, value in found.items() if value is not None}


def kept_with(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What the stream remembers from now on: what was said ``now`` wins.

    A column that is named in another role now, and an answer about a column that is another one now, are forgotten.
    """
    columns = [now[name] for name in (*_COLUMNS, "time") if name in now]
    columns += now.get("group", [])
    old = {name: value for name, value in before.items() if value not in columns}
    if "group" in now or "no_groups" in now:
        old = {name: value for name, value in old.items() if name not in ("group", "no_groups")}
    elif "group" in old:
        old["group"] = [name for name in old["group"] if name not in columns]
    for column, about in (("label", ("positive", "ties")), ("score", ("scale",)), ("time", ("day_first",))):
        if column in now and now[column] != before.get(column):
            old = {name: value for name, value in old.items() if name not in about}
    return {**old, **now}


def sound(document: Any) -> dict[str, Any]:
    """The part of a kept document that can be what was said; of a damaged one less, or nothing."""
    if not isinstance(document, Mapping):
        return {}
    kinds: dict[str, type] = dict.fromkeys((*_WORDS, "time"), str) | {"day_first": bool, "no_groups": bool}
    found = {name: value for name, value in document.items() if isinstance(value, kinds.get(name, ()))}
    groups = document.get("group")
    if isinstance(groups, list) and groups and all(isinstance(name, str) for name in groups):
        found["group"] = groups
    return found


def fitting(
    remembered: Mapping[str, Any], columns: Mapping[str, Column], options: FileOptions, when: TimeOptions
) -> tuple[FileOptions, TimeOptions, list[str]]:
    """The options with what is ``remembered`` of a stream, where the file has those columns, and notes where not."""
    told = kept_with(remembered, said(options, when))
    notes = []
    for name, words in (*_COLUMNS.items(), ("time", "time")):
        column = told.get(name)
        new = getattr(options, name) is None if name != "time" else when.column is None
        elsewhere = name == "label" and options.labels_file is not None
        empty = name == "audit_label" and column is not None and not _filled(columns.get(column))
        if column is not None and new and not elsewhere and (column not in columns or empty):
            del told[name]
            lacks = "is empty here" if empty else "is not in this file"
            notes.append(f'"{column}", the {words} of earlier files, {lacks}.')
    if "group" in told and not options.group:
        told["group"] = [name for name in told["group"] if name in columns]
    if options.labels_file is None:
        told = {name: value for name, value in told.items() if name not in ("id_column", "labels_id")} | {
            name: value for name, value in said(options, when).items() if name in ("id_column", "labels_id")
        }
    when = TimeOptions(told.pop("time", None), told.pop("day_first", None))
    told["group"] = tuple(told.get("group", ()))
    known = {field.name for field in fields(FileOptions)}
    return replace(options, **{name: value for name, value in told.items() if name in known}), when, notes


def _filled(column: Column | None) -> bool:
    return column is None or column.missing < len(column.data)
