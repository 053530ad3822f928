"""Patches as a tree of choices: where a score goes, by where it starts and which subgroups its row belongs to.

A list of patches is a program: each moves the score that the one before left. SQL has no variables, and writing
each patch around the one before would double the text every time. So the program is run here on intervals of
scores: an interval is split where a patch touches part of it, and by subgroup where it depends on one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from calcore.errors import InputError
from calcore.maps.patches import EVERYONE, PatchesFunction

MOST_LEAVES = 5_000
MOST_PATCHED = 2_000  # patches: the walk takes seconds here
DEEPEST = 200  # choices in a row: Python's own stack would end at some hundreds


@dataclass(frozen=True)
class Moved:
    """Where scores end: at ``constant`` if there is one, else at the score plus each of ``steps``, in order."""

    steps: tuple[float, ...] = ()
    constant: float | None = None

    def at(self, score: float) -> float:
        if self.constant is not None:
            return self.constant
        for step in self.steps:
            score += step
        return score

    def by(self, step: float) -> Moved:
        if self.constant is not None:
            return Moved(constant=min(max(self.constant + step, 0.0), 1.0))
        return Moved((*self.steps, step))


@dataclass(frozen=True)
class ByScore:
    """``below`` for scores under ``start``, else ``above``."""

    start: float
    below: Node
    above: Node


@dataclass(frozen=True)
class ByGroup:
    """``inside`` for rows of the subgroup at position ``group``, else ``outside``."""

    group: int
    inside: Node
    outside: Node


Node = Moved | ByScore | ByGroup


def bin_regions(function: PatchesFunction) -> tuple[list[float], list[Node]]:
    """The tree of each bin of the scores that ``first`` gives: the bins' starts but the first, and the trees.

    Exact: borders are the very scores at which the patches' own arithmetic changes sides. Raises InputError where
    the patches of many subgroups meet in one bin, so that there are more than 5,000 ways.
    """
    edges = np.arange(function.bins + 1) / function.bins
    walk = _Walk(function.patches, edges.tolist())
    if len(function.patches) > MOST_PATCHED:
        raise InputError(
            f"SQL text and ONNX models hold at most {MOST_PATCHED:,} patches, but this map has "
            f"{len(function.patches):,}; export it as JSON, or fit it with fewer rounds."
        )
    starts = edges[:-1].tolist()
    ends = [*(before(edge) for edge in starts[1:]), 1.0]
    trees = [
        walk.node(low, high, Moved(), 0, {EVERYONE: True}) for low, high in zip(starts, ends, strict=True)
    ]
    return starts[1:], trees


def intervals(starts: list[float], nodes: list[Node], begin: float = 0.0) -> Iterator[tuple[float, Moved]]:
    """Where each interval begins and how its scores move, of trees without subgroups."""
    for start, node in zip([begin, *starts], nodes, strict=True):
        if isinstance(node, Moved):
            yield start, node
        else:
            assert isinstance(node, ByScore)
            yield from intervals([node.start], [node.below, node.above], start)


def before(score: float) -> float:
    return float(np.nextafter(score, -1.0))


class _Walk:
    def __init__(self, patches: tuple[tuple[int, int, float], ...], edges: list[float]) -> None:
        self.patches, self.leaves, self.depth = patches, 0, 0
        self.bins = list(pairwise(edges))
        self.bins[-1] = (self.bins[-1][0], 2.0)  # the last bin is closed

    def node(self, low: float, high: float, moved: Moved, position: int, known: dict[int, bool]) -> Node:
        """What happens from the patch at ``position`` on to the scores of [low, high], moved so far as ``moved``."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._too_many()
        found = self._node(low, high, moved, position, known)
        self.depth -= 1
        return found

    def _node(self, low: float, high: float, moved: Moved, position: int, known: dict[int, bool]) -> Node:
        while position < len(self.patches):
            group, place, step = self.patches[position]
            start, end = self.bins[place]
            if known.get(group) is False or moved.at(high) < start or moved.at(low) >= end:
                position += 1
                continue
            for border in (start, end):
                if moved.at(low) < border <= moved.at(high):
                    return self._split(low, high, moved, position, known, border)
            if group not in known:
                inside = self.node(low, high, moved, position, {**known, group: True})
                return ByGroup(
                    group, inside, self.node(low, high, moved, position + 1, {**known, group: False})
                )
            after = moved.by(step)
            if after.at(high) > 1.0 or after.at(low) < 0.0:
                return self._clipped(low, high, after, position + 1, known)
            moved, position = after, position + 1
        self.leaves += 1
        if self.leaves > MOST_LEAVES:
            raise self._too_many()
        return moved

    def _too_many(self) -> InputError:
        return InputError(
            f"The patches of this map overlap in more than {MOST_LEAVES:,} ways, or {DEEPEST} deep, which SQL text and "
            "ONNX models cannot hold; export it as JSON, or fit it with fewer rounds or subgroups."
        )

    def _split(
        self, low: float, high: float, moved: Moved, position: int, known: dict[int, bool], border: float
    ) -> Node:
        cut = _first(low, high, moved, border)
        below = self.node(low, before(cut), moved, position, known)
        return ByScore(cut, below, self.node(cut, high, moved, position, known))

    def _clipped(self, low: float, high: float, after: Moved, position: int, known: dict[int, bool]) -> Node:
        """The part that the last step took past 0 or 1 stands at that end; a step goes one way."""
        if after.at(high) > 1.0:
            cut, below, above = (
                _first(low, high, after, float(np.nextafter(1.0, 2.0))),
                after,
                Moved(constant=1.0),
            )
        else:
            cut, below, above = _first(low, high, after, 0.0), Moved(constant=0.0), after
        if cut <= low:
            return self.node(low, high, above, position, known)
        if cut > high:
            return self.node(low, high, below, position, known)
        under = self.node(low, before(cut), below, position, known)
        return ByScore(cut, under, self.node(cut, high, above, position, known))


def _first(low: float, high: float, moved: Moved, border: float) -> float:
    """The smallest score of [low, high] that is moved to ``border`` or above; above ``high`` if none is.

    Adding steps is monotone in floating point, and the bits of numbers of 0 or more are ordered as they are.
    """
    left, right = (int(np.float64(end).view(np.int64)) for end in (low, high))
    right += 1
    while left < right:
        middle = (left + right) // 2
        if moved.at(float(np.int64(middle).view(np.float64))) >= border:
            right = middle
        else:
            left = middle + 1
    return float(np.int64(left).view(np.float64))
