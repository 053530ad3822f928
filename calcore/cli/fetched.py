"""A file that is named by its address on the web."""

from __future__ import annotations

import re
import time
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from calcore.errors import InputError

#: The most that is fetched: 2 GB.
MOST_BYTES = 2_000_000_000
#: Seconds without a byte, and seconds in all.
TIMEOUT = 60
PATIENCE = 1_800
_PIECE = 1 << 20


def is_address(file: str) -> bool:
    return re.match(r"https?://", file, re.IGNORECASE) is not None


def checked_address(address: str, what: str) -> str:
    """The address as a request takes it. Raises InputError, without what may be secret in it, for one that is none."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or not parts.netloc.isascii() or re.search(r"[\x00-\x20\x7f]", parts.netloc):
        raise InputError(f"{what} needs an address that begins with http:// or https:// and a host.")
    if "@" in parts.netloc:
        raise InputError(f"{what} takes no user and password in the address; give one without them.")
    return quote(address.split("#", 1)[0], safe="%/:?#[]@!$&'()*+,;=")


def fetched(address: str) -> tuple[bytes, str]:
    """What the address holds, and a name for it. Raises InputError in one sentence, without credentials."""
    asked = checked_address(address, "A file on the web")
    parts = urlsplit(asked)
    name = unquote(parts.path.rsplit("/", 1)[-1]) or parts.hostname or "download"
    shown = f"{parts.scheme}://{parts.hostname}{parts.path}"
    try:
        with urlopen(Request(asked, headers={"User-Agent": "calcore"}), timeout=TIMEOUT) as answer:
            return _content(answer, shown), name
    except HTTPError as error:
        raise InputError(
            f"{shown} answers {error.code} ({_short(error.reason)}); check the address."
        ) from None
    except InputError:
        raise
    except (URLError, HTTPException, TimeoutError, ValueError, OSError) as error:
        reason = _short(getattr(error, "reason", None) or error)
        raise InputError(f"{shown} cannot be fetched: {reason}; check the address and the network.") from None


def _content(answer: HTTPResponse, shown: str) -> bytes:
    """The body, whole: a part of a file is a file too, so that a connection that broke would go unnoticed."""
    told = answer.headers.get("Content-Length", "")
    wanted = int(told) if told.isdigit() and not answer.chunked else None
    deadline = time.monotonic() + PATIENCE
    data = bytearray()
    while wanted is None or len(data) < wanted:
        if max(len(data), wanted or 0) > MOST_BYTES:
            raise InputError(f"{shown} is larger than {MOST_BYTES / 1e9:g} GB; give a part of it.")
        if time.monotonic() > deadline:
            raise InputError(
                f"{shown} is too slow: {len(data):,} bytes in {PATIENCE / 60:g} minutes; try again."
            )
        piece = answer.read1(_PIECE)
        if not piece:
            break
        data += piece
    if wanted is not None and len(data) < wanted:
        raise InputError(f"{shown} was cut off after {len(data):,} of {wanted:,} bytes; try again.")
    return bytes(data)


def _short(reason: object) -> str:
    """The first sentence of a reason, without addresses."""
    return re.sub(r"\S+://\S+", "another address", str(reason)).split(". ")[0].split("\n")[0][:200]
