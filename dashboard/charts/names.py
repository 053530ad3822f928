"""Names and sentences as plotly must be given them, so that people read what was typed."""

from __future__ import annotations

import re
import textwrap

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})
ELLIPSIS = "…"


def escaped(text: str) -> str:
    """Text for a label, legend or hover: plotly would take tags, entities and $...$ for markup."""
    return _spaced(text).translate(_ESCAPES)


def _spaced(text: str) -> str:
    """On one line; spaces that do not break stay."""
    return re.sub(r"[ \t\r\n\f\v]+", " ", str(text)).strip(" ")


def shortened(name: str, most: int = 24) -> str:
    """A name of at most ``most`` characters for an axis, escaped; both ends of a long one are kept."""
    plain = _spaced(name)
    if len(plain) > most:
        tail = (most - 1) // 2
        plain = plain[: most - 1 - tail] + ELLIPSIS + plain[-tail:]
    return escaped(plain)


def title_lines(title: str, width: int = 50) -> list[str]:
    """A sentence in lines that fit a phone's screen, each escaped."""
    return [escaped(line) for line in textwrap.wrap(title, width)]


def two_lines(name: str, width: int = 22) -> str:
    """A name for an axis on at most two lines, broken at "and" where it has one; escaped."""
    plain = _spaced(name)
    if len(plain) <= width + 2:
        return escaped(plain)
    first, joint, second = plain.partition(" and ")
    if not joint:
        first, *rest = textwrap.wrap(plain, width)
        second = " ".join(rest)
    return f"{shortened(first, width)}<br>{shortened(f'{joint.lstrip()}{second}', width)}".removesuffix(
        "<br>"
    )
