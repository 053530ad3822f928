"""Flip rates: from audited rows, or from recorded labels and scores alone. Never used silently."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from calcore.errors import InputError
from calcore.observation.forward_platt import ForwardMode, ForwardPosterior
from calcore.observation.rate_estimate import (
    DRAWS,
    RateEstimate,
    Tally,
    bootstrap_intervals,
    check_draws,
    rate_estimate,
    wilson,
)
from calcore.validation import HALF, as_labels, as_scores, as_weights, fraction, same_length

_CLASS_ONLY = "flips do not depend on the score, given the true label"
#: Up to this share of wrong labels, labels are called good.
FEW_WRONG = 0.05
_NAMES = ("rho0", "rho1", "disagreement")


@dataclass(frozen=True)
class FlipRates:
    """``rho0`` = P(1 recorded given 0) and ``rho1`` = P(0 recorded given 1), and how often labels disagree."""

    rho0: RateEstimate
    rho1: RateEstimate
    disagreement: RateEstimate

    @property
    def few_wrong(self) -> bool:
        """Are, at the upper end of the interval, fewer than FEW_WRONG of the recorded labels wrong?"""
        return self.disagreement.interval[1] < FEW_WRONG


def flip_rates_from_audit(labels: ArrayLike, audit: ArrayLike) -> FlipRates:
    """Flip rates from rows that have both a recorded and a clean label, with Wilson intervals.

    ``labels`` and ``audit`` (n,) of 0, 1 and missing; rows that are a tie (1/2) in either say nothing. Raises InputError where no row of one true class was audited.
    Assumes that the audited rows are a random sample (at least within each true class).
    """
    recorded = as_labels(labels, len(labels), ties=True)  # type: ignore[arg-type]
    true = as_labels(audit, recorded.size, "audit label", ties=True)
    same_length(true, recorded.size, "audit label")
    both = ~(np.isnan(recorded) | np.isnan(true) | (recorded == HALF) | (true == HALF))
    recorded, true = recorded[both], true[both]
    for value, word in ((0, "negative"), (1, "positive")):
        if not (true == value).any():
            raise InputError(f"no audited row is truly {word}: its flip rate cannot be estimated")
    flipped = recorded != true
    return FlipRates(
        _audited("rho0", flipped[true == 0]),
        _audited("rho1", flipped[true == 1]),
        _audited("disagreement", flipped),
    )


def _audited(name: str, flipped: np.ndarray) -> RateEstimate:
    n, k = flipped.size, int(flipped.sum())
    return RateEstimate(
        name, k / n, wilson(k, n), n, ("the audited rows are a random sample", _CLASS_ONLY), "audited rows"
    )


def flip_rates_from_confident_joint(
    scores: ArrayLike, labels: ArrayLike, *, seed: int = 0, draws: int = DRAWS
) -> FlipRates:
    """Flip rates from the rows whose score is confidently of one class.

    The confident joint of Northcutt et al. 2021 ("Confident learning", Eq. 1-3): a row counts as truly 1 where
    its score is at least the mean score of rows recorded 1, as truly 0 where 1 minus its score is at least the
    mean of that over rows recorded 0, as the likelier class where both hold; counts are scaled to the recorded
    class sizes. ``scores`` (n,) in [0, 1] of rows the model was not trained on; ``labels`` (n,) of 0, 1 and
    missing. Bootstrap intervals drawn with ``seed``; (0, 1) below 30 rows of a recorded class. Raises
    InputError where one class alone is recorded.
    """
    check_draws(draws)
    tally, n = _labelled(scores, labels)
    intervals = bootstrap_intervals(tally, _confident_joint, seed, draws, by_kind=False)
    assumptions = (
        _CLASS_ONLY,
        "rows were not used to train the model",
        "confident rows are of the class that their score says, and as many rows of one class are confident as "
        "of the other: where the classes overlap, the rates are biased and the intervals do not cover",
    )
    return _flip_rates(_confident_joint(tally), intervals, n, "confident joint", assumptions)


def _confident_joint(tally: Tally) -> tuple[float, float, float]:
    score, count = tally.score, tally.count
    # means of scores that are all equal must not miss them by rounding
    slack = 1e-12
    above = score >= count[1] @ score / count[1].sum() - slack
    below = 1 - score >= count[0] @ (1 - score) / count[0].sum() - slack
    truly_one = above & (~below | (score >= 0.5))
    truly_zero = below & ~truly_one
    joint = np.stack([count @ truly_zero, count @ truly_one], axis=1)
    confident = joint.sum(axis=1, keepdims=True)
    # a recorded class without a confident row is taken as right
    share = np.divide(joint, confident, out=np.eye(2), where=confident > 0)
    joint = share * (tally.size / tally.size.sum())[:, None]
    true = joint.sum(axis=0)
    rho0 = joint[1, 0] / true[0] if true[0] > 0 else 0.0
    rho1 = joint[0, 1] / true[1] if true[1] > 0 else 0.0
    return float(rho0), float(rho1), float(joint[1, 0] + joint[0, 1])


def flip_rates_from_extremes(scores: ArrayLike, labels: ArrayLike, *, share: float = 0.05) -> FlipRates:
    """Flip rates read off where the score is surest: the lowest and the highest ``share`` of the rows.

    Anchor points (Liu and Tao 2016; Patrini et al. 2017): where P(Y=1 given x) is 0, the rate of recorded 1 is
    rho0; where it is 1, the rate of recorded 0 is rho1. ``scores`` (n,) in [0, 1]; ``labels`` (n,) of 0, 1 and
    missing; ``share`` in (0, .5], equal scores are never split. Wilson intervals; the disagreement takes the
    outermost of what these allow. Both rates come out too high where the extremes are not pure. Raises
    InputError where one class alone is recorded, or every score is the same.
    """
    share = fraction(share, "share")
    if share > 0.5:
        raise InputError(
            f"share: the lowest and highest rows must not overlap, so at most 0.5; got {share:g}"
        )
    tally, n = _labelled(scores, labels)
    if tally.score.size == 1:
        raise InputError("every score is the same: no row is surer than another")
    rows = tally.count.sum(axis=0)
    least = share * rows.sum()
    # whole groups of equal scores until the share is reached, never all rows
    lowest = np.cumsum(rows) - rows < least
    highest = np.cumsum(rows[::-1])[::-1] - rows < least
    lowest[-1] = highest[0] = False
    ones, zeros = tally.count[1, lowest].sum(), tally.count[0, highest].sum()
    n0, n1 = int(rows[lowest].sum()), int(rows[highest].sum())
    recorded = float(tally.size[1] / tally.size.sum())
    rho0, rho1 = wilson(ones, n0), wilson(zeros, n1)
    values = (ones / n0, zeros / n1, _disagreement(ones / n0, zeros / n1, recorded))
    outer = [_disagreement(a, b, recorded) for a, b in product(rho0, rho1)]
    assumptions = (
        _CLASS_ONLY,
        f"the lowest {share:.0%} of the scores are of negatives and the highest of positives alone: where "
        "they are not, both rates are too high and only the upper ends still bound them",
    )
    intervals = [rho0, rho1, (min(outer), max(outer))]
    found = _flip_rates(values, intervals, n, f"score extremes ({share:.0%} at either end)", assumptions)
    return FlipRates(_of_rows(found.rho0, n0), _of_rows(found.rho1, n1), found.disagreement)


def _of_rows(found: RateEstimate, n: int) -> RateEstimate:
    return RateEstimate(found.name, found.value, found.interval, n, found.assumptions, found.method)


def _disagreement(rho0: float, rho1: float, recorded: float) -> float:
    """P(recorded differs from true) where P(recorded 1) = rho0 + (1 - rho0 - rho1) pi."""
    slope = 1 - rho0 - rho1
    if slope <= 0:
        return 1.0
    prior = min(max((recorded - rho0) / slope, 0.0), 1.0)
    return rho0 * (1 - prior) + rho1 * prior


def flip_rates_from_forward_platt(
    scores: ArrayLike, labels: ArrayLike, weight: ArrayLike | None = None, *, weighting: str = "importance"
) -> FlipRates:
    """Flip rates from how the recorded rate levels off at both ends of the score.

    P(recorded 1 given f) = rho0 + (1 - rho0 - rho1) sigmoid(a logit f + b), at the mode of the posterior under
    (rho0, rho1, 1 - rho0 - rho1) ~ Dirichlet(1.1, 1.1, 3), log a ~ N(0, 1), b ~ N(0, 1); scores clipped at
    .001 in the logit. ``scores`` (n,) in [0, 1]; ``labels`` (n,) of 0, 1 and missing; ``weight`` (n,) sampling
    weights, whose scale does not matter: together the rows count as their effective number, (sum v)^2 / sum v^2.
    With ``weighting`` "frequency" a row of weight 2 is the row twice. Intervals by the profile of the posterior
    (.90-1.00 of them cover at 300 to 20,000 rows of the model, .88-.98 under weights of 1 and 3); the disagreement
    takes the outermost of what these allow. Raises InputError where one class alone is recorded.
    """
    tally, n = _labelled(scores, labels, weight, weighting)
    return rates_of_forward_platt(tally, ForwardPosterior.of(tally), n=n)


def rates_of_forward_platt(
    tally: Tally, problem: ForwardPosterior, mode: ForwardMode | None = None, *, n: int | None = None
) -> FlipRates:
    """The flip rates of a forward Platt model of ``tally``, its ``mode`` where that is known already.

    ``n``: the rows behind the tally, where that is not the sum of its counts.
    """
    found = mode or problem.mode()
    intervals = problem.interval(), problem.mirrored().interval()
    recorded = float(tally.size[1] / tally.size.sum())
    outer = [_disagreement(a, b, recorded) for a, b in product(*intervals)]
    assumptions = (
        _CLASS_ONLY,
        "P(Y=1 given the score) is sigmoid(a logit(score) + b) for some a > 0 and b",
        "weak priors (flips are rarer than not, a is near 1 and b near 0), which decide where few rows or "
        "scores bunched in the middle say little: the rates come out too low there, the intervals wide",
    )
    return _flip_rates(
        (found.rho0, found.rho1, found.rho0 * (1 - found.prior) + found.rho1 * found.prior),
        [*intervals, (min(outer), max(outer))],
        int(tally.size.sum()) if n is None else n,
        "forward Platt (posterior mode)",
        assumptions,
    )


def _labelled(
    scores: ArrayLike, labels: ArrayLike, weight: ArrayLike | None = None, weighting: str = "importance"
) -> tuple[Tally, int]:
    """Rows with a label and some weight, added up by score and recorded label, and how many; both labels must occur.

    A tie counts half as either.
    """
    if weighting not in ("importance", "frequency"):
        raise InputError(f'weighting must be "importance" or "frequency", got {weighting!r}')
    score = as_scores(scores)
    label = as_labels(labels, score.size, ties=True)
    worth = as_weights(weight, score.size)
    there = ~np.isnan(label)
    if worth is not None:
        there &= worth > 0
        worth = worth[there]
        if weighting == "importance" and worth.size:
            worth = worth * (worth.sum() / (worth**2).sum())
    score, label = score[there], label[there]
    tied = np.flatnonzero(label == HALF)
    if tied.size:
        worth = np.ones(score.size) if worth is None else worth
        worth = np.where(label == HALF, worth / 2, worth)
        order = np.concatenate([np.arange(score.size), tied])
        score, label, worth = score[order], np.append(np.ceil(label), np.zeros(tied.size)), worth[order]
    tally = Tally.of(score, label, worth)
    for value in (0, 1):
        if not tally.size[value]:
            raise InputError(f"no row is recorded as {value}: flip rates cannot be told from one class")
    return tally, int(there.sum())


def _flip_rates(
    values: tuple[float, ...],
    intervals: list[tuple[float, float]],
    n: int,
    method: str,
    assumptions: tuple[str, ...],
) -> FlipRates:
    return FlipRates(
        *(
            rate_estimate(name, value, interval, n, method, assumptions)
            for name, value, interval in zip(_NAMES, values, intervals, strict=True)
        )
    )
