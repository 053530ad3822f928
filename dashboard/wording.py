"""Numbers as people read them, and sentences about lists that are filled in by hand."""

from __future__ import annotations

import math

from calcore.wording import (
    MISSING,
    PERCENT,
    count,
    edge,
    error,
    estimated,
    interval,
    listed,
    p_value,
    points,
    rate,
    rates,
    rows,
    side,
    signed,
)

__all__ = [
    "MISSING",
    "NO_GATE",
    "PERCENT",
    "after_corrections",
    "checked",
    "corrections",
    "count",
    "edge",
    "error",
    "estimated",
    "exact",
    "interval",
    "left_out",
    "listed",
    "no_subgroups",
    "on_basis",
    "p_value",
    "points",
    "rate",
    "rates",
    "rows",
    "searched",
    "side",
    "signed",
    "spellings",
    "to_check",
    "to_check_for_verdict",
]

NO_GATE = "The gate needs a recorded label on each row; these labels have none."


def no_subgroups(chosen: bool) -> str:
    """Why there are no subgroups to list; ``chosen``: columns were, but no value holds enough rows."""
    reason = "none holds enough rows" if chosen else "no column is chosen for subgroups"
    return f"Nothing to show: {reason}."


def searched(groups: int, cells: int) -> str:
    """What the worst subgroups were picked from."""
    return f"The worst of {count(groups)} subgroups, over {count(cells)} cells tested together."


def left_out(n: int) -> str:
    """Kept rows that are not measured on; empty where all are."""
    return f"{rows(n)} left out here: no label, or a weight of 0." if n else ""


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


def exact(value: float) -> str:
    """A term of a sum that readers follow: four decimals, never "-0.0000"."""
    return MISSING if math.isnan(value) else f"{round(value, 4) + 0.0:.4f}"


def on_basis(metric: str, basis: str) -> str:
    """A metric with what it was measured on, unless that is the outcomes: "ECE against the noisy labels"."""
    if basis == "against the labels":
        return metric
    return f"{metric} {basis}" if basis.startswith("against") else f"{metric}, {basis},"
