"""The kind of function that differs between subgroups: a list of patches, each of which moves one cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.maps import elementary
from calcore.maps.fields import number, shown
from calcore.maps.map_function import MapFunction, function_from_dict
from calcore.metrics.binning import MAX_BINS, Bins
from calcore.subgroups import Membership
from calcore.validation import Floats

MOST_PATCHES = 100_000
EVERYONE = -1
#: Scores of 0 and 1 have no log-odds to move.
LOG_ODDS_CLIP = 1e-6
_WHERE = "patches function"


@dataclass(frozen=True, eq=False)
class PatchesFunction(MapFunction):
    """``first``, then one patch (group, bin, step) after the other (WLMC).

    A patch moves the scores of the rows of a subgroup that stand in a bin by its step, clipped to [0, 1]. Bins
    are ``bins`` equal-width ones of the scores as moved so far; ``group`` is a position in the map's subgroups, or
    -1 for everyone.
    """

    first: MapFunction
    bins: int
    patches: tuple[tuple[int, int, float], ...]
    kind: ClassVar[str] = "patches"
    most: ClassVar[Mapping[str, int]] = {"patches": MOST_PATCHES}

    def __post_init__(self) -> None:
        if not isinstance(self.first, MapFunction) or self.first.needs_groups:
            raise InputError(f'"first" of the {_WHERE} must be a map function without subgroups.')
        object.__setattr__(self, "bins", _whole("bins", self.bins, 1, MAX_BINS))
        if not isinstance(self.patches, list | tuple) or len(self.patches) > MOST_PATCHES:
            raise InputError(f'"patches" of the {_WHERE} must be a list of at most {MOST_PATCHES:,} patches.')
        read = tuple(self._patch(position, patch) for position, patch in enumerate(self.patches))
        object.__setattr__(self, "patches", read)

    def _patch(self, position: int, patch: Any) -> tuple[int, int, float]:
        name = f"patches[{position}]"
        if not isinstance(patch, list | tuple) or len(patch) != 3:
            raise InputError(f'"{name}" of the {_WHERE} is {shown(patch)}; give [group, bin, step].')
        return (
            _whole(f"{name} group", patch[0], EVERYONE, 1_000_000),
            _whole(f"{name} bin", patch[1], 0, self.bins - 1),
            number(_WHERE, f"{name} step", patch[2], -1.0, 1.0),
        )

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]
        """Whether a patch is of a subgroup."""
        return any(group != EVERYONE for group, _, _ in self.patches)

    def _apply(self, p: Floats, groups: Any) -> Floats:
        scores = self.first(p).copy()
        edges = Bins.equal_width(self.bins)
        place = edges.index(scores).astype(np.int16)  # narrow: every patch looks at all of it
        column = groups.mask if isinstance(groups, Membership) else lambda g: groups[:, g]
        masks: dict[int, NDArray[np.bool_]] = {EVERYONE: np.ones(p.size, dtype=bool)}
        for group, where, step in self.patches:
            if group not in masks:
                masks[group] = column(group)
            inside = np.flatnonzero(masks[group] & (place == where))
            moved = self._moved(scores[inside], step)
            scores[inside] = moved
            place[inside] = edges.index(moved)
        return scores

    def _moved(self, scores: Floats, step: float) -> Floats:
        """The scores (n,) of one cell after its patch."""
        return np.clip(scores + step, 0.0, 1.0)

    def breakpoints(self) -> Floats:
        return np.unique(np.concatenate([self.first.breakpoints(), np.arange(self.bins + 1) / self.bins]))

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return function_from_dict(value) if name == "first" and isinstance(value, Mapping) else value


@dataclass(frozen=True, eq=False)
class LogOddsPatchesFunction(PatchesFunction):
    """The same with steps in log-odds: a patch moves p to sigmoid(logit(p) + step) (HJZ).

    p is clipped to [1e-6, 1 - 1e-6] in the cells that move.
    """

    kind: ClassVar[str] = "log_odds_patches"

    def _moved(self, scores: Floats, step: float) -> Floats:
        q = np.clip(scores, LOG_ODDS_CLIP, 1.0 - LOG_ODDS_CLIP)
        return elementary.sigmoid(elementary.log(q / (1.0 - q)) + step)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    found = number(_WHERE, name, value, float(low), float(high))
    if found % 1:
        raise InputError(f'"{name}" of the {_WHERE} is {shown(value)}; give a whole number.')
    return int(found)
