"""The Hosmer-Lemeshow test: observed against expected positives in groups of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.moment_test import NOTHING, MomentTest, moments_vanish
from calcore.metrics.results import CalibrationTest, provenance
from calcore.observation.labelled import Labelled
from calcore.sums import sum_by


def hosmer_lemeshow(
    evidence: Evidence, bins: int | Bins = 10, *, fitted_here: bool = False
) -> CalibrationTest:
    """Hosmer-Lemeshow chi-square over ``bins`` groups of equal mass that never split equal scores.

    Recorded labels: the sum over groups of (O - E)^2 / (n q (1 - q)), q the mean chance of a recorded positive in
    the group (Hosmer and Lemeshow 1980); under weights n is the sum of their squares. Other models, and rows in
    units: the quadratic form of the groups' moments in their joint covariance. Degrees of freedom are the groups
    that can vary, less two where the score is a logistic model ``fitted_here``, on these rows. The answer depends
    on the grouping, and any small gap is significant in enough rows.
    """
    evidence = evidence.without_groups()
    made = Bins.of(evidence, bins, "mass")
    key = made.index(evidence.score)
    if isinstance(evidence.model, Labelled) and not evidence.row_parameters and evidence.unit is None:
        found = _classical(evidence, key, len(made))
    else:
        found = moments_vanish(evidence, (key[:, None] == np.arange(len(made))).astype(np.float64))
    degrees = found.degrees - 2 * fitted_here
    p_value, value, notes = found.p_value, found.statistic, list[str]()
    if fitted_here and degrees > 0 and np.isfinite(value):
        p_value = float(stats.chi2.sf(value, degrees))
    if degrees <= 0:
        value, p_value, degrees = float("nan"), float("nan"), 0
        notes.append("n/a: too few groups that can vary, or too few independent rows")
    elif np.isinf(value):
        notes.append("a group of scores of 0 or 1 has the opposite outcome: impossible if calibrated")
    return CalibrationTest(
        name="Hosmer-Lemeshow",
        value=value,
        interval=None,
        standard_error=None,
        p_value=p_value,
        degrees=degrees,
        method=found.method,
        **provenance(evidence, *notes),
    )


def _classical(evidence: Evidence, key: NDArray[np.int64], groups: int) -> MomentTest:
    """The statistic with the variance of a group's recorded positives at the group's mean chance of one."""
    assert isinstance(evidence.model, Labelled)
    rho0, slope = evidence.model.row_rates(evidence)
    squares = sum_by(key, evidence.weight_squared, groups)
    chance = sum_by(key, evidence.weight_squared * (rho0 + slope * evidence.score), groups)
    chance = np.divide(chance, squares, out=np.zeros(groups), where=squares > 0)
    # within rounding of 0 and 1 a mean of equal scores must not leave a variance
    chance[chance > 1.0 - NOTHING] = 1.0
    variance = squares * chance * (1.0 - chance)
    total = evidence.source_weight[0] * np.asarray(slope)
    moment = sum_by(key, evidence.residual, groups) * total
    varies = variance > 0
    impossible = ~varies & (np.abs(moment) > NOTHING * total)
    statistic = float(np.sum(moment[varies] ** 2 / variance[varies]))
    degrees = int(varies.sum())
    if impossible.any():
        return MomentTest(float("inf"), max(degrees, 1), 0.0, "variance under calibration")
    p_value = float(stats.chi2.sf(statistic, degrees)) if degrees else float("nan")
    return MomentTest(statistic, degrees, p_value, "variance under calibration, at each group's mean")
