"""A file that is named by its address on the web."""

from __future__ import annotations

from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import FileFormat, Parsed

#: The most that is fetched: 2 GB.
MOST_BYTES = 2_000_000_000
TIMEOUT = 60


def is_address(file: str) -> bool:
    return file.startswith(("http://", "https://"))


def parse_address(address: str, file_format: FileFormat) -> Parsed:
    """Fetch and parse what the address holds. Raises InputError in one sentence, without credentials."""
    parts = urlsplit(address)
    name = unquote(parts.path.rsplit("/", 1)[-1]) or parts.hostname or "download"
    shown = f"{parts.scheme}://{parts.hostname}{parts.path}"
    try:
        with urlopen(Request(address, headers={"User-Agent": "calcore"}), timeout=TIMEOUT) as answer:
            data = answer.read(MOST_BYTES + 1)
    except HTTPError as error:
        raise InputError(f"{shown} answers {error.code} ({error.reason}); check the address.") from None
    except (URLError, HTTPException, TimeoutError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"{shown} cannot be fetched: {reason}; check the address and the network.") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{shown} is larger than {MOST_BYTES / 1e9:g} GB; give a part of it.")
    return ingest.parse(data, name, file_format)
