"""JSON documents of the history: versioned, exact to the last bit of every float, checked when they are read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from calcore.errors import InputError
from calcore.maps.fields import shown

VERSION = 1
_FLOAT = (
    "$float"  # JSON has no NaN or infinity: {"$float": "nan"}; keys of users that start with $ get another $
)
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encoded(document: Mapping[str, Any], what: str) -> str:
    """The document as ASCII text; InputError where it holds something that is no JSON value."""
    if not isinstance(document, Mapping):
        raise InputError(f"The {what} is {shown(document)}; give an object.")
    try:
        return json.dumps({"version": VERSION, "document": _plain(document, what)}, allow_nan=False)
    except RecursionError:
        raise InputError(f"The {what} nests too deeply to be stored; give a flatter one.") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(f"The {what} holds a number with too many digits to be stored.") from None


def decoded(text: str, what: str) -> dict[str, Any]:
    """The inverse of `encoded`; InputError for text that it did not write or that a newer version wrote."""
    damaged = f"The {what} in the history is damaged; restore the history from a backup or delete the run."
    try:
        whole = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError(damaged) from None
    if not isinstance(whole, dict) or set(whole) != {"version", "document"}:
        raise InputError(damaged)
    if type(whole["version"]) is int and whole["version"] > VERSION:
        raise InputError(
            f"The {what} in the history was written by a newer calcore (version {whole['version']} of documents, "
            f"this one reads {VERSION}); update calcore."
        )
    if whole["version"] != VERSION or not isinstance(whole["document"], dict):
        raise InputError(damaged)
    try:
        result = _restored(whole["document"])
    except (KeyError, TypeError):
        raise InputError(damaged) from None
    if not isinstance(result, dict):
        raise InputError(damaged)
    return result


def _plain(value: Any, what: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {_FLOAT: "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, list | tuple):
        return [_plain(item, what) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InputError(f"The {what} has a key that is no text; name every value.")
        return {f"${key}" if key.startswith("$") else key: _plain(item, what) for key, item in value.items()}
    raise InputError(
        f"The {what} holds {shown(value)}; give numbers, texts, true, false, None, lists or objects."
    )


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {_FLOAT}:
            return _SPECIAL[value[_FLOAT]]
        return {key[1:] if key.startswith("$$") else key: _restored(item) for key, item in value.items()}
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
