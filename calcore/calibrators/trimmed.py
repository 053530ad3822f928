"""Trimmed calibrators: rows whose label contradicts the score most are left out."""

from __future__ import annotations

from calcore.calibrators.base import Calibrator
from calcore.calibrators.beta import Beta
from calcore.calibrators.isotonic import fit_isotonic
from calcore.calibrators.logistic import CLIP
from calcore.calibrators.loss_weighted import label_losses
from calcore.evidence import Evidence
from calcore.maps.map_function import MapFunction
from calcore.validation import fraction
from calcore.weighted import weighted_quantile


def trim(evidence: Evidence, keep: float, clip: float = CLIP) -> Evidence:
    """The rows whose loss is at most the ``keep`` quantile of all losses; by weight, where rows have one."""
    losses = label_losses(evidence, clip)
    return evidence.take(losses <= weighted_quantile(losses, evidence.weight, keep))


def check_keep(keep: float) -> None:
    """Raise InputError unless 0 < ``keep`` <= 1."""
    if keep != 1:
        fraction(keep, "keep")


class TrimmedIsotonic(Calibrator):
    """Isotonic on the rows with losses up to the ``keep`` quantile, in (0, 1]. Fitted: ``kept_``, their number."""

    title = "Trimmed isotonic"
    summary = "Leaves out the most contradictory labels, then isotonic; brittle where the score is weak."
    needs_row_labels = True
    keeps_order = True

    def __init__(self, keep: float = 0.85, clip: float = CLIP) -> None:
        self.keep = keep
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_keep(self.keep)

    def _fit(self, evidence: Evidence) -> MapFunction:
        kept = trim(evidence, self.keep, self.clip)
        self.kept_ = kept.n
        return self._constant(kept) or fit_isotonic(kept)


class TrimmedBeta(Beta):
    """Beta calibration on the rows with losses up to the ``keep`` quantile, in (0, 1].

    ``C`` and ``monotone`` as in Beta. Fitted: ``a_``, ``b_``, ``c_``, and ``kept_``, the number of rows kept.
    """

    title = "Trimmed beta"
    summary = "Leaves out the most contradictory labels, then beta."
    needs_row_labels = True

    def __init__(
        self, keep: float = 0.85, C: float | None = None, monotone: bool = False, clip: float = CLIP
    ) -> None:
        super().__init__(C, monotone, clip)
        self.keep = keep

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_keep(self.keep)

    def _fit(self, evidence: Evidence) -> MapFunction:
        kept = trim(evidence, self.keep, self.clip)
        self.kept_ = kept.n
        return super()._fit(kept)
