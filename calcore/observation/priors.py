"""Estimates of what observation models take as given: the class prior here, flip rates in ``flip_rates``.

Never used silently: each is a RateEstimate that says its method, its interval and what it assumes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from calcore.errors import NotIdentifiable
from calcore.observation.flip_rates import (
    FlipRates,
    flip_rates_from_audit,
    flip_rates_from_confident_joint,
    flip_rates_from_extremes,
    flip_rates_from_forward_platt,
)
from calcore.observation.rate_estimate import (
    DRAWS,
    LEVEL,
    RateEstimate,
    Tally,
    bootstrap_intervals,
    check_draws,
    rate_estimate,
    wilson,
)
from calcore.validation import Floats, as_scores, fraction

__all__ = [
    "FlipRates",
    "RateEstimate",
    "flip_rates_from_audit",
    "flip_rates_from_confident_joint",
    "flip_rates_from_extremes",
    "flip_rates_from_forward_platt",
    "prior_from_best_bin",
    "prior_from_elkan_noto",
    "prior_from_label_shift",
]

_SCAR = "the known positives are a random sample of all positives (SCAR)"
_POPULATION = "the unlabelled rows are a random sample of the population"


def prior_from_best_bin(
    positive: ArrayLike, unlabelled: ArrayLike, *, delta: float = 0.1, gamma: float = 0.01
) -> RateEstimate:
    """P(Y=1) from the shares of known positives and unlabelled rows above the best threshold.

    Best-bin estimation (Garg et al. 2021, "Mixture proportion estimation and PU learning: a modern approach",
    Algorithm 1): with q(c) the share of scores at or above c, the prior is q_u(c) / q_p(c) at the c that
    minimises

        q_u(c) / q_p(c) + (1 + gamma) / q_p(c) (sqrt(log(4/delta) / 2 n_u) + sqrt(log(4/delta) / 2 n_p))

    ``positive`` (p,) and ``unlabelled`` (u,) scores in [0, 1] of rows that the model was not trained on. The
    interval is that of a ratio of two shares at the threshold found (Wilson limits, joined on the log scale);
    it covers .92-.96 in simulations where the highest scores are of positives alone (300 to 20,000 rows). Where negatives reach the top scores the estimate is too high. Raises
    InputError on empty or unusable scores.
    """
    fraction(delta, "delta")
    tally, n = _two_sources(positive, unlabelled)
    known, pool = tally.size
    share_p, share_u = (np.cumsum(row[::-1])[::-1] / row.sum() for row in tally.count)
    reached = share_p > 0
    width = np.sqrt(np.log(4 / delta) / 2) * (1 / np.sqrt(pool) + 1 / np.sqrt(known))
    bound = (share_u[reached] + (1 + gamma) * width) / share_p[reached]
    best = int(np.argmin(bound))
    p, u = share_p[best], share_u[best]
    return rate_estimate(
        "class prior",
        u / p,
        _ratio_interval(u, int(pool), p, int(known)),
        n,
        f"best-bin estimation, scores of {tally.score[best]:.3g} and above",
        (
            _SCAR,
            _POPULATION,
            "the highest scores belong to positives alone: where negatives reach them, the estimate is too "
            "high and only the upper end still bounds the prior",
        ),
    )


def _ratio_interval(top: float, n_top: int, bottom: float, n_bottom: int) -> tuple[float, float]:
    """Interval of top / bottom: Wilson limits of both, joined on the log scale (MOVER)."""
    (low_t, high_t), (low_b, high_b) = wilson(top * n_top, n_top), wilson(bottom * n_bottom, n_bottom)
    if top == 0:
        return 0.0, high_t / low_b
    ratio = top / bottom
    down = np.hypot(np.log(top / low_t), np.log(high_b / bottom))
    up = np.hypot(np.log(high_t / top), np.log(bottom / low_b))
    return float(ratio * np.exp(-down)), float(ratio * np.exp(up))


def prior_from_elkan_noto(
    positive: ArrayLike, unlabelled: ArrayLike, *, seed: int = 0, draws: int = DRAWS
) -> RateEstimate:
    """P(Y=1) from how surely known positives are told from unlabelled rows.

    Elkan and Noto 2008 ("Learning classifiers from only positive and unlabeled data", estimator e1), for two
    separate samples: with g(f) = P(the row is a known positive, given its score) by isotonic regression, c is
    the mean of g over the known positives, and c = n_p / (n_p + n_u pi) gives

        pi = (1 - c) / c  n_p / n_u

    ``positive`` (p,) and ``unlabelled`` (u,) scores in [0, 1]. The interval is a bootstrap by source, drawn
    with ``seed``; (0, 1) below 30 rows of either. Too high as soon as the classes overlap. Raises InputError
    on empty or unusable scores.
    """
    check_draws(draws)
    tally, n = _two_sources(positive, unlabelled)
    interval = bootstrap_intervals(tally, _elkan_noto, seed, draws, by_kind=True)[0]
    return rate_estimate(
        "class prior",
        _elkan_noto(tally)[0],
        interval,
        n,
        "Elkan-Noto (mean over the known positives)",
        (
            _SCAR,
            _POPULATION,
            "the score tells the classes apart without error: any overlap makes the estimate too high, and "
            "the interval does not cover then",
        ),
    )


def _elkan_noto(tally: Tally) -> tuple[float]:
    rows = tally.count.sum(axis=0)
    present = rows > 0
    known = tally.count[0, present]
    fit = optimize.isotonic_regression(known / rows[present], weights=rows[present]).x
    c = float(known @ fit / known.sum())
    return (min((1 - c) / c * float(tally.size[0] / tally.size[1]), 1.0),)


def prior_from_label_shift(scores: ArrayLike, trained_prior: float) -> RateEstimate:
    """P(Y=1) of the rows at hand, from the scores of a model that was calibrated at another prior.

    The fixed point of the EM of Saerens et al. 2002 ("Adjusting the outputs of a classifier to new a priori
    probabilities"), which maximises the likelihood of the scores

        sum of log(pi f / pi0 + (1 - pi) (1 - f) / (1 - pi0))

    ``scores`` (n,) in [0, 1]; ``trained_prior`` pi0 in (0, 1). The interval holds the priors whose likelihood
    is within the 95 % limit of the best one's. Raises NotIdentifiable where every score equals pi0.
    """
    pi0 = fraction(trained_prior, "the class prior of the training rows")
    score = as_scores(scores)
    tally = Tally.of(score, np.zeros(score.size))
    count = tally.count[0]
    of_one, of_zero = tally.score / pi0, (1 - tally.score) / (1 - pi0)
    difference = of_one - of_zero
    if np.abs(difference).max() < 1e-12:
        raise NotIdentifiable(
            f"every score is the training prior {pi0:g}: such scores say nothing about another class prior"
        )

    def likelihood(prior: float) -> float:
        return float(count @ np.log(of_zero + prior * difference))

    best = _concave_maximum(count, of_zero, difference)
    limit = likelihood(best) - float(stats.chi2.ppf(LEVEL, 1)) / 2
    ends = []
    for end in _ENDS:
        inside = likelihood(end) >= limit
        ends.append(end if inside else optimize.brentq(lambda p: likelihood(p) - limit, *sorted((best, end))))
    return rate_estimate(
        "class prior",
        best,
        (round(ends[0], 9), round(ends[1], 9)),
        score.size,
        f"EM under label shift (Saerens), from a training prior of {pi0:g}",
        (
            "rows are independent draws from the population",
            "only the class prior changed since training: within each class, features are distributed as before",
            f"the scores were calibrated at the training prior of {pi0:g}",
        ),
    )


#: Priors between which the likelihood is searched: at 0 and 1 it is infinitely small for scores of 1 and 0.
_ENDS = (1e-10, 1 - 1e-10)


def _concave_maximum(count: Floats, of_zero: Floats, difference: Floats) -> float:
    def slope(prior: float) -> float:
        return float(count @ (difference / (of_zero + prior * difference)))

    low, high = _ENDS
    if slope(low) <= 0:
        return low
    if slope(high) >= 0:
        return high
    return float(optimize.brentq(slope, low, high, xtol=1e-14))


def _two_sources(positive: ArrayLike, unlabelled: ArrayLike) -> tuple[Tally, int]:
    """Known positives (kind 0) and unlabelled rows (kind 1) added up by score, and how many rows there are."""
    known = as_scores(positive, "score of a known positive")
    pool = as_scores(unlabelled, "score of an unlabelled row")
    kind = np.repeat([0, 1], [known.size, pool.size])
    return Tally.of(np.concatenate([known, pool]), kind), kind.size
