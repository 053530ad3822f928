"""Alerts to an address on the web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from calcore.cli.fetched import checked_address

TIMEOUT = 15


def check_webhook(address: str) -> str:
    """The address as it is posted to. Raises InputError for one that cannot be."""
    return checked_address(address, "--webhook")


class _NoRedirects(HTTPRedirectHandler):
    """A redirected POST would go on as a GET without the alert, and its answer pass for success."""

    def redirect_request(self, *given: Any) -> None:
        return None


def post(address: str, document: Mapping[str, Any]) -> str | None:
    """Post the document as JSON; what went wrong in a sentence, without the address's secrets, or None."""
    host = urlsplit(address).hostname
    body = json.dumps(document, allow_nan=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "calcore"}
    try:
        request = Request(address, data=body, headers=headers, method="POST")
        with build_opener(_NoRedirects).open(request, timeout=TIMEOUT):
            return None
    except HTTPError as error:
        return f"The webhook at {host} answered {error.code}: it may not have got the alert."
    except (URLError, HTTPException, TimeoutError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        return f"The webhook at {host} could not be reached ({reason}): it did not get the alert."
