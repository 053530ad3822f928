"""Paired bootstrap of proper scores: every candidate's value in the same redrawn samples.

Brier and log loss are sums of row terms, so a redrawn sample needs no second pass over the rows: only how often each
row came up. Up to ``PLAIN_ROWS`` rows that is drawn row by row. Above, one multinomial count for each row would take
seconds, so rows of one source, label and range of terms share a count, and what the rows of such a cell differ by is
added as normal noise of exactly their covariance. The mean and the covariance of the draws are those of the row
bootstrap; the rows with the largest terms, which alone could skew it, keep a count of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from calcore.evidence import Evidence
from calcore.metrics.differences import Difference, linear_difference
from calcore.metrics.uncertainty import SEED
from calcore.sums import sum_by
from calcore.validation import Floats

DRAWS = 2000
#: A source of up to so many rows is redrawn row by row.
PLAIN_ROWS = 5_000
#: Above: the rows with the largest terms that are counted one by one, and the cells for each kind of the others.
OWN_COUNT = 400
CELLS = 100
#: Draws with one class only are drawn again so often at most.
REDRAWS = 200
_PIECE = 100


@dataclass(frozen=True, eq=False)
class PairedBootstrap:
    """Terms (n, candidates) of one score on ``evidence``, and its value in each redrawn sample, (draws, candidates).

    ``draws`` is None where the rows are a subgroup's, whose sources drew more than is here: then differences have
    normal intervals.
    """

    name: str
    evidence: Evidence
    terms: Floats
    draws: Floats | None

    def difference(self, one: int, other: int) -> Difference:
        """Candidate ``one`` minus candidate ``other``, with the percentile interval of the paired draws."""
        exact = linear_difference(self.name, self.evidence, self.terms[:, one] - self.terms[:, other])
        if self.draws is None or not np.isfinite(exact.standard_error):
            return exact
        return exact.with_draws(self.draws[:, one] - self.draws[:, other])


def paired_bootstrap(
    evidence: Evidence, terms: dict[str, Floats], draws: int = DRAWS, seed: int = SEED
) -> dict[str, PairedBootstrap]:
    """Redraw ``evidence`` ``draws`` times, and give the value of every score and candidate in each sample.

    ``terms``: for each score's name an array (n, candidates) of what each row adds to its value. Samples are drawn
    within each source; units are drawn whole; weights go with their rows, and each sample is divided by its own
    sum of weights. Where rows carry labels of both classes, a sample with one class only is drawn again.
    """
    sizes = [values.shape[1] for values in terms.values()]
    if evidence.drawn_elsewhere is not None:
        return {name: PairedBootstrap(name, evidence, values, None) for name, values in terms.items()}
    every = np.column_stack(list(terms.values()))
    rng = np.random.default_rng(seed)
    found = np.zeros((draws, every.shape[1]))
    for s in range(len(evidence.sources)):
        part = _Drawable.of(evidence, every, s)
        sums = part.sums(rng, draws)
        found += sums[:, :-1] * (part.columns[:, -1].sum() / sums[:, -1:])
    parts = np.split(found, np.cumsum(sizes)[:-1], axis=1)
    return {
        name: PairedBootstrap(name, evidence, terms[name], part)
        for name, part in zip(terms, parts, strict=True)
    }


@dataclass(frozen=True, eq=False)
class _Drawable:
    """What is drawn from one source: rows, entries of equal rows, or units.

    ``columns`` (items, columns) of each item's terms and, last, its weight; ``count`` (items,) the draws that it
    stands for; ``spread`` its squared terms over those of the item as a whole, 1 / count where its rows are equal;
    ``kind`` 0 to 3: 1 for items with a negative label plus 2 for those with a positive one.
    """

    columns: Floats
    count: Floats
    spread: Floats
    kind: NDArray[np.int64]

    @classmethod
    def of(cls, evidence: Evidence, terms: Floats, source: int) -> _Drawable:
        inside = np.flatnonzero(evidence.source == source)
        weight = evidence.weight[inside]
        columns = np.column_stack([terms[inside], weight])
        # a tie is of both classes
        kind = (
            np.zeros(inside.size, dtype=np.int64)
            if evidence.label is None
            else 1 + evidence.label_kind[inside]
        )
        if evidence.unit is not None:
            _, unit = np.unique(evidence.unit[inside], return_inverse=True)
            adder = sparse.csr_array((np.ones(inside.size), (unit, np.arange(inside.size))))
            ones = np.ones(adder.shape[0])
            mixed = [sum_by(unit, (kind == k).astype(float), ones.size) > 0 for k in (1, 2)]
            return cls(adder @ columns, ones, ones, mixed[0] + 2 * mixed[1])
        count = weight if evidence.weighting == "frequency" else evidence.count[inside]
        return cls(columns, count, evidence.weight_squared[inside] / weight**2, kind)

    def sums(self, rng: np.random.Generator, draws: int) -> Floats:
        """Column sums of each redrawn sample, (draws, columns)."""
        found = self._drawn(rng, draws)
        both = bool((self.kind & 1).any() and (self.kind & 2).any())
        for _ in range(REDRAWS if both else 0):
            single = np.flatnonzero(~found[1])
            if not single.size:
                break
            again = self._drawn(rng, single.size)
            found[0][single], found[1][single] = again
        return found[0]

    def _drawn(self, rng: np.random.Generator, draws: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Column sums, and whether both classes came up."""
        whole = bool((self.count == np.round(self.count)).all())
        equal = np.allclose(self.spread * self.count, 1.0)
        if whole and equal and self.count.sum() <= PLAIN_ROWS:
            return self._by_row(rng, draws)
        return self._by_cell(rng, draws)

    def _by_row(self, rng: np.random.Generator, draws: int) -> tuple[Floats, NDArray[np.bool_]]:
        items = self.count.size
        row = np.repeat(np.arange(items), self.count.astype(np.int64))
        per_row = self.columns / self.count[:, None]
        classes = self._classes()
        sums, present = np.empty((draws, per_row.shape[1])), np.empty((draws, 2), dtype=bool)
        for start in range(0, draws, _PIECE):
            size = min(_PIECE, draws - start)
            drawn = row[rng.integers(0, row.size, (size, row.size), dtype=np.int32)]
            drawn += (items * np.arange(size))[:, None]
            times = np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items).astype(float)
            sums[start : start + size] = times @ per_row
            present[start : start + size] = times @ classes > 0
        both: NDArray[np.bool_] = np.all(present, axis=1)
        return sums, both

    def _by_cell(self, rng: np.random.Generator, draws: int) -> tuple[Floats, NDArray[np.bool_]]:
        cell, cells = self._cells()
        count = sum_by(cell, self.count, cells)
        adder = sparse.csr_array((np.ones(cell.size), (cell, np.arange(cell.size))), (cells, cell.size))
        sums = adder @ self.columns
        times = rng.multinomial(max(round(count.sum()), 1), count / count.sum(), draws).astype(float)
        # what is left of the second moments inside the cells, over all of them
        square = (self.columns * self.spread[:, None]).T @ self.columns
        within = square - (sums / count[:, None]).T @ sums
        values, vectors = np.linalg.eigh((within + within.T) / 2)
        noise = rng.standard_normal((draws, values.size)) * np.sqrt(np.maximum(values, 0.0))
        present = times @ (adder @ self._classes() > 0) > 0
        both: NDArray[np.bool_] = np.all(present, axis=1)
        return times @ (sums / count[:, None]) + noise @ vectors.T, both

    def _classes(self) -> Floats:
        """Has the item a negative, a positive label: (items, 2)."""
        return np.column_stack([self.kind & 1, self.kind >> 1]).astype(float)

    def _cells(self) -> tuple[NDArray[np.int64], int]:
        """The cell of each item: its own for those with the largest terms, else one of its kind and range."""
        per_row = self.columns / self.count[:, None]
        share = self.count / self.count.sum()
        centred = per_row - share @ per_row
        spread = np.sqrt(share @ centred**2)
        centred = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
        # the direction in which the terms of all candidates vary most orders the items
        _, vectors = np.linalg.eigh((centred * share[:, None]).T @ centred)
        order = np.lexsort((centred @ vectors[:, -1], self.kind))
        cell = np.empty(order.size, dtype=np.int64)
        first = 0
        for kind in np.unique(self.kind):
            inside = order[self.kind[order] == kind]
            before = np.cumsum(share[inside]) - share[inside] / 2
            place = np.minimum(CELLS * before / share[inside].sum(), CELLS - 1).astype(np.int64)
            cell[inside] = first + place
            first += CELLS
        size = np.abs(centred).max(axis=1)
        own = np.argpartition(-size, min(OWN_COUNT, size.size) - 1)[:OWN_COUNT]
        cell[own] = first + np.arange(own.size)
        _, cell = np.unique(cell, return_inverse=True)
        return cell.astype(np.int64), int(cell.max()) + 1
