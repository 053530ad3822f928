"""What may be stored: texts that both databases hold, times with a zone, counts that make sense."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from calcore.errors import InputError
from calcore.maps.fields import shown
from calcore.monitoring.store.records import AlertRecord, BatchRecord

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_LARGEST = 2**63 - 1


def text(what: str, value: object, empty: bool = False) -> str:
    """`value` where it is text that SQLite and PostgreSQL give back alike; InputError otherwise."""
    if not isinstance(value, str):
        raise InputError(f"The {what} is {shown(value)}; give text.")
    if not value and not empty:
        raise InputError(f"The {what} is empty; give a name.")
    if "\0" in value:
        raise InputError(
            f"The {what} {shown(value)} has a NUL character, which no database keeps; remove it."
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"The {what} {shown(value)} is not valid Unicode text; type it again.") from None
    return value


def named(name: str, most: int = 60) -> str:
    """A name as its user typed it, short enough for a sentence and on one line."""
    line = "".join(letter if letter.isprintable() else " " for letter in name[:most])
    return f'"{line}…"' if len(name) > most else f'"{line}"'


def digest(value: str) -> str:
    """SHA-256 of a text of any length: what unique keys are made of, equal where every byte is."""
    return hashlib.sha256(value.encode()).hexdigest()


def sha256(what: str, value: object) -> str:
    """`value` where it is 64 lower-case hexadecimal digits."""
    if not isinstance(value, str) or not _SHA256.match(value):
        raise InputError(f"The {what} is {shown(value)}; give 64 lower-case hexadecimal digits.")
    return value


def utc(what: str, value: object) -> datetime:
    """`value` in UTC; a time without a zone could be any of a day's hours and is refused."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InputError(f"The {what} is {shown(str(value))}, without a time zone; give a time in UTC.")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InputError(
            f"The {what} is {shown(str(value))}, beyond the years that a time can have."
        ) from None


def at_or_now(what: str, value: datetime | None) -> datetime:
    return datetime.now(UTC) if value is None else utc(what, value)


def whole(what: str, value: object) -> int:
    """A count of rows."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise InputError(f"The {what} is {shown(value)}; give a whole number from 0 on.")
    return value


def batches(records: Iterable[BatchRecord]) -> None:
    """InputError where a record cannot be, or where two have the same key."""
    keys: set[str] = set()
    for record in records:
        key = text("key of a batch", record.key)
        where = f"batch {named(key)}"
        if key in keys:
            raise InputError(f"The {where} is in the run twice; give each batch one key.")
        keys.add(key)
        text(f"label of {where}", record.label, empty=True)
        times = [
            utc(f"{name} of {where}", value)
            for name, value in (("start", record.start), ("end", record.end))
            if value is not None
        ]
        if len(times) == 2 and times[0] > times[1]:
            raise InputError(f"The {where} ends before it starts; exchange the two times.")
        if whole(f"number of labels of {where}", record.labelled) > whole(
            f"number of rows of {where}", record.rows
        ):
            raise InputError(f"The {where} has more labels than rows; count each row once.")
        if record.kind not in ("measured", "estimated"):
            raise InputError(f"The {where} is of kind {shown(record.kind)}; give measured or estimated.")


def alerts(records: Iterable[AlertRecord]) -> None:
    """InputError where a record cannot be, or where two have the same key."""
    keys: set[str] = set()
    for record in records:
        key = text("key of an alert", record.key)
        if key in keys:
            raise InputError(f"The alert {named(key)} is in the run twice; give each alert one key.")
        keys.add(key)
        text(f"level of alert {named(key)}", record.level)
        if record.batch_key is not None:
            text(f"batch of alert {named(key)}", record.batch_key)
