"""Pool-adjacent-violators one merge at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.sums import sum_by
from calcore.validation import HALF, Floats, as_labels, as_scores, as_weights

POINTS = 10
#: Draws of ten rows from which the most instructive is taken.
DRAWS = 20


@dataclass(frozen=True)
class Block:
    """Neighbouring points ``first`` ... ``last`` (both included) that share a ``value``, with their ``mass``."""

    first: int
    last: int
    value: float
    mass: float

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(range(self.first, self.last + 1))


@dataclass(frozen=True)
class PoolingStep:
    """``left`` lies above ``right``: they became ``merged``; ``blocks`` are all blocks after that."""

    left: Block
    right: Block
    merged: Block
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Pooling:
    """Points at ``score`` (k,), rising, with ``rate`` and ``mass`` (k,); ``start`` has a block for each."""

    score: Floats
    rate: Floats
    mass: Floats
    start: tuple[Block, ...]
    steps: tuple[PoolingStep, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks when nothing is left to pool."""
        return self.steps[-1].blocks if self.steps else self.start

    def blocks_after(self, step: int) -> tuple[Block, ...]:
        """The blocks after ``step`` merges, 0 ... len(steps)."""
        return self.steps[step - 1].blocks if step > 0 else self.start

    @property
    def fitted(self) -> Floats:
        """The fitted value of each point, (k,)."""
        values, sizes = zip(*((block.value, len(block.members)) for block in self.blocks), strict=True)
        return np.repeat(np.array(values), sizes)

    @property
    def squared_error(self) -> float:
        """Sum of mass (rate - fitted)^2: the least of all rising fits."""
        return float(self.mass @ (self.rate - self.fitted) ** 2)


def pava_steps(scores: ArrayLike, labels: ArrayLike, weight: ArrayLike | None = None) -> Pooling:
    """The merges of pool-adjacent-violators, in order (Basics, section 5), ending where ``fit_isotonic`` ends.

    ``scores`` (n,) in [0, 1], ``labels`` (n,) of 0 and 1, ``weight`` (n,). Equal scores are one point from the
    start; rows of weight 0 are none. From the left: two neighbours of which the left is higher become one block
    at their weighted mean, which is compared with its own left neighbour before the scan goes on.
    Raises InputError for labels that are missing.
    """
    raw = as_scores(scores)
    label = as_labels(labels, raw.size)
    if np.isnan(label).any():
        raise InputError("a row without a label cannot be pooled: leave it out")
    given = as_weights(weight, raw.size)
    each = np.ones(raw.size) if given is None else given
    score, place = np.unique(raw[each > 0], return_inverse=True)
    mass = sum_by(place, each[each > 0], score.size)
    rate = sum_by(place, (each * label)[each > 0], score.size) / mass
    start = tuple(Block(i, i, float(rate[i]), float(mass[i])) for i in range(score.size))
    return Pooling(score, rate, mass, start, tuple(_merges(start)))


def _merges(start: tuple[Block, ...]) -> list[PoolingStep]:
    steps: list[PoolingStep] = []
    done: list[Block] = []
    for position, block in enumerate(start):
        done.append(block)
        while len(done) > 1 and done[-2].value > done[-1].value:
            right, left = done.pop(), done.pop()
            mass = left.mass + right.mass
            value = (left.value * left.mass + right.value * right.mass) / mass
            done.append(Block(left.first, right.last, value, mass))
            steps.append(PoolingStep(left, right, done[-1], (*done, *start[position + 1 :])))
    return steps


def ten_points(evidence: Evidence, seed: int = 0, points: int = POINTS) -> tuple[Floats, Floats] | None:
    """Scores and recorded labels of ``points`` rows, one from each tenth of the score order.

    Of ``DRAWS`` seeded draws the one with the most to pool: an example, not a sample. All rows where there are fewer;
    ties are left out. None where rows carry no label.
    """
    label = evidence.label
    if label is None or bool((label == HALF).all()):
        return None
    rng = np.random.default_rng(seed)
    order = np.argsort(evidence.score, kind="stable")
    order = order[label[order] != HALF]
    parts = np.array_split(order, min(points, order.size))
    draws = [np.array([rng.choice(part) for part in parts]) for _ in range(DRAWS)]
    best = max(draws, key=lambda rows: len(pava_steps(evidence.score[rows], label[rows]).steps))
    return evidence.score[best], label[best]
