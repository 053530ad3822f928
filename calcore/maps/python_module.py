"""A calibration map as the source of a Python module that needs the standard library alone."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import Any

import numpy as np

from calcore.errors import InputError
from calcore.maps.calibration_map import CalibrationMap
from calcore.maps.elementary import SCALAR_SOURCE
from calcore.maps.functions import (
    BetaFunction,
    BlendFunction,
    ConstantFunction,
    IdentityFunction,
    LogisticFunction,
    PiecewiseLinearFunction,
    StepFunction,
)
from calcore.maps.map_function import MapFunction
from calcore.maps.patches import PatchesFunction
from calcore.validation import ROUNDING

_LINE = """\
def _line(score, x, y):
    # numpy.interp's formula, operation for operation: its results to the last bit
    if score < x[0]:
        return y[0]
    j = bisect_right(x, score) - 1
    if j == len(x) - 1 or x[j] == score:
        return y[j]
    slope = (y[j + 1] - y[j]) / (x[j + 1] - x[j])
    value = slope * (score - x[j]) + y[j]
    if not 0.0 <= value <= 1.0:  # rounding, or an infinite slope between knots closer than 1e-308
        value = min(max(value, min(y[j], y[j + 1])), max(y[j], y[j + 1]))
    return value
"""

_LOGISTIC = """\
def _logistic(score, slope, intercept, clip):
    q = min(max(score, clip), 1.0 - clip)
    return _sigmoid(slope * _log(q / (1.0 - q)) + intercept)
"""

_BETA = """\
def _beta(score, a, b, c, clip):
    q = min(max(score, clip), 1.0 - clip)
    return _sigmoid(a * _log(q) - b * _log(1.0 - q) + c)
"""

_PATCHED = """\
def _patched(score, low, high, steps):
    for start, end, step in zip(low, high, steps):
        if start <= score < end:
            score = min(max(score + step, 0.0), 1.0)
    return score
"""

_CALIBRATE = f'''\
def calibrate(score: float) -> float:
    """The calibrated score, in [0, 1], of one score in [0, 1].

    Scores up to {ROUNDING!r} outside are taken as 0 or 1. Raises ValueError for NaN, for anything farther
    outside and for anything that is not a number.
    """
    if isinstance(score, (str, bytes, bytearray)):
        raise ValueError("the score is text; give a number in [0, 1]")
    try:
        score = float(score)
    except (TypeError, OverflowError):
        raise ValueError("the score is not a number; give a number in [0, 1]") from None
    if not {-ROUNDING!r} <= score <= {1.0 + ROUNDING!r}:
        raise ValueError("the score is %r; give a number in [0, 1]" % score)
    score = min(max(score, 0.0), 1.0)
    return RESULT


def calibrate_many(scores):
    """The calibrated scores, as a list, of an iterable of scores; raises as `calibrate` does."""
    return [calibrate(score) for score in scores]
'''


def to_python(map_: CalibrationMap) -> str:
    """Source of a module with `calibrate(score)` and `calibrate_many(scores)`, for Python 3.8 and later.

    It imports `bisect` and `math` alone and returns the map's numbers to the last bit. Its docstring says
    where the map comes from; text from users is escaped there, so it cannot become code. Raises
    `InputError` for a map that a function of the score alone cannot hold.
    """
    if map_.function.needs_groups:
        raise InputError(
            "A Python module takes the score alone, but this map differs between subgroups; export it as JSON or SQL."
        )
    writer = _Writer()
    result = _expression(map_.function, writer)
    imports = []
    if "bisect_right" in "".join([result, *writer.helpers]):
        imports.append("from bisect import bisect_right\n")
    if SCALAR_SOURCE in writer.helpers:
        imports.append("from math import frexp, ldexp\n")
    head = f'"""{_escaped(_provenance(map_))}"""\n' + ("\n" + "".join(imports) if imports else "")
    constants = ["\n".join(writer.constants) + "\n"] if writer.constants else []
    functions = [*writer.helpers, _CALIBRATE.replace("RESULT", result)]
    return "\n".join([head, *constants]) + "\n\n" + "\n\n".join(functions)


class _Writer:
    """Collects the constants and helper functions that an expression refers to."""

    def __init__(self) -> None:
        self.constants: list[str] = []
        self.helpers: list[str] = []

    def needs(self, *sources: str) -> None:
        self.helpers += [source for source in sources if source not in self.helpers]

    def constant(self, values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
        name = f"_C{len(self.constants)}"
        numbers = [repr(value) for value in values.tolist()]
        lines = [f"    {', '.join(numbers[i : i + 4])},\n" for i in range(0, len(numbers), 4)]
        self.constants.append(f"{name} = (\n{''.join(lines)})" if numbers else f"{name} = ()")
        return name


@singledispatch
def _expression(function: MapFunction, writer: _Writer) -> str:
    """The function as an expression of `score`."""
    raise InputError(f"A Python module cannot hold a map of kind {function.kind!r}; export it as JSON.")


@_expression.register
def _(function: IdentityFunction, writer: _Writer) -> str:
    return "score"


@_expression.register
def _(function: ConstantFunction, writer: _Writer) -> str:
    return repr(function.value)


@_expression.register
def _(function: LogisticFunction, writer: _Writer) -> str:
    writer.needs(SCALAR_SOURCE, _LOGISTIC)
    return f"_logistic(score, {function.slope!r}, {function.intercept!r}, {function.clip!r})"


@_expression.register
def _(function: BetaFunction, writer: _Writer) -> str:
    writer.needs(SCALAR_SOURCE, _BETA)
    return f"_beta(score, {function.a!r}, {function.b!r}, {function.c!r}, {function.clip!r})"


@_expression.register
def _(function: PiecewiseLinearFunction, writer: _Writer) -> str:
    writer.needs(_LINE)
    return f"_line(score, {writer.constant(function.x)}, {writer.constant(function.y)})"


@_expression.register
def _(function: StepFunction, writer: _Writer) -> str:
    values = writer.constant(function.values)
    return f"{values}[bisect_right({writer.constant(function.edges[1:-1])}, score)]"


@_expression.register
def _(function: BlendFunction, writer: _Writer) -> str:
    terms = (
        f"{weight!r} * {_expression(part, writer)}"
        for weight, part in zip(function.weights, function.parts, strict=True)
    )
    return f"min({' + '.join(terms)}, 1.0)"


@_expression.register
def _(function: PatchesFunction, writer: _Writer) -> str:
    writer.needs(_PATCHED)
    edges = np.arange(function.bins + 1) / function.bins
    place = [bin for _, bin, _ in function.patches]
    steps = np.array([step for _, _, step in function.patches])
    high = np.append(edges[1:-1], 2.0)  # the last bin is closed
    columns = (writer.constant(column) for column in (edges[:-1][place], high[place], steps))
    return f"_patched({_expression(function.first, writer)}, {', '.join(columns)})"


def _provenance(map_: CalibrationMap) -> str:
    """The docstring's lines; every text from outside as a JSON string, so on one line and in ASCII."""
    low, high = map_.input_domain
    lines = [
        f"Calibration map, written by calcore {json.dumps(map_.library_version)}; do not edit.",
        "",
        "calibrate(score) takes a score in [0, 1] and returns the calibrated one.",
        "",
        f"calibrator:    {json.dumps(map_.calibrator)} {json.dumps(map_.parameters)}",
        f"fitted on:     {map_.n} rows with scores from {low!r} to {high!r}",
        f"data SHA-256:  {map_.data_sha256 or 'not known'}",
        f"labels:        {json.dumps(map_.observation['name'])} {json.dumps(map_.observation['parameters'])}",
        *(f"assumption:    {json.dumps(item)}" for item in map_.observation["assumptions"]),
        *(f"subgroup:      {json.dumps(item)}" for item in map_.subgroups),
        *(f"warning:       {json.dumps(item)}" for item in map_.warnings),
        f"created:       {map_.created or 'not known'}",
        f"map checksum:  {map_.checksum}",
    ]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """ASCII text as it must stand between triple quotes: no backslash or quote is left alone."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
