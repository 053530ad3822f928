"""Numbers as people read them: one rule for each kind, used by every sentence, table and hover."""

from __future__ import annotations

import math
from collections.abc import Callable

MISSING = "n/a"
#: A space that does not break, so that a number is never parted from its sign.
PERCENT = "\u00a0%"


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


def on_basis(metric: str, basis: str) -> str:
    """A metric with what it was measured on, unless that is the outcomes: "ECE against the noisy labels"."""
    if basis == "against the labels":
        return metric
    return f"{metric} {basis}" if basis.startswith("against") else f"{metric}, {basis},"


def exact(value: float) -> str:
    """A term of a sum that readers follow: four decimals, never "-0.0000"."""
    return MISSING if math.isnan(value) else f"{round(value, 4) + 0.0:.4f}"


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


def to_check(size: int, population: int, precision: float) -> str:
    """How many rows to check for a precision, in words."""
    if size >= population:
        return f"All {rows(population)} have to be checked: there are too few for a smaller sample of this precision."
    return (
        f"Check {count(size)} of {rows(population)}: the event rate of these rows, and with it the overall gap of the "
        f"scores, is then known to ±{points(precision)} (95 %)."
    )


def to_check_for_verdict(needed: int, population: int, gap: float) -> str:
    """How many rows the verdict on the score bins needs, which is more than the overall gap does."""
    if needed >= population:
        return f"This file is too small to tell an average gap of {points(gap)} over the score ranges from chance."
    return f"To tell an average gap of {points(gap)} over the score ranges from chance takes about {rows(needed)}."


def checked(drawn: int, filled: int, in_order: bool) -> str:
    """What came back of a random sample, and whether its gaps can mislead."""
    if filled == drawn:
        return f"All {rows(drawn)} of the random sample are filled in."
    said = f"{count(filled)} of {rows(drawn)} filled in"
    if in_order:
        return f"{said}, from the top of the list: as they were drawn in random order, these are a random sample too."
    return f"{said}: if the gaps are not random, the result can be off."


def spellings(positive: tuple[str, ...], negative: tuple[str, ...]) -> str:
    """How labels that were filled in were read; empty where they are plain 1 and 0."""
    if set(positive) <= {"1"} and set(negative) <= {"0"}:
        return ""
    parts = [
        f"{', '.join(values)} as {meaning}"
        for values, meaning in ((positive, "positive"), (negative, "negative"))
        if values
    ]
    return f"Read {' and '.join(parts)}."


def corrections(listed: int, filled: int, changed: int) -> str:
    """How many corrections are in use, and what they are never used for."""
    left = f", {count(listed - filled)} of {rows(listed)} left open" if filled < listed else ""
    verb = "changes a label" if changed == 1 else "change a label"
    noun = "correction" if filled == 1 else "corrections"
    return (
        f"{count(filled)} {noun} applied{left}; {count(changed)} {verb}. Calibrators are fitted on the corrected "
        "labels. Nothing is measured on them: rows picked because they look wrong would make right scores look bad."
    )


def after_corrections(labels: str, rates_known: bool) -> str:
    """What corrections leave as it was."""
    if labels == "clean":
        return (
            "The other labels are still taken for the outcomes, and results are measured on the recorded ones. If some "
            "were wrong, say on the Data page that some are recorded wrong."
        )
    if rates_known:
        return (
            "The flip rates describe the recorded labels and no longer hold after corrections: calibrators are fitted "
            "on the corrected labels without them. Results are still measured on the recorded labels, with the rates."
        )
    return (
        "Labels that are partly corrected are still noisy: what may be ranked, and on what, stays as it was."
    )
