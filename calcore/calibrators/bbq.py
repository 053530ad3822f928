"""BBQ: the Bayesian average over binnings of many sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import CLIP
from calcore.calibrators.recorded_counts import RecordedCounts
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import ConstantFunction, StepFunction
from calcore.maps.map_function import MapFunction
from calcore.metrics.binning import MAX_BINS
from calcore.validation import Floats
from calcore.weighted import weighted_quantile

#: Binnings of together less posterior probability than this are left out: no value moves by more.
NEGLIGIBLE = 1e-10
LAST_EDGE = float(np.nextafter(1.0, 0.0))


class BBQ(Calibrator):
    """The posterior mean rate over equal-mass binnings with n^(1/3) / ``spread`` to ``spread`` n^(1/3) bins.

    Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning". A binning
    of B bins is scored by its marginal likelihood under independent beta priors (their Eq. 3, BDeu): bin b has the
    prior counts N'/B p_b of positives and N'/B (1 - p_b) of negatives, p_b its middle and N' the ``prior_size``.
    All binnings are equally likely beforehand. Bins end at quantiles of the scores, ties are never split, the outer
    bins reach to 0 and 1; at most 1000 bins.

    Known flip rates: rates of recorded labels are averaged and then corrected. Other weak labels are no counts, so
    that there is no likelihood: it does not exist there. Fitted: ``bins_`` (k,), the sizes that differ, and their
    posterior ``probabilities_`` (k,).
    """

    title = "BBQ"
    summary = "Averages binnings of many sizes by how well each explains the labels; jumps at edges."
    needs_row_labels = True

    def __init__(self, spread: float = 10.0, prior_size: float = 2.0) -> None:
        self.spread = spread
        self.prior_size = prior_size

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (np.isfinite(self.spread) and self.spread >= 1):
            raise InputError(f"the spread of the numbers of bins must be 1 or more, got {self.spread!r}")
        if not (np.isfinite(self.prior_size) and self.prior_size > 0):
            raise InputError(f"prior_size, in rows, must be above 0, got {self.prior_size!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        counts = RecordedCounts.of(evidence, self.title)
        if counts.one_class:
            self._warn("one class of labels only: the map is the prior of its bins where these hold few rows")
        binnings = self._binnings(counts)
        log_score = np.array([_log_marginal(*binned) for _, binned in binnings])
        probability = special.softmax(log_score)
        self.bins_ = np.array([edges.size + 1 for edges, _ in binnings])
        self.probabilities_ = probability
        order = np.argsort(probability, kind="stable")
        kept = np.sort(order[np.cumsum(probability[order]) > NEGLIGIBLE])
        weight = probability[kept] / probability[kept].sum()
        inner = np.unique(np.concatenate([binnings[k][0] for k in kept]))
        if not inner.size:
            return ConstantFunction(value=float(counts.true_rate(_rates(*binnings[0][1]))[0]))
        left = np.concatenate([[0.0], inner])
        value = np.zeros(left.size)
        for k, share in zip(kept, weight, strict=True):
            edges, binned = binnings[k]
            value += share * _rates(*binned)[np.searchsorted(edges, left, side="right")]
        return StepFunction(edges=np.append(left, 1.0), values=counts.true_rate(value))

    def _binnings(self, counts: RecordedCounts) -> list[tuple[Floats, tuple[Floats, ...]]]:
        """Inner edges of each binning, and of each bin its rows, positives and their prior counts."""
        root = float(counts.size.sum()) ** (1 / 3)
        most = int(np.clip(np.floor(self.spread * root), 1, min(MAX_BINS, counts.score.size)))
        least = int(np.clip(np.ceil(root / self.spread), 1, most))
        numbers = range(least, most + 1)
        # the quantiles of all binnings at once: they cost one sort
        share = np.concatenate([np.arange(1, bins) / bins for bins in numbers])
        quantiles = weighted_quantile(counts.score, counts.size, share)
        found: dict[bytes, tuple[Floats, tuple[Floats, ...]]] = {}
        reached = [np.concatenate([[0.0], np.cumsum(part)]) for part in (counts.size, counts.positive)]
        for quantile in np.split(quantiles, np.cumsum([bins - 1 for bins in numbers])[:-1]):
            # an edge at or below the first score parts nothing, and steps end before 1: a bin of 1 alone starts
            # at the double next to it
            edges = np.unique(np.minimum(quantile[quantile > counts.score[0]], LAST_EDGE))
            if edges.tobytes() not in found:  # binnings that ties make equal count once
                place = np.searchsorted(counts.score, edges, side="left")
                found[edges.tobytes()] = edges, self._binned(counts, edges, place, reached)
        return list(found.values())

    def _binned(
        self, counts: RecordedCounts, edges: Floats, place: NDArray[np.intp], reached: list[Floats]
    ) -> tuple[Floats, ...]:
        limits = np.concatenate([[0], place, [counts.score.size]])
        around = np.concatenate([[0.0], edges, [1.0]])
        # a bin of scores that are all 1 would leave no prior for the other label
        middle = np.clip((around[:-1] + around[1:]) / 2, CLIP, 1.0 - CLIP)
        prior = self.prior_size / middle.size
        size, positive = (np.diff(total[limits]) for total in reached)
        return size, np.clip(positive, 0.0, size), prior * middle, prior * (1 - middle)


def _log_marginal(size: Floats, positive: Floats, alpha: Floats, beta: Floats) -> float:
    """Log of the marginal likelihood of the labels of each bin (Naeini et al. 2015, Eq. 3)."""
    return float(
        np.sum(special.betaln(alpha + positive, beta + size - positive) - special.betaln(alpha, beta))
    )


def _rates(size: Floats, positive: Floats, alpha: Floats, beta: Floats) -> Floats:
    """Posterior mean rate of each bin."""
    return (positive + alpha) / (size + alpha + beta)
