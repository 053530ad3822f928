"""What every function of a calibration map shares: a registry of kinds, strict reading, checked scores.

A new kind needs nothing but a frozen dataclass that derives from `MapFunction`: fields (numbers, arrays
or other functions), a `__post_init__` that checks them, and `_apply`. `functions.py` has those there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError
from calcore.maps.fields import exact_keys, number, numbers, shown
from calcore.subgroups import Membership
from calcore.validation import ROUNDING, Floats

#: Rows at a time of what looks at subgroups: many masks of few rows stay in the processor's cache.
_BLOCK = 32_768
KINDS: dict[str, type[MapFunction]] = {}
"""Every kind of function by its name, filled as the classes are made."""


def checked_scores(scores: ArrayLike) -> Floats:
    """Scores as a float64 array in [0, 1]; the array itself where it already is one.

    Values within 1e-6 outside are clipped. NaN, values farther outside and anything that is not numbers
    are refused with `InputError`, which says how many there are and where the first one is.
    """
    array = _as_floats(scores)
    if not array.size or (array.min() >= 0.0 and array.max() <= 1.0):  # False with a NaN
        return array
    bad = ~((array >= -ROUNDING) & (array <= 1.0 + ROUNDING))
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{int(bad.sum())} of {array.size} scores are not in [0, 1], the first at position "
            f"{first} ({float(array.flat[first])!r}); remove them or give probabilities."
        )
    return np.clip(array, 0.0, 1.0)


def _as_floats(scores: ArrayLike) -> Floats:
    try:
        array = np.asarray(scores)
        if array.dtype == object and not any(isinstance(v, str | bytes) for v in array.flat):
            array = array.astype(np.float64)  # Decimal, numbers among None: None becomes NaN
    except (TypeError, ValueError, OverflowError):
        array = np.asarray("")
    if array.dtype.kind not in "biuf":
        raise InputError(
            "The scores hold text, dates or other things that are not numbers; "
            "give one list of probabilities in [0, 1]."
        )
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class MapFunction(ABC):
    """A function from scores in [0, 1] to calibrated scores in [0, 1]; call it with an array."""

    kind: ClassVar[str]
    needs_groups: ClassVar[bool] = False
    """Whether the function also depends on the subgroups of a row."""
    in_blocks: ClassVar[bool] = True
    """Whether rows of a function of subgroups are best looked at some thousands at a time."""
    most: ClassVar[Mapping[str, int]] = {}
    """Entries that the lists among the fields may have in a document, looked at before anything else."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__ and KINDS.setdefault(cls.kind, cls).__qualname__ != cls.__qualname__:
            raise TypeError(f"two map functions are called {cls.kind!r}")

    def __call__(self, scores: ArrayLike, groups: NDArray[np.bool_] | Membership | None = None) -> Floats:
        """Calibrated scores, float64 in [0, 1], of the shape of `scores`.

        `groups` (rows x subgroups, bool, or a Membership) is used by kinds that need it alone. Raises `InputError` for
        scores that are NaN or outside [0, 1].
        """
        p = checked_scores(scores)
        rows = p.reshape(-1)
        if not (self.needs_groups and self.in_blocks) or rows.size <= _BLOCK or groups is None:
            return self._apply(rows, groups).reshape(p.shape)
        out = np.empty_like(rows)
        for start in range(0, rows.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            inside = groups.take(part) if isinstance(groups, Membership) else groups[part]
            out[part] = self._apply(rows[part], inside)
        return out.reshape(p.shape)

    @abstractmethod
    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        """Calibrated scores of a flat array of checked ones."""

    def breakpoints(self) -> Floats:
        """The scores at which the formula changes: knots, edges, clips."""
        return np.empty(0)

    def to_dict(self) -> dict[str, Any]:
        """The kind and every field as plain JSON values."""
        return {"kind": self.kind, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The function of `to_dict`'s result; `InputError` names a missing, unknown or unusable field."""
        names = tuple(f.name for f in fields(cls))
        exact_keys(f"{cls.kind} function", given, ("kind", *names))
        if given["kind"] != cls.kind:
            raise InputError(
                f"The function is of kind {shown(given['kind'])}, not {cls.kind!r}; "
                "read it with function_from_dict."
            )
        return cls(**{name: cls._read(name, given[name]) for name in names})

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        """A field as the constructor takes it."""
        return value

    @classmethod
    def entries(cls, name: str, value: Any) -> int:
        """How many entries the list in a field has, of what `most` limits; 0 where it is no list."""
        return len(value) if isinstance(value, list | tuple) else 0

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, f.name) for f in fields(self))
        return (self.kind, *(v.tobytes() if isinstance(v, np.ndarray) else v for v in values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapFunction) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return function_from_dict, (self.to_dict(),)  # through the checks, and back to read-only arrays

    def _set_number(self, name: str, low: float, high: float) -> None:
        value = number(f"{self.kind} function", name, getattr(self, name), low, high)
        object.__setattr__(self, name, value)

    def _set_numbers(self, name: str, increasing: bool = False) -> None:
        values = numbers(f"{self.kind} function", name, getattr(self, name), increasing=increasing)
        object.__setattr__(self, name, values)


def function_from_dict(given: Any) -> MapFunction:
    """The function, of whatever kind, that `to_dict` described; `InputError` for anything else."""
    if not isinstance(given, Mapping) or "kind" not in given:
        raise InputError(f'The function is {shown(given)}; give an object with the field "kind".')
    cls = KINDS.get(given["kind"]) if isinstance(given["kind"], str) else None
    if cls is None:
        raise InputError(
            f"The function is of the unknown kind {shown(given['kind'])}; "
            f"this version knows {', '.join(sorted(KINDS))}."
        )
    return cls.from_dict(given)


def refuse_long_lists(given: Any, depth: int = 0) -> None:
    """Raise `InputError` where a list of a described function is longer than any can be; it looks at nothing else."""
    if not isinstance(given, Mapping) or depth > 8:
        return
    kind = given.get("kind")
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    for name, most in (cls.most if cls is not None else {}).items():
        size = cls.entries(name, given.get(name)) if cls is not None else 0
        if size > most:
            raise InputError(
                f'"{name}" of the {kind} function has {size:,} entries, but {most:,} is the most; '
                "choose another file."
            )
    for value in given.values():
        for inner in value[:100] if isinstance(value, list | tuple) else (value,):
            refuse_long_lists(inner, depth + 1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_dict() if isinstance(value, MapFunction) else value
