"""Bayesian forward Platt: a logistic curve behind flip rates, averaged over what the labels leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from calcore.calibrators.base import Calibrator
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import BlendFunction, IdentityFunction, PiecewiseLinearFunction
from calcore.maps.map_function import MapFunction
from calcore.observation.forward_model import ForwardPrior, ForwardSample, RecordedLabels
from calcore.observation.rate_estimate import LEVEL, RateEstimate
from calcore.validation import Floats

#: Knots of the averaged curve: equally far apart in log-odds, and in the values of the curve at its mean slope and shift;
#: the lines between them are off by .001 at most.
EVEN_KNOTS, CURVE_KNOTS = 501, 500
#: Log-odds of smaller clips are beyond what the knots of the map can tell apart.
SMALLEST_CLIP = 1e-12
#: A slope whose interval spans more than this factor is told by the prior rather than by the labels.
TOLD_BY_PRIOR = 5.0
#: A posterior sampled less well than this is warned of.
FEWEST_EFFECTIVE = 100.0


@dataclass(frozen=True, eq=False)
class ForwardAudit:
    """What the recorded labels say: how likely each explanation of them is, and the flip rates and curve.

    ``calibrated``: the score is right and so are the labels (or the known flip rates); ``calibrated_noisy``: the score
    is right, labels are flipped at rates not known; ``curve``: neither; the three sum to one. ``rho0``, ``rho1`` are posterior means with intervals at 95 %
    over all three, None where the flip rates were given. ``slope`` and ``shift`` (means; intervals) are of the curve
    sigmoid(slope (logit p - shift)). ``effective_size`` of the posterior sample.
    """

    calibrated: float
    calibrated_noisy: float
    curve: float
    rho0: RateEstimate | None
    rho1: RateEstimate | None
    slope: float
    slope_interval: tuple[float, float]
    shift: float
    shift_interval: tuple[float, float]
    effective_size: float


class BayesianForwardPlatt(Calibrator):
    """The posterior mean of P(Y=1 given p) under three explanations of recorded labels, some flipped.

    1. A curve seen through flips: P(recorded 1 given p) = rho0 + (1 - rho0 - rho1) sigmoid(a (logit p - c)) with
       (rho0, rho1, 1 - rho0 - rho1) ~ Dirichlet(``rates``), log a ~ N(log ``slope_median``, ``slope_spread``), c ~
       N(0, ``shift_spread``).
    2. The score is right and the labels too, of prior probability ``calibrated``.
    3. The score is right and labels are flipped, the rates as in 1; of prior probability ``calibrated_noisy``.

    The map is the first's mean curve, and the score itself, each weighted by its posterior probability: labels that
    do not speak against the score leave it alone. Known flip rates of Noisy evidence are used, not learned; labels of Clean
    evidence count as possibly flipped too (say Noisy(0, 0) of labels that are known to be right). Scores
    are clipped at ``clip`` in their log-odds; ``seed`` of the posterior sample. The map never falls.
    Fitted: ``audit_`` (ForwardAudit).
    """

    title = "Bayesian forward Platt"
    summary = (
        "Learns how often labels are flipped and a curve behind them, and leaves scores alone that the labels do "
        "not contradict."
    )
    needs_row_labels = True
    keeps_order = True

    def __init__(
        self,
        calibrated: float = 0.1,
        calibrated_noisy: float = 0.1,
        slope_median: float = 4.0,
        slope_spread: float = 0.8,
        shift_spread: float = 0.5,
        rates: Sequence[float] = (1.0, 1.0, 1.5),
        clip: float = 1e-5,
        seed: int = 0,
    ) -> None:
        self.calibrated = calibrated
        self.calibrated_noisy = calibrated_noisy
        self.slope_median = slope_median
        self.slope_spread = slope_spread
        self.shift_spread = shift_spread
        self.rates = rates
        self.clip = clip
        self.seed = seed

    def _check_parameters(self) -> None:
        super()._check_parameters()
        masses = (self.calibrated, self.calibrated_noisy)
        if not (all(np.isfinite(m) and m >= 0 for m in masses) and sum(masses) < 1):
            raise InputError(
                f"calibrated and calibrated_noisy are prior probabilities with a sum below 1, got {masses!r}"
            )
        if self.clip < SMALLEST_CLIP:
            raise InputError(f"the clip of scores must be at least {SMALLEST_CLIP:g} here, got {self.clip!r}")
        positive = (self.slope_median, self.slope_spread, self.shift_spread, *self.rates)
        if len(self.rates) != 3 or not all(np.isfinite(v) and v > 0 for v in positive):
            raise InputError(
                "slope_median, slope_spread, shift_spread and the three numbers of rates must be above 0, got "
                f"{positive!r}"
            )

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        constant = self._constant_of_labels(evidence)
        if constant is not None:
            return constant
        labels = RecordedLabels.of(evidence, self.clip)
        prior = ForwardPrior(
            (self.rates[0], self.rates[1], self.rates[2]),
            self.slope_median,
            self.slope_spread,
            self.shift_spread,
        )
        curve = labels.posterior(prior, straight=False, seed=self.seed)
        noisy = None
        if labels.rates is None and self.calibrated_noisy:
            noisy = labels.posterior(prior, straight=True, seed=self.seed)
        probability = self._probabilities(labels, curve, noisy)
        self.audit_ = _audit(labels, curve, noisy, probability)
        if self.audit_.effective_size < FEWEST_EFFECTIVE:
            self._warn(
                f"the posterior was sampled thinly (effective size {self.audit_.effective_size:.0f}): the map is rough"
            )
        low, high = self.audit_.slope_interval
        if probability[0] > 0.5 and high > TOLD_BY_PRIOR * low:
            self._warn(
                "the labels say little about how steep the map should be: it rests on the prior, which expects the score "
                "to be under-confident, and makes an over-confident one worse"
            )
        return BlendFunction(
            weights=(probability[0], 1.0 - probability[0]),
            parts=(_knotted(curve, self.clip), IdentityFunction()),
        )

    def _probabilities(
        self, labels: RecordedLabels, curve: ForwardSample, noisy: ForwardSample | None
    ) -> tuple[float, float, float]:
        """Posterior probabilities of the curve, of right scores, and of right scores with flips."""
        masses = self.calibrated, self.calibrated_noisy
        if labels.rates is not None:  # with known rates the two kinds of right scores are one
            masses = sum(masses), 0.0
        log_evidence = np.array(
            [
                curve.sample.log_evidence,
                labels.calibrated(),
                -np.inf if noisy is None else noisy.sample.log_evidence,
            ]
        )
        prior = np.array([1 - sum(masses), *masses])
        with np.errstate(divide="ignore"):
            found = special.softmax(np.log(prior) + log_evidence)
        return float(found[0]), float(found[1]), float(found[2])


def _knotted(curve: ForwardSample, clip: float) -> PiecewiseLinearFunction:
    """The mean curve between knots."""
    end = float(special.logit(1 - clip))
    weight = curve.sample.weight
    rise = special.logit((np.arange(CURVE_KNOTS) + 0.5) / CURVE_KNOTS)
    steep = float(weight @ curve.shift) + rise / float(weight @ curve.slope)
    z = np.concatenate([np.linspace(-end, end, EVEN_KNOTS), steep[np.abs(steep) < end]])
    x, first = np.unique(special.expit(z), return_index=True)
    y = np.maximum.accumulate(np.clip(curve.mean_curve(z[first]), 0.0, 1.0))
    return PiecewiseLinearFunction(x=x, y=y)


def _audit(
    labels: RecordedLabels,
    curve: ForwardSample,
    noisy: ForwardSample | None,
    probability: tuple[float, float, float],
) -> ForwardAudit:
    sample = curve.sample
    rho: list[RateEstimate | None] = [None, None]
    if curve.free_rates:
        values = [curve.rates, np.zeros((2, 1))]
        weights = [probability[0] * sample.weight, np.array([probability[1]])]
        if noisy is not None:
            values.append(noisy.rates)
            weights.append(probability[2] * noisy.sample.weight)
        mixed, weight = np.concatenate(values, axis=1), np.concatenate(weights)
        rho = [
            _rate(name, found, weight, labels.size)
            for name, found in zip(("rho0", "rho1"), mixed, strict=True)
        ]
    return ForwardAudit(
        calibrated=probability[1],
        calibrated_noisy=probability[2],
        curve=probability[0],
        rho0=rho[0],
        rho1=rho[1],
        slope=float(sample.weight @ curve.slope),
        slope_interval=_interval(curve.slope, sample.weight),
        shift=float(sample.weight @ curve.shift),
        shift_interval=_interval(curve.shift, sample.weight),
        effective_size=min(part.sample.effective_size for part in (curve, noisy) if part is not None),
    )


def _rate(name: str, values: Floats, weight: Floats, size: float) -> RateEstimate:
    return RateEstimate(
        name,
        float(weight @ values),
        _interval(values, weight),
        round(size),
        (
            "flips do not depend on the score, given the true label",
            "P(Y=1 given the score) is the score, or sigmoid(a (logit(score) - c)) with a > 0",
            "the priors of the calibrator, which decide where few rows say little",
        ),
        "Bayesian forward Platt (posterior mean)",
    )


def _interval(values: Floats, weight: Floats) -> tuple[float, float]:
    """The middle 95 % of weighted values."""
    order = np.argsort(values)
    reached = np.cumsum(weight[order]) / weight.sum()
    tail = (1 - LEVEL) / 2
    low, high = np.searchsorted(reached, (tail, 1 - tail))
    last = values.size - 1
    return float(values[order[min(low, last)]]), float(values[order[min(high, last)]])
