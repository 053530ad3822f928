"""Centered isotonic regression: the isotonic fit without its flat stretches."""

from __future__ import annotations

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.isotonic import fit_isotonic, isotonic_values, warnings_of_mass
from calcore.evidence import Evidence
from calcore.maps.functions import ConstantFunction, PiecewiseLinearFunction
from calcore.maps.map_function import MapFunction
from calcore.sums import sum_by

#: Isotonic values that differ by less than this are one block: it is rounding.
SAME = 1e-10


class CenteredIsotonic(Calibrator):
    """Each block of equal isotonic values stands at the mass-weighted mean of its scores; linear between.

    Oron and Flournoy (2017), "Centered Isotonic Regression", Section 2.2: after pool-adjacent-violators the pooled
    estimate belongs to one point, the weighted mean of the pooled scores. Rises strictly from the first block's
    point to the last's, so that it ties no two scores between them; beyond, where the paper extrapolates nothing, it
    takes the end values. A block at 0 or 1 is a point like any other (``strict`` in the authors' package).
    """

    title = "Centered isotonic"
    summary = "Isotonic without its flat stretches: keeps the ranking; needs about a thousand rows."
    keeps_order = True

    def _fit(self, evidence: Evidence) -> MapFunction:
        for sentence in warnings_of_mass(evidence):
            self._warn(sentence)
        x, y, mass = isotonic_values(evidence)
        if x.size < 2:
            return fit_isotonic(evidence)
        block = np.concatenate([[0], np.cumsum(np.diff(y) > SAME)])
        first = np.flatnonzero(np.diff(block, prepend=-1))
        last = np.append(first[1:], x.size) - 1
        if first.size == 1:
            self._warn("the event rate does not rise with the score: the map is constant")
            return ConstantFunction(value=float(y[0]))
        count = first.size
        center = sum_by(block, mass * x, count) / sum_by(block, mass, count)
        # rounding must not carry a point out of its block: the knots stay in order
        return PiecewiseLinearFunction(x=np.clip(center, x[first], x[last]), y=y[first])
