"""The calibration map: what a calibrator learned, with where it came from, as an immutable artefact."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache, cached_property
from importlib import metadata, resources
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError
from calcore.maps import documents
from calcore.maps.fields import FrozenDict, exact_keys, frozen, number, shown, text, whole_number
from calcore.maps.map_function import MapFunction, function_from_dict, refuse_long_lists
from calcore.subgroups import Membership, Subgroup, level_names
from calcore.validation import Floats

FORMAT = "calcore.calibration-map"
VERSION = 1
_WHAT = "calibration map"
_LEVEL = 2  # how deep in the document the deepest field begins: what can be stored can be read back
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)\Z")


@cache
def installed_version() -> str:
    """The version of the installed library, "unknown" where it runs from a folder."""
    try:
        return metadata.version("calcore")
    except metadata.PackageNotFoundError:
        return "unknown"


@cache
def _schema_text() -> str:
    return resources.files("calcore.maps").joinpath("calibration_map.schema.json").read_text("utf-8")


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of version 1 of the exported JSON."""
    schema: dict[str, Any] = json.loads(_schema_text())
    return schema


@dataclass(frozen=True, kw_only=True)
class CalibrationMap:
    """A fitted, immutable function from scores to calibrated scores, with its provenance.

    Parameters
    ----------
    function: the mathematical function (`calcore.maps.functions`).
    calibrator: name of the calibrator that was fitted.
    observation: {"name": text, "parameters": {...}, "assumptions": [text, ...]} of the labels.
    n: number of rows fitted on, 0 or more.
    parameters: hyper-parameters of the calibrator by name.
    input_domain: lowest and highest score fitted on, in [0, 1].
    subgroups: definitions of subgroups as JSON objects, in the order of `predict`'s columns.
    data_sha256: SHA-256 of the data fitted on, 64 lower-case hex digits, or None.
    metrics: by name a number, an object of numbers, or None where it does not exist.
    warnings: what a user of the map must know.
    library_version: version of calcore that fitted it.
    created: UTC time in ISO 8601 ("2025-01-31T12:00:00Z"), or None.

    Dicts and lists are copied and frozen. Raises `InputError` for anything that cannot be stored.
    """

    function: MapFunction
    calibrator: str
    observation: Mapping[str, Any]
    n: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    input_domain: tuple[float, float] = (0.0, 1.0)
    subgroups: Sequence[Mapping[str, Any]] = ()
    data_sha256: str | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    library_version: str = field(default_factory=installed_version)
    created: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.function, MapFunction):
            raise InputError(f'"function" of the {_WHAT} is {shown(self.function)}; give a map function.')
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))

    def predict(
        self, scores: ArrayLike, groups: ArrayLike | pd.DataFrame | Membership | None = None
    ) -> Floats:
        """Calibrated scores, float64 in [0, 1], of the shape of `scores`.

        scores: numbers in [0, 1]. groups: the table of the rows with the columns that `subgroups` look at,
        or rows x subgroups, bool, in the order of `subgroups`; needed by maps that differ between subgroups
        and ignored by the others. Raises `InputError` for scores that are NaN or outside [0, 1] and for
        groups that are missing, lack a column or are of the wrong shape.
        """
        if not self.function.needs_groups:
            return self.function(scores)
        return self.function(scores, self._membership(groups, np.size(scores)))

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over everything the map holds; equal maps have equal ones."""
        return documents.checksum(self._document())

    def to_json(self, indent: int | None = None) -> str:
        """The map as JSON text (ASCII), `from_json`'s inverse; `json_schema()` describes it."""
        document = {**self._document(), "checksum": self.checksum}
        refuse_long_lists(document["function"])
        result = json.dumps(document, indent=indent, allow_nan=False)
        if len(result) > documents.LARGEST:
            raise InputError(
                f"The map takes {len(result):,} bytes as JSON, but {documents.LARGEST:,} can be "
                "read back at most; fit it with fewer knots or store fewer metrics."
            )
        return result

    @classmethod
    def from_json(cls, document: str | bytes) -> CalibrationMap:
        """The map that `to_json` wrote; the same numbers to the last bit.

        Raises `InputError`, one sentence, for every other input: a foreign or damaged file, another
        version, a missing, unknown or changed field, NaN, repeated keys, more than 50 MB, 2,000,000 knots,
        100,000 patches or 100,000 trees. What is too large is refused before it is parsed or looked into.
        """
        given = documents.parse_object(document, _WHAT, FORMAT)
        if given.get("format") != FORMAT:
            raise InputError(
                f'"format" of the file is {shown(given.get("format"))}, not "{FORMAT}", so it '
                f"is no {_WHAT}; choose a file that was exported as one."
            )
        version = given.get("version")
        if type(version) is not int or version != VERSION:
            raise InputError(
                f"The {_WHAT} has version {shown(version)}, but this library reads version "
                f"{VERSION}; read it with a newer calcore or export it again."
            )
        names = tuple(f.name for f in fields(cls))
        exact_keys(_WHAT, given, ("format", "version", *names, "checksum"))
        # what is too large is refused before its entries are looked at one by one
        refuse_long_lists(given["function"])
        given = documents.stored(given, _WHAT)
        body = {name: given[name] for name in given if name != "checksum"}
        if given["checksum"] != documents.checksum(body):
            raise InputError(
                f"The {_WHAT} does not match its checksum: it was changed after it was "
                "written, so export it again."
            )
        values = {name: given[name] for name in names}
        return cls(**{**values, "function": function_from_dict(values["function"])})

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> CalibrationMap:
        """The map in a file; no more of it is read than a map can have. Raises `InputError` as `from_json` does."""
        try:
            with open(path, "rb") as file:
                document = file.read(documents.LARGEST + 1)
        except FileNotFoundError:
            raise InputError(f"There is no file {path}; check the path of the map.") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
            raise InputError(f"The map {path} cannot be read ({reason}); check its path.") from None
        if len(document) > documents.LARGEST:
            raise InputError(
                f"{path} has more than the {documents.LARGEST:,} bytes that a {_WHAT} can have; choose another file."
            )
        return cls.from_json(document)

    def _document(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"format": FORMAT, "version": VERSION, **values, "function": self.function.to_dict()}

    def _membership(
        self, groups: ArrayLike | pd.DataFrame | Membership | None, rows: int
    ) -> NDArray[np.bool_] | Membership:
        expected = (rows, len(self.subgroups))
        if isinstance(groups, Membership) and (len(groups.pattern), len(groups.names)) == expected:
            return groups
        if isinstance(groups, pd.DataFrame):
            # a table is always looked up by its columns, even where they all hold true and false
            return self._from_columns(groups, rows)
        if groups is None:
            raise InputError(
                f"The map differs between {expected[1]} subgroups, but no groups were given; "
                "give a table of rows x subgroups with true where a row belongs."
            )
        membership = np.asarray(groups)
        if membership.shape != expected or membership.dtype != bool:
            raise InputError(
                f"The groups are {membership.dtype.name} of shape {membership.shape}; "
                f"give true or false in the shape {expected}, rows x subgroups."
            )
        return membership

    def definitions(self) -> tuple[Subgroup, ...]:
        """The subgroups as predicates over columns; InputError where one has a name only."""
        return tuple(_definition(given) for given in self.subgroups)

    def _from_columns(self, table: pd.DataFrame, rows: int) -> Membership:
        if len(table) != rows:
            raise InputError(
                f"There are {rows:,} scores but {len(table):,} rows of groups; give one a score."
            )
        if not table.columns.is_unique:
            raise InputError("The table of groups has two columns of the same name; keep one of each.")
        subgroups = list(self.definitions())
        member = Membership.of_subgroups(subgroups, table)
        _require_known_levels(subgroups, table)
        return member


def _require_known_levels(subgroups: list[Subgroup], table: pd.DataFrame) -> None:
    """Refuse a column of which no row has a level of the map: it was read in another way than at the fit."""
    levels: dict[str, set[str]] = {}
    for group in subgroups:
        for column, value in group.levels:
            levels.setdefault(column, set()).add(value)
    for column, known in levels.items():
        found = set(level_names(table[column].drop_duplicates()))
        if found and not found & known:
            raise InputError(
                f'No row of the column "{column}" has a value that the map knows: found {shown(sorted(found)[0])}, '
                f"known {shown(sorted(known)[0])}; give the column as it was written in the file of the fit."
            )


def _definition(given: Any) -> Subgroup:
    plain = json.loads(json.dumps(given))
    if set(plain) == {"name"}:
        raise InputError(
            f"The subgroup {shown(plain['name'])} of the {_WHAT} has a name but no definition by "
            "columns; give rows x subgroups with true where a row belongs."
        )
    return Subgroup.from_dict(plain)


def _text(name: str, value: Any) -> str:
    if not text(_WHAT, name, value):
        raise InputError(f'"{name}" of the {_WHAT} is empty; give a name.')
    return str(value)


def _object(name: str, value: Any) -> FrozenDict:
    if not isinstance(value, Mapping):
        raise InputError(f'"{name}" of the {_WHAT} is {shown(value)}; give an object.')
    result: FrozenDict = frozen(_WHAT, name, value, _LEVEL)
    return result


def _list(name: str, value: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'"{name}" of the {_WHAT} is {shown(value)}; give a list.')
    return tuple(check(f"{name}[{i}]", item) for i, item in enumerate(value))


def _texts(name: str, value: Any) -> tuple[str, ...]:
    return _list(name, value, lambda inner, item: text(_WHAT, inner, item))


def _objects(name: str, value: Any) -> tuple[FrozenDict, ...]:
    return _list(name, value, _object)


def _observation(name: str, value: Any) -> FrozenDict:
    exact_keys(f"observation of the {_WHAT}", value, ("name", "parameters", "assumptions"))
    return FrozenDict(
        name=_text(f"{name}.name", value["name"]),
        parameters=_object(f"{name}.parameters", value["parameters"]),
        assumptions=_texts(f"{name}.assumptions", value["assumptions"]),
    )


def _domain(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f'"{name}" of the {_WHAT} is {shown(value)}; give the lowest and highest score.')
    low, high = (number(_WHAT, f"{name}[{i}]", item, 0.0, 1.0) for i, item in enumerate(value))
    if low > high:
        raise InputError(
            f'"{name}" of the {_WHAT} runs from {low!r} down to {high!r}; give the lowest score first.'
        )
    return low, high


def _metrics(name: str, value: Any) -> FrozenDict:
    result = _object(name, value)
    for key, item in result.items():
        if not (item is None or isinstance(item, float | int | dict)) or isinstance(item, bool):
            raise InputError(
                f'"{name}" of the {_WHAT} has {shown(item)} for {shown(key)}; '
                "give a number, an object or null."
            )
    return result


def _sha256(name: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and _SHA256.match(value)):
        return value
    raise InputError(f'"{name}" of the {_WHAT} is {shown(value)}; give 64 lower-case hex digits or null.')


def _utc(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and _UTC.match(value):
        try:
            datetime.fromisoformat(value)
            return value
        except ValueError:
            pass
    raise InputError(
        f'"{name}" of the {_WHAT} is {shown(value)}; give a UTC time such as 2025-01-31T12:00:00Z, or null.'
    )


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "calibrator": _text,
    "observation": _observation,
    "parameters": _object,
    "input_domain": _domain,
    "n": lambda name, value: whole_number(_WHAT, name, value),
    "subgroups": _objects,
    "data_sha256": _sha256,
    "metrics": _metrics,
    "warnings": _texts,
    "library_version": _text,
    "created": _utc,
}
