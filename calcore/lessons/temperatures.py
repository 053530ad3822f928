"""What rescaling the log-odds does: the ranking stays, the probabilities do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calcore.calibrators import Temperature
from calcore.calibrators.logistic import CLIP
from calcore.evidence import Evidence, collapsed_if_large
from calcore.lessons.arithmetic import contributions
from calcore.maps.functions import LogisticFunction
from calcore.metrics import auc
from calcore.metrics.binning import Bins
from calcore.metrics.scores import brier_terms, log_loss_terms

#: From 1/4 to 4, four steps an octave; 1 is among them exactly.
TEMPERATURES = tuple(2.0 ** (k / 4) for k in range(-8, 9))


@dataclass(frozen=True)
class AtTemperature:
    """The metrics of sigmoid(logit(score) / ``temperature``); ``auc`` is NaN with one class."""

    temperature: float
    auc: float
    ece: float
    brier: float
    log_loss: float


@dataclass(frozen=True)
class TemperatureCurve:
    """The metrics along ``points``, in rising temperature, and at ``fitted``, that of least log loss.

    ``auc_spread`` is the largest difference in AUC over the points: 0 but for scores so near 0 or 1 that they
    become equal in double precision. ``basis`` names the labels; ``warnings`` are those of the fit.
    """

    points: tuple[AtTemperature, ...]
    fitted: AtTemperature
    auc_spread: float
    n: int
    basis: str
    warnings: tuple[str, ...]

    @property
    def unchanged(self) -> AtTemperature:
        """The score as it is, at a temperature of 1."""
        return min(self.points, key=lambda point: abs(point.temperature - 1))


def temperature_curve(
    evidence: Evidence, bins: int = 15, temperatures: Sequence[float] = TEMPERATURES
) -> TemperatureCurve:
    """Metrics under temperatures (Basics, section 2), which here divide the log-odds: above 1 is softer.

    The paper's T multiplies them: its T = 4 is a temperature of 1/4.
    """
    evidence, _ = collapsed_if_large(evidence.without_groups())
    made = Bins.equal_width(bins)
    fit = Temperature().fit(evidence)
    points = tuple(_measured(evidence, temperature, made) for temperature in temperatures)
    ranks = [point.auc for point in points]
    return TemperatureCurve(
        points=points,
        fitted=_measured(evidence, fit.temperature_, made),
        auc_spread=max(ranks) - min(ranks),
        n=evidence.n,
        basis=evidence.model.basis,
        warnings=fit.warnings_,
    )


def _measured(evidence: Evidence, temperature: float, bins: Bins) -> AtTemperature:
    if temperature != 1:  # clipping must not touch the score as it is
        rescale = LogisticFunction(slope=1 / temperature, intercept=0.0, clip=CLIP)
        evidence = evidence.with_score(rescale(evidence.score))
    return AtTemperature(
        temperature=temperature,
        auc=auc(evidence).value,
        ece=float(contributions(evidence, bins).sum()),
        brier=float(brier_terms(evidence).sum()),
        log_loss=float(log_loss_terms(evidence).sum()),
    )
