"""Disjoint cells, and how they add up to the cells of overlapping subgroups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.uncertainty import SEED, SourceSums, null_draws, number_of_draws
from calcore.sums import sum_by
from calcore.validation import Floats

EVERYONE = "(everyone)"
#: Simulated moments that are held at a time.
LARGEST_BLOCK = 10_000_000


@dataclass(frozen=True, eq=False)
class CellLayout:
    """``cells`` disjoint cells (membership pattern x bin), and how they add up to groups x bins.

    ``key`` (n,) is the disjoint cell of each entry; ``matrix`` (groups x patterns, sparse 0/1) says which
    patterns make a group, the first of which is everyone; ``names`` are those of the groups.
    """

    evidence: Evidence
    bins: Bins
    key: NDArray[np.int64]
    cells: int
    matrix: sparse.csr_array
    names: tuple[str, ...]

    @classmethod
    def of(cls, evidence: Evidence, bins: int | Bins, strategy: str, groups: bool) -> CellLayout:
        made = Bins.of(evidence, bins, strategy)
        key = made.index(evidence.score)
        member = evidence.membership if groups else None
        if member is None:
            return cls(evidence, made, key, len(made), sparse.csr_array(np.ones((1, 1))), (EVERYONE,))
        patterns = member.table.shape[0]
        matrix = sparse.csr_array(sparse.vstack([np.ones((1, patterns)), member.table.T]))
        key = member.pattern * np.int64(len(made)) + key
        return cls(evidence, made, key, patterns * len(made), matrix, (EVERYONE, *member.names))

    @property
    def sums(self) -> SourceSums:
        return SourceSums.of(self.evidence, self.evidence.residual, self.key, self.cells)

    def group(self, values: Floats) -> Floats:
        """Sums over disjoint cells to groups x bins."""
        return np.asarray(self.matrix @ values.reshape(-1, len(self.bins)))

    def add(self, terms: Floats | None) -> Floats:
        """Row terms (n,), or ones, to groups x bins."""
        return self.group(sum_by(self.key, terms, self.cells))

    def noise(self) -> Floats:
        """Moments of a calibrated score, (draws, groups, bins)."""
        count = len(self.bins)
        draws = number_of_draws(max(self.cells, len(self.names) * count))
        # as many samples at a time as fit in memory: there may be a million patterns
        block = max(LARGEST_BLOCK // self.cells, 1)
        parts = []
        for start in range(0, draws, block):
            size = min(block, draws - start)
            noise = null_draws(self.evidence, self.key, self.cells, size, SEED + start)
            by_pattern = noise.reshape(size, -1, count).transpose(1, 0, 2).reshape(-1, size * count)
            grouped = np.asarray(self.matrix @ by_pattern).reshape(-1, size, count)
            parts.append(grouped.transpose(1, 0, 2))
        return np.concatenate(parts)
