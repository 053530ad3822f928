"""Proper scores and ranking on evidence: Brier, log loss, AUC, macro-F1, and the errors of each class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calcore.evidence import Evidence
from calcore.metrics.results import Estimate, provenance
from calcore.metrics.uncertainty import LEVEL, Z, effective_draws, honest_interval, variance_of_sum
from calcore.sums import sum_by
from calcore.validation import Floats

LOG_CLIP = 1e-6


def brier(evidence: Evidence) -> Estimate:
    """Brier score: the sum of a (1 - f)^2 + b f^2 (LWCal, Eq. 8), with a Wald interval."""
    return linear_estimate(evidence, "Brier", brier_terms(evidence), most=1.0)


def brier_terms(evidence: Evidence) -> Floats:
    """Contribution of each entry to the Brier score, (n,)."""
    return evidence.positive * (1.0 - evidence.score) ** 2 + evidence.negative * evidence.score**2


def log_loss(evidence: Evidence, clip: float = LOG_CLIP, *, nonnegative: bool = False) -> Estimate:
    """Log loss in nats, scores clipped to [clip, 1 - clip] (LWCal, Eq. 8); the clip is in the notes.

    ``nonnegative``: the part that comes from negatives counts as at least 0 (nnPU; WLMC, Eq. 78).
    """
    at_ends = float(evidence.count[(evidence.score < clip) | (evidence.score > 1 - clip)].sum())
    note = f"scores clipped to [{clip:g}, 1 - {clip:g}]: {at_ends:,.0f} rows"
    terms = log_loss_terms(evidence, clip)
    of_negatives = -evidence.negative * np.log1p(-np.clip(evidence.score, clip, 1.0 - clip))
    if nonnegative and of_negatives.sum() < 0:
        note = f"{note}; the part of the negatives came out below 0 and counts as 0"
        terms = terms - of_negatives
    return linear_estimate(evidence, "log loss", terms, note)


def log_loss_terms(evidence: Evidence, clip: float = LOG_CLIP) -> Floats:
    """Contribution of each entry to the log loss, (n,)."""
    p = np.clip(evidence.score, clip, 1.0 - clip)
    return -evidence.positive * np.log(p) - evidence.negative * np.log1p(-p)


def auc(evidence: Evidence) -> Estimate:
    """Area under the ROC curve: the positive measure ranked against the negative one, ties one half.

    NaN with a note where one class has no mass. The interval is from the influence of each row (DeLong's for
    clean labels).
    """
    positive, negative = evidence.positive.sum(), evidence.negative.sum()
    if not (positive > 1e-12 and negative > 1e-12):
        return undefined(evidence, "AUC", "n/a: one class only")
    distinct, place = np.unique(evidence.score, return_inverse=True)
    a = sum_by(place, evidence.positive, distinct.size)
    b = sum_by(place, evidence.negative, distinct.size)
    b_below = np.cumsum(b) - b / 2
    a_above = positive - (np.cumsum(a) - a / 2)
    value = float(a @ b_below / (positive * negative))
    influence = evidence.positive * (
        b_below[place] / (positive * negative) - value / positive
    ) + evidence.negative * (a_above[place] / (positive * negative) - value / negative)
    found = replace(estimate(evidence, "AUC", value, influence, most=1.0), ideal=1.0)
    if found.interval is not None and not evidence.model.corrected and found.value in (0.0, 1.0):
        # a perfect ranking has no spread: what so many rows of the rarer class could still hide, as for a rate
        rarer = min(positive, negative) * effective_draws(evidence)
        hidden = Z**2 / (rarer + Z**2)
        return replace(found, interval=(1 - hidden, 1.0) if found.value == 1 else (0.0, hidden))
    return found


def macro_f1(evidence: Evidence, threshold: float = 0.5) -> Estimate:
    """Mean F1 of both classes for the decision score >= ``threshold``; a class without rows counts 0."""
    decided = evidence.score >= threshold
    positive, negative = evidence.positive, evidence.negative
    value, influence = 0.0, np.zeros(len(evidence))
    for hit, inside, truth in ((positive, decided, positive), (negative, ~decided, negative)):
        # F1 = 2 H / (decided mass + true mass)
        hits, size = hit * inside, evidence.mass * inside + truth
        total = size.sum()
        if total > 1e-12:  # corrected masses may cancel to rounding
            f1 = 2 * hits.sum() / total
            value += f1 / 2
            influence += (2 * hits - f1 * size) / total / 2
    note = f"decision at score >= {threshold:g}"
    return replace(estimate(evidence, "macro-F1", float(value), influence, note, most=1.0), ideal=1.0)


@dataclass(frozen=True)
class ClassErrors:
    """Mean |y - f| of each class: "class-conditional ECE" in LWCal, Table IX, which is not calibration.

    ``minority`` is that of the rarer class, ``gap`` the absolute difference; NaN for a class without mass.
    """

    class_0: float
    class_1: float
    mean: float
    minority: float
    gap: float
    n: int


def class_errors(evidence: Evidence) -> ClassErrors:
    """Mean absolute error of each class, for comparison with the LWCal study only."""
    positive, negative = evidence.positive.sum(), evidence.negative.sum()
    one = float(evidence.positive @ (1 - evidence.score) / positive) if positive > 0 else float("nan")
    zero = float(evidence.negative @ evidence.score / negative) if negative > 0 else float("nan")
    present = [value for value in (zero, one) if not np.isnan(value)]
    minority = one if positive <= negative or np.isclose(positive, negative) else zero
    return ClassErrors(zero, one, float(np.mean(present)), minority, abs(zero - one), evidence.n)


def linear_estimate(
    evidence: Evidence, name: str, terms: Floats, *notes: str, most: float = np.inf
) -> Estimate:
    """A score that is a sum over rows of ``terms`` (n,), with a Wald interval."""
    return estimate(evidence, name, float(terms.sum()), terms, *notes, most=most)


def estimate(
    evidence: Evidence,
    name: str,
    value: float,
    influence: Floats,
    *notes: str,
    most: float = np.inf,
) -> Estimate:
    """``value`` with a Wald interval from what each entry does to it, ``influence`` (n,).

    ``most``: the largest possible value, where there is one; values of uncorrected labels are cut to [0, most].
    """
    said = list(notes)
    if np.isfinite(most) and not evidence.model.corrected:
        value = min(max(value, 0.0), most)
    elif np.isfinite(most) and not 0 <= value <= most:
        said.append(f"a value outside 0 to {most:g} contradicts the stated rates or prior")
    error = float(np.sqrt(variance_of_sum(evidence, influence)))
    raw = None if np.isnan(error) else (value - Z * error, value + Z * error)
    interval = honest_interval(evidence, raw, most)
    if interval is None:
        said.append("too few independent rows for an interval")
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        standard_error=None if np.isnan(error) else error,
        level=LEVEL,
        **provenance(evidence, *said),
    )


def undefined(evidence: Evidence, name: str, reason: str) -> Estimate:
    """An estimate that does not exist on these rows, for a ``reason`` that is said."""
    return Estimate(
        name=name, value=float("nan"), interval=None, standard_error=None, **provenance(evidence, reason)
    )
