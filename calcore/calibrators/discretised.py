"""Discretised scores: evidence added up by membership pattern and bin, small enough to patch thousands of times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from calcore.evidence import Evidence
from calcore.maps.functions import StepFunction
from calcore.metrics.binning import Bins
from calcore.metrics.cell_layout import CellLayout
from calcore.sums import sum_by
from calcore.validation import Floats


@dataclass(eq=False)
class Discretised:
    """Entries (patterns, bins): the rows of one pattern and one bin of the first score, which share a score from then on.

    ``start`` (bins,) is the score of each bin before anything moves. ``positive``, ``mass``, ``noise`` (patterns, bins)
    are sums; noise is the variance of the moment. ``score`` (patterns, bins) changes. ``matrix`` (groups x patterns),
    ``names``: everyone first.
    """

    bins: Bins
    start: Floats
    positive: Floats
    mass: Floats
    noise: Floats
    matrix: sparse.csr_array
    names: tuple[str, ...]
    score: Floats

    @classmethod
    def of(cls, evidence: Evidence, count: int) -> Discretised:
        """Scores set to the mean of their bin of ``count`` equal-width ones; a bin without mass keeps its middle."""
        bins = Bins.equal_width(count)
        place = bins.index(evidence.score)
        mass = sum_by(place, evidence.mass, count)
        middle = (bins.edges[:-1] + bins.edges[1:]) / 2
        mean = np.divide(
            sum_by(place, evidence.mass * evidence.score, count), mass, out=middle, where=mass > 1e-12
        )
        # negative masses and rounding must not carry a mean out of its bin
        start = np.clip(mean, bins.edges[:-1], np.nextafter(bins.edges[1:], 0.0))
        layout = CellLayout.of(evidence, bins, "width", groups=True)

        def table(terms: Floats) -> Floats:
            return sum_by(layout.key, terms, layout.cells).reshape(-1, count)

        residual = evidence.positive - evidence.mass * start[place]
        # a row of weight v gives v times its term: squared over the rows that an entry stands for
        share = np.divide(
            evidence.weight_squared,
            evidence.weight**2,
            out=np.zeros(len(evidence)),
            where=evidence.weight > 0,
        )
        positive, mass_table = table(evidence.positive), table(evidence.mass)
        score = np.tile(start, (len(positive), 1))
        noise = table(residual**2 * share)
        return cls(bins, start, positive, mass_table, noise, layout.matrix, layout.names, score)

    @property
    def first(self) -> StepFunction:
        """The discretisation as the first function of a map."""
        return StepFunction(edges=self.bins.edges, values=self.start)

    def by_cell(self, entries: Floats) -> Floats:
        """Sums over entries to groups x bins, by the bins where the scores are now."""
        patterns, count = entries.shape
        key = (np.arange(patterns)[:, None] * count + self.place).ravel()
        return np.asarray(self.matrix @ sum_by(key, entries.ravel(), entries.size).reshape(patterns, count))

    @property
    def place(self) -> NDArray[np.int64]:
        """The bin where each entry's score is now, (patterns, bins)."""
        return self.bins.index(self.score.ravel()).reshape(self.score.shape)

    def cells(self) -> tuple[Floats, Floats, Floats]:
        """Moment, mass and standard error of the moment, each groups x bins."""
        moment = self.by_cell(self.positive - self.mass * self.score)
        return moment, self.by_cell(self.mass), np.sqrt(self.by_cell(self.noise))

    def inside(self, group: int, place: int) -> NDArray[np.bool_]:
        """The entries of one cell, (patterns, bins); ``group`` 0 is everyone."""
        member = self.matrix[[group], :].toarray().ravel() > 0
        return member[:, None] & (self.place == place)
