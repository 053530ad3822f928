"""Untrusted JSON text to plain values and back: bounded, strict, with a checksum."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from typing import Any, NoReturn

from calcore.errors import InputError
from calcore.maps.fields import FrozenDict, frozen, shown

LARGEST = 50_000_000
"""Bytes (or characters) above which a document is refused before it is parsed."""
_LONG = 1_000_000  # what takes long enough to parse that one looks first
_MOST_DIGITS = 400  # more than any number in double precision has before its point
MOST_ENTRIES = 2_000_000  # of one list: a document of 50 MB holds fewer knots in full precision
MOST_BRACKETS, MOST_COMMAS = 200_000, 5_000_000  # what parses into far more memory than it takes as text


def parse_object(document: str | bytes, what: str, holds: str = "") -> dict[str, Any]:
    """The JSON object in `document`, not yet looked into; `InputError` in one sentence for anything else.

    Refused: more than 50 MB, text that is not UTF-8, NaN and Infinity, numbers beyond double precision,
    repeated keys, more than 32 levels, and every top level but an object.
    """
    text = _decoded(document, what)
    if len(text) > _LONG and holds not in text:
        raise InputError(f'The {what} does not hold "{holds}", so it is none; choose another file.')
    if not text.lstrip(" \t\r\n").startswith("{"):
        raise InputError(f"The {what} does not start with {{, so it is no JSON object; choose another file.")
    try:
        # Python refuses long integers itself, and faster, unless somebody has told it not to
        guard = None if sys.get_int_max_str_digits() else _integer
        value = json.loads(
            text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant, parse_int=guard
        )
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"The {what} nests too deeply to be one; choose another file.") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"The {what} is not valid JSON (line {error.lineno}, column {error.colno}); "
            "it may be cut off or edited, so export it again."
        ) from None
    except ValueError:  # an integer of thousands of digits
        raise InputError(f"The {what} holds a number that is too long to read; export it again.") from None
    assert isinstance(value, dict)
    return value


def stored(values: dict[str, Any], what: str) -> FrozenDict:
    """What `parse_object` found as frozen values; too deep, not finite and not storable ones are refused."""
    result = frozen(what, "content", values)
    assert isinstance(result, FrozenDict)
    return result


def checksum(values: Any) -> str:
    """SHA-256 (hex) over the canonical JSON of `values`: keys sorted, no spaces, ASCII, shortest numbers.

    Floats without a fraction count as integers, so a tool that rewrites 1.0 as 1 changes nothing. It
    shows that a document was changed by accident; it does not prove who wrote it.
    """
    canonical = json.dumps(_canonical(values), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= 2**53 else value
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return value


def _decoded(document: str | bytes, what: str) -> str:
    if not isinstance(document, str | bytes | bytearray | memoryview):
        raise InputError(f"The {what} is {shown(document)}; give its JSON as text or bytes.")
    size = document.nbytes if isinstance(document, memoryview) else len(document)
    if size > LARGEST:
        raise InputError(
            f"The {what} has {size:,} bytes, more than the {LARGEST:,} that one can have; "
            "choose another file."
        )
    if isinstance(document, str):
        text = document
    else:
        try:
            text = bytes(document).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"The {what} is not UTF-8 text (byte {error.start}); choose the JSON file as it was exported."
            ) from None
    commas = text.count(",")
    if (
        text.count("[") + text.count("{") > MOST_BRACKETS
        or commas > MOST_COMMAS
        or (commas > MOST_ENTRIES and max(part.count(",") for part in text.split("]")) > MOST_ENTRIES)
    ):
        raise InputError(f"The {what} has more entries than one can have; choose another file.")
    return text


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        repeated, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise InputError(f"The JSON has the field {shown(repeated)} twice; export it again.")
    return values


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:  # reading them takes longer the more there are, by the square
        raise InputError("The JSON holds a number that is too long to read; export it again.")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"The JSON holds {name}, which is not a number; export it again.")
