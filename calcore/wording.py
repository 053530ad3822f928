"""Numbers as people read them: one rule for each kind, used by every sentence, table and hover."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable

MISSING = "n/a"
#: A space that does not break, so that a number is never parted from its sign.
PERCENT = "\u00a0%"

#: Characters of a name or cell of the user's that a sentence shows.
MOST_SHOWN = 80
_LONG = re.compile(r'"[^"]{200,}"|[^\s"]{400,}')


def short(text: str, *, distinct: bool = False) -> str:
    """Text of the user's on one line, cut with an ellipsis; ``distinct``: two texts that differ still do."""
    if len(text) > MOST_SHOWN:
        mark = f"… #{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:6]}" if distinct else "…"
        text = text[: MOST_SHOWN - len(mark)] + mark
    return text if distinct or text.isprintable() else " ".join(text.split())


def readable(sentence: str) -> str:
    """A sentence in which no text of the user's fills a page; every way to the reader goes through here."""
    if len(sentence) < 200:
        return sentence
    return _LONG.sub(lambda found: _cut(found.group()), sentence)


def _cut(text: str) -> str:
    return f'"{short(text[1:-1])}"' if text[0] == '"' else short(text)


def count(n: float) -> str:
    """Rows: "12,345"."""
    return MISSING if math.isnan(n) else f"{n:,.0f}"


def rows(n: float) -> str:
    """ "1 row", "12,345 rows"."""
    return "1 row" if n == 1 else f"{count(n)} rows"


def error(value: float) -> str:
    """ECE and other small metrics: three decimals, "<0.001", never "-0.000"."""
    if math.isnan(value):
        return MISSING
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else "> -0.001"
    return f"{round(value, 3) + 0.0:.3f}"


def signed(value: float) -> str:
    """A difference of metrics: "+0.012"."""
    if math.isnan(value):
        return MISSING
    return f"{round(value, 3) + 0.0:+.3f}" if abs(value) >= 0.0005 else "0.000"


def rate(value: float) -> str:
    """A rate in [0, 1] as a percentage: whole from 10 %, one decimal below; "<0.1 %" for what is not 0."""
    if math.isnan(value):
        return MISSING
    percent = 100 * value
    if 0 < abs(percent) < 0.05:
        return f"<0.1{PERCENT}"
    decimals = 0 if abs(percent) >= 9.95 else 1
    text = f"{round(percent, decimals) + 0.0:.{decimals}f}"
    return f"{text.removesuffix('.0')}{PERCENT}"


def estimated(value: float) -> str:
    """An estimated rate: corrected labels can put it outside [0, 1], which is said and not given as a fact."""
    if value > 1.0005:
        return f"over 100{PERCENT}"
    return f"below 0{PERCENT}" if value < -0.0005 else rate(value)


def rates(low: float, high: float) -> str:
    """An interval of rates: "80-88 %"."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    first, second = rate(low), rate(high)
    return second if first == second else f"{first.removesuffix(PERCENT)}–{second}"


def points(difference: float) -> str:
    """A difference of two rates: "12 points", "1.4 points", "<0.1 points"."""
    if math.isnan(difference):
        return MISSING
    size = abs(100 * difference)
    if 0 < size < 0.05:
        return "<0.1\u00a0points"
    text = f"{size:.0f}" if size >= 9.95 else f"{size:.1f}".removesuffix(".0")
    return f"{text}\u00a0{'point' if text == '1' else 'points'}"


def side(residual: float) -> str:
    """Which side a score is on, by event rate minus score: "too high", "too low", "" where it is neither."""
    if math.isnan(residual) or residual == 0:
        return ""
    return "too high" if residual < 0 else "too low"


def interval(bounds: tuple[float, float] | None, kind: Callable[[float], str] = error) -> str:
    """An interval of a metric: "0.012–0.034"."""
    return MISSING if bounds is None else f"{kind(bounds[0])}–{kind(bounds[1])}"


def p_value(p: float) -> str:
    """A p-value: three decimals, "<0.001", "not tested"."""
    if math.isnan(p):
        return "not tested"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def edge(value: float) -> str:
    """An end of a bin, without trailing zeros: "0.8"."""
    return f"{value:.3g}"


def listed(names: list[str], most: int = 3) -> str:
    """ "a, b, c and 4 more"."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
