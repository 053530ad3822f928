"""How many are positive: by the score, by the recorded labels, and once their flips are taken into account."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.audit import TOLERANCE
from calcore.calibrators.loss_weighted import recorded_labels
from calcore.contradictions import Interval, squared_reach
from calcore.evidence import Evidence
from calcore.known_flips import KnownFlips, known_flips
from calcore.metrics.rates import rate_interval
from calcore.metrics.uncertainty import FEWEST_DRAWS, Z, effective_draws, variance_of_sum
from calcore.observation.priors import FlipRates


@dataclass(frozen=True)
class PositiveShare:
    """A share of positives in [0, 1] of ``n`` rows, its interval at 95 % where one exists, and what it is.

    ``kind`` is "score" (the mean score), "recorded", "corrected" (for flip rates) or "audit" (clean labels of a
    random sample); ``source`` says where the flip rates are from: "given", "counted" or "estimated".
    """

    kind: str
    value: float
    interval: Interval
    n: int
    source: str = ""


@dataclass(frozen=True)
class Prevalence:
    """The shares of positives, and how far the recorded labels are from the best other answer.

    ``best`` is the clean audit sample's share, else the one corrected for given flip rates, then counted, then
    estimated ones; None where nothing but the labels is known. ``gap`` = recorded minus best; ``apart``: recorded
    and best differ by more than the tolerance, and best's interval excludes the recorded rate.
    """

    shares: tuple[PositiveShare, ...]
    best: PositiveShare | None
    gap: float
    apart: bool

    def of(self, kind: str) -> PositiveShare:
        return next(one for one in self.shares if one.kind == kind)


def prevalence(
    evidence: Evidence,
    *,
    audit: Evidence | None = None,
    counted: FlipRates | None = None,
    estimated: FlipRates | None = None,
    tolerance: float = TOLERANCE,
) -> Prevalence:
    """Compare the shares of positives of ``evidence``.

    ``audit``: clean evidence of a random sample. The labels are corrected by what is known of their flips: by rates
    that the model states, ``counted`` ones (on audited rows) and ``estimated`` ones, as in ``known_flips``. Raises
    DoesNotExist where rows carry no label.
    """
    recorded = _of_labels(evidence, "recorded")
    answers = [
        _by_the_model(evidence, flips)
        if flips.rates is None
        else _corrected(recorded, flips.rates, flips.origin)
        for flips in known_flips(evidence, counted, estimated)
    ]
    shares = [_mean_score(evidence), recorded, *answers]
    if audit is not None:
        clean = _of_labels(audit, "audit")
        shares.append(clean)
        answers.insert(0, clean)
    best = answers[0] if answers else None
    if best is None:
        return Prevalence(tuple(shares), None, float("nan"), False)
    gap = recorded.value - best.value
    clear = best.interval is not None and not best.interval[0] <= recorded.value <= best.interval[1]
    return Prevalence(tuple(shares), best, gap, clear and abs(gap) > tolerance)


def _mean_score(evidence: Evidence) -> PositiveShare:
    share = evidence.weight / evidence.weight.sum()
    value = float(share @ evidence.score)
    if effective_draws(evidence) < FEWEST_DRAWS:
        return PositiveShare("score", value, None, evidence.n)
    half = Z * float(np.sqrt(variance_of_sum(evidence, share * evidence.score)))
    return PositiveShare("score", value, (max(value - half, 0.0), min(value + half, 1.0)), evidence.n)


def _of_labels(evidence: Evidence, kind: str) -> PositiveShare:
    """The share of labels that are 1, with Wilson's interval."""
    label = recorded_labels(evidence)
    value = float(evidence.weight @ label / evidence.weight.sum())
    return PositiveShare(kind, value, rate_interval(evidence, label), evidence.n)


def _by_the_model(evidence: Evidence, flips: KnownFlips) -> PositiveShare:
    """Corrected for the rates that the model states; no interval where these are not exact."""
    value, bounds = evidence.base_rate, None
    if flips.exact and effective_draws(evidence) >= FEWEST_DRAWS:
        half = Z * float(np.sqrt(variance_of_sum(evidence, evidence.positive)))
        bounds = value - half, value + half
    return PositiveShare("corrected", value, bounds, evidence.n, flips.origin)


def _corrected(recorded: PositiveShare, rates: FlipRates, source: str) -> PositiveShare:
    """(recorded - rho0) / (1 - rho0 - rho1), within [0, 1], with an interval from those of all three.

    The interval recovers variances from the distances to the ends of each (Zou and Donner 2008): they add up as
    squares, with the slopes (1, rho0: -(1 - pi), rho1: pi) / (1 - rho0 - rho1). With rates of forward Platt it covered
    .93-1.00 (60 samples each of 500 to 8,000 rows); the outermost corners cover too, and are 1.6 times as wide.
    """
    rho0, rho1 = rates.rho0, rates.rho1
    slope = 1 - rho0.value - rho1.value
    value = (recorded.value - rho0.value) / slope
    clipped = float(np.clip(value, 0.0, 1.0))
    if recorded.interval is None:
        return PositiveShare("corrected", clipped, None, recorded.n, source)
    parts = (
        (1.0, recorded.value, recorded.interval),
        (-(1 - clipped), rho0.value, rho0.interval),
        (clipped, rho1.value, rho1.interval),
    )
    below, above = squared_reach(parts)
    low, high = value - np.sqrt(below) / slope, value + np.sqrt(above) / slope
    return PositiveShare(
        "corrected", clipped, (float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))), recorded.n, source
    )
