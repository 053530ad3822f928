"""What chance does to an isotonic fit: curves refitted to samples from a known event rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.uncertainty import SEED, null_draws
from calcore.sums import sum_by
from calcore.validation import Floats

#: Neighbouring scores that samples are drawn for together, at most; distinct scores where there are no more.
CELLS = 400
DRAWS = 400


@dataclass(frozen=True, eq=False)
class IsotonicNoise:
    """Refitted curves: cells of neighbouring scores by their mean ``score`` and ``mass``, (cells,) each.

    ``rate`` (draws, cells) is the event rate of each simulated sample, ``fitted`` (draws, cells) its isotonic fit.
    """

    score: Floats
    mass: Floats
    rate: Floats
    fitted: Floats

    @classmethod
    def of(cls, evidence: Evidence, centre: Floats, draws: int = DRAWS, seed: int = SEED) -> IsotonicNoise:
        """Samples in which the event rate at each row is ``centre`` (n,): the score itself, or a fit of it."""
        distinct = np.unique(evidence.score)
        if distinct.size <= CELLS:
            key, count = np.searchsorted(distinct, evidence.score), distinct.size
        else:
            bins = Bins.equal_mass(evidence.score, CELLS, evidence.covariate_weight)
            key, count = bins.index(evidence.score), len(bins)
        mass = sum_by(key, evidence.mass, count)
        heavy = mass > 1e-12 * np.abs(mass).sum() / count
        mass = mass[heavy]

        def mean(values: Floats) -> Floats:
            return sum_by(key, evidence.mass * values, count)[heavy] / mass

        noise = null_draws(evidence.with_score(np.clip(centre, 0.0, 1.0)), key, count, draws, seed)[:, heavy]
        rate = mean(centre) + noise / mass
        fitted = np.array([optimize.isotonic_regression(one, weights=mass).x for one in rate])
        return cls(mean(evidence.score), mass, rate, np.clip(fitted, 0.0, 1.0).reshape(rate.shape))

    def at(self, score: Floats, curve: Floats) -> Floats:
        """A curve (cells,) read off at ``score`` (k,), linear between the cells and constant beyond them."""
        return np.asarray(np.interp(score, self.score, curve))
