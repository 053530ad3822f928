"""The kind of function that is a logistic curve for everyone, with another slope and intercept in each subgroup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calcore.errors import InputError
from calcore.maps import elementary
from calcore.maps.fields import number, shown
from calcore.maps.functions import LARGEST_COEFFICIENT, SMALLEST_CLIP
from calcore.maps.map_function import MapFunction
from calcore.subgroups import Membership
from calcore.validation import Floats

MOST_GROUPS = 100_000
_WHERE = "group_logistic function"


@dataclass(frozen=True, eq=False)
class GroupLogisticFunction(MapFunction):
    """f(p) = sigmoid((slope + sum of slopes) logit(p) + intercept + sum of intercepts) over a row's subgroups.

    p is clipped to [clip, 1 - clip]. ``slopes`` and ``intercepts`` hold what each subgroup adds, in the order of the
    map's subgroups; they are added in that order, so that equal rows get equal bits.
    """

    slope: float
    intercept: float
    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]
    clip: float
    kind: ClassVar[str] = "group_logistic"
    most: ClassVar[Mapping[str, int]] = {"slopes": MOST_GROUPS, "intercepts": MOST_GROUPS}
    needs_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("slope", "intercept"):
            self._set_number(name, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
        self._set_number("clip", SMALLEST_CLIP, 0.499)
        for name in ("slopes", "intercepts"):
            object.__setattr__(self, name, _coefficients(name, getattr(self, name)))
        if len(self.slopes) != len(self.intercepts):
            raise InputError(
                f'The {_WHERE} has {len(self.slopes)} "slopes" but {len(self.intercepts)} "intercepts"; '
                "give one of each for every subgroup."
            )

    def breakpoints(self) -> Floats:
        return np.array([self.clip, 1.0 - self.clip])

    def _apply(self, p: Floats, groups: Any) -> Floats:
        column = groups.mask if isinstance(groups, Membership) else lambda g: groups[:, g]
        slope, intercept = np.full(p.shape, self.slope), np.full(p.shape, self.intercept)
        for g, (more_slope, more_intercept) in enumerate(zip(self.slopes, self.intercepts, strict=True)):
            if more_slope or more_intercept:
                inside = column(g)
                slope[inside] += more_slope
                intercept[inside] += more_intercept
        q = np.clip(p, self.clip, 1.0 - self.clip)
        return elementary.sigmoid(slope * elementary.log(q / (1.0 - q)) + intercept)


def _coefficients(name: str, values: Any) -> tuple[float, ...]:
    if not isinstance(values, list | tuple) or not 0 < len(values) <= MOST_GROUPS:
        raise InputError(
            f'"{name}" of the {_WHERE} is {shown(values)}; give a list of one number a subgroup.'
        )
    # sums over all subgroups must stay finite too
    most = LARGEST_COEFFICIENT
    return tuple(number(_WHERE, f"{name}[{i}]", value, -most, most) for i, value in enumerate(values))
