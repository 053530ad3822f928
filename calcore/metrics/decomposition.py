"""Miscalibration, discrimination and uncertainty: what a proper score is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from calcore.calibrators.isotonic import fit_isotonic
from calcore.errors import InputError
from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.isotonic_noise import IsotonicNoise
from calcore.metrics.results import CalibrationError, Estimate, provenance
from calcore.metrics.scores import LOG_CLIP, brier_terms, estimate, log_loss_terms
from calcore.metrics.uncertainty import LEVEL, Z, honest_interval, variance_of_sum
from calcore.validation import Floats


@dataclass(frozen=True)
class ScoreDecomposition(CalibrationError):
    """``score`` = ``value`` (miscalibration, MCB) - ``discrimination`` (DSC) + ``uncertainty`` (UNC).

    MCB is what the best rising map of the score would save, DSC what that map saves against the base rate alone,
    UNC the score of the base rate. MCB is positive even for a calibrated score: ``noise_floor`` and ``noise_limit``
    say by how much.
    """

    score: float = float("nan")
    discrimination: float = float("nan")
    discrimination_interval: tuple[float, float] | None = None
    uncertainty: float = float("nan")
    uncertainty_interval: tuple[float, float] | None = None

    @property
    def miscalibration(self) -> float:
        return self.value


def score_decomposition(evidence: Evidence, score: str = "brier") -> ScoreDecomposition:
    """MCB - DSC + UNC of the ``score`` "brier" or "log loss" (Dimitriadis, Gneiting and Jordan 2021, Eq. 4).

    The recalibrated score is the isotonic fit to the evidence. Errors of DSC and UNC: the fit and the base rate
    minimise their scores, so that to first order theirs do not count. The interval of MCB goes from that far below
    the value less what a calibrated score would show, to that far above the value. In the log loss, scores are
    clipped as in ``log_loss``. Under corrected weights the fit too is clipped, and parts may come out below 0.
    """
    if score not in _TERMS:
        raise InputError(f'the score to decompose is "brier" or "log loss", got {score!r}')
    evidence = evidence.without_groups()
    terms = _TERMS[score]
    fitted = np.clip(fit_isotonic(evidence)(evidence.score), 0.0, 1.0)
    base = np.full(len(evidence), np.clip(evidence.base_rate, 0.0, 1.0))
    of_score = brier_terms(evidence) if score == "brier" else log_loss_terms(evidence)
    of_fit, of_base = terms(evidence, fitted), terms(evidence, base)
    miscalibration = float(of_score.sum() - of_fit.sum())
    discrimination = estimate(evidence, "DSC", float(of_base.sum() - of_fit.sum()), of_base - of_fit)
    uncertainty = estimate(evidence, "UNC", float(of_base.sum()), of_base)
    # the fit is made on the rows; its noise does not need them where they are many
    noise = _under_calibration(collapsed_if_large(evidence)[0], score)
    floor, limit = float(noise.mean()), float(np.quantile(noise, LEVEL))
    error = float(np.sqrt(np.fmax(variance_of_sum(evidence, of_score - of_fit), noise.var())))
    raw = (max(miscalibration - floor - Z * error, 0.0), max(miscalibration, floor) + Z * error)
    return ScoreDecomposition(
        name=f"miscalibration ({'Brier' if score == 'brier' else score})",
        value=miscalibration,
        interval=honest_interval(evidence, raw),
        standard_error=None,
        noise_floor=floor,
        noise_limit=limit,
        debiased=max(miscalibration - floor, 0.0),
        strategy="isotonic",
        score=float(of_score.sum()),
        discrimination=discrimination.value,
        discrimination_interval=_of(discrimination),
        uncertainty=uncertainty.value,
        uncertainty_interval=_of(uncertainty),
        **provenance(evidence),
    )


def _of(part: Estimate) -> tuple[float, float] | None:
    """The interval of a part that is never below 0."""
    return None if part.interval is None else (max(part.interval[0], 0.0), max(part.interval[1], 0.0))


def _brier(evidence: Evidence, rate: Floats) -> Floats:
    return evidence.positive * (1.0 - rate) ** 2 + evidence.negative * rate**2


def _log_loss(evidence: Evidence, rate: Floats) -> Floats:
    if evidence.model.corrected:
        rate = np.clip(rate, LOG_CLIP, 1.0 - LOG_CLIP)
    # a fitted rate of 0 or 1 has no row of the other label, and costs nothing
    return -special.xlogy(evidence.positive, rate) - special.xlog1py(evidence.negative, -rate)


_TERMS = {"brier": _brier, "log loss": _log_loss}


def _under_calibration(evidence: Evidence, score: str) -> Floats:
    """MCB of samples in which the score is calibrated, (draws,)."""
    noise = IsotonicNoise.of(evidence, evidence.score)
    if score == "brier":
        saved = (noise.rate - noise.score) ** 2 - (noise.rate - noise.fitted) ** 2
        return np.asarray(saved @ noise.mass)
    f, g = (np.clip(one, LOG_CLIP, 1.0 - LOG_CLIP) for one in (noise.score, noise.fitted))
    saved = noise.rate * np.log(g / f) + (1.0 - noise.rate) * np.log((1.0 - g) / (1.0 - f))
    return np.asarray(saved @ noise.mass)
