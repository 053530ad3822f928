"""The kinds of function that a calibration map can be: small, immutable, the same bits on every machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.maps import elementary
from calcore.maps.documents import MOST_ENTRIES
from calcore.maps.fields import numbers, shown
from calcore.maps.map_function import MapFunction, function_from_dict
from calcore.subgroups import Membership
from calcore.validation import Floats

SMALLEST_CLIP = 2.0**-53  # 1 - clip must stay below 1
LARGEST_COEFFICIENT = 1e100  # beyond any use; keeps every product finite
DEEPEST_BLEND = 4
MOST_KNOTS = MOST_ENTRIES


@dataclass(frozen=True, eq=False)
class IdentityFunction(MapFunction):
    """f(p) = p."""

    kind: ClassVar[str] = "identity"

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        return p.copy()


@dataclass(frozen=True, eq=False)
class ConstantFunction(MapFunction):
    """f(p) = value, a number in [0, 1]."""

    value: float
    kind: ClassVar[str] = "constant"

    def __post_init__(self) -> None:
        self._set_number("value", 0.0, 1.0)

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        return np.full(p.shape, self.value)


@dataclass(frozen=True, eq=False)
class LogisticFunction(MapFunction):
    """f(p) = sigmoid(slope logit(p) + intercept), p clipped to [clip, 1 - clip] (Platt, temperature)."""

    slope: float
    intercept: float
    clip: float
    kind: ClassVar[str] = "logistic"

    def __post_init__(self) -> None:
        self._set_number("slope", -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
        self._set_number("intercept", -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
        self._set_number("clip", SMALLEST_CLIP, 0.499)

    def breakpoints(self) -> Floats:
        return np.array([self.clip, 1.0 - self.clip])

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        return elementary.in_blocks(self._block, p)

    def _block(self, p: Floats) -> Floats:
        q = np.clip(p, self.clip, 1.0 - self.clip)
        return elementary.sigmoid(self.slope * elementary.log(q / (1.0 - q)) + self.intercept)


@dataclass(frozen=True, eq=False)
class BetaFunction(MapFunction):
    """f(p) = sigmoid(a ln p - b ln(1 - p) + c), p clipped to [clip, 1 - clip] (beta calibration)."""

    a: float
    b: float
    c: float
    clip: float
    kind: ClassVar[str] = "beta"

    def __post_init__(self) -> None:
        for name in ("a", "b", "c"):
            self._set_number(name, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
        self._set_number("clip", SMALLEST_CLIP, 0.499)

    def breakpoints(self) -> Floats:
        return np.array([self.clip, 1.0 - self.clip])

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        return elementary.in_blocks(self._block, p)

    def _block(self, p: Floats) -> Floats:
        q = np.clip(p, self.clip, 1.0 - self.clip)
        z = self.a * elementary.log(q) - self.b * elementary.log(1.0 - q) + self.c
        return elementary.sigmoid(z)


@dataclass(frozen=True, eq=False)
class PiecewiseLinearFunction(MapFunction):
    """Straight lines between knots, constant outside them: `np.interp(p, x, y)` (isotonic fits).

    x, y: equally many numbers in [0, 1], x strictly increasing; kept as read-only float64 arrays.
    """

    x: Floats
    y: Floats
    kind: ClassVar[str] = "piecewise_linear"
    most: ClassVar[Mapping[str, int]] = {"x": MOST_KNOTS, "y": MOST_KNOTS}

    def __post_init__(self) -> None:
        self._set_numbers("x", increasing=True)
        self._set_numbers("y")
        if len(self.x) != len(self.y):
            raise InputError(
                f'The piecewise_linear function has {len(self.x)} numbers in "x" but '
                f'{len(self.y)} in "y"; give one y for each x.'
            )

    def breakpoints(self) -> Floats:
        return self.x

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        out = np.asarray(np.interp(p, self.x, self.y), dtype=np.float64)
        if out.size and not (out.min() >= 0.0 and out.max() <= 1.0):
            # Rounding can pass an end by an ulp, and between knots closer than 1e-308 the slope is infinite.
            bad = ~((out >= 0.0) & (out <= 1.0))
            j = np.searchsorted(self.x, p[bad], side="right") - 1
            ends = np.sort([self.y[j], self.y[j + 1]], axis=0)
            out[bad] = np.clip(out[bad], ends[0], ends[1])
        return out


@dataclass(frozen=True, eq=False)
class StepFunction(MapFunction):
    """f(p) = values[j] for p in [edges[j], edges[j + 1]), the last bin closed (histogram binning).

    edges: strictly increasing numbers in [0, 1]; values: one less, in [0, 1]; read-only float64 arrays.
    Scores outside the edges belong to the first or last bin.
    """

    edges: Floats
    values: Floats
    kind: ClassVar[str] = "step"
    most: ClassVar[Mapping[str, int]] = {"edges": MOST_KNOTS, "values": MOST_KNOTS}

    def __post_init__(self) -> None:
        self._set_numbers("edges", increasing=True)
        self._set_numbers("values")
        if len(self.edges) != len(self.values) + 1:
            raise InputError(
                f'The step function has {len(self.edges)} "edges" and {len(self.values)} '
                '"values"; give one edge more than values.'
            )

    def breakpoints(self) -> Floats:
        return self.edges

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        return self.values[np.searchsorted(self.edges[1:-1], p, side="right")]


@dataclass(frozen=True, eq=False)
class BlendFunction(MapFunction):
    """f(p) = sum of weights[k] parts[k](p); weights of 0 or more that sum to one (a gated map).

    Blends of blends may be 4 deep.
    """

    weights: tuple[float, ...]
    parts: tuple[MapFunction, ...]
    kind: ClassVar[str] = "blend"

    def __post_init__(self) -> None:
        where = "blend function"
        object.__setattr__(self, "weights", tuple(numbers(where, "weights", self.weights).tolist()))
        given = self.parts
        if not isinstance(given, list | tuple) or not all(isinstance(p, MapFunction) for p in given):
            raise InputError(f'"parts" of the {where} is {shown(self.parts)}; give a list of functions.')
        object.__setattr__(self, "parts", tuple(self.parts))
        if len(self.weights) != len(self.parts):
            raise InputError(
                f'The {where} has {len(self.weights)} "weights" for {len(self.parts)} "parts"; '
                "give one weight a part."
            )
        total = math.fsum(self.weights)
        if abs(total - 1.0) > 1e-12:
            raise InputError(f'"weights" of the {where} sum to {total!r}; make them sum to 1.')
        if self._depth() > DEEPEST_BLEND:
            raise InputError(f'"parts" of the {where} nest more than {DEEPEST_BLEND} blends; flatten them.')

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]
        """Whether any part depends on the subgroups of a row."""
        return any(part.needs_groups for part in self.parts)

    def breakpoints(self) -> Floats:
        return np.unique(np.concatenate([part.breakpoints() for part in self.parts]))

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if name != "parts" or not isinstance(value, list | tuple):
            return value
        return tuple(function_from_dict(part) for part in value)

    def _depth(self) -> int:
        return 1 + max(part._depth() if isinstance(part, BlendFunction) else 0 for part in self.parts)

    def _apply(self, p: Floats, groups: NDArray[np.bool_] | Membership | None) -> Floats:
        out = self.weights[0] * self.parts[0]._apply(p, groups)
        for weight, part in zip(self.weights[1:], self.parts[1:], strict=True):
            out += weight * part._apply(p, groups)
        return np.minimum(out, 1.0)  # weights may exceed one by their rounding
