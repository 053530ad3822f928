"""Test inversion: from a statistic that noise pushes up (a sum of sizes, a maximum) to the true value behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from calcore.metrics.uncertainty import LEVEL
from calcore.validation import Floats

#: Sums below this are rounding: squares of scores of 1e-200 vanish.
VANISHING = 1e-100


@dataclass(frozen=True)
class Inversion:
    """A statistic that noise pushes up, set against what a calibrated score would give."""

    noise_floor: float
    noise_limit: float
    debiased: float
    interval: tuple[float, float]


def plausible_shapes(moment: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """The most concentrated and the most spread shape of the true moments that the observed ones allow.

    Concentrated: what stands out from the noise by two standard errors, else the one cell that does most.
    Spread: the noise added once more. A sum of sizes grows slowly along a spread shape and fast along a
    concentrated one, a maximum the other way round; the truth lies between.
    """
    noise = np.nan_to_num(variance)
    concentrated = np.sign(moment) * np.sqrt(np.maximum(moment**2 - 4 * noise, 0.0))
    if not concentrated.any():
        z = np.divide(moment**2, noise, out=np.where(moment == 0, 0.0, np.inf), where=noise > 0)
        concentrated = np.where(z == z.max(), moment, 0.0)
    return concentrated, np.sign(moment) * np.sqrt(moment**2 + np.maximum(noise, 0.0))


def multiple_of(
    shape: Floats, statistic: Callable[[Floats], Floats], noise: Floats, q: float, target: float
) -> float:
    """The multiple of ``shape`` at which the ``q`` quantile of the statistic is ``target``; 0 if beyond at 0.

    A shape too small to matter (scores of 1e-200 with the right labels) has no multiple: 0 too.
    """
    unit = float(statistic(shape[None])[0])
    if not (np.isfinite(unit) and unit > VANISHING and np.isfinite(target)):
        return 0.0

    def excess(multiple: float) -> float:
        return float(np.quantile(statistic(multiple * shape[None] + noise), q)) - target

    if excess(0.0) >= 0:
        return 0.0
    high = 2.0 * target / unit
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high, xtol=1e-3 * high, rtol=1e-3))


def invert(
    statistic: Callable[[Floats], Floats], observed: float, moment: Floats, variance: Floats, noise: Floats
) -> Inversion:
    """Test inversion: which true moments could have given the ``observed`` value of ``statistic``.

    ``statistic`` maps moments (draws, ...) to (draws,); ``moment`` and ``variance`` (...) are those observed;
    ``noise`` (draws, ...) are moments of a calibrated score. The size of the truth is searched along the
    plausible shapes: the interval takes the outer of their ends, the debiased value the observed shape. The
    upper end never falls below that of a sample at the median of the noise, so that a lucky sample does not
    claim more than its size allows.
    """
    calibrated = statistic(noise)
    floor, limit = float(calibrated.mean()), float(np.quantile(calibrated, LEVEL))
    if not moment.any():
        return Inversion(floor, limit, 0.0, (0.0, limit))

    def solve(shape: Floats, q: float, target: float) -> float:
        return multiple_of(shape, statistic, noise, q, target) * float(statistic(shape[None])[0])

    tail = (1 - LEVEL) / 2
    typical = max(observed, float(np.median(calibrated)))
    shapes = plausible_shapes(moment, variance)
    lower = min(solve(shape, 1 - tail, observed) for shape in shapes)
    upper = max(solve(shape, tail, typical) for shape in shapes)
    # noise only ever adds: what is left without it is not above what was seen
    return Inversion(floor, limit, min(solve(moment, 0.5, observed), observed), (lower, upper))
