"""Estimates of what observation models take as given: flip rates. Never used silently; each says what it assumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from calcore.errors import InputError
from calcore.validation import as_labels, same_length


@dataclass(frozen=True)
class RateEstimate:
    """A rate in [0, 1] with its interval at 95 %, the rows that it is from, and what it assumes."""

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class FlipRates:
    """``rho0`` = P(1 recorded given 0) and ``rho1`` = P(0 recorded given 1), and how often labels disagree."""

    rho0: RateEstimate
    rho1: RateEstimate
    disagreement: RateEstimate


def flip_rates_from_audit(labels: ArrayLike, audit: ArrayLike) -> FlipRates:
    """Flip rates from rows that have both a recorded and a clean label, with Wilson intervals.

    ``labels`` and ``audit`` (n,) of 0, 1 and missing. Raises InputError where no row of one true class was audited.
    Assumes that the audited rows are a random sample (at least within each true class).
    """
    recorded = as_labels(labels, len(labels))  # type: ignore[arg-type]
    true = as_labels(audit, recorded.size, "audit label")
    same_length(true, recorded.size, "audit label")
    both = ~(np.isnan(recorded) | np.isnan(true))
    recorded, true = recorded[both], true[both]
    for value, word in ((0, "negative"), (1, "positive")):
        if not (true == value).any():
            raise InputError(f"no audited row is truly {word}: its flip rate cannot be estimated")
    flipped = recorded != true
    return FlipRates(
        _rate("rho0", flipped[true == 0]), _rate("rho1", flipped[true == 1]), _rate("disagreement", flipped)
    )


def _rate(name: str, flipped: np.ndarray) -> RateEstimate:
    n, k = flipped.size, int(flipped.sum())
    found = stats.binomtest(k, n).proportion_ci(method="wilson")
    return RateEstimate(
        name,
        k / n,
        (float(found.low), float(found.high)),
        n,
        ("the audited rows are a random sample", "flips do not depend on the score, given the true label"),
    )
