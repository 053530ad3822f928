"""How many are positive: by the score, by the recorded labels, and once their flips are taken into account."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore import metrics
from calcore.calibrators.loss_weighted import recorded_labels
from calcore.contradictions import Interval, squared_reach
from calcore.evidence import Evidence
from calcore.metrics.uncertainty import FEWEST_DRAWS, Z, effective_draws, variance_of_sum
from calcore.observation import Clean, Noisy
from calcore.observation.priors import FlipRates
from calcore.validation import Floats


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
    tolerance: float = 0.02,
) -> Prevalence:
    """Compare the shares of positives of ``evidence``.

    ``audit``: clean evidence of a random sample. Rates that the model states come first, then ``counted`` (on
    audited rows) and ``estimated`` ones. Raises DoesNotExist where rows carry no label.
    """
    score = _mean(evidence, "score", evidence.score)
    recorded = _mean(evidence, "recorded", recorded_labels(evidence))
    shares, answers = [score, recorded], []
    model = evidence.model
    if isinstance(model, Noisy) and model.known:
        source = "given" if model.origin == "given" else "estimated"
        value = evidence.base_rate
        half = Z * float(np.sqrt(variance_of_sum(evidence, evidence.positive)))
        bounds = (value - half, value + half) if effective_draws(evidence) >= FEWEST_DRAWS else None
        answers.append(PositiveShare("corrected", value, bounds, evidence.n, source))
    for rates, source in ((counted, "counted"), (estimated, "estimated")):
        if rates is not None and rates.rho0.value + rates.rho1.value < 1:
            answers.append(_corrected(recorded, rates, source))
    shares += answers
    if audit is not None:
        clean = _mean(audit, "audit", recorded_labels(audit))
        shares.append(clean)
        answers.insert(0, clean)
    if isinstance(model, Clean):
        # the labels are said to be the outcomes: rates estimated all the same are shown, and correct nothing
        answers = [one for one in answers if one.kind == "audit" or one.source == "counted"]
    best = answers[0] if answers else None
    if best is None:
        return Prevalence(tuple(shares), None, float("nan"), False)
    gap = recorded.value - best.value
    clear = best.interval is not None and not best.interval[0] <= recorded.value <= best.interval[1]
    return Prevalence(tuple(shares), best, gap, clear and abs(gap) > tolerance)


def _mean(evidence: Evidence, kind: str, values: Floats) -> PositiveShare:
    """A weighted mean over rows with its interval: Wilson's for a rate of labels."""
    found = metrics.reliability(_clean(evidence, values), 1) if kind != "score" else None
    share = evidence.weight / evidence.weight.sum()
    value = float(evidence.weight @ values / evidence.weight.sum())
    if effective_draws(evidence) < FEWEST_DRAWS:
        return PositiveShare(kind, value, None, evidence.n)
    if found is not None:
        low, high = max(float(found.lower[0]), 0.0), min(float(found.upper[0]), 1.0)
        return PositiveShare(kind, value, (low, high), evidence.n)
    half = Z * float(np.sqrt(variance_of_sum(evidence, share * values)))
    return PositiveShare(kind, value, (max(value - half, 0.0), min(value + half, 1.0)), evidence.n)


def _clean(evidence: Evidence, values: Floats) -> Evidence:
    """The rows with their recorded labels taken as they are: what the recorded rate's interval is about."""
    return Clean().evidence(
        evidence.score, values, unit=evidence.unit, weight=evidence.weight, weighting=evidence.weighting
    )


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
