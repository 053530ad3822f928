"""Alerts to an address on the web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from calcore.errors import InputError

TIMEOUT = 15


def check_webhook(address: str) -> None:
    """Raises InputError for what is no address to post to."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("--webhook needs an address that begins with http:// or https://.")


def post(address: str, document: Mapping[str, Any]) -> str | None:
    """Post the document as JSON; what went wrong in a sentence, without the address's secrets, or None."""
    host = urlsplit(address).hostname
    body = json.dumps(document, allow_nan=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "calcore"}
    try:
        with urlopen(Request(address, data=body, headers=headers, method="POST"), timeout=TIMEOUT):
            return None
    except HTTPError as error:
        return f"The webhook at {host} answered {error.code}: it may not have got the alert."
    except (URLError, HTTPException, TimeoutError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        return f"The webhook at {host} could not be reached ({reason}): it did not get the alert."
