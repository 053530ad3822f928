"""Platt scaling and temperature scaling: a line on the logits of the score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import optimize, special

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import CLIP, check_penalty, fit_logistic, logit
from calcore.evidence import Evidence
from calcore.maps.functions import LogisticFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import Floats

#: Temperatures outside this range are not searched.
TEMPERATURES = (0.01, 100.0)


class Platt(Calibrator):
    """sigmoid(a logit(p) + b) by maximum likelihood.

    ``C`` None: no penalty; else the inverse L2 penalty of the slope on the scale of counts. ``smoothing``:
    Platt's targets (N+ + 1) / (N+ + 2) and 1 / (N- + 2) instead of 1 and 0. ``nonnegative``: the risk of negatives
    counts as at least 0 (nnPU). Fitted: ``a_``, ``b_``.
    """

    title = "Platt"
    summary = "A line on the log-odds: two numbers, steady on few rows, keeps the ranking."

    def __init__(
        self,
        C: float | None = None,
        smoothing: bool = False,
        clip: float = CLIP,
        nonnegative: bool = False,
    ) -> None:
        self.C = C
        self.smoothing = smoothing
        self.clip = clip
        self.nonnegative = nonnegative

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_penalty(self.C)

    def _fit(self, evidence: Evidence) -> MapFunction:
        constant = self._constant(evidence)
        if constant is not None:
            self.a_, self.b_ = 0.0, float(special.logit(np.clip(constant.value, self.clip, 1 - self.clip)))
            return constant
        targets = _smoothed(evidence) if self.smoothing else evidence
        fit = fit_logistic(
            targets, logit(evidence.score, self.clip)[:, None], self.C, nonnegative=self.nonnegative
        )
        self.a_, self.b_ = float(fit.coefficients[0]), fit.intercept
        if fit.separated:
            self._warn("the score (almost) separates the classes: no finite map is best, this one is bounded")
        if self.a_ < 0:
            self._warn(f"the map is decreasing (slope {self.a_:.3g}): it turns the ranking round")
        return LogisticFunction(slope=self.a_, intercept=self.b_, clip=self.clip)


def _smoothed(evidence: Evidence) -> Evidence:
    """Platt's targets, as a shift of each row's weights."""
    scale = float(evidence.weight.sum())
    of_one = (evidence.positive.sum() * scale + 1) / (evidence.positive.sum() * scale + 2)
    of_zero = 1 / (evidence.negative.sum() * scale + 2)
    positive = evidence.positive * of_one + evidence.negative * of_zero
    return replace(evidence, positive=positive, negative=evidence.mass - positive)


class Temperature(Calibrator):
    """sigmoid(logit(p) / T), T within [0.01, 100]; fitted ``temperature_``. Convex in 1/T where a + b >= 0.

    ``nonnegative`` as in Platt.
    """

    title = "Temperature"
    summary = "One number sharpens or flattens all scores; it cannot shift them."
    keeps_order = True

    def __init__(self, clip: float = CLIP, nonnegative: bool = False) -> None:
        self.clip = clip
        self.nonnegative = nonnegative

    def _fit(self, evidence: Evidence) -> MapFunction:
        z = logit(evidence.score, self.clip)
        mass, pull = evidence.mass, float(evidence.positive @ z)

        def slope(beta: float) -> float:
            return float(mass @ (special.expit(beta * z) * z)) - pull

        low, high = 1 / TEMPERATURES[1], 1 / TEMPERATURES[0]
        if not z.any():
            self._warn("every score is 0.5: no temperature changes anything")
            beta = 1.0
        elif slope(low) >= 0:
            beta = low
        elif slope(high) <= 0:
            beta = high
        else:
            beta = float(optimize.brentq(slope, low, high, xtol=1e-14, rtol=1e-14, maxiter=500))
        if self.nonnegative:
            beta = _nonnegative_beta(evidence, z, beta, low, high)
        if beta in (low, high):
            self._warn(f"the temperature ran to its bound {1 / beta:g}: the score does not rank the labels")
        self.temperature_ = 1 / beta
        return LogisticFunction(slope=beta, intercept=0.0, clip=self.clip)


def _nonnegative_beta(evidence: Evidence, z: Floats, beta: float, low: float, high: float) -> float:
    """The best 1/T where the risk of negatives counts as at least 0; ``beta`` where it is not below there."""

    def negative_risk(b: float) -> float:
        return float(evidence.negative @ np.logaddexp(0.0, b * z))

    if negative_risk(beta) >= 0:
        return beta

    def value(log_b: float) -> float:
        b = float(np.exp(log_b))
        return float(evidence.positive @ np.logaddexp(0.0, -b * z)) + max(negative_risk(b), 0.0)

    grid = np.linspace(np.log(low), np.log(high), 200)
    best = int(np.argmin([value(point) for point in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    return float(np.exp(optimize.minimize_scalar(value, bounds=around, method="bounded").x))
