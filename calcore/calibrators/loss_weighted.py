"""LWCal and Gated-LWCal: isotonic maps that trust a row less, the more its label contradicts the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calcore.calibrators.base import Calibrator
from calcore.calibrators.isotonic import fit_isotonic
from calcore.calibrators.logistic import CLIP
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.half_labels import halves_apart
from calcore.maps.functions import BlendFunction, IdentityFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import Floats
from calcore.weighted import weighted_median

#: The contradiction rate up to which the map is used, and over how much more it fades to the score alone
#: (LWCal, Eq. 3).
GATE_START, GATE_WIDTH = 0.29, 0.12
#: The settings of the gate that the paper tries (LWCal, Table VII).
GATE_CENTERS, GATE_WIDTHS = (0.25, 0.29, 0.33, 0.35), (0.08, 0.12, 0.16)


def recorded_labels(evidence: Evidence) -> Floats:
    """The recorded labels (n,). Raises DoesNotExist where rows carry none."""
    if evidence.label is None:
        raise DoesNotExist(f"no label contradicts a score under {evidence.model.name}: its rows carry none")
    return evidence.label


def label_losses(evidence: Evidence, clip: float = CLIP) -> Floats:
    """-log of the score of the recorded label, (n,) (LWCal, Eq. 1); ties must be apart."""
    assert evidence.label is not None
    p = np.clip(evidence.score, clip, 1.0 - clip)
    return -np.log(evidence.label * p + (1.0 - evidence.label) * (1.0 - p))


def contradicts(score: Floats, label: Floats) -> NDArray[np.bool_]:
    """Rows whose recorded label is not the decision p >= .5, (n,); a tie is neither for it nor against it."""
    return contradiction(score, label) == 1


def contradiction(score: Floats, label: Floats) -> Floats:
    """How much of each recorded label is not the decision p >= .5, (n,): 0, 1, or 1/2 for a tie (LWCal, Eq. 6)."""
    return np.abs((score >= 0.5) - label)


def contradiction_rate(evidence: Evidence) -> float:
    """d_hat, the weighted share of rows whose label contradicts the decision (LWCal, Eq. 6).

    Raises DoesNotExist where rows carry no label.
    """
    against = contradiction(evidence.score, recorded_labels(evidence))
    return float(evidence.weight @ against / evidence.weight.sum())


def gate_opening(d_hat: float | Floats, center: float, width: float) -> Floats:
    """rho = clip((d_hat - center) / width, 0, 1), of the shape of ``d_hat`` (LWCal, Eq. 3)."""
    return np.clip((np.asarray(d_hat, dtype=np.float64) - center) / width, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class GateAudit:
    """What LWCal logs: ``losses`` and ``weights`` (n,) in the order of the evidence (of a tie, the
    means of its two halves), their median ``m`` and
    median absolute deviation ``s``, the contradiction rate ``d_hat`` and the gate ``rho`` in [0, 1].

    ``score`` and ``action`` are the recommendation of LWCal, Table XI; ``equal_losses`` is true where s = 0.
    """

    losses: Floats
    weights: Floats
    m: float
    s: float
    d_hat: float
    rho: float
    score: str
    action: str
    equal_losses: bool
    #: The contradiction rate if every label were right and the score calibrated: mean of min(p, 1 - p).
    expected_d: float

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def recommended(d_hat: float, start: float = GATE_START, width: float = GATE_WIDTH) -> tuple[str, str]:
    """Which score to use and what to do, by the contradiction rate (LWCal, Table XI)."""
    if d_hat < start:
        return "LWCal", "Use calibrated thresholds."
    if d_hat < start + width:
        return "Gated-LWCal", "Log the gate and monitor drift."
    return "Raw or Gated-LWCal", "Audit labels before setting new thresholds."


class LWCal(Calibrator):
    """Isotonic with weights clip(sigmoid(-(loss - m) / (1.4826 s + epsilon)), floor, 1) (LWCal, Eq. 2).

    m is the median loss, s the median absolute deviation; the weights multiply both weights of the evidence.
    Fitted: ``audit_`` (GateAudit).
    """

    title = "LWCal"
    summary = "Trusts labels less where they contradict the score; sharpens, even where nothing is wrong."
    needs_row_labels = True
    keeps_order = True

    def __init__(self, epsilon: float = 1e-8, floor: float = 0.05, clip: float = CLIP) -> None:
        self.epsilon = epsilon
        self.floor = floor
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (0 <= self.floor <= 1 and self.epsilon > 0):
            raise InputError(
                f"LWCal needs a floor in [0, 1] and epsilon > 0, got {self.floor!r}, {self.epsilon!r}"
            )

    def _prepared(self, evidence: Evidence) -> Evidence:
        return evidence  # the audit has one entry a row: ties are taken apart in the fit

    def _fit(self, evidence: Evidence) -> MapFunction:
        apart = halves_apart(evidence)
        audit = self._audit(apart.evidence, *self._gate())
        self.audit_ = replace(audit, losses=apart.mean(audit.losses), weights=apart.mean(audit.weights))
        if audit.equal_losses:
            self._warn(
                "all losses are (almost) equal: the median absolute deviation is 0, weights are .5 there"
            )
        constant = self._constant(evidence)
        return constant or fit_isotonic(apart.evidence.reweighted(audit.weights))

    def _gate(self) -> tuple[float, float]:
        """Where the gate starts, and how wide it is."""
        return GATE_START, GATE_WIDTH

    def _audit(self, evidence: Evidence, start: float, width: float) -> GateAudit:
        losses = label_losses(evidence, self.clip)
        m = weighted_median(losses, evidence.weight)
        s = weighted_median(np.abs(losses - m), evidence.weight)
        # far losses overflow to weights of exactly 0 or 1, which the clip then bounds
        standard = np.clip(-(losses - m) / (1.4826 * s + self.epsilon), -700.0, 700.0)
        weights = np.clip(special.expit(standard), self.floor, 1.0)
        d_hat = contradiction_rate(evidence)
        doubt = np.minimum(evidence.score, 1 - evidence.score)
        expected = float(evidence.weight @ doubt / evidence.weight.sum())
        rho = float(gate_opening(d_hat, start, width))
        score, action = recommended(d_hat, start, width)
        return GateAudit(losses, weights, m, s, d_hat, rho, score, action, bool(s == 0.0), expected)


class GatedLWCal(LWCal):
    """(1 - rho) g(p) + rho p with g of LWCal and rho = clip((d_hat - center) / width, 0, 1) (LWCal, Eq. 3).

    d_hat is the share of rows whose recorded label contradicts the decision p >= .5 (LWCal, Eq. 6).
    """

    title = "Gated-LWCal"
    summary = "LWCal that backs off to the score where labels contradict it too often."
    keeps_order = True

    def __init__(
        self,
        center: float = GATE_START,
        width: float = GATE_WIDTH,
        epsilon: float = 1e-8,
        floor: float = 0.05,
        clip: float = CLIP,
    ) -> None:
        super().__init__(epsilon, floor, clip)
        self.center = center
        self.width = width

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (np.isfinite(self.center) and np.isfinite(self.width) and self.width > 0):
            raise InputError(
                f"the gate needs a finite center and a width above 0, got width = {self.width!r}"
            )

    def _gate(self) -> tuple[float, float]:
        return self.center, self.width

    def _fit(self, evidence: Evidence) -> MapFunction:
        loss_weighted = super()._fit(evidence)
        rho = self.audit_.rho
        return BlendFunction(weights=(1.0 - rho, rho), parts=(loss_weighted, IdentityFunction()))
