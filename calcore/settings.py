"""What somebody says about the labels of a file, and how its results are judged."""

from __future__ import annotations

from dataclasses import dataclass

from calcore.audit import TOLERANCE
from calcore.validation import fraction


@dataclass(frozen=True)
class Settings:
    """What the user says about the labels, and how results are judged; these are the defaults everywhere.

    ``labels`` is a key of ``meanings.MEANINGS``; ``rho0``, ``rho1`` are None while the flip rates are unknown;
    ``audit_random``: the audit labels are a random sample; ``measure_on`` is "labels" or "audit".
    """

    labels: str = "clean"
    rho0: float | None = None
    rho1: float | None = None
    #: "given" from outside, or "estimated" from these scores: then only indicative.
    rates_origin: str = "given"
    prior: float | None = None
    theta1: float | None = None
    theta2: float | None = None
    r_min: float | None = None
    #: Values of the source column, in the order of the model's sources.
    source_values: tuple[str, ...] = ()
    #: The column with the other score, where each row holds a pair.
    second_score: str | None = None
    audit_random: bool = False
    measure_on: str = "labels"
    weighting: str = "importance"
    tolerance: float = TOLERANCE
    bins: int = 10
    min_mass: float = 0.01


def smallest_share(settings: Settings, rows: int) -> float:
    """The smallest share of the rows that makes a subgroup: the user's, and at least 50 rows of a large file."""
    fraction(settings.min_mass, "the smallest share of a subgroup", open_interval=False)
    return max(settings.min_mass, min(50 / max(rows, 1), 0.1))
