"""Platt scaling at a handful of scores, one step at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calcore.calibrators import Platt
from calcore.calibrators.logistic import CLIP, logit
from calcore.evidence import Evidence
from calcore.maps.functions import LogisticFunction
from calcore.validation import Floats, as_scores

#: Where in the order of the scores the five are taken.
QUANTILES = (0.02, 0.25, 0.5, 0.75, 0.98)


@dataclass(frozen=True, eq=False)
class PlattSteps:
    """For each score, (k,): its ``logit``, ``line`` = slope * logit + intercept, ``calibrated`` = sigmoid(line)."""

    score: Floats
    logit: Floats
    line: Floats
    calibrated: Floats


@dataclass(frozen=True, eq=False)
class PlattByHand:
    """``slope`` and ``intercept`` (A and B) fitted on ``n`` rows, and the ``steps`` at some of their scores.

    ``constant`` is the one value of the map where no line can be fitted (one row, one class): no steps then.
    """

    slope: float
    intercept: float
    steps: PlattSteps | None
    constant: float | None
    n: int
    basis: str
    warnings: tuple[str, ...]


def platt_steps(scores: ArrayLike, slope: float, intercept: float, clip: float = CLIP) -> PlattSteps:
    """sigmoid(A logit(s) + B) in its three steps at ``scores`` (k,) (Basics, section 4).

    The paper's formula, 1 / (1 + exp(A s + B)), has the opposite sign of A and B; its numbers have this one.
    """
    raw = as_scores(scores)
    log_odds = logit(raw, clip)
    line = slope * log_odds + intercept
    return PlattSteps(raw, log_odds, line, special.expit(line))


def platt_by_hand(evidence: Evidence) -> PlattByHand:
    """Platt's map of the evidence, applied by steps at up to five of its scores, from low to high."""
    evidence = evidence.without_groups()
    fit = Platt().fit(evidence)
    function = fit.map_.function
    line = isinstance(function, LogisticFunction)
    scores = np.unique(np.quantile(evidence.score, QUANTILES, method="nearest"))
    return PlattByHand(
        slope=fit.a_,
        intercept=fit.b_,
        steps=platt_steps(scores, fit.a_, fit.b_, fit.clip) if line else None,
        constant=None if line else float(fit.predict(scores[:1])[0]),
        n=evidence.n,
        basis=evidence.model.basis,
        warnings=fit.warnings_,
    )
