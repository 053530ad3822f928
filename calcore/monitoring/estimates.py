"""Batches whose labels have not come yet: what can be estimated from their scores and the reference period."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calcore.metrics import Bins
from calcore.metrics.scores import LOG_CLIP
from calcore.metrics.uncertainty import Z
from calcore.monitoring.reference import Reference
from calcore.monitoring.results import BatchResult, Value
from calcore.sums import sum_by
from calcore.validation import Floats

ASSUMPTION = "events are as frequent at each score as in the reference period: an estimate cannot see that this has changed"


def estimated(
    result: BatchResult, score: Floats, reference: Reference, weight: Floats | None = None
) -> BatchResult:
    """The batch with estimates in place of measurements, from its scores (m,), ``weight`` (m,) and the reference.

    Scores are set right by the reference's gaps, bin by bin. Event rate, Brier score, log loss: what such scores
    lead one to expect (confidence-based performance estimation); their intervals hold for the labels that will come.
    ECE: the gaps of the reference bins, weighted by the new scores; its interval adds the errors of all gaps up.
    """
    count = len(reference.gap)
    place = Bins.equal_width(count).index(score)
    share = np.full(score.size, 1 / score.size) if weight is None else weight / weight.sum()
    known = np.isfinite(reference.gap)
    gap = np.where(known, reference.gap, 0.0)
    error = np.where(known, np.nan_to_num(reference.error), 0.0)
    right = np.clip(score + gap[place], 0.0, 1.0)
    mass = sum_by(place, share, count)
    clipped = np.clip(score, LOG_CLIP, 1 - LOG_CLIP)
    logit = np.log(clipped) - np.log1p(-clipped)
    values = {
        "ECE": _ece(mass, gap, error),
        # each loss is linear in the label: value where it is 0, and what a 1 adds
        "event rate": _expected(np.zeros(score.size), np.ones(score.size), right, share, place, error),
        "Brier": _expected(score**2, 1 - 2 * score, right, share, place, error),
        "log loss": _expected(-np.log1p(-clipped), -logit, right, share, place, error),
        "mean score": Value(float(share @ score)),
    }
    strange = float(mass[~known].sum())
    reason = f"{result.reason}: estimated from the scores and the reference period"
    if strange > 0.005:
        reason += (
            f"; {100 * strange:.0f} % of the scores lie where the reference has none, and are taken as right"
        )
    return replace(
        result,
        kind="estimated",
        reason=reason,
        basis="estimated without labels",
        assumptions=(ASSUMPTION,),
        values=values,
        noise_floor=float(mass @ error * np.sqrt(2 / np.pi)),
    )


def _expected(
    at_zero: Floats, of_one: Floats, rate: Floats, share: Floats, place: np.ndarray, error: Floats
) -> Value:
    """Mean of ``at_zero + label x of_one`` if labels are drawn at ``rate``; the error is that of the labels to come
    and of the reference's gaps."""
    value = float(share @ (at_zero + of_one * rate))
    drawn = float((share * of_one) ** 2 @ (rate * (1 - rate)))
    moved = sum_by(place, share * of_one, error.size) * error
    spread = float(np.sqrt(drawn + moved @ moved))
    return Value(value, spread, value - Z * spread, value + Z * spread)


def _ece(mass: Floats, gap: Floats, error: Floats) -> Value:
    size = np.abs(gap)
    low = float(mass @ np.maximum(size - Z * error, 0.0))
    high = float(mass @ (size + Z * error))
    return Value(float(mass @ size), float("nan"), low, high)
