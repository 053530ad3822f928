"""ECCE, the empirical cumulative calibration error: how far residuals add up along the score. No bins, no bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.brownian import largest_size_exceeds, range_exceeds
from calcore.metrics.results import ROUNDING, CalibrationTest, provenance
from calcore.metrics.uncertainty import (
    LEVEL,
    SEED,
    honest_interval,
    null_draws,
    null_variance,
    variance_of_sum,
)
from calcore.observation.labelled import Labelled
from calcore.sums import sum_by
from calcore.validation import Floats

#: Simulated walks, and the groups of neighbouring scores that they step over.
DRAWS = 1000
STEPS = 400


@dataclass(frozen=True)
class CumulativeError(CalibrationTest):
    """``value`` in units of probability; ``normalised``: over the standard deviation of the walk's end if calibrated.

    ``value`` is the largest total of residuals over any range of scores that starts at the lowest one ("ECCE"), or
    over any range at all ("ECCE range"): the mass by which positives are missed or promised there.
    """

    normalised: float = float("nan")


def ecce(evidence: Evidence) -> CumulativeError:
    """Largest |sum of residuals of all scores up to t| over t: ECCE-MAD, a Kolmogorov-Smirnov statistic.

    Arrieta-Ibarra et al. (2022, Eq. 12): cumulated by distinct score, so that the order of ties cannot matter.
    Labels: p-value from the largest |B| of Brownian motion, to which the walk tends where f is calibrated; other
    models and units: from simulated walks. The interval holds all truths within the 95 % reach of the walk's noise:
    it covers at least so often.
    """
    return _cumulative(evidence, "ECCE", _largest_size, largest_size_exceeds)


def ecce_range(evidence: Evidence) -> CumulativeError:
    """Largest |sum of residuals| over any range of scores: ECCE-R, a Kuiper statistic (2022, Eq. 13); see ``ecce``."""
    return _cumulative(evidence, "ECCE range", _range, range_exceeds)


def _largest_size(walk: Floats) -> Floats:
    return np.asarray(np.abs(walk).max(axis=-1))


def _range(walk: Floats) -> Floats:
    # walks start at 0
    return np.asarray(np.maximum(walk.max(axis=-1), 0.0) - np.minimum(walk.min(axis=-1), 0.0))


def _cumulative(
    evidence: Evidence, name: str, size: Callable[[Floats], Floats], exceeds: Callable[[float], float]
) -> CumulativeError:
    evidence = evidence.without_groups()
    distinct, place = np.unique(evidence.score, return_inverse=True)
    steps = sum_by(place, evidence.residual, distinct.size)
    value = float(size(np.cumsum(steps)))
    whole = np.zeros(len(evidence), dtype=np.int64)
    null = null_variance(evidence, whole, 1)
    end = variance_of_sum(evidence, evidence.residual)
    scale = float(np.sqrt(end if null is None else null[0]))
    normalised = value / scale if scale > 0 else float("nan")
    if isinstance(evidence.model, Labelled) and evidence.unit is None:
        method = "Brownian motion"
        p_value = exceeds(normalised) if scale > 0 else float(value <= ROUNDING)
        reach = optimize.brentq(lambda x: exceeds(x) - (1 - LEVEL), 0.5, 5.0) * float(
            np.fmax(scale, np.sqrt(end))
        )
    else:
        method = f"{DRAWS:,} simulated walks"
        noise = size(np.cumsum(_noise(evidence), axis=1))
        p_value = float(1 + (noise >= value - ROUNDING).sum()) / (DRAWS + 1)
        reach = float(np.quantile(noise, LEVEL))
    return CumulativeError(
        name=name,
        value=value,
        interval=honest_interval(evidence, (max(value - reach, 0.0), value + reach), 1.0),
        standard_error=None,
        p_value=p_value if np.isfinite(reach) else float("nan"),
        method=method,
        normalised=normalised,
        **provenance(evidence),
    )


def _noise(evidence: Evidence) -> Floats:
    """Steps of walks of a calibrated score, (draws, steps)."""
    bins = Bins.equal_mass(evidence.score, STEPS, evidence.covariate_weight)
    key, count = bins.index(evidence.score), len(bins)
    if evidence.unit is None:
        return null_draws(evidence, key, count, DRAWS)
    # steps of one unit go together: its residuals are multiplied as a whole
    sources = len(evidence.sources)
    total = sum_by(evidence.source, evidence.residual, sources) / evidence.source_weight
    centred = evidence.residual - total[evidence.source] * evidence.weight
    _, unit = np.unique(evidence.unit * sources + evidence.source, return_inverse=True)
    units = int(unit.max()) + 1
    steps = sparse.csr_array((centred, (unit, key)), (units, count))
    rng = np.random.default_rng(SEED)
    piece = max(2_000_000 // units, 1)
    parts = [
        rng.standard_normal((min(piece, DRAWS - start), units)) @ steps for start in range(0, DRAWS, piece)
    ]
    return np.concatenate(parts) * np.sqrt(units / max(units - 1, 1))
