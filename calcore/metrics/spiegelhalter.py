"""Spiegelhalter's test: is the Brier score what it would be if the score were calibrated?"""

from __future__ import annotations

import numpy as np

from calcore.evidence import Evidence
from calcore.metrics.moment_test import moments_vanish
from calcore.metrics.results import CalibrationTest, provenance


def spiegelhalter(evidence: Evidence) -> CalibrationTest:
    """Spiegelhalter's z: sum of (Y - f)(1 - 2f) over its standard deviation if f were calibrated (1986, Eq. 3).

    Two-sided; z > 0 where the Brier score is larger than calibration allows. NaN with a reason where every score is
    0, 1/2 or 1 and agrees with its labels: there is nothing that could vary. Errors up and down that balance in the
    whole range are not seen.
    """
    evidence = evidence.without_groups()
    factors = (1.0 - 2.0 * evidence.score)[:, None]
    found = moments_vanish(evidence, factors)
    notes: tuple[str, ...] = ()
    z = float(np.sign(factors[:, 0] @ evidence.residual) * np.sqrt(found.statistic))
    if not found.degrees:
        z = float("nan")
        notes = (
            "n/a: nothing varies under calibration (scores of 0, 1/2 and 1), or too few independent rows",
        )
    elif np.isinf(z):
        notes = ("rows with scores of 0 or 1 have the opposite outcome: impossible if calibrated",)
    return CalibrationTest(
        name="Spiegelhalter z",
        value=z,
        interval=None,
        standard_error=None,
        p_value=found.p_value,
        degrees=1 if found.degrees else 0,
        method=found.method,
        **provenance(evidence, *notes),
    )
