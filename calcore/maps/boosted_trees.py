"""The kind of function that boosting makes: rounds of small trees on the log-odds and the subgroups of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.maps import elementary
from calcore.maps.fields import number, shown
from calcore.maps.functions import LARGEST_COEFFICIENT, SMALLEST_CLIP
from calcore.maps.map_function import MapFunction
from calcore.subgroups import Membership
from calcore.validation import Floats

MOST_TREES, MOST_NODES = 100_000, 1_000
LEAF, LOG_ODDS = -2, -1
_MOST = 1e300
_WHERE = "boosted_trees function"

#: A node: what it looks at (a subgroup's position, LOG_ODDS, or LEAF), the threshold (of a leaf: its value), and the
#: positions of the nodes for "at most the threshold" and for "above".
Node = tuple[int, float, int, int]


@dataclass(frozen=True, eq=False)
class BoostedTreesFunction(MapFunction):
    """z = logit(p); each round adds its trees of (z, subgroups) to z and multiplies by its factor; f(p) = sigmoid(z).

    logit(p) is log((p + epsilon) / (1 - p + epsilon)). ``factors`` has one number a round; ``rounds`` the trees of
    each, a tree being its nodes [feature, threshold or value, left, right], the root first, children after parents.
    """

    epsilon: float
    factors: tuple[float, ...]
    rounds: tuple[tuple[tuple[Node, ...], ...], ...]
    kind: ClassVar[str] = "boosted_trees"
    in_blocks: ClassVar[bool] = False
    most: ClassVar[Mapping[str, int]] = {"factors": MOST_TREES, "rounds": MOST_TREES}
    needs_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set_number("epsilon", 1e-307, 0.499)
        factors = _sequence("factors", self.factors)
        most = LARGEST_COEFFICIENT
        object.__setattr__(
            self,
            "factors",
            tuple(number(_WHERE, f"factors[{i}]", v, -10.0, 10.0) for i, v in enumerate(factors)),
        )
        rounds = _sequence("rounds", self.rounds)
        if len(rounds) != len(self.factors) or sum(len(_sequence("rounds", r)) for r in rounds) > MOST_TREES:
            raise InputError(
                f'The {_WHERE} needs as many "rounds" as "factors", of at most {MOST_TREES:,} trees.'
            )
        read = tuple(
            tuple(_tree(f"rounds[{r}][{t}]", tree, most) for t, tree in enumerate(trees))
            for r, trees in enumerate(rounds)
        )
        object.__setattr__(self, "rounds", read)

    @classmethod
    def entries(cls, name: str, value: Any) -> int:
        """Of the rounds: their trees."""
        if name == "rounds" and isinstance(value, list | tuple):
            return max(len(value), sum(len(one) for one in value if isinstance(one, list | tuple)))
        return super().entries(name, value)

    def breakpoints(self) -> Floats:
        return np.array([SMALLEST_CLIP, 1.0 - SMALLEST_CLIP])

    def _apply(self, p: Floats, groups: Any) -> Floats:
        z = elementary.in_blocks(lambda q: elementary.log((q + self.epsilon) / (1.0 - q + self.epsilon)), p)
        used = sorted({node[0] for trees in self.rounds for tree in trees for node in tree if node[0] >= 0})
        patterns, pattern = _patterns(groups, used, p.size)
        for factor, trees in zip(self.factors, self.rounds, strict=True):
            z = (z + _sums(trees, z, used, patterns, pattern)) * factor
            z = np.clip(z, -_MOST, _MOST)  # finite, whatever the document says
        return elementary.in_blocks(
            lambda q: elementary.sigmoid(np.clip(q, -elementary.FARTHEST, elementary.FARTHEST)), z
        )


def _patterns(groups: Any, used: list[int], rows: int) -> tuple[Floats, NDArray[np.int32]]:
    """The distinct rows of the ``used`` subgroups, 0 and 1 (patterns, used), and which of them each row is (n,)."""
    if not used:
        return np.zeros((1, 0)), np.zeros(rows, np.int32)
    if not isinstance(groups, Membership):
        groups = Membership.of_masks(np.asarray(groups)[:, used])
        used = list(range(len(used)))
    return groups.table[:, used].toarray(), groups.pattern


def _sums(
    trees: tuple[tuple[Node, ...], ...],
    z: Floats,
    used: list[int],
    patterns: Floats,
    pattern: NDArray[np.int32],
) -> Floats:
    """What the trees of a round add to each row, (n,).

    Within a pattern of subgroups that is a step function of z: where there are more rows than steps it is worked out
    once for each step. Leaves are added in the order of the trees either way, so that the bits are the same.
    """
    steps = np.unique([n[1] for tree in trees for n in tree if n[0] == LOG_ODDS])
    steps = np.append(steps, np.inf)  # a step ends at its threshold, which belongs to it
    few = len(patterns) * len(steps) < z.size
    shown = np.tile(steps, len(patterns)) if few else z
    of = np.repeat(np.arange(len(patterns)), len(steps)) if few else pattern
    columns = {LOG_ODDS: shown, **{g: patterns[of, i] for i, g in enumerate(used)}}
    added = np.zeros(shown.shape)
    for tree in trees:
        added += _leaves(tree, columns, shown.size)
    if not few:
        return added
    return added[pattern * np.int64(len(steps)) + np.searchsorted(steps, z)]


def _leaves(tree: tuple[Node, ...], columns: dict[int, Floats], rows: int) -> Floats:
    """The value of the leaf that each row falls into, (n,)."""
    out = np.empty(rows)
    waiting = [(0, np.arange(rows))]
    while waiting:
        place, index = waiting.pop()
        feature, value, left, right = tree[place]
        if feature == LEAF:
            out[index] = value
            continue
        below = columns[feature][index] <= value
        waiting += [(left, index[below]), (right, index[~below])]
    return out


def _sequence(name: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f'"{name}" of the {_WHERE} is {shown(value)}; give a list.')
    return value


def _tree(name: str, nodes: Any, most: float) -> tuple[Node, ...]:
    if not 0 < len(_sequence(name, nodes)) <= MOST_NODES:
        raise InputError(f'"{name}" of the {_WHERE} must have between 1 and {MOST_NODES:,} nodes.')
    found = []
    for i, node in enumerate(nodes):
        if len(_sequence(f"{name}[{i}]", node)) != 4:
            raise InputError(f'"{name}[{i}]" of the {_WHERE} must be [feature, threshold, left, right].')
        feature = _whole(f"{name}[{i}]", node[0], LEAF, 1_000_000)
        # children come after their parent, so that every way down ends
        low, high = (0, 0) if feature == LEAF else (i + 1, len(nodes) - 1)
        left, right = (_whole(f"{name}[{i}]", child, low, high) for child in node[2:])
        found.append((feature, number(_WHERE, f"{name}[{i}]", node[1], -most, most), left, right))
    return tuple(found)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    found = number(_WHERE, name, value, float(low), float(high))
    if found % 1:
        raise InputError(f'"{name}" of the {_WHERE} is {shown(value)}; give a whole number.')
    return int(found)
