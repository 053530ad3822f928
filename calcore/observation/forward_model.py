"""The forward model of recorded labels: a rising curve of the score seen through two flip rates, and its posterior.

``forward_platt`` has the same curve at its mode, with profile intervals, under other priors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.importance import PosteriorSample, Target, sample_posterior
from calcore.observation.labelled import Noisy
from calcore.sums import sum_by
from calcore.validation import Floats

#: Logits are added up in so many buckets at most.
BUCKETS = 400
TINY = float(np.finfo(np.float64).tiny)


#: Row parameters of evidence whose labels were corrected: what was recorded, and which rows were checked.
RECORDED, CHECKED = "recorded", "checked"


def corrected_evidence(
    model: Noisy, scores: ArrayLike, recorded: Floats, checked: Floats, **columns: Any
) -> Evidence:
    """Evidence of ``recorded`` labels (n,) of which some were checked: ``checked`` (n,) is 0, 1, or NaN where not.

    Its labels are the checked ones where there are any; both kinds stay apart for calibrators that tell them apart.
    For fitting only: rows that were checked because they looked wrong must never be measured on. Raises InputError
    where ``model`` knows flip rates: they do not hold for checked labels.
    """
    if model.known:
        raise InputError(
            "known flip rates do not hold for labels that were checked: give Noisy() without rates"
        )
    labels = np.where(np.isnan(checked), recorded, checked)
    evidence = model.evidence(scores, labels, **columns)
    rows = np.arange(len(evidence)) if evidence.row is None else evidence.row
    before = np.where(np.isnan(recorded), labels, recorded)[rows]
    return replace(
        evidence, row_parameters={RECORDED: before, CHECKED: (~np.isnan(checked[rows])).astype(np.float64)}
    )


def recorded_labels(evidence: Evidence) -> Floats:
    """The labels as they were recorded, (n,), before any were corrected."""
    assert evidence.label is not None
    return evidence.row_parameters.get(RECORDED, evidence.label)


@dataclass(frozen=True)
class ForwardPrior:
    """What is believed before the labels are seen.

    (rho0, rho1, 1 - rho0 - rho1) ~ Dirichlet(``rates``); log a ~ N(log ``slope_median``, ``slope_spread``); c ~
    N(0, ``shift_spread``).
    """

    rates: tuple[float, float, float]
    slope_median: float
    slope_spread: float
    shift_spread: float


@dataclass(frozen=True, eq=False)
class RecordedLabels:
    """Recorded labels added up by logit: ``z`` (m,), ``count`` (2, m) of rows recorded 0 and 1.

    ``rates`` (2, m) are rho0 and rho1 of each entry where they are known, None where they are to be learned.
    Rows whose label was checked are not in ``count``: ``checked`` (2, m) has those that are truly 0 and 1, and
    ``flips`` (2, 2) how many of each true label (row) were recorded as 0 and 1. Which rows were checked may depend on
    the score and the recorded label, as it does for labels that looked wrong: both are in the likelihood.
    """

    z: Floats
    count: Floats
    checked: Floats
    flips: Floats
    rates: Floats | None = None

    @classmethod
    def of(cls, evidence: Evidence, clip: float) -> RecordedLabels:
        """Scores are clipped to [clip, 1 - clip]; a row of weight 2 is the row twice."""
        label, model = evidence.label, evidence.model
        if label is None:
            raise DoesNotExist(f"no recorded labels exist under {model.name}")
        recorded = recorded_labels(evidence)
        known_true = evidence.row_parameters.get(CHECKED, np.zeros(len(evidence))) == 1
        z = special.logit(np.clip(evidence.score, clip, 1 - clip))
        distinct, place = np.unique(z, return_inverse=True)
        if distinct.size > BUCKETS:
            width = np.ptp(distinct) / BUCKETS
            bucket = np.minimum(((z - distinct[0]) / width).astype(np.int64), BUCKETS - 1)
            distinct, place = np.unique(bucket, return_inverse=True)
        known = isinstance(model, Noisy) and model.known
        rates: Floats | None = None
        if isinstance(model, Noisy) and known:
            rho0, slope = (np.broadcast_to(part, z.shape) for part in model.row_rates(evidence))
            pairs, pair = np.unique(np.stack([rho0, 1 - rho0 - slope]), axis=1, return_inverse=True)
            key = place * pairs.shape[1] + pair.ravel()
            held, place = np.unique(key, return_inverse=True)
            rates = pairs[:, held % pairs.shape[1]]
        size = int(place.max()) + 1
        weight = evidence.weight
        open_, checked = weight * ~known_true, weight * known_true
        return cls(
            sum_by(place, z * weight, size) / sum_by(place, weight, size),
            np.stack([sum_by(place, open_ * (recorded == kind), size) for kind in (0, 1)]),
            np.stack([sum_by(place, checked * (label == kind), size) for kind in (0, 1)]),
            np.array([[checked @ ((label == t) & (recorded == r)) for r in (0, 1)] for t in (0, 1)]),
            rates,
        )

    @property
    def size(self) -> float:
        """Rows, by weight."""
        return float(self.count.sum() + self.checked.sum())

    def log_likelihood(self, rho0: Floats, rho1: Floats, curve: Floats) -> Floats:
        """Log-likelihood (k,) of flip rates (k, 1 or m) and P(Y=1) at each entry, ``curve`` (k, m)."""
        slope = 1 - rho0 - rho1
        one = np.maximum(rho0 + slope * curve, TINY)
        zero = np.maximum(rho1 + slope * (1 - curve), TINY)
        found = np.log(one) @ self.count[1] + np.log(zero) @ self.count[0]
        if not self.flips.any():
            return found
        found = found + np.log(np.maximum(curve, TINY)) @ self.checked[1]
        found = found + np.log(np.maximum(1 - curve, TINY)) @ self.checked[0]
        for rho, (right, wrong) in ((rho0, self.flips[0]), (rho1, self.flips[1][::-1])):
            rate = np.maximum(rho[:, 0], TINY)
            found = found + wrong * np.log(rate) + right * np.log(np.maximum(1 - rate, TINY))
        return found

    def calibrated(self) -> float:
        """Log-likelihood of scores that are right, with the known flip rates, or none."""
        rates = np.zeros((2, 1)) if self.rates is None else self.rates
        return float(self.log_likelihood(rates[:1], rates[1:], special.expit(self.z)[None])[0])

    def posterior(self, prior: ForwardPrior, *, straight: bool, seed: int) -> ForwardSample:
        """The posterior of the flip rates and of the curve sigmoid(a (z - c)); a = 1, c = 0 where ``straight``."""
        free_rates, free_curve = self.rates is None, not straight
        model = _Model(self, prior, free_rates, free_curve)
        return ForwardSample(sample_posterior(model.target(), seed), free_rates, free_curve)


@dataclass(frozen=True, eq=False)
class ForwardSample:
    """A sample of (log-odds of rho0, log-odds of rho1 / (1 - rho0), log a, c), or of those that were free."""

    sample: PosteriorSample
    free_rates: bool
    free_curve: bool

    @property
    def rates(self) -> Floats:
        """rho0 and rho1 of each point, (2, k), where they were learned."""
        assert self.free_rates, "the flip rates were known"
        return _rates(self.sample.points)

    @property
    def slope(self) -> Floats:
        """a of each point, (k,), where the curve was learned."""
        assert self.free_curve, "the curve was straight"
        return np.exp(self.sample.points[:, -2])

    @property
    def shift(self) -> Floats:
        """c of each point, (k,): the logit at which the curve is .5; where the curve was learned."""
        assert self.free_curve, "the curve was straight"
        return self.sample.points[:, -1]

    def mean_curve(self, z: Floats) -> Floats:
        """E[sigmoid(a (z - c))] at logits z (m,), (m,)."""
        # the lightest points, which together weigh a ten-thousandth, are not worth their time
        order = np.argsort(self.sample.weight)
        heavy = order[np.cumsum(self.sample.weight[order]) > 1e-4]
        weight = self.sample.weight[heavy]
        lines = self.slope[heavy, None] * (z - self.shift[heavy, None])
        return (weight / weight.sum()) @ special.expit(lines)


def _rates(points: Floats) -> Floats:
    """rho0 and rho1 (2, k) of points whose first two coordinates are their log-odds, the second of the rest."""
    rho0 = special.expit(points[:, 0])
    return np.stack([rho0, special.expit(-points[:, 0]) * special.expit(points[:, 1])])


@dataclass(frozen=True, eq=False)
class _Model:
    """Log posterior of those of (log-odds rho0, log-odds rho1 / (1 - rho0), log a, c) that are free."""

    labels: RecordedLabels
    prior: ForwardPrior
    free_rates: bool
    free_curve: bool

    def target(self) -> Target:
        center = float(np.log(self.prior.slope_median))
        rates = [(-1.5, -1.5), (-5.0, -5.0), (-1.0, -4.0), (-4.0, -1.0)] if self.free_rates else [()]
        curves = [(center, 0.0)] if self.free_curve else [()]
        starts = [(*rate, *curve) for rate in rates for curve in curves]
        if self.free_rates and self.free_curve:
            starts[1] = (-5.0, -5.0, 0.0, 0.0)  # scores that are right
        return Target(self.log_density, self.gradient, tuple(starts))

    def log_density(self, points: Floats) -> Floats:
        rho0, rho1 = self._rates(points)
        return self.labels.log_likelihood(rho0, rho1, self._curve(points)) + self._log_prior(points)

    def _rates(self, points: Floats) -> Floats:
        if self.free_rates:
            return _rates(points)[:, :, None]
        assert self.labels.rates is not None
        return self.labels.rates[:, None, :]

    def _curve(self, points: Floats) -> Floats:
        if not self.free_curve:
            return special.expit(self.labels.z)[None]
        return special.expit(np.exp(points[:, -2:-1]) * (self.labels.z - points[:, -1:]))

    def _log_prior(self, points: Floats) -> Floats:
        prior = np.zeros(len(points))
        if self.free_rates:
            first, second, rest = self.prior.rates
            # the density of the log-odds of two beta distributions, which a Dirichlet breaks into
            prior += _log_odds_density(points[:, 0], first, second + rest)
            prior += _log_odds_density(points[:, 1], second, rest)
        if self.free_curve:
            spread, shift = self.prior.slope_spread, self.prior.shift_spread
            standard = (points[:, -2] - np.log(self.prior.slope_median)) / spread
            prior -= (standard**2 + (points[:, -1] / shift) ** 2) / 2 + np.log(2 * np.pi * spread * shift)
        return prior

    def gradient(self, point: Floats) -> Floats:
        """Gradient of the log density at one point, (d,)."""
        points = point[None]
        rho0, rho1 = (part[0] for part in self._rates(points))
        curve = self._curve(points)[0]
        slope = 1 - rho0 - rho1
        one = np.maximum(rho0 + slope * curve, TINY)
        zero = np.maximum(rho1 + slope * (1 - curve), TINY)
        pull = self.labels.count[1] / one - self.labels.count[0] / zero  # d log-likelihood / d P(recorded 1)
        checked, (flips0, flips1) = self.labels.checked, self.labels.flips
        found = []
        if self.free_rates:
            first, second, rest = self.prior.rates
            share0, share1 = special.expit(point[:2])
            # P(recorded 1) = rho0 + (1 - rho0) (1 - share1) curve
            found.append(
                float(pull @ (share0 * (1 - share0) * (1 - (1 - share1) * curve)))
                + (first + flips0[1]) * (1 - share0)
                - (second + rest + flips0[0]) * share0
                - flips1[0] * share0
                + flips1[1] * share0 * (1 - share0) * share1 / float(1 - (1 - share0) * share1)
            )
            found.append(
                float(pull @ (-(1 - share0) * share1 * (1 - share1) * curve))
                + (second + flips1[0]) * (1 - share1)
                - rest * share1
                - flips1[1] * (1 - share0) * share1 * (1 - share1) / float(1 - (1 - share0) * share1)
            )
        if self.free_curve:
            a, c = float(np.exp(point[-2])), float(point[-1])
            steep = pull * slope * curve * (1 - curve) + checked[1] * (1 - curve) - checked[0] * curve
            center = float(np.log(self.prior.slope_median))
            found.append(
                float(steep @ (a * (self.labels.z - c))) - (point[-2] - center) / self.prior.slope_spread**2
            )
            found.append(-a * float(steep.sum()) - c / self.prior.shift_spread**2)
        return np.array(found)


def _log_odds_density(t: Floats, a: float, b: float) -> Floats:
    """Log density of the log-odds t of a Beta(a, b) variable."""
    return a * special.log_expit(t) + b * special.log_expit(-t) - special.betaln(a, b)
