"""ECE without a choice of bins: the sweep over their number, and the debiased value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.binning import MAX_BINS, Bins
from calcore.metrics.calibration_error import ece
from calcore.metrics.results import CalibrationError, Estimate
from calcore.sums import sum_by
from calcore.validation import whole_number


def sweep_ece(evidence: Evidence, max_bins: int = MAX_BINS) -> CalibrationError:
    """ECE over equal-mass bins, as many as leave the event rates rising: up to the first number that does not.

    Roelofs et al. (2022, Algorithm 1); equal scores are never split, so that ties cannot matter. The sweep ends at
    ``max_bins``, the number of distinct scores, or where a bin holds no mass. Noise floor and interval are those of the bins
    that were found; that they were found by looking at the labels is in neither.
    """
    whole_number(max_bins, "max_bins", 1, MAX_BINS)
    evidence, _ = collapsed_if_large(evidence.without_groups())
    distinct, place = np.unique(evidence.score, return_inverse=True)
    positive = sum_by(place, evidence.positive, distinct.size)
    mass = sum_by(place, evidence.mass, distinct.size)
    weight = sum_by(place, evidence.covariate_weight, distinct.size)
    best = Bins.equal_mass(distinct, 1, weight)
    for count in range(2, min(max_bins, distinct.size) + 1):
        bins = Bins.equal_mass(distinct, count, weight)
        key = bins.index(distinct)
        of_bin = sum_by(key, mass, len(bins))
        if not (of_bin > 0).all():
            break
        if (np.diff(sum_by(key, positive, len(bins)) / of_bin) < 0).any():
            break
        best = bins
    note = f"{len(best)} bins: the most, counted up from one, with event rates that rise"
    found = ece(evidence, best)
    return replace(found, name="sweep ECE", notes=(note, *found.notes))


def debiased_ece(evidence: Evidence, bins: int | Bins = 15, strategy: str = "width") -> Estimate:
    """The true ECE under which the observed one would be the median: noise alone no longer adds to it.

    As ``ece(...).debiased``, with the interval of that; see CalibrationError.
    """
    found = ece(evidence, bins, strategy)
    said = f"the ECE as observed is {found.value:.4g}; a calibrated score would show {found.noise_floor:.4g}"
    return Estimate(
        name="debiased ECE",
        value=found.debiased,
        interval=found.interval,
        standard_error=None,
        n=found.n,
        dropped=found.dropped,
        clipped=found.clipped,
        basis=found.basis,
        assumptions=found.assumptions,
        notes=(said, *found.notes),
        level=found.level,
    )
