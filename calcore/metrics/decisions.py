"""What acting on a score is worth: net benefit, the decision curve, and expected cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.metrics.results import Estimate
from calcore.metrics.scores import linear_estimate
from calcore.metrics.uncertainty import FEWEST_DRAWS, LEVEL, Z, covariance_of_sums, effective_draws
from calcore.sums import sum_by
from calcore.validation import Floats, as_floats, fraction

#: Thresholds of a decision curve unless given: every percent.
THRESHOLDS = np.arange(1, 100) / 100


def net_benefit(evidence: Evidence, threshold: float = 0.5) -> Estimate:
    """True positives less false ones at the odds of ``threshold``, per row, acting where score >= threshold.

    Sum over acted-on rows of a - b t / (1 - t) (Vickers and Elkin 2006); t is the chance of a positive at which one
    would be in two minds. At most the event rate; 0 is what never acting gives. Raises InputError outside (0, 1).
    """
    odds = _odds(fraction(threshold, "the threshold"))
    terms = np.where(evidence.score >= threshold, evidence.positive - odds * evidence.negative, 0.0)
    found = linear_estimate(evidence, "net benefit", terms, f"acting at score >= {threshold:g}")
    return replace(found, ideal=1.0)


def expected_cost(
    evidence: Evidence,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    threshold: float | None = None,
) -> Estimate:
    """Mean cost of acting where score >= ``threshold``: costs of each false positive and each false negative.

    ``threshold`` None: false_positive / (false_positive + false_negative), which is best for a calibrated score.
    Costs are in any one unit, not negative and not both 0; InputError otherwise.
    """
    costs = np.array([false_positive, false_negative], dtype=np.float64)
    if not (np.isfinite(costs).all() and (costs >= 0).all() and costs.any()):
        raise InputError(
            f"costs must be finite, not negative and not both 0, got {false_positive!r} and {false_negative!r}"
        )
    at = (
        costs[0] / costs.sum()
        if threshold is None
        else fraction(threshold, "the threshold", open_interval=False)
    )
    terms = np.where(evidence.score >= at, costs[0] * evidence.negative, costs[1] * evidence.positive)
    note = f"acting at score >= {at:g}; a false positive costs {costs[0]:g}, a false negative {costs[1]:g}"
    return linear_estimate(evidence, "expected cost", terms, note, most=float(costs.max()))


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit at each ``threshold``, (k,) each, of acting by the score and of acting on everyone.

    ``advantage`` is that of the score over the better of acting on everyone and on no one. Intervals hold at
    ``level`` at each threshold by itself, and are NaN where there are too few independent rows. Acting on no one
    is worth 0.
    """

    threshold: Floats
    net_benefit: Floats
    lower: Floats
    upper: Floats
    treat_all: Floats
    treat_all_lower: Floats
    treat_all_upper: Floats
    advantage: Floats
    advantage_lower: Floats
    advantage_upper: Floats
    base_rate: float
    n: int
    dropped: int
    clipped: int
    basis: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.threshold)

    def to_frame(self) -> pd.DataFrame:
        """One row a threshold."""
        names = [
            "threshold",
            "net_benefit",
            "lower",
            "upper",
            "treat_all",
            "treat_all_lower",
            "treat_all_upper",
        ]
        names += ["advantage", "advantage_lower", "advantage_upper"]
        return pd.DataFrame({name: getattr(self, name) for name in names})


def decision_curve(evidence: Evidence, thresholds: ArrayLike | Sequence[float] = THRESHOLDS) -> DecisionCurve:
    """Net benefit over ``thresholds`` (k,), each inside (0, 1) (Vickers and Elkin 2006).

    Intervals are Wald's from the joint covariance of true and false positives between the thresholds, by source and
    unit.
    """
    at = np.unique(as_floats(thresholds, "thresholds"))
    if not at.size or not (np.isfinite(at).all() and at[0] > 0 and at[-1] < 1):
        raise InputError("thresholds must be numbers strictly inside (0, 1), one or more")
    evidence = evidence.without_groups()
    odds = _odds(at)
    key, cells = np.searchsorted(at, evidence.score, side="right"), at.size + 1
    n = len(evidence)
    rows = np.tile(np.arange(n), 2)
    design = sparse.csr_array(
        (np.concatenate([evidence.positive, evidence.negative]), (rows, np.concatenate([key, cells + key]))),
        (n, 2 * cells),
    )
    totals = np.concatenate([sum_by(key, evidence.positive, cells), sum_by(key, evidence.negative, cells)])
    covariance = covariance_of_sums(evidence, design)
    if effective_draws(evidence) < FEWEST_DRAWS:
        covariance = np.full_like(covariance, np.nan)
    # a threshold acts on the cells above it
    acted = (np.arange(cells) > np.arange(at.size)[:, None]).astype(np.float64)
    by_score = np.column_stack([acted, -odds[:, None] * acted])
    everyone = np.column_stack([np.ones((at.size, cells)), -odds[:, None] * np.ones((at.size, cells))])
    of_everyone = everyone @ totals
    best_default = np.where((of_everyone > 0)[:, None], everyone, 0.0)
    bounds = [_bounds(part, totals, covariance) for part in (by_score, everyone, by_score - best_default)]
    return DecisionCurve(
        at,
        *bounds[0],
        *bounds[1],
        *bounds[2],
        base_rate=evidence.base_rate,
        n=evidence.n,
        dropped=evidence.dropped,
        clipped=evidence.clipped,
        basis=evidence.model.basis,
        assumptions=evidence.model.assumptions,
        notes=evidence.notes,
    )


def _odds(threshold: Floats | float) -> Floats:
    return np.asarray(threshold) / (1.0 - np.asarray(threshold))


def _bounds(part: Floats, totals: Floats, covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Value, lower and upper of each linear combination of the totals, (k,) each."""
    value = part @ totals
    half = Z * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", part, covariance, part, optimize=True), 0.0))
    return value, value - half, value + half
