"""Evidence: two signed weights per row, the one thing that every metric and calibrator works on.

For every region of the score axis and every subgroup, the sum of ``positive`` estimates P(Y=1, X there) and
the sum of ``positive + negative`` estimates P(X there), however the labels were observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcore.errors import DoesNotExist, InputError
from calcore.subgroups import Membership
from calcore.validation import Floats, as_scores, read_only, same_length

if TYPE_CHECKING:
    from calcore.observation.base import ObservationModel

#: Buckets of the grid on which scores may be collapsed; 5, 10, 12, 15, 20, 30 and 40 bins divide it, so
#: that binned errors come out exact.
GRID = 27_720
#: Above this many rows, work that repeats fits adds scores up on the grid first.
COLLAPSE_ABOVE = 200_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows (or sums of equal rows) with the mass of a positive and of a negative that each stands for.

    All arrays have shape (n,) and cannot be written. ``weight`` is the sampling weight v summed over the file
    rows that an entry stands for, ``weight_squared`` the sum of v squared (of v under frequency weights), from
    which errors are computed. ``source`` holds positions in ``sources``; ``label`` the recorded label, where
    the observation model has one; ``row`` the position in the arrays that were given.
    """

    score: Floats
    positive: Floats
    negative: Floats
    weight: Floats
    weight_squared: Floats
    source: NDArray[np.int8]
    sources: tuple[str, ...]
    model: ObservationModel
    label: Floats | None = None
    rows: NDArray[np.int64] | None = None
    row: NDArray[np.int64] | None = None
    unit: NDArray[np.int64] | None = None
    time: NDArray[Any] | None = None
    membership: Membership | None = None
    row_parameters: Mapping[str, Floats] = field(default_factory=dict)
    weighting: str = "importance"
    dropped: int = 0
    clipped: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("score", "positive", "negative", "weight", "weight_squared", "source"):
            array = getattr(self, name)
            same_length(array, len(self.score), name)
            object.__setattr__(self, name, read_only(array))
        for name in ("label", "rows", "row", "unit", "time"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.score)

    @property
    def n(self) -> int:
        """File rows that the evidence stands for."""
        return len(self) if self.rows is None else int(self.rows.sum())

    @cached_property
    def count(self) -> Floats:
        """File rows behind each entry, (n,)."""
        return np.ones(len(self)) if self.rows is None else self.rows.astype(np.float64)

    @cached_property
    def mass(self) -> Floats:
        """P(X) that each entry stands for, (n,)."""
        return self.positive + self.negative

    @property
    def base_rate(self) -> float:
        """Estimated P(Y=1)."""
        return float(self.positive.sum() / self.mass.sum())

    @cached_property
    def residual(self) -> Floats:
        """Contribution of each entry to the moment E[Y - f]: a (1 - f) - b f, (n,)."""
        return self.positive * (1.0 - self.score) - self.negative * self.score

    @cached_property
    def source_weight(self) -> Floats:
        """Sum of the sampling weights of each source, (sources,)."""
        return np.bincount(self.source, self.weight, minlength=len(self.sources))

    @cached_property
    def source_size(self) -> Floats:
        """Independent draws of each source: rows, pairs or units; the sum of frequency weights."""
        if self.unit is not None:
            keys = self.unit * len(self.sources) + self.source
            return np.bincount(np.unique(keys) % len(self.sources), minlength=len(self.sources)).astype(float)
        if self.weighting == "frequency":
            return self.source_weight
        return np.bincount(self.source, self.count, minlength=len(self.sources))

    @cached_property
    def covariate_weight(self) -> Floats:
        """Weight of each entry as a draw of X, on the scale of counts: (A + B) v, not below 0, (n,)."""
        unit_mass = self.mass * self.source_weight[self.source]
        return np.maximum(unit_mass, 0.0)

    def with_score(self, score: ArrayLike) -> Evidence:
        """The same rows at other scores (a calibrator's predictions)."""
        scores = as_scores(score)
        same_length(scores, len(self), "score")
        return replace(self, score=scores)

    def reweighted(self, factor: Floats) -> Evidence:
        """Both weights of every row multiplied by ``factor`` (n,): LWCal's way of trusting a row less."""
        return replace(self, positive=self.positive * factor, negative=self.negative * factor)

    def take(self, index: NDArray[Any]) -> Evidence:
        """The rows at ``index`` (positions or booleans), each source again of total weight one."""
        source = self.source[index]
        weight = self.weight[index]
        kept = np.bincount(source, weight, minlength=len(self.sources))
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(kept > 0, self.source_weight / kept, 0.0)[source]
        optional = {
            name: None if getattr(self, name) is None else getattr(self, name)[index]
            for name in ("label", "rows", "row", "unit", "time")
        }
        return replace(
            self,
            score=self.score[index],
            positive=self.positive[index] * scale,
            negative=self.negative[index] * scale,
            weight=weight,
            weight_squared=self.weight_squared[index],
            source=source,
            membership=None if self.membership is None else self.membership.take(index),
            row_parameters={name: values[index] for name, values in self.row_parameters.items()},
            **optional,
        )

    def without_groups(self) -> Evidence:
        return replace(self, membership=None)

    def group(self, position: int) -> Evidence:
        """The rows of one subgroup as evidence of their own."""
        if self.membership is None:
            raise InputError("this evidence has no subgroups: give groups when it is made")
        return self.take(self.membership.mask(position)).without_groups()


def compress(
    evidence: Evidence,
    *,
    grid: int | None = None,
    joint: bool = False,
    fold: NDArray[np.int64] | None = None,
) -> tuple[Evidence, NDArray[np.int64] | None]:
    """Add up rows of equal score, source and label: the marginal table, or the joint one with subgroups.

    Exact where ``grid`` is None: equal scores only. With a ``grid``, scores of one bucket are added up and
    stand at their weighted mean (binned sums stay exact for bins that divide the grid). ``joint`` keeps the
    membership patterns apart, ``fold`` (n,) the folds. Returns the evidence and the fold of each entry.

    Raises DoesNotExist for evidence with units (their errors need the rows) or continuous weights.
    """
    if evidence.unit is not None:
        raise DoesNotExist("rows that belong together cannot be added up: their errors need the rows")
    if not evidence.model.discrete:
        raise DoesNotExist(f"{evidence.model.name} has a weight of its own on every row: use the rows")
    key, size = _score_key(evidence.score, grid)
    key = key * len(evidence.sources) + evidence.source
    size *= len(evidence.sources)
    parts: list[tuple[NDArray[Any], int]] = []
    if evidence.label is not None:
        parts.append((evidence.label.astype(np.int64), 2))
    if fold is not None:
        parts.append((fold, int(fold.max(initial=0)) + 1))
    if joint and evidence.membership is not None:
        parts.append((evidence.membership.pattern, evidence.membership.table.shape[0]))
    for values in evidence.row_parameters.values():
        levels, codes = np.unique(values, return_inverse=True)
        parts.append((codes, levels.size))
    for codes, levels_ in parts:
        if size > 2**62 // max(levels_, 1):
            raise DoesNotExist("too many distinct combinations to add up: use the rows or a coarser grid")
        key = key * levels_ + codes
        size *= levels_
    group, first, entries = _group(key, size)

    def total(values: Floats | None) -> Floats:
        return np.bincount(group, values, minlength=entries).astype(np.float64)

    plain = evidence.rows is None and bool((evidence.weight == 1).all())
    rows = total(None if evidence.rows is None else evidence.count)
    weight = rows if plain else total(evidence.weight)
    # a and b are the same multiple of the weight all over an entry: one representative gives both
    per_weight = weight / evidence.weight[first]
    if grid is None:
        score = evidence.score[first]
    else:
        score = np.clip(
            total(evidence.score if plain else evidence.score * evidence.weight) / weight, 0.0, 1.0
        )
    membership = evidence.membership.take(first) if joint and evidence.membership is not None else None
    collapsed = replace(
        evidence,
        score=score,
        positive=evidence.positive[first] * per_weight,
        negative=evidence.negative[first] * per_weight,
        weight=weight,
        weight_squared=rows if plain else total(evidence.weight_squared),
        source=evidence.source[first],
        label=None if evidence.label is None else evidence.label[first],
        rows=rows.astype(np.int64),
        row=None,
        time=None,
        membership=membership,
        row_parameters={name: values[first] for name, values in evidence.row_parameters.items()},
        notes=evidence.notes
        if grid is None
        else (*evidence.notes, f"scores added up on a grid of {grid:,} buckets (within {0.5 / grid:.1e})"),
    )
    return collapsed, None if fold is None else fold[first]


def _score_key(score: Floats, grid: int | None) -> tuple[NDArray[np.int64], int]:
    if grid is None:
        distinct, key = np.unique(score, return_inverse=True)
        return key.astype(np.int64), distinct.size
    return np.minimum((score * grid).astype(np.int64), grid - 1), grid


def _group(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Place of each row among the distinct keys, one row of each, and how many there are."""
    if size > 8 * key.size + 1_000_000:
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return group, first, first.size
    seen = np.full(size, -1, dtype=np.int64)
    seen[key] = np.arange(key.size)
    present = np.flatnonzero(seen >= 0)
    place = np.zeros(size, dtype=np.int64)
    place[present] = np.arange(present.size)
    return place[key], seen[present], present.size
