"""Binned calibration errors of the whole population: ECE, adaptive ECE, MCE, classwise ECE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.inversion import invert
from calcore.metrics.results import CalibrationError, provenance
from calcore.metrics.uncertainty import SourceSums, Z, honest_interval, null_draws, number_of_draws
from calcore.sums import sum_by
from calcore.validation import Floats


def ece(evidence: Evidence, bins: int | Bins = 15, strategy: str = "width") -> CalibrationError:
    """Expected calibration error: the sum over bins of |moment| (LWCal, Eq. 7, for any evidence).

    With noise floor, debiased value and interval by test inversion; see CalibrationError.
    """
    return _binned(evidence, bins, strategy, "ECE", _sum_of_sizes)


def adaptive_ece(evidence: Evidence, bins: int = 15) -> CalibrationError:
    """ECE over bins of equal mass that never split equal scores."""
    return _binned(evidence, bins, "mass", "adaptive ECE", _sum_of_sizes)


def mce(evidence: Evidence, bins: int | Bins = 15, strategy: str = "width") -> CalibrationError:
    """Maximum calibration error: the largest |event rate - mean score| of a bin that holds mass."""
    return _binned(evidence, bins, strategy, "MCE", _largest_gap)


def classwise_ece(evidence: Evidence, bins: int = 15) -> CalibrationError:
    """Mean of the ECE of the score for the event and of one minus the score for its absence."""
    edges = Bins.equal_width(bins)
    first = ece(evidence, edges)
    moment = sum_by(edges.index(1.0 - evidence.score), evidence.residual, len(edges))
    value = (first.value + float(np.abs(moment).sum())) / 2
    # the two differ only in which side of an edge a score falls on: the error of the first serves both
    shift = value - first.value
    interval = None
    if first.interval is not None:
        interval = (max(first.interval[0] + shift, 0.0), first.interval[1] + shift)
    return replace(
        first, name="classwise ECE", value=value, interval=interval, debiased=max(first.debiased + shift, 0.0)
    )


Statistic = Callable[[Floats, Floats], Floats]


def _sum_of_sizes(moments: Floats, mass: Floats) -> Floats:
    return np.abs(moments).sum(axis=-1)


def _largest_gap(moments: Floats, mass: Floats) -> Floats:
    heavy = mass > 0
    return (np.abs(moments[..., heavy]) / mass[heavy]).max(axis=-1)


def _binned(
    evidence: Evidence, bins: int | Bins, strategy: str, name: str, statistic: Statistic
) -> CalibrationError:
    evidence = evidence.without_groups()
    made = Bins.of(evidence, bins, strategy)
    key, count = made.index(evidence.score), len(made)
    sums = SourceSums.of(evidence, evidence.residual, key, count)
    moment = sums.total.sum(axis=0)
    mass = _separated_mass(evidence, key, count)
    if not (mass > 0).any():
        return CalibrationError(
            name=name,
            value=float("nan"),
            interval=None,
            standard_error=None,
            bins=count,
            strategy=made.strategy,
            **provenance(evidence, "no bin holds mass that is separated from 0"),
        )
    noise = null_draws(evidence, key, count, number_of_draws(count))
    observed = float(statistic(moment[None], mass)[0])
    variance = np.fmax(sums.variance(), noise.var(axis=0))
    result = invert(lambda m: statistic(m, mass), observed, moment, variance, noise)
    where = None
    if statistic is _largest_gap:
        gaps = np.divide(np.abs(moment), mass, out=np.zeros(count), where=mass > 0)
        where = made.label(int(np.argmax(gaps)))
    return CalibrationError(
        name=name,
        value=observed,
        interval=honest_interval(evidence, result.interval, 1.0),
        standard_error=None,
        noise_floor=result.noise_floor,
        noise_limit=result.noise_limit,
        debiased=result.debiased,
        bins=count,
        strategy=made.strategy,
        where=where,
        **provenance(evidence),
    )


def _separated_mass(evidence: Evidence, key: NDArray[np.int64], count: int) -> Floats:
    """Mass of each bin; 0 where a corrected mass is not separated from 0, so that no gap is divided by noise."""
    mass = sum_by(key, evidence.mass, count)
    if not evidence.model.corrected or evidence.label is not None:
        return mass
    # weights as counts: which bins count must not depend on what weights mean, as values do not
    counted = replace(evidence, weighting="frequency", weight_squared=evidence.weight, unit=None)
    error = np.sqrt(SourceSums.of(counted, counted.mass, key, count).variance())
    return np.where(mass > Z * np.nan_to_num(error), mass, 0.0)
