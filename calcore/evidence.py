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
from calcore.sums import distinct_keys, grid_place, sum_by
from calcore.validation import HALF, Floats, as_scores, read_only, same_length

if TYPE_CHECKING:
    from calcore.observation.base import ObservationModel

#: Buckets of the grid on which scores may be collapsed; 5, 10, 12, 15, 20, 30 and 40 bins divide it, so
#: that binned errors come out exact.
GRID = 27_720
#: Above this many rows, work that repeats fits adds scores up on the grid first.
COLLAPSE_ABOVE = 200_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """What each source drew, (sources,) each: sum of weights v, sum of v squared, independent draws.

    A draw is a row, or a unit of rows that belong together; ``draw_squared`` is the sum of their squared
    weights. ``share`` is the part of the population's mass that the evidence is about: 1, or a subgroup's.
    """

    weight: Floats
    weight_squared: Floats
    size: Floats
    draw_squared: Floats
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows (or sums of equal rows) with the mass of a positive and of a negative that each stands for.

    All arrays have shape (n,) and cannot be written. ``weight`` is the sampling weight v summed over the file
    rows that an entry stands for, ``weight_squared`` the sum of v squared (of v under frequency weights), from
    which errors are computed. ``source`` holds positions in ``sources``; ``label`` the recorded label (1/2 for a
    tie), where the observation model has one; ``row`` the position in the arrays that were given. ``drawn_elsewhere`` is
    set where the sources drew more than is here: in the evidence of a subgroup.
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
    drawn_elsewhere: Drawn | None = None
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
        parameters = {name: read_only(values) for name, values in self.row_parameters.items()}
        object.__setattr__(self, "row_parameters", parameters)

    def __len__(self) -> int:
        return len(self.score)

    @property
    def n(self) -> int:
        """File rows that the evidence stands for."""
        return len(self) if self.rows is None else int(self.rows.sum())

    @cached_property
    def count(self) -> Floats:
        """File rows behind each entry, (n,)."""
        return read_only(np.ones(len(self)) if self.rows is None else self.rows.astype(np.float64))

    @cached_property
    def mass(self) -> Floats:
        """P(X) that each entry stands for, (n,)."""
        return read_only(self.positive + self.negative)

    @property
    def base_rate(self) -> float:
        """Estimated P(Y=1)."""
        return float(self.positive.sum() / self.mass.sum())

    @cached_property
    def label_kind(self) -> NDArray[np.int64]:
        """0 for a recorded negative, 1 for a positive, 2 for a tie, (n,); 0 where rows carry no label."""
        if self.label is None:
            return np.zeros(len(self), dtype=np.int64)
        return self.label.astype(np.int64) + 2 * (self.label == HALF)

    @cached_property
    def residual(self) -> Floats:
        """Contribution of each entry to the moment E[Y - f]: a (1 - f) - b f, (n,)."""
        return read_only(self.positive * (1.0 - self.score) - self.negative * self.score)

    @cached_property
    def drawn(self) -> Drawn:
        """Totals of each source: what the variance of a source's mean is computed from."""
        if self.drawn_elsewhere is not None:
            return self.drawn_elsewhere
        sources = len(self.sources)
        weight = sum_by(self.source, self.weight, sources)
        squared = sum_by(self.source, self.weight_squared, sources)
        draw_squared = squared
        if self.unit is not None:
            unit, place = np.unique(self.unit * sources + self.source, return_inverse=True)
            size = sum_by(unit % sources, None, sources)
            draw_squared = sum_by(unit % sources, sum_by(place, self.weight, unit.size) ** 2, sources)
        elif self.weighting == "frequency":
            size = weight
        else:
            size = sum_by(self.source, self.count, sources)
        return Drawn(read_only(weight), read_only(squared), read_only(size), read_only(draw_squared))

    @property
    def source_weight(self) -> Floats:
        """Sum of the sampling weights of each source, (sources,)."""
        return self.drawn.weight

    @property
    def source_size(self) -> Floats:
        """Independent draws of each source: rows, pairs or units; the sum of frequency weights."""
        return self.drawn.size

    @property
    def population_size(self) -> int:
        """File rows of the source that carries most of the mass of X: of the population, not of known positives."""
        sources = len(self.sources)
        carries = sum_by(self.source, self.covariate_weight, sources)
        return int(sum_by(self.source, self.count, sources)[np.argmax(carries)])

    @cached_property
    def covariate_weight(self) -> Floats:
        """Weight of each entry as a draw of X, on the scale of counts: (A + B) v, not below 0, (n,)."""
        scale = (self.drawn.share * self.source_weight)[self.source]
        return read_only(np.maximum(self.mass * scale, 0.0))

    def with_score(self, score: ArrayLike) -> Evidence:
        """The same rows at other scores (a calibrator's predictions)."""
        scores = as_scores(score)
        same_length(scores, len(self), "score")
        return replace(self, score=scores)

    def reweighted(self, factor: Floats) -> Evidence:
        """Both weights of every row multiplied by ``factor`` (n,): LWCal's way of trusting a row less."""
        return replace(self, positive=self.positive * factor, negative=self.negative * factor)

    def take(self, index: NDArray[Any]) -> Evidence:
        """The rows at ``index`` (positions or booleans), each source again of its total weight.

        For a part that does not depend on the labels or scores, such as all folds but one.
        """
        sources = len(self.sources)
        here = sum_by(self.source, self.weight, sources)
        part = self.entries(index)
        kept = sum_by(part.source, part.weight, sources)
        scale = np.divide(here, kept, out=np.zeros(sources), where=kept > 0)[part.source]
        elsewhere = None
        if self.drawn_elsewhere is not None:
            part_of = np.divide(kept, here, out=np.zeros(sources), where=here > 0)
            whole = self.drawn_elsewhere
            elsewhere = Drawn(
                whole.weight * part_of,
                whole.weight_squared * part_of,
                whole.size * part_of,
                whole.draw_squared * part_of,
                whole.share,
            )
        return replace(
            part,
            positive=part.positive * scale,
            negative=part.negative * scale,
            drawn_elsewhere=elsewhere,
        )

    def without_groups(self) -> Evidence:
        return replace(self, membership=None)

    def group(self, position: int) -> Evidence:
        """The rows of one subgroup as evidence of their own, of mass 1.

        A sample of the population gives a sample of the subgroup. Of other sources (positives only, mixtures)
        a subgroup holds shares that differ, so what each drew in all is kept beside its rows. Raises
        DoesNotExist where no mass is left.
        """
        if self.membership is None:
            raise InputError("this evidence has no subgroups: give groups when it is made")
        inside = self.membership.mask(position)
        mass = float(self.mass[inside].sum())
        if not mass > 0:
            raise DoesNotExist(f"no mass is left in the subgroup {self.membership.names[position]!r}")
        if np.allclose(self.mass * self.source_weight[self.source], self.weight):
            return self.take(inside).without_groups()
        part = self.entries(inside)
        return replace(
            part,
            positive=part.positive / mass,
            negative=part.negative / mass,
            membership=None,
            drawn_elsewhere=replace(self.drawn, share=self.drawn.share * mass),
        )

    def entries(self, index: NDArray[Any]) -> Evidence:
        """The rows at ``index`` with everything that belongs to them, unscaled."""

        def part(values: Any) -> Any:
            return None if values is None else values[index]

        return replace(
            self,
            score=self.score[index],
            positive=self.positive[index],
            negative=self.negative[index],
            weight=self.weight[index],
            weight_squared=self.weight_squared[index],
            source=self.source[index],
            label=part(self.label),
            rows=part(self.rows),
            row=part(self.row),
            unit=part(self.unit),
            time=part(self.time),
            membership=None if self.membership is None else self.membership.take(index),
            row_parameters={name: values[index] for name, values in self.row_parameters.items()},
        )


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
    first, group = distinct_keys(*_entry_key(evidence, grid, joint, fold))
    entries = first.size

    def total(values: Floats | None) -> Floats:
        return sum_by(group, values, entries)

    plain = evidence.rows is None and bool((evidence.weight == 1).all())
    rows = total(None if evidence.rows is None else evidence.count)
    weight = rows if plain else total(evidence.weight)
    # a and b are the same multiple of the weight all over an entry: one representative gives both
    per_weight = weight / evidence.weight[first]
    score = evidence.score[first]
    if grid is not None:
        mean = total(evidence.score if plain else evidence.score * evidence.weight) / weight
        score = _within_bucket(mean, score, grid)
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


def collapsed_if_large(
    evidence: Evidence, fold: NDArray[np.int64] | None = None
) -> tuple[Evidence, NDArray[np.int64] | None]:
    """The evidence added up on the grid where it is large and can be, else as it is; ``fold`` as in compress.

    For work that repeats fits or bins scores: what is lost stays below every reported digit.
    """
    if len(evidence) <= COLLAPSE_ABOVE:
        return evidence, fold
    try:
        return compress(evidence, grid=GRID, fold=fold)
    except DoesNotExist:
        return evidence, fold  # units or continuous weights: slower, on the rows


def _entry_key(
    evidence: Evidence, grid: int | None, joint: bool, fold: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], int]:
    """A key (n,) that is equal where rows may be added up, and how many keys there can be."""
    if grid is None:
        distinct, key = np.unique(evidence.score, return_inverse=True)
        key, size = key.astype(np.int64), distinct.size
    else:
        key, size = grid_place(evidence.score, grid), grid
    parts: list[tuple[NDArray[Any], int]] = [(evidence.source, len(evidence.sources))]
    if evidence.label is not None:
        parts.append((evidence.label_kind, 3))
    if fold is not None:
        parts.append((fold, int(fold.max(initial=0)) + 1))
    if joint and evidence.membership is not None:
        parts.append((evidence.membership.pattern, evidence.membership.table.shape[0]))
    for values in evidence.row_parameters.values():
        distinct, codes = np.unique(values, return_inverse=True)
        parts.append((codes, distinct.size))
    for codes, levels in parts:
        if size > 2**62 // max(levels, 1):
            raise DoesNotExist("too many distinct combinations to add up: use the rows or a coarser grid")
        key = key * levels + codes
        size *= levels
    return key, size


def _within_bucket(mean: Floats, score: Floats, grid: int) -> Floats:
    """``mean`` kept in the bucket of ``score``: rounding must not move it (.3 three times is one bin lower)."""
    bucket = grid_place(score, grid)
    last = np.where(bucket < grid - 1, np.nextafter((bucket + 1) / grid, 0.0), 1.0)
    return np.clip(mean, bucket / grid, last)
