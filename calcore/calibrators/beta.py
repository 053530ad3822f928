"""Beta calibration: three numbers that bend both ends of the score axis."""

from __future__ import annotations

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import CLIP, check_penalty, fit_logistic
from calcore.evidence import Evidence
from calcore.maps.functions import BetaFunction
from calcore.maps.map_function import MapFunction


class Beta(Calibrator):
    """sigmoid(a ln p - b ln(1 - p) + c) by maximum likelihood (Kull et al. 2017).

    ``C`` as in Platt. ``monotone`` drops a feature whose coefficient comes out negative and fits again.
    Fitted: ``a_``, ``b_``, ``c_``.
    """

    title = "Beta"
    summary = "Three numbers bend each end of the scale on its own; for scores between 0 and 1."

    def __init__(self, C: float | None = None, monotone: bool = False, clip: float = CLIP) -> None:
        self.C = C
        self.monotone = monotone
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_penalty(self.C)

    def _fit(self, evidence: Evidence) -> MapFunction:
        constant = self._constant(evidence)
        if constant is not None:
            self.a_ = self.b_ = 0.0
            self.c_ = float(np.log(max(constant.value, self.clip) / max(1 - constant.value, self.clip)))
            return constant
        p = np.clip(evidence.score, self.clip, 1 - self.clip)
        features = np.column_stack([np.log(p), -np.log1p(-p)])
        used = np.array([True, True])
        fit = fit_logistic(evidence, features, self.C)
        coefficients = fit.coefficients
        while self.monotone and used.any() and (coefficients < 0).any():
            used &= coefficients > np.min(coefficients)
            fit = fit_logistic(evidence, features[:, used], self.C)
            coefficients = np.zeros(2)
            coefficients[used] = fit.coefficients
        self.a_, self.b_, self.c_ = float(coefficients[0]), float(coefficients[1]), fit.intercept
        if fit.separated:
            self._warn("the score (almost) separates the classes: no finite map is best, this one is bounded")
        if min(self.a_, self.b_) < 0:
            self._warn(
                f"the map decreases somewhere (a = {self.a_:.3g}, b = {self.b_:.3g}): it changes the ranking"
            )
        return BetaFunction(a=self.a_, b=self.b_, c=self.c_, clip=self.clip)
