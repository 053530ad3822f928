"""Bets against "calibrated within tolerance": by what factor a batch multiplies the money staked on each.

Nobody can expect to win by betting on how a score is off while it is right to within the tolerance. So the money that
a bettor has made is evidence against it, at any time and after any number of looks (Ville 1939; Waudby-Smith and Ramdas
2024). A bet is a pattern of signs over the score bins and the share of the money that is risked on each draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.cell_layout import CellLayout
from calcore.validation import Floats

#: Shares of the largest possible stake.
STAKES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
#: Which draws of several sources share a block is drawn, and the same each time.
SEED = 20_262
#: Patterns over the whole score axis; the first two are about the level, the others about confidence.
SHAPES = ("too low", "too high", "overconfident", "underconfident")


@dataclass(frozen=True, eq=False)
class Growth:
    """Log factors by which a batch multiplies stakes: ``whole`` (patterns, stakes), ``groups`` (m, shapes, stakes).

    The patterns of ``whole`` are the four ``SHAPES``, then "too low" in each of the K bins, then "too high" in each;
    those of ``groups`` the four shapes, or the first two. ``names`` (m,) are the subgroups'.
    """

    whole: Floats
    groups: Floats
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Allowed:
    """Where gaps (event rate - score) may lie: ``gap`` +- ``tolerance``, (K,) each by bin.

    ``groups`` gives the overall gap and tolerance of subgroups by name where those are judged by themselves; None:
    they are judged by the bins', as everyone.
    """

    gap: Floats
    tolerance: Floats
    groups: dict[str, tuple[float, float]] | None = None

    @classmethod
    def around_zero(cls, tolerance: float, bins: int) -> Allowed:
        """Calibrated within ``tolerance``, overall and in every bin and subgroup."""
        return cls(np.zeros(bins), np.full(bins, tolerance))


def shapes(bins: int, centre: int) -> Floats:
    """Signs (4, K) of the four shapes over ``bins`` bins; ``centre`` is the first bin of the upper half.

    +1 bets that events are more frequent than the score says. Overconfident scores are too extreme: too low below
    the centre and too high above it.
    """
    above = np.where(np.arange(bins) >= centre, 1.0, -1.0)
    ones = np.ones(bins)
    return np.array([ones, -ones, -above, above])


def growth(evidence: Evidence, allowed: Allowed, centre: int) -> Growth:
    """What bets on ``evidence`` win or lose, each against a gap that is ``allowed``.

    A draw is a row, a unit of rows that belong together, or, where the model has several sources, one draw from
    each: its part in a moment has the moment as its mean and is bounded, whatever the labels. Weights that are
    themselves observed (confidences) are bounded by the largest of the batch only, so there bets are fair in large
    batches, not exactly.
    """
    if len(evidence.sources) > 1 or evidence.unit is not None:
        return by_draws(evidence, allowed, centre)
    return by_rows(evidence, allowed, centre)


def by_rows(evidence: Evidence, allowed: Allowed, centre: int) -> Growth:
    """Bets where each row is a draw: it lies in one bin, so log factors add up over bins."""
    # rows of unequal weights are not added up: money grows faster on their mean than on each of them
    alike = evidence.weighting == "frequency" or bool((evidence.weight == evidence.count).all())
    if evidence.membership is None and alike:
        evidence, _ = collapsed_if_large(evidence)
    times = evidence.weight if evidence.weighting == "frequency" else evidence.count
    draws = float(times.sum())
    residual, mass = evidence.residual * draws / times, evidence.mass * draws / times
    possible = _possible(evidence) * draws / times
    bins = len(allowed.gap)
    layout = CellLayout.of(evidence, bins, "width", True)
    place = layout.key % bins

    def logs(gap: Floats | float, tolerance: Floats | float, inside: NDArray[np.bool_] | slice) -> Floats:
        """Log factors of each row, (2 directions, stakes, rows)."""
        own = mass[inside]
        win, room = residual[inside] - gap * own, tolerance * own
        largest = float((possible[inside] + np.abs(gap) * own + room).max(initial=1e-300))
        return np.array(
            [
                [times[inside] * np.log1p(stake / largest * (sign * win - room)) for stake in STAKES]
                for sign in (1, -1)
            ]
        )

    by_row = logs(allowed.gap[place], allowed.tolerance[place], slice(None))
    up, down = (np.array([layout.add(row) for row in one]) for one in by_row)
    signs = shapes(bins, centre) > 0
    by_shape = np.array([np.where(sign, up, down).sum(axis=-1) for sign in signs])  # (4, stakes, groups)
    whole = np.concatenate([by_shape[:, :, 0], up[:, 0].T, down[:, 0].T])
    groups = by_shape[:, :, 1:].transpose(2, 0, 1)
    if allowed.groups is not None:
        groups = np.zeros((len(layout.names) - 1, 2, len(STAKES)))
        for g, name in enumerate(layout.names[1:]):
            if name in allowed.groups and evidence.membership is not None:
                groups[g] = logs(*allowed.groups[name], evidence.membership.mask(g)).sum(axis=-1)
    return Growth(whole, groups, layout.names[1:])


def _possible(evidence: Evidence) -> Floats:
    """The largest |residual| that each entry could show with either label, (n,)."""
    outcomes = evidence.model.two_point(evidence)
    if outcomes is None:
        return np.maximum(np.abs(evidence.positive), np.abs(evidence.negative))
    _, of_one, of_zero = outcomes
    return np.maximum(np.abs(of_one), np.abs(of_zero))


def by_draws(evidence: Evidence, allowed: Allowed, centre: int) -> Growth:
    """Bets where a draw holds several rows, which may lie in several bins: slower, for any model."""
    bins = len(allowed.gap)
    layout = CellLayout.of(evidence, bins, "width", True)
    drawn = _draws(evidence)
    # blocks x disjoint cells; what a block holds has the moment of the cell as its mean
    shape, place = (drawn.blocks, layout.cells), (drawn.block, layout.key)
    residual = sparse.csr_array((evidence.residual * drawn.scale, place), shape)
    mass = sparse.csr_array((evidence.mass * drawn.scale, place), shape)

    def logs(member: Floats, signs: Floats, gap: Floats, tolerance: Floats) -> Floats:
        """Log factors (patterns, stakes) of patterns (p, K) over the disjoint cells that make a group."""

        def over_cells(by_bin: Floats) -> Floats:
            return (member[:, None] * by_bin[:, None, :]).reshape(len(by_bin), -1).T

        win = residual @ over_cells(signs) - mass @ over_cells(signs * gap + np.abs(signs) * tolerance)
        room = float((np.abs(gap) + tolerance).max())
        largest = drawn.largest_residual + room * drawn.largest_mass
        return np.array([np.log1p(stake / largest * np.asarray(win)).sum(axis=0) for stake in STAKES]).T

    patterns, ones = shapes(bins, centre), np.ones(bins)
    members = layout.matrix.toarray()
    in_bins = np.vstack([patterns, np.eye(bins), -np.eye(bins)])
    whole = logs(members[0], in_bins, allowed.gap, allowed.tolerance)
    if allowed.groups is None:
        groups = [logs(member, patterns, allowed.gap, allowed.tolerance) for member in members[1:]]
        return Growth(whole, np.array(groups).reshape(-1, len(SHAPES), len(STAKES)), layout.names[1:])
    own = np.zeros((len(layout.names) - 1, 2, len(STAKES)))
    for g, name in enumerate(layout.names[1:]):
        if name in allowed.groups:
            gap, tolerance = allowed.groups[name]
            own[g] = logs(members[g + 1], patterns[:2], gap * ones, tolerance * ones)
    return Growth(whole, own, layout.names[1:])


@dataclass(frozen=True, eq=False)
class _Draws:
    """The block of draws that each row is in (n,), and how often its terms count there (n,).

    ``largest_residual`` and ``largest_mass`` bound what a block can hold in absolute value.
    """

    block: NDArray[np.int64]
    scale: Floats
    blocks: int
    largest_residual: float
    largest_mass: float


def _draws(evidence: Evidence) -> _Draws:
    """One draw of every source to a block; larger sources are cut into as many blocks as the smallest has draws.

    Which draws meet is left to chance: in a file that is sorted by score, those that cancel each other would.
    """
    sources, rng = len(evidence.sources), np.random.default_rng(SEED)
    place, counts = np.zeros(len(evidence), dtype=np.int64), np.zeros(sources, dtype=np.int64)
    rows = np.ones(sources)
    for s in range(sources):
        inside = np.flatnonzero(evidence.source == s)
        if evidence.unit is None:
            place[inside], counts[s] = rng.permutation(inside.size), inside.size
        else:
            units, unit, sizes = np.unique(evidence.unit[inside], return_inverse=True, return_counts=True)
            place[inside] = rng.permutation(units.size)[unit]
            counts[s], rows[s] = units.size, sizes.max(initial=1)
    blocks = int(counts.min())
    of_row = counts[evidence.source]
    block = place * blocks // of_row
    # how many draws share the block: the places p with p * blocks // count == block
    first, beyond = -(-block * of_row // blocks), -(-(block + 1) * of_row // blocks)

    def largest(bound: Floats) -> float:
        inside = (bound[evidence.source == s].max(initial=0.0) for s in range(sources))
        return float(sum(r * c * most for r, c, most in zip(rows, counts, inside, strict=True)))

    return _Draws(
        block, of_row / (beyond - first), blocks, largest(_possible(evidence)), largest(np.abs(evidence.mass))
    )
