"""A session as a small JSON file: how a file was read and judged and what was looked at, never a row of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from calcore.errors import InputError
from calcore.ingest import Choices, ClassView, FileFormat, LabelMapping, Roles
from calcore.settings import Settings

from .fields import CLASSES, FORMAT, LOOKED, MAPPING, PLAIN_CHOICES, ROLES, SETTINGS, Looked
from .kinds import Flag, Kind, OneOf, Pattern, Text, Whole, shown

FORMAT_NAME = "calibration monitor session"
VERSION = 1
#: A session of every column of a wide file has some ten kilobytes.
LARGEST = 1_000_000
#: Other files that were in use; with labels of a file of their own the scores alone are named too.
LISTS = ("sample", "corrections", "population", "labels", "scores")
SHA256 = Pattern("[0-9a-f]{64}", "a SHA-256: 64 hexadecimal digits")
VIEW = Pattern("[a-z_]{1,30}", "the name of a page, in small letters")
_DATA: dict[str, Kind] = {"sha256": SHA256, "filename": Text(), "rows": Whole(0, 2**53)}
_LIST: dict[str, Kind] = {
    "kind": OneOf(LISTS),
    "filename": Text(),
    "sha256": SHA256,
}
_TOP = ("format", "version", "data", "choices", "roles", "settings", "looked_at", "lists", "analysed", "view")
T = TypeVar("T")


class NotASession(InputError):
    """Something that is no session file, for the ``reason``."""

    def __init__(self, reason: str):
        super().__init__(
            f"This is no session file that can be opened: {reason}; choose one that was saved here."
        )
        self.reason = reason


@dataclass(frozen=True)
class ListUsed:
    """Another file that was in use: its ``kind``, one of LISTS, name and SHA-256."""

    kind: str
    filename: str
    sha256: str


@dataclass(frozen=True)
class Session:
    """How one file was read and judged.

    ``sha256``, ``filename`` and ``rows`` (kept ones) are those of the data (with labels joined from another file, the
    fingerprint of both); ``choices`` what the user said about the
    file, without limits of size, and ``roles`` the columns that followed, guessed ones too; ``lists`` were in use, and
    their contents are not stored; ``analysed`` and ``view``: was there a verdict, and which page was open.
    """

    sha256: str
    filename: str
    rows: int
    choices: Choices = field(default_factory=Choices)
    roles: Roles = field(default_factory=Roles)
    settings: Settings = field(default_factory=Settings)
    looked: Looked = field(default_factory=Looked)
    lists: tuple[ListUsed, ...] = ()
    analysed: bool = False
    view: str = "data"

    def to_json(self) -> str:
        """The text of the file. Raises InputError where a name in it is too long to be read back."""
        choices = asdict(self.choices)
        for limit in ("max_rows", "max_bytes"):  # limits belong to whoever reads the file
            del choices[limit]
        content = {
            "format": FORMAT_NAME,
            "version": VERSION,
            "data": {"sha256": self.sha256, "filename": self.filename, "rows": self.rows},
            "choices": choices,
            "roles": asdict(self.roles),
            "settings": asdict(self.settings),
            "looked_at": asdict(self.looked),
            "lists": [asdict(one) for one in self.lists],
            "analysed": self.analysed,
            "view": self.view,
        }
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        try:
            Session.from_json(text)
        except NotASession as error:
            raise InputError(f"This session cannot be saved: {error.reason}.") from None
        return text

    @classmethod
    def from_json(cls, data: str | bytes) -> Session:
        """Read a file that ``to_json`` wrote. Raises InputError, one sentence, for anything else."""
        top = _object("file", _parsed(data), _TOP)
        if top["format"] != FORMAT_NAME:
            raise NotASession("it does not call itself one")
        version = top["version"]
        if type(version) is not int or version != VERSION:
            raise InputError(
                f"This session file has version {shown(version)}, and version {VERSION} can be opened here: "
                "save it again with this dashboard."
            )
        data_ = _values("data", top["data"], _DATA)
        lists = top["lists"]
        if not isinstance(lists, list) or len(lists) > len(LISTS):
            raise _refused("lists", lists, f"a list of at most {len(LISTS)} files that were in use")
        return cls(
            **data_,
            choices=_choices(top["choices"]),
            roles=Roles(**_values("roles", top["roles"], ROLES)),
            settings=Settings(**_values("settings", top["settings"], SETTINGS)),
            looked=Looked(**_values("looked_at", top["looked_at"], LOOKED)),
            lists=tuple(ListUsed(**_values("lists", one, _LIST)) for one in lists),
            analysed=_value("analysed", top["analysed"], Flag()),
            view=_value("view", top["view"], VIEW),
        )


def _choices(given: Any) -> Choices:
    parts = ("format", "roles", "label_mapping", "audit_mapping", "classes")
    found = _object("choices", given, (*parts, *PLAIN_CHOICES))
    plain = {name: _value(f"choices.{name}", found[name], kind) for name, kind in PLAIN_CHOICES.items()}

    def part(name: str, kinds: Mapping[str, Kind], make: type[T]) -> T | None:
        value = found[name]
        return None if value is None else make(**_values(f"choices.{name}", value, kinds))

    classes = part("classes", CLASSES, ClassView)
    if classes is not None and {classes.label, classes.audit} & set(classes.columns):
        raise NotASession("a class column of its choices holds the labels too")
    return Choices(
        format=FileFormat(**_values("choices.format", found["format"], FORMAT)),
        roles=part("roles", ROLES, Roles),
        label_mapping=part("label_mapping", MAPPING, LabelMapping),
        audit_mapping=part("audit_mapping", MAPPING, LabelMapping),
        classes=classes,
        **plain,
    )


def _parsed(data: str | bytes) -> Any:
    if len(data) > LARGEST:
        raise NotASession(f"it has {len(data) / 1e6:,.1f} MB and a session has at most {LARGEST / 1e6:g} MB")
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except InputError:
        raise
    except RecursionError:
        raise NotASession("it is nested too deeply") from None
    except ValueError:  # broken JSON, bytes that are no UTF-8, numbers of thousands of digits
        raise NotASession("it is no JSON text") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotASession("one of its fields is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise NotASession(f"it holds {name}, which is no number of JSON")


def _object(where: str, given: Any, expected: tuple[str, ...]) -> dict[str, Any]:
    """``given``, if it is an object with exactly these fields."""
    if not isinstance(given, dict):
        raise _refused(where, given, f"an object with {', '.join(expected)}")
    for name in expected:
        if name not in given:
            raise NotASession(f'the {where} has no "{name}"')
    for name in given:
        if name not in expected:
            raise NotASession(f"the {where} has a field {shown(name)} that is not known here")
    return given


def _values(where: str, given: Any, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    found = _object(where, given, tuple(kinds))
    return {name: _value(f"{where}.{name}", found[name], kind) for name, kind in kinds.items()}


def _value(where: str, value: Any, kind: Kind) -> Any:
    try:
        return kind.check(value)
    except InputError as wanted:
        raise _refused(where, value, str(wanted)) from None


def _refused(where: str, value: Any, wanted: str) -> InputError:
    return NotASession(f'"{where}" is {shown(value)} and must be {wanted}')
