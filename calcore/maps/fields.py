"""Checks on the fields of maps: numbers, arrays, text and frozen JSON values, refused with a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError

DEEPEST = 32
"""Levels of lists and objects that a stored value may have."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses to be changed; equal to a plain dict with the same items, hashable, copyable."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("this dict belongs to an immutable object; copy it with dict(...) to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


def shown(value: Any) -> str:
    """A short printable form of anything, for a sentence."""
    if isinstance(value, dict | list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**20:  # its digits could fill a page
        return "a very large integer"
    if not isinstance(value, str | bytes | int | float | None):
        return f"a {type(value).__name__}"
    if isinstance(value, str | bytes):
        value = value[:60]
    return ascii(value)[:60]


def number(where: str, name: str, value: Any, low: float, high: float) -> float:
    """`value` as a float in [low, high]; bool, text, NaN and infinity are refused with InputError."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_number and low <= value <= high:  # False for NaN
        return float(value) + 0.0  # -0.0 becomes 0.0, so that equal functions have equal text
    raise InputError(
        f'"{name}" of the {where} is {shown(value)}; give a finite number from {low:g} to {high:g}.'
    )


def whole_number(where: str, name: str, value: Any) -> int:
    """`value` as an int from 0 to 2^53."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value <= 2**53:
        raise InputError(f'"{name}" of the {where} is {shown(value)}; give a whole number of 0 or more.')
    return int(value)


def numbers(where: str, name: str, values: Any, *, increasing: bool = False) -> NDArray[np.float64]:
    """One or more numbers in [0, 1] as an array that nobody can make writeable."""
    if isinstance(values, str | bytes) or not isinstance(values, list | tuple | np.ndarray):
        raise InputError(f'"{name}" of the {where} is {shown(values)}; give a list of numbers in [0, 1].')
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f'"{name}" of the {where} has {values.ndim} dimensions; give a flat list.')
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "fiu"):
        for position, value in enumerate(values):
            if type(value) is not float:
                number(where, f"{name}[{position}]", value, 0.0, 1.0)
    array = np.array(values, dtype=np.float64) + 0.0
    if not array.size:
        raise InputError(f'"{name}" of the {where} is empty; give at least one number.')
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        first = int(np.argmax(bad))
        number(where, f"{name}[{first}]", float(array[first]), 0.0, 1.0)
    if increasing and (np.diff(array) <= 0.0).any():
        first = int(np.argmax(np.diff(array) <= 0.0)) + 1
        raise InputError(
            f'"{name}" of the {where} must increase strictly, but entry {first} '
            f"({array[first]!r}) is not above the one before; sort it and drop repeats."
        )
    return np.frombuffer(array.tobytes(), dtype=np.float64)  # over bytes: the flag cannot be set back


def text(where: str, name: str, value: Any) -> str:
    """`value` as text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise InputError(f'"{name}" of the {where} is {shown(value)}; give text.')
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(
                f'"{name}" of the {where} holds half of a character ({shown(value)}); '
                "give text that is valid Unicode."
            ) from None
    return str(value)


def exact_keys(where: str, given: Any, expected: tuple[str, ...]) -> None:
    """Refuse anything but a dict with exactly the `expected` keys."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"The {where} is {shown(given)}; give an object with the fields {', '.join(expected)}."
        )
    for name in expected:
        if name not in given:
            raise InputError(f'The {where} lacks the field "{name}"; add it, or export the map again.')
    for name in given:
        if name not in expected:
            raise InputError(
                f"The {where} has an unknown field {shown(name)}; its fields are {', '.join(expected)}."
            )


def frozen(where: str, name: str, value: Any, depth: int = 0) -> Any:
    """A deep, unchangeable copy of a JSON value: dicts become `FrozenDict`, lists tuples.

    numpy scalars and arrays become plain numbers and tuples. NaN, infinity, integers beyond 2^63, keys
    that are not text, other types and more than 32 levels are refused with InputError.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(where, name, value)
    if depth > DEEPEST:
        raise InputError(f'"{name}" of the {where} has more than {DEEPEST} levels; make it flatter.')
    if isinstance(value, np.generic | np.ndarray):
        return frozen(where, name, value.tolist(), depth)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and abs(value) <= 2**63:
        return int(value)
    if isinstance(value, Mapping):
        return FrozenDict(
            {
                text(where, f"a key of {name}", key): frozen(where, f"{name}.{key}"[:80], item, depth + 1)
                for key, item in value.items()
            }
        )
    if isinstance(value, list | tuple):
        if _plain(value):
            return tuple(value)  # long lists of knots: nothing to look at one by one
        return tuple(frozen(where, f"{name}[{i}]", item, depth + 1) for i, item in enumerate(value))
    raise InputError(
        f'"{name}" of the {where} is {shown(value)}, which a map cannot store; '
        "give finite numbers, text, true/false, null, lists or objects."
    )


def _plain(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list holds nothing but finite numbers that can be stored, of one kind or mixed."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return bool(np.isfinite(values).all())
    return kinds <= {float, int} and all(-(2.0**63) <= value <= 2.0**63 for value in values)
