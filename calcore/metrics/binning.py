"""The one binning. Bin j of K equal-width bins is [j/K, (j+1)/K), the last closed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.sums import grid_place
from calcore.validation import Floats, whole_number
from calcore.weighted import weighted_quantile

MAX_BINS = 1000


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of the score axis by their ``edges`` (K + 1,), right-open, the last closed."""

    edges: Floats
    strategy: str

    @classmethod
    def equal_width(cls, count: int) -> Bins:
        """K bins of width 1/K; edges are j/K exactly (linspace would put .3, .6 and .7 one bin low)."""
        whole_number(count, "bins", 1, MAX_BINS)
        return cls(np.arange(count + 1) / count, "width")

    @classmethod
    def equal_mass(cls, scores: Floats, count: int, weights: Floats | None = None) -> Bins:
        """At most K bins of about equal mass at quantiles of ``scores``; equal scores are never split."""
        whole_number(count, "bins", 1, MAX_BINS)
        edges = np.unique(weighted_quantile(scores, weights, np.arange(count + 1) / count))
        return cls(edges if edges.size > 1 else np.repeat(edges, 2), "mass")

    @classmethod
    def of(cls, evidence: Evidence, bins: int | Bins, strategy: str = "width") -> Bins:
        """``bins`` as they are, or that many of the ``strategy`` "width" or "mass" for this evidence."""
        if isinstance(bins, Bins):
            return bins
        if strategy == "width":
            return cls.equal_width(bins)
        if strategy == "mass":
            return cls.equal_mass(evidence.score, bins, evidence.covariate_weight)
        raise InputError(f'the strategy of bins is "width" or "mass", got {strategy!r}')

    def __len__(self) -> int:
        return len(self.edges) - 1

    def index(self, scores: Floats) -> NDArray[np.int64]:
        """The bin of each score, (n,); scores beyond the outer edges fall into the outer bins."""
        if self.strategy != "width":
            return np.searchsorted(self.edges[1:-1], scores, side="right").astype(np.int64)
        return grid_place(scores, len(self))

    def label(self, position: int) -> str:
        """The bin in words: "0.8 to 0.9"."""
        low, high = self.edges[position], self.edges[position + 1]
        return f"{low:.3g} to {high:.3g}"
