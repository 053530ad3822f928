"""Inverted isotonic: isotonic on the recorded labels, with their flips taken out afterwards."""

from __future__ import annotations

from dataclasses import replace

from calcore.calibrators.base import Calibrator
from calcore.calibrators.forward_platt import tally_of
from calcore.calibrators.isotonic import fit_isotonic
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.map_function import MapFunction
from calcore.observation import Noisy
from calcore.observation.forward_model import recorded_labels
from calcore.observation.forward_platt import ForwardPosterior
from calcore.observation.labelled import FlipRate
from calcore.validation import fraction


class InvertedIsotonic(Calibrator):
    """(h(p) - rho0) / (1 - rho0 - rho1) cut to [0, 1], h the isotonic fit of the recorded labels.

    The flip rates are ``rho0`` and ``rho1`` where given (both or neither), else the known ones of Noisy evidence, else
    those of ForwardPlatt, for labels of Clean evidence too. Fitted: ``rho0_``, ``rho1_``, by group where the
    evidence knows them so.
    """

    title = "Inverted isotonic"
    summary = "Any rising staircase of the recorded labels, with the estimated flips taken out."
    needs_row_labels = True
    keeps_order = True

    def __init__(self, rho0: float | None = None, rho1: float | None = None) -> None:
        self.rho0 = rho0
        self.rho1 = rho1

    rho0_: FlipRate | None
    rho1_: FlipRate | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if (self.rho0 is None) != (self.rho1 is None):
            raise InputError("give both flip rates, rho0 and rho1, or neither")
        for name in ("rho0", "rho1"):
            if getattr(self, name) is not None:
                fraction(getattr(self, name), f"the flip rate {name}", open_interval=False)

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        constant = self._constant_of_labels(evidence)
        if constant is not None:
            self.rho0_, self.rho1_ = self.rho0, self.rho1
            return constant
        model = evidence.model
        if self.rho0 is None and isinstance(model, Noisy) and model.known:
            self.rho0_, self.rho1_ = model.rho0, model.rho1
            return fit_isotonic(evidence)
        if self.rho0 is None:
            mode = ForwardPosterior.of(tally_of(evidence)).mode()
            self.rho0_, self.rho1_ = mode.rho0, mode.rho1
        else:
            self.rho0_, self.rho1_ = self.rho0, self.rho1
        noisy = Noisy(self.rho0_, self.rho1_)
        # isotonic fits commute with a rising line, so correcting the labels first gives the same
        share = evidence.weight / evidence.weight.sum()
        positive, negative = noisy.coefficients(evidence.source, recorded_labels(evidence), None, {})
        return fit_isotonic(replace(evidence, positive=positive * share, negative=negative * share))
