"""The one chi-square test that moments vanish: E[c(f) (Y - f)] = 0 for some functions c of the score.

A calibrated score has no such moment that differs from 0. Spiegelhalter's test is c = 1 - 2f, Hosmer-Lemeshow's the
indicators of groups of scores, the test of slope 1 and intercept 0 is c = (1, logit f).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, stats

from calcore.evidence import Evidence
from calcore.metrics.uncertainty import (
    FEWEST_DRAWS,
    covariance_of_sums,
    effective_draws,
    null_covariance,
)
from calcore.observation.labelled import Labelled
from calcore.validation import Floats

#: Directions in which standardised moments vary less than this do not vary.
FLAT = 1e-9
#: Moments below this are rounding, and so are variances below this times the second moment.
NOTHING = 1e-12
ROUNDING = 1e-14


@dataclass(frozen=True)
class MomentTest:
    """``statistic`` on ``degrees`` of freedom; infinite where a moment differs from 0 that cannot under calibration.

    ``p_value`` is NaN, and ``degrees`` 0, where nothing can be tested.
    """

    statistic: float
    degrees: int
    p_value: float
    method: str


def moments_vanish(evidence: Evidence, factors: Floats) -> MomentTest:
    """Test that the sums of residual x ``factors`` (n, d) are 0 in the population.

    Recorded labels: the variance is that under calibration (a score test). Else the larger p-value of that test, its
    variance times the design effect of units, and of Wald's with the estimated covariance, which is clustered by
    units and referred to Hotelling's distribution; models without a variance under calibration have Wald's alone.
    """
    moment = factors.T @ evidence.residual
    # a variance far below the squares that it is left from is rounding
    least = ROUNDING * ((factors**2).T @ evidence.residual**2)
    null = null_covariance(evidence, factors)
    if null is not None and evidence.unit is None and isinstance(evidence.model, Labelled):
        return _score(moment, _without_rounding(null, least))
    design = sparse.csr_array(factors * evidence.residual[:, None])
    covariance = covariance_of_sums(evidence, design)
    found = [_wald(moment, _without_rounding(covariance, least), effective_draws(evidence))]
    if null is not None:
        if evidence.unit is not None:
            alone = covariance_of_sums(replace(evidence, unit=None), design)
            null = null * _design_effect(null, covariance, alone)
        found.append(_score(moment, _without_rounding(null, least)))
    tested = [one for one in found if one.degrees and np.isfinite(one.p_value)]
    return max(tested, key=lambda one: one.p_value) if tested else found[0]


def _without_rounding(covariance: Floats, least: Floats) -> Floats:
    real = np.diag(covariance) > least
    return np.where(np.isnan(covariance) | np.outer(real, real), covariance, 0.0)


def _design_effect(null: Floats, clustered: Floats, alone: Floats) -> float:
    """How much larger units make the variance of the moments, over all of them (Rao and Scott 1981); at least 1."""
    spread = np.diag(null)
    varies = spread > 0
    ratio = np.sum(np.diag(clustered)[varies] / spread[varies]) / max(
        float(np.sum(np.diag(alone)[varies] / spread[varies])), NOTHING
    )
    return float(max(ratio, 1.0)) if np.isfinite(ratio) else 1.0


def _score(moment: Floats, covariance: Floats) -> MomentTest:
    method = "variance under calibration"
    statistic, degrees = _chi_square(moment, covariance)
    impossible = (np.diag(covariance) <= 0) & (np.abs(moment) > NOTHING)
    if impossible.any():
        return MomentTest(float("inf"), max(degrees, 1), 0.0, method)
    return MomentTest(
        statistic, degrees, float(stats.chi2.sf(statistic, degrees)) if degrees else np.nan, method
    )


def _wald(moment: Floats, covariance: Floats, draws: float) -> MomentTest:
    method = "estimated variance, Hotelling's distribution"
    if not np.isfinite(covariance).all() or draws < FEWEST_DRAWS:
        return MomentTest(float("nan"), 0, float("nan"), method)
    statistic, degrees = _chi_square(moment, covariance)
    if not degrees:
        # all rows the same and not as the score says: no error, and no doubt
        if (np.abs(moment) > NOTHING).any():
            return MomentTest(float("inf"), moment.size, 0.0, method)
        return MomentTest(0.0, 0, float("nan"), method)
    left = draws - degrees
    if left < 1:
        return MomentTest(float("nan"), 0, float("nan"), method)
    ratio = statistic * left / (degrees * (draws - 1))
    return MomentTest(statistic, degrees, float(stats.f.sf(ratio, degrees, left)), method)


def _chi_square(moment: Floats, covariance: Floats) -> tuple[float, int]:
    """The quadratic form in the directions that vary, and their number."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    varies = scale > 0
    if not varies.any():
        return 0.0, 0
    standard = moment[varies] / scale[varies]
    values, vectors = np.linalg.eigh(
        covariance[np.ix_(varies, varies)] / np.outer(scale[varies], scale[varies])
    )
    kept = values > FLAT
    along = (vectors.T @ standard)[kept]
    return float(np.sum(along**2 / values[kept])), int(kept.sum())
