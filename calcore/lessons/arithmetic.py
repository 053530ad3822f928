"""The expected calibration error, bin by bin: every term of the sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.evidence import Evidence
from calcore.metrics import CalibrationError, cells, ece
from calcore.metrics.binning import Bins
from calcore.sums import sum_by
from calcore.validation import Floats


@dataclass(frozen=True, eq=False)
class ErrorArithmetic:
    """One entry a bin that holds rows, (k,) each; ``total``, the sum of ``contribution``, is the ECE.

    ``gap`` = event rate - mean score and ``weight`` the share of the population in the bin; where a corrected
    mass is not above 0 the three rates are NaN, and ``contribution`` = |moment| still counts.
    """

    low: Floats
    high: Floats
    rows: NDArray[np.int64]
    mean_score: Floats
    event_rate: Floats
    gap: Floats
    weight: Floats
    contribution: Floats
    total: float
    error: CalibrationError

    def __len__(self) -> int:
        return len(self.low)

    @property
    def largest(self) -> int | None:
        """The bin that adds most; None where no bin has both a share and a gap."""
        usable = np.where(np.isfinite(self.gap), self.contribution, -1.0)
        return int(np.argmax(usable)) if usable.size and usable.max() > 0 else None


def ece_arithmetic(evidence: Evidence, bins: int = 15) -> ErrorArithmetic:
    """The terms n_b/N |event rate - mean score| over ``bins`` of equal width (Basics, section 1).

    For any evidence: a term is the size of the bin's moment, its weight times its gap.
    """
    evidence = evidence.without_groups()
    made = Bins.equal_width(bins)
    table = cells(evidence, made)
    rows = table.rows[0]
    here = rows > 0
    mass = table.mass[0]
    positive = sum_by(made.index(evidence.score), evidence.positive, len(made))
    rate = np.divide(positive, mass, out=np.full(len(made), np.nan), where=mass > 0)
    gap = np.divide(table.moment[0], mass, out=np.full(len(made), np.nan), where=mass > 0)
    terms = contributions(evidence, made)[here]
    return ErrorArithmetic(
        low=made.edges[:-1][here],
        high=made.edges[1:][here],
        rows=rows[here],
        mean_score=np.where(mass > 0, table.mean_score[0], np.nan)[here],
        event_rate=rate[here],
        gap=gap[here],
        weight=mass[here],
        contribution=terms,
        total=float(terms.sum()),
        error=ece(evidence, made),
    )


def contributions(evidence: Evidence, bins: Bins) -> Floats:
    """|moment| of every bin, (bins,): the terms of ``metrics.ece``, without its interval and its noise floor."""
    return np.abs(sum_by(bins.index(evidence.score), evidence.residual, len(bins)))
