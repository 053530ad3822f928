"""Forward Platt: Platt scaling that looks at noisy labels through the flip rates it estimates from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import logit
from calcore.calibrators.platt import Platt
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import LogisticFunction
from calcore.maps.map_function import MapFunction
from calcore.observation import Noisy
from calcore.observation.flip_rates import FlipRates, rates_of_forward_platt
from calcore.observation.forward_model import recorded_labels
from calcore.observation.forward_platt import CLIP, ForwardMode, ForwardPosterior
from calcore.observation.rate_estimate import Tally


@dataclass(frozen=True, eq=False)
class ForwardPlattAudit:
    """The flip rates with their intervals, and the curve sigmoid(``slope`` logit(p) + ``intercept``)."""

    slope: float
    intercept: float
    tally: Tally
    problem: ForwardPosterior
    mode: ForwardMode

    @cached_property
    def rates(self) -> FlipRates:
        """rho0, rho1 and how often labels are wrong; worked out when asked for, since intervals take longest."""
        return rates_of_forward_platt(self.tally, self.problem, self.mode)


class ForwardPlatt(Calibrator):
    """sigmoid(a logit p + b) at the mode of P(recorded 1 given p) = rho0 + (1 - rho0 - rho1) sigmoid(a logit p + b).

    (rho0, rho1, 1 - rho0 - rho1) ~ Dirichlet(1.1, 1.1, 3), log a ~ N(log ``slope_median``, ``slope_spread``), b ~
    N(0, 1). A ``slope_median`` of 1 is neutral; 2 (with a spread of .75) says that the score is under-confident
    before any label is seen. Strictly rising, so that the ranking stays. Known flip rates of Noisy evidence are used: then
    this is Platt on the corrected labels. Labels of Clean evidence count as possibly flipped too. Fitted: ``a_``, ``b_``, ``audit_`` (ForwardPlattAudit; not with known
    rates).
    """

    title = "Forward Platt"
    summary = "Estimates how often labels are flipped and a line on the log-odds behind them."
    needs_row_labels = True
    keeps_order = True

    def __init__(self, slope_median: float = 1.0, slope_spread: float = 1.0, clip: float = CLIP) -> None:
        self.slope_median = slope_median
        self.slope_spread = slope_spread
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        given = (self.slope_median, self.slope_spread)
        if not all(np.isfinite(value) and value > 0 for value in given):
            raise InputError(f"slope_median and slope_spread must be above 0, got {given!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        constant = self._constant_of_labels(evidence)
        if constant is not None:
            self.a_, self.b_ = 0.0, float(logit(np.array([constant.value]), self.clip)[0])
            return constant
        if isinstance(evidence.model, Noisy) and evidence.model.known:
            return self._with_known_rates(evidence)
        tally = tally_of(evidence)
        problem = ForwardPosterior.of(tally, self.slope_median, self.slope_spread, self.clip)
        mode = problem.mode()
        self.a_, self.b_ = mode.slope, mode.intercept
        self.audit_ = ForwardPlattAudit(mode.slope, mode.intercept, tally, problem, mode)
        return LogisticFunction(slope=self.a_, intercept=self.b_, clip=self.clip)

    def _with_known_rates(self, evidence: Evidence) -> MapFunction:
        platt = Platt(clip=self.clip).fit(evidence)
        self.a_, self.b_ = platt.a_, platt.b_
        for warning in platt.warnings_:
            self._warn(warning)
        return platt.map_.function


def tally_of(evidence: Evidence) -> Tally:
    """Labels by score as they were recorded, before any were corrected; a row of weight 2 is the row twice.

    Rows that were corrected because they looked wrong would leave flips that depend on the score.
    """
    return Tally.of(evidence.score, recorded_labels(evidence), evidence.weight)
