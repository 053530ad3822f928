"""Piecewise functions as a table of straight pieces: what a SQL text and an ONNX model are written from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.maps.functions import PiecewiseLinearFunction, StepFunction
from calcore.validation import Floats


@dataclass(frozen=True, eq=False)
class Pieces:
    """f(p) = y[j] + slope[j] (p - x[j]) on piece j, which begins at ``start[j - 1]`` (the first at 0).

    start: (n - 1,) strictly increasing; x, slope, y: (n,), finite. Rounding can take a piece past 0 or 1 by an
    ulp: ``leaves`` says which ones, and whoever evaluates them clips.
    """

    start: Floats
    x: Floats
    slope: Floats
    y: Floats

    @property
    def leaves(self) -> np.ndarray:
        """Which pieces leave [0, 1]: a piece is monotone in floating point too, so its last score tells."""
        last = np.append(np.nextafter(self.start, 0.0), 1.0)
        end = self.slope * (last - self.x) + self.y
        result: np.ndarray = ~((end >= 0.0) & (end <= 1.0))
        return result


def line_pieces(function: PiecewiseLinearFunction) -> Pieces:
    """The pieces of straight lines between knots, with `np.interp`'s slopes to the last bit."""
    knots, values = function.x, function.y
    with np.errstate(over="ignore"):
        slope = np.diff(values) / np.diff(knots)
    steep = np.isinf(slope)  # knots closer than 1e-308: the map jumps right after the lower one
    slope[steep] = 0.0
    pieces = [(0.0, values[0], 0.0, values[0])]  # begin, x, slope, y; constant before the first knot
    after = np.nextafter(knots[:-1], 1.0)
    for j in range(len(slope)):
        pieces.append((knots[j], knots[j], slope[j], values[j]))
        if steep[j] and after[j] < knots[j + 1]:
            pieces.append((after[j], after[j], 0.0, values[j + 1]))
    pieces.append((knots[-1], knots[-1], 0.0, values[-1]))
    begin, x, slope, y = np.array(pieces).T
    return _merged(begin[1:], x, slope, y)


def step_pieces(function: StepFunction) -> Pieces:
    """The pieces of a step function: its bins."""
    inner = function.edges[1:-1]
    return _merged(inner, np.zeros(len(function.values)), np.zeros(len(function.values)), function.values)


def _merged(start: Floats, x: Floats, slope: Floats, y: Floats) -> Pieces:
    """Without the borders between equal constants, of which isotonic fits have many, and pieces before 0."""
    new = ~((slope[1:] == 0.0) & (slope[:-1] == 0.0) & (y[1:] == y[:-1]))
    keep = np.insert(new, 0, True)
    start, x, slope, y = start[new], x[keep], slope[keep], y[keep]
    first = int(np.searchsorted(start, 0.0, side="right"))  # a first knot at 0: nothing lies before it
    return Pieces(start[first:], x[first:], slope[first:], y[first:])
