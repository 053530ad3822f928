"""What a stored setting may be: each kind checks a JSON value, reads the text of a link, and says itself in words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from calcore.errors import InputError

#: Characters that a stored text may have: names of columns, values and subgroups.
LONGEST_TEXT = 1000
#: Digits as people write them; ``float`` would take "1_0", "nan" and Arabic digits too.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


class Kind(Protocol):
    """One kind of value. ``check`` and ``parse`` raise InputError that says only what is wanted: "a number ..."."""

    @property
    def words(self) -> str: ...
    def check(self, value: Any) -> Any:
        """A value from JSON, as it is kept; lists become tuples."""

    def parse(self, text: str) -> Any:
        """A value from the text of a link."""

    def write(self, value: Any) -> str:
        """The text that ``parse`` reads back."""


class _AsText(ABC):
    """A kind whose values are texts: a link holds them as they are."""

    @abstractmethod
    def check(self, value: Any) -> str: ...

    def parse(self, text: str) -> str:
        return self.check(text)

    def write(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class OneOf(_AsText):
    """One of the options; ``named`` says in words what they are, where they are too many to list."""

    options: tuple[str, ...]
    named: str = ""

    @property
    def words(self) -> str:
        return self.named or f"one of {', '.join(self.options)}"

    def check(self, value: Any) -> str:
        if isinstance(value, str) and value in self.options:
            return value
        raise InputError(self.words)


@dataclass(frozen=True)
class Number:
    """A finite number in [low, high]."""

    low: float
    high: float

    @property
    def words(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def check(self, value: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and self.low <= value <= self.high:  # False for NaN
            return float(value) + 0.0
        raise InputError(self.words)

    def parse(self, text: str) -> float:
        if len(text) > 40 or _NUMBER.fullmatch(text) is None:
            raise InputError(self.words)
        return self.check(float(text))

    def write(self, value: Any) -> str:
        return repr(float(value))


@dataclass(frozen=True)
class Whole:
    """A whole number in [low, high]."""

    low: int
    high: int

    @property
    def words(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}"

    def check(self, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise InputError(self.words)

    def parse(self, text: str) -> int:
        if len(text) > 16 or not (text.isascii() and text.isdigit()):
            raise InputError(self.words)
        return self.check(int(text))

    def write(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class Flag:
    words = "true or false"

    def check(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        raise InputError(self.words)

    def parse(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise InputError(self.words)
        return text == "true"

    def write(self, value: Any) -> str:
        return "true" if value else "false"


@dataclass(frozen=True)
class Text(_AsText):
    """Text of at most ``LONGEST_TEXT`` characters that can be written as UTF-8."""

    words = f"text of at most {LONGEST_TEXT:,} characters"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise InputError(self.words)
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:  # half of a character
            raise InputError(self.words) from None
        return value


@dataclass(frozen=True)
class Pattern(_AsText):
    """Text of one form, described by ``words``."""

    pattern: str
    words: str

    def check(self, value: Any) -> str:
        if isinstance(value, str) and re.fullmatch(self.pattern, value, re.ASCII):
            return value
        raise InputError(self.words)


@dataclass(frozen=True)
class Many:
    """A list of at most ``most`` values of one kind, different unless ``repeats``; in a link with commas between."""

    one: OneOf | Text
    most: int
    repeats: bool = False

    @property
    def words(self) -> str:
        different = "" if self.repeats else "different "
        return f"a list of {different}values, at most {self.most:,}, each {self.one.words}"

    def check(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or len(value) > self.most:
            raise InputError(self.words)
        found = tuple(self._one(item) for item in value)
        if not self.repeats and len(set(found)) < len(found):
            raise InputError(self.words)
        return found

    def _one(self, item: Any) -> str:
        try:
            return self.one.check(item)
        except InputError:
            raise InputError(f"{self.words}; {shown(item)} is not") from None

    def parse(self, text: str) -> tuple[str, ...]:
        return self.check(text.split(",") if text else [])

    def write(self, value: Collection[str]) -> str:
        return ",".join(value)


@dataclass(frozen=True)
class Maybe:
    """A value of another kind, or nothing; a link leaves nothing out."""

    one: Kind

    @property
    def words(self) -> str:
        return f"{self.one.words}, or null"

    def check(self, value: Any) -> Any:
        try:
            return None if value is None else self.one.check(value)
        except InputError as wanted:
            raise InputError(
                f"{wanted}, or null" if isinstance(self.one, Number | Whole | Flag) else str(wanted)
            ) from None

    def parse(self, text: str) -> Any:
        return self.one.parse(text)

    def write(self, value: Any) -> str:
        return self.one.write(value)


def shown(value: Any) -> str:
    """A short printable form of anything that JSON or a link can hold, for a sentence."""
    if isinstance(value, dict | list | tuple):
        return f"a {'list' if not isinstance(value, dict) else 'group'} of {len(value):,}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        plain = "".join(c if c.isprintable() else "?" for c in value[:60])
        return f'"{plain}{"..." if len(value) > 60 else ""}"'
    if isinstance(value, int) and abs(value) > 10**20:  # its digits could fill a page
        return "a very large number"
    return str(value)
