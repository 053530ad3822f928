"""How many are positive: by the score, by the recorded labels, and once their flips are taken into account."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from calcore import metrics
from calcore.contradictions import Interval, recorded_labels
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
    """A weighted mean over rows with its interval; 0 and 1 have Wilson's, by the rule that a rate is one."""
    found = metrics.reliability(_clean(evidence, values), 1) if kind != "score" else None
    share = evidence.weight / evidence.weight.sum()
    value = float(share @ values)
    if effective_draws(evidence) < FEWEST_DRAWS:
        return PositiveShare(kind, value, None, evidence.n)
    if found is not None:
        return PositiveShare(kind, value, (float(found.lower[0]), float(found.upper[0])), evidence.n)
    half = Z * float(np.sqrt(variance_of_sum(evidence, share * values)))
    return PositiveShare(kind, value, (max(value - half, 0.0), min(value + half, 1.0)), evidence.n)


def _clean(evidence: Evidence, values: Floats) -> Evidence:
    """The rows with their recorded labels taken as they are: what the recorded rate's interval is about."""
    return Clean().evidence(
        evidence.score, values, unit=evidence.unit, weight=evidence.weight, weighting=evidence.weighting
    )


def _corrected(recorded: PositiveShare, rates: FlipRates, source: str) -> PositiveShare:
    """(recorded - rho0) / (1 - rho0 - rho1), within [0, 1]; the interval takes the outermost of what the intervals
    of both rates and of the recorded rate allow, all of [0, 1] where they allow rates that sum to 1."""
    value = float(np.clip(_without_flips(recorded.value, rates.rho0.value, rates.rho1.value), 0.0, 1.0))
    if recorded.interval is None:
        return PositiveShare("corrected", value, None, recorded.n, source)
    ends = [
        _without_flips(share, rho0, rho1) if rho0 + rho1 < 1 else end
        for share, rho0, rho1 in product(recorded.interval, rates.rho0.interval, rates.rho1.interval)
        for end in (0.0, 1.0)
    ]
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in (min(ends), max(ends)))
    return PositiveShare("corrected", value, (low, high), recorded.n, source)


def _without_flips(share: float, rho0: float, rho1: float) -> float:
    return (share - rho0) / (1 - rho0 - rho1)
