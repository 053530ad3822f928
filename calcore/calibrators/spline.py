"""Spline calibration: a smooth rising curve on the log-odds."""

from __future__ import annotations

import numpy as np
from scipy import special
from scipy.interpolate import BSpline

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import BOUND, CLIP, fit_logistic, logit
from calcore.errors import InputError
from calcore.evidence import Evidence, collapsed_if_large
from calcore.maps.functions import ConstantFunction, PiecewiseLinearFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import Floats, whole_number
from calcore.weighted import weighted_quantile

#: The map's lines are off the curve by no more than this, unless that would take more than the most knots.
LINE_ERROR, MOST_KNOTS = 1e-5, 8193


class Spline(Calibrator):
    """sigmoid(c + sum of w_k I_k(logit p)), w_k >= 0, the I_k integrated hat functions (I-splines of degree 2).

    Ramsay (1988), "Monotone Regression Splines in Action", Section 3: w_k is the curve's slope at knot k, linear
    between knots, so that no slope below 0 is no decrease anywhere, and equal slopes are Platt's line. ``knots``
    inner ones stand at quantiles of the scores by mass, two more at the ends; the curve is constant beyond. Slopes
    of neighbouring knots differ by N(0, ``spread``) beforehand, so that few rows give nearly Platt's line: a penalty
    on the scale of counts. Above 200,000 rows scores are added up on a fine grid.

    The map is the curve's values at up to 8193 knots with lines between; ``line_error_`` is the largest distance
    seen halfway between two of them, at most 1e-5 unless the map warns. Fitted: ``knots_`` in log-odds and
    ``slopes_`` there, ``line_error_``.
    """

    title = "Spline"
    summary = "A smooth rising curve on the log-odds: bends where Platt cannot, steadier than isotonic."
    keeps_order = True

    def __init__(self, knots: int = 4, spread: float = 0.5, clip: float = CLIP) -> None:
        self.knots = knots
        self.spread = spread
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number(self.knots, "knots", 0, 50)
        if not (np.isfinite(self.spread) and self.spread > 0):
            raise InputError(f"the spread of neighbouring slopes must be above 0, got {self.spread!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        constant = self._constant(evidence)
        if constant is not None:
            return constant
        # a subgroup's rows may not be added up with others', but this curve is one for all
        rows, _ = collapsed_if_large(evidence.without_groups())
        z = logit(rows.score, self.clip)
        knots, middle = self._placed(rows, z)
        if knots.size < 2:
            self._warn("every score is the same: the map is constant")
            return ConstantFunction(value=float(np.clip(evidence.base_rate, 0.0, 1.0)))
        features = _integrals(knots, z) - _integrals(knots, np.array([middle]))
        change = np.diff(np.eye(knots.size), axis=0) / self.spread
        fit = fit_logistic(rows, features, rising=True, penalty=change.T @ change)
        self.knots_, self.slopes_ = knots, fit.coefficients
        if fit.separated:
            self._warn("the score (almost) separates the classes: no finite map is best, this one is bounded")
        if not self.slopes_.any():
            self._warn("the event rate does not rise with the score: the map is constant")
        if (self.slopes_ >= BOUND - 1e-6).any():
            self._warn(f"the curve is as steep as is allowed somewhere (slope {BOUND:g} in log-odds)")
        offset = fit.intercept - float(_integrals(knots, np.array([middle]))[0] @ fit.coefficients)
        return self._drawn(offset)

    def _placed(self, rows: Evidence, z: Floats) -> tuple[Floats, float]:
        """Knots in log-odds, and the median, where the curve passes through the intercept."""
        used = rows.weight > 0
        weight = rows.covariate_weight[used]
        if not weight.any():
            weight = rows.weight[used]
        share = np.concatenate([[0.5], np.arange(1, self.knots + 1) / (self.knots + 1)])
        inner = weighted_quantile(z[used], weight, share)
        ends = [z[used].min(), z[used].max()]
        return np.unique(np.concatenate([ends, inner[1:]])), float(inner[0])

    def _drawn(self, offset: float) -> MapFunction:
        """The curve as lines between knots equally far apart in log-odds, twice as many until they are near enough."""

        def curve(z: Floats) -> Floats:
            return special.expit(offset + _integrals(self.knots_, z) @ self.slopes_)

        low, high = self.knots_[0], self.knots_[-1]
        steps = 128
        while True:
            z = np.unique(np.concatenate([np.linspace(low, high, steps + 1), self.knots_]))
            x = special.expit(z)
            halfway = (x[:-1] + x[1:]) / 2
            y = np.maximum.accumulate(curve(z))
            self.line_error_ = float(np.abs((y[:-1] + y[1:]) / 2 - curve(special.logit(halfway))).max())
            if self.line_error_ <= LINE_ERROR or steps + 1 >= MOST_KNOTS:
                break
            steps *= 2
        if self.line_error_ > LINE_ERROR:
            self._warn(f"the map's lines are off the curve by up to {self.line_error_:.1g}")
        apart = np.append(True, np.diff(x) > 0)
        return PiecewiseLinearFunction(x=x[apart], y=y[apart])


def _integrals(knots: Floats, z: Floats) -> Floats:
    """Integrals of the hat functions on ``knots`` (k,) from the first knot up to ``z`` (n,), (n, k)."""
    around = np.concatenate([knots[:1], knots, knots[-1:]])
    hats = BSpline(around, np.eye(knots.size), 1).antiderivative()
    inside = np.clip(z, knots[0], knots[-1])
    return np.asarray(hats(inside) - hats(knots[:1]))
