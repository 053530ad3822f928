"""Isotonic regression on evidence: the one monotone fit."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from calcore.calibrators.base import Calibrator
from calcore.evidence import Evidence
from calcore.maps.functions import ConstantFunction, PiecewiseLinearFunction
from calcore.maps.map_function import MapFunction
from calcore.metrics.binning import Bins
from calcore.sums import sum_by
from calcore.validation import Floats


class Isotonic(Calibrator):
    """The slope of the greatest convex minorant of positives against mass; linear between its knots.

    Equal scores are added up first; values are cut to [0, 1]; scores outside the fitted range take the end
    values. With clean labels this is pool-adjacent-violators.
    """

    title = "Isotonic"
    summary = "Any rising staircase; needs about a thousand rows, merges scores that it cannot tell apart."
    keeps_order = True

    def _fit(self, evidence: Evidence) -> MapFunction:
        for sentence in warnings_of_mass(evidence):
            self._warn(sentence)
        return fit_isotonic(evidence)


def fit_isotonic(evidence: Evidence) -> MapFunction:
    """The isotonic map of any evidence."""
    x, y, _ = isotonic_values(evidence)
    if not x.size:
        return ConstantFunction(value=float(evidence.positive.sum() > 0))
    if x.size == 1:
        return ConstantFunction(value=float(y[0]))
    knot = np.ones(x.size, dtype=bool)
    # inside a flat stretch only its two ends matter
    knot[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return PiecewiseLinearFunction(x=x[knot], y=y[knot])


def isotonic_values(evidence: Evidence) -> tuple[Floats, Floats, Floats]:
    """Distinct scores (m,) that carry mass, the isotonic value in [0, 1] at each, and its mass; m may be 0."""
    x, positive, mass = _steps(evidence)
    if not x.size:
        return x, positive, mass
    rate = positive / mass
    fitted = optimize.isotonic_regression(rate, weights=mass).x if x.size > 1 else rate
    return x, np.clip(fitted, 0.0, 1.0), mass


def warnings_of_mass(evidence: Evidence) -> list[str]:
    """What an isotonic fit must say of evidence whose mass is nowhere above 0, or somewhere below."""
    found = []
    if not (evidence.mass > 0).any():
        found.append("no row carries mass of the population: the map is constant")
    if (evidence.mass < 0).any():
        found.append("some rows have negative mass: fitted on bins whose mass is positive")
    return found


def _steps(evidence: Evidence) -> tuple[Floats, Floats, Floats]:
    """Distinct scores with their positives and mass, the mass above 0.

    Positives without mass (PU) belong to the next score that has mass: in the cumulative diagram they are a
    vertical step, and the minorant passes below it.
    """
    x, place = np.unique(evidence.score, return_inverse=True)
    positive = sum_by(place, evidence.positive, x.size)
    mass = sum_by(place, evidence.mass, x.size)
    tiny = 1e-12 * np.abs(mass).sum() / mass.size
    if (mass < -tiny).any():
        bins = Bins.equal_mass(evidence.score, int(np.clip(np.sqrt(evidence.n), 10, 200)))
        place = bins.index(x)
        count = len(bins)
        total = sum_by(place, mass, count)
        good = total > tiny
        middle = sum_by(place, x, count) / np.maximum(sum_by(place, None, count), 1)
        return middle[good], sum_by(place, positive, count)[good], total[good]
    heavy = mass > tiny
    if not heavy.any():
        return x[:0], positive[:0], mass[:0]
    owner = np.cumsum(heavy) - heavy
    last = int(heavy.sum()) - 1
    owner = np.minimum(owner, last)
    return x[heavy], sum_by(owner, positive, last + 1), mass[heavy]
