"""Smooth ECE: the residual smoothed by a kernel whose width is the error itself. No bins, and continuous in f."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft, optimize

from calcore.evidence import Evidence
from calcore.metrics.inversion import invert
from calcore.metrics.results import CalibrationError, provenance
from calcore.metrics.uncertainty import LEVEL, honest_interval, null_draws, variance_of_sum
from calcore.sums import sum_by
from calcore.validation import Floats, fraction

#: Cells of the grid on which residuals are smoothed: its error is about (1 / (GRID sigma))^2 / 6 of the value.
GRID = 8192
#: The same for simulated samples, at most and at least, and their number. Powers of two divide the fine grid.
NOISE_GRID = 512
COARSEST = 128
DRAWS = 400
#: No narrower kernel is tried: a value below is as good as 0.
NARROWEST = 1e-3


@dataclass(frozen=True)
class SmoothError(CalibrationError):
    """``bandwidth`` of the kernel: equal to the value, but for values below the narrowest that is tried."""

    bandwidth: float = float("nan")


def smooth_ece(evidence: Evidence, bandwidth: float | None = None) -> SmoothError:
    """smECE: the integral over [0, 1] of |residuals smoothed by a Gaussian reflected at 0 and 1|.

    Blasiok and Nakkiran (2023, Definition 3 and Eq. 6): the bandwidth is where it equals the integral, unless one is
    given. The integral falls with the bandwidth, so that there is one such point. Within a constant factor of the
    distance to the nearest calibrated score, unlike binned errors. Raises InputError for a ``bandwidth`` that is not
    in (0, 1).
    """
    evidence = evidence.without_groups()
    moments = _on_grid(evidence, GRID)
    if bandwidth is None:
        width = _fixed_point(moments)
    else:
        width = fraction(bandwidth, "the bandwidth")
    value = float(_size(_smoothed(moments, width)))
    cells = _noise_cells(evidence, width)
    noise = null_draws(evidence, _nearest(evidence.score, cells), cells + 1, DRAWS)
    smooth_noise = _smoothed(noise, max(width, 1.0 / cells))
    observed = _smoothed(moments, width)[:: GRID // cells]
    result = invert(_size, value, observed, smooth_noise.var(axis=0), smooth_noise)
    # each sample has a bandwidth of its own
    calibrated = _size(_smoothed(noise, width)) if bandwidth is not None else _fixed_points(noise)
    return SmoothError(
        name="smooth ECE",
        value=value,
        interval=honest_interval(evidence, result.interval, 1.0),
        standard_error=None,
        noise_floor=float(calibrated.mean()),
        noise_limit=float(np.quantile(calibrated, LEVEL)),
        debiased=result.debiased,
        strategy="kernel",
        bandwidth=width,
        **provenance(evidence),
    )


def _on_grid(evidence: Evidence, cells: int) -> Floats:
    """Residuals shared between the two grid points around each score, (cells + 1,): their means stay in place."""
    place = np.minimum((evidence.score * cells).astype(np.int64), cells - 1)
    upper = evidence.residual * (evidence.score * cells - place)
    return sum_by(place, evidence.residual - upper, cells + 1) + sum_by(place + 1, upper, cells + 1)


def _noise_cells(evidence: Evidence, width: float) -> int:
    """As few cells as resolve both this kernel and those that samples of this size would have."""
    typical = 3.0 * float(np.nan_to_num(np.sqrt(variance_of_sum(evidence, evidence.residual))))
    wanted = 4.0 / max(min(width, typical), 4.0 / NOISE_GRID)
    return int(np.clip(2 ** np.ceil(np.log2(wanted)), COARSEST, NOISE_GRID))


def _nearest(scores: Floats, cells: int) -> NDArray[np.int64]:
    return np.rint(scores * cells).astype(np.int64)


def _smoothed(moments: Floats, bandwidth: float | Floats) -> Floats:
    """Densities at the grid points of ``moments`` (..., k) that lie there; a bandwidth for all, or (..., 1).

    The reflected Gaussian is the heat kernel of [0, 1] with closed ends: it multiplies the coefficient of cos(k pi t)
    by exp(-(k pi sigma)^2 / 2).
    """
    last = moments.shape[-1] - 1
    ends = np.ones(last + 1)
    # a mass at an end is its own image
    ends[[0, last]] = 2.0
    coefficients = fft.dct(moments * ends, type=1, axis=-1) / 2.0
    damped = coefficients * np.exp(-((np.pi * bandwidth * np.arange(last + 1)) ** 2) / 2.0)
    return np.asarray(fft.dct(damped, type=1, axis=-1))


def _size(density: Floats) -> Floats:
    """The integral of |density| (..., k) over [0, 1] by trapezoids, (...)."""
    size = np.abs(density)
    return np.asarray((size.sum(axis=-1) - (size[..., 0] + size[..., -1]) / 2) / (size.shape[-1] - 1))


def _fixed_point(moments: Floats) -> float:
    def excess(width: float) -> float:
        return float(_size(_smoothed(moments, width))) - width

    if excess(NARROWEST) <= 0:
        return NARROWEST
    if excess(1.0) >= 0:
        return 1.0
    return float(optimize.brentq(excess, NARROWEST, 1.0, xtol=1e-14, rtol=1e-13))


def _fixed_points(noise: Floats) -> Floats:
    """The value of each sample (draws,), within .001."""
    low, high = np.zeros((len(noise), 1)), np.full((len(noise), 1), 0.5)
    for _ in range(9):
        middle = (low + high) / 2
        above = _size(_smoothed(noise, middle))[:, None] > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(((low + high) / 2)[:, 0])
