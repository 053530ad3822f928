"""Calibration slope and intercept: the logistic recalibration of a score, and the test that it needs none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse, special

from calcore.calibrators.logistic import BOUND, CLIP, fit_logistic, logit
from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.moment_test import moments_vanish
from calcore.metrics.results import CalibrationTest, Estimate, provenance
from calcore.metrics.scores import undefined
from calcore.metrics.uncertainty import LEVEL, Z, covariance_of_sums, honest_interval
from calcore.validation import Floats


@dataclass(frozen=True)
class Slope(Estimate):
    """The slope as ``value``, and the ``joint_intercept`` that was fitted with it, with its interval and error."""

    joint_intercept: float = float("nan")
    joint_interval: tuple[float, float] | None = None
    joint_error: float | None = None


def calibration_slope(evidence: Evidence, clip: float = CLIP) -> Slope:
    """The slope of the outcome's log odds on those of the score, fitted with an intercept (Cox 1958).

    1 if calibrated; below 1 the scores are too extreme, above 1 too moderate. Scores are clipped to
    [``clip``, 1 - clip]. Sandwich errors, by source and unit. NaN with a reason where the score is constant, or
    where it tells the classes apart without error.
    """
    # where rows are many, added up on the grid: the slope then moves by about 3e-7
    evidence, _ = collapsed_if_large(evidence.without_groups())
    x = logit(evidence.score, clip)
    if not np.ptp(x) > 0:
        return _no_slope(evidence, "n/a: the score is constant")
    with np.errstate(over="ignore", invalid="ignore"):  # negative masses may drive the search out of range
        fitted = fit_logistic(evidence, x[:, None])
    if fitted.separated or not np.isfinite(fitted.coefficients[0]):
        return _no_slope(
            evidence, "n/a: the score tells the classes apart, or one has no mass: no finite slope"
        )
    at = np.array([fitted.coefficients[0], fitted.intercept])
    covariance = _sandwich(evidence, np.column_stack([x, np.ones(len(x))]), special.expit(x * at[0] + at[1]))
    slope, intercept = (_bounded(evidence, at[k], covariance[k, k]) for k in (0, 1))
    return Slope(
        name="calibration slope",
        value=float(at[0]),
        interval=slope[0],
        standard_error=slope[1],
        level=LEVEL,
        ideal=1.0,
        joint_intercept=float(at[1]),
        joint_interval=intercept[0],
        joint_error=intercept[1],
        **provenance(evidence, *_clipped(evidence, clip)),
    )


def calibration_intercept(evidence: Evidence, clip: float = CLIP) -> Estimate:
    """Calibration in the large: the shift of the log odds that makes the mean score the event rate; slope fixed at 1.

    0 if calibrated; above 0 positives are more common than the scores say. Sandwich error. NaN with a reason where
    no shift does it: one class only, or rates outside (0, 1) under a correction.
    """
    evidence, _ = collapsed_if_large(evidence.without_groups())
    x = logit(evidence.score, clip)

    def excess(shift: float) -> float:
        return float(evidence.positive.sum() - evidence.mass @ special.expit(x + shift))

    if not excess(-BOUND) > 0 > excess(BOUND):
        return undefined(
            evidence, "calibration intercept", "n/a: the event rate is 0, 1 or outside: no finite shift"
        )
    shift = float(optimize.brentq(excess, -BOUND, BOUND, xtol=1e-14, rtol=1e-13))
    variance = _sandwich(evidence, np.ones((len(x), 1)), special.expit(x + shift))[0, 0]
    interval, error = _bounded(evidence, shift, float(variance))
    return Estimate(
        name="calibration intercept",
        value=shift,
        interval=interval,
        standard_error=error,
        level=LEVEL,
        **provenance(evidence, *_clipped(evidence, clip)),
    )


def recalibration_test(evidence: Evidence, clip: float = CLIP) -> CalibrationTest:
    """Test of slope 1 and intercept 0 together: Rao's score test, which needs no fit and no finite slope.

    On two degrees of freedom, one where the score is constant. See ``moments_vanish`` for other models, weights and
    units.
    """
    evidence = evidence.without_groups()
    x = logit(evidence.score, clip)
    # centred, so that a nearly constant score does not look like an intercept
    centred = x - np.average(x, weights=evidence.weight)
    columns = [np.ones(len(x)), centred] if np.ptp(x) > 0 else [np.ones(len(x))]
    found = moments_vanish(evidence, np.column_stack(columns))
    known = found.degrees > 0
    notes: tuple[str, ...] = ()
    if not known:
        notes = ("n/a: nothing varies, or too few independent rows",)
    elif np.isinf(found.statistic):
        notes = ("scores of 0 or 1 have the opposite outcome: impossible if calibrated",)
    return CalibrationTest(
        name="slope 1, intercept 0",
        value=found.statistic if known else float("nan"),
        interval=None,
        standard_error=None,
        p_value=found.p_value,
        degrees=found.degrees,
        method=found.method,
        **provenance(evidence, *notes),
    )


def _sandwich(evidence: Evidence, design: Floats, rate: Floats) -> Floats:
    """Covariance of the coefficients of ``design`` (n, d) where the fitted rates are ``rate`` (n,); NaN if singular."""
    curvature = (design * (evidence.mass * rate * (1 - rate))[:, None]).T @ design
    terms = design * (evidence.positive - evidence.mass * rate)[:, None]
    if not np.linalg.cond(curvature) < 1e14:
        return np.full(curvature.shape, np.nan)
    inverse = np.linalg.inv(curvature)
    return np.asarray(inverse @ covariance_of_sums(evidence, sparse.csr_array(terms)) @ inverse)


def _bounded(
    evidence: Evidence, value: float, variance: float
) -> tuple[tuple[float, float] | None, float | None]:
    if not np.isfinite(variance) or variance < 0:
        return None, None
    error = float(np.sqrt(variance))
    return honest_interval(evidence, (float(value) - Z * error, float(value) + Z * error)), error


def _clipped(evidence: Evidence, clip: float) -> tuple[str, ...]:
    at_ends = float(evidence.count[(evidence.score < clip) | (evidence.score > 1 - clip)].sum())
    return (f"scores clipped to [{clip:g}, 1 - {clip:g}]: {at_ends:,.0f} rows",) if at_ends else ()


def _no_slope(evidence: Evidence, reason: str) -> Slope:
    return Slope(
        name="calibration slope",
        value=float("nan"),
        interval=None,
        standard_error=None,
        ideal=1.0,
        **provenance(evidence, reason),
    )
