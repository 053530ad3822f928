"""A calibration map as one ANSI SQL expression of a table's columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import singledispatch

import numpy as np

from calcore.errors import InputError
from calcore.maps.calibration_map import CalibrationMap
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
from calcore.maps.patch_regions import ByGroup, ByScore, Moved, Node, bin_regions, intervals
from calcore.maps.patches import PatchesFunction
from calcore.maps.pieces import Pieces, line_pieces, step_pieces
from calcore.maps.sql_text import case, identifier, literal, predicate, simple_parts, tree
from calcore.subgroups import MISSING, Subgroup

SQL_TOLERANCE = 1e-12
"""Databases compute LN and EXP with an error in the last bits; everything else is exact."""

LONGEST = 1_000_000
"""Characters of an expression: SQLite's limit in many builds, about 8,000 knots."""

_FARTHEST = 700.0  # EXP of more overflows, which PostgreSQL refuses; the sigmoid of it is 1 to the last bit
_DEEPEST = 4
_LONGEST_FIRST = 500  # characters that may be written once for every choice of a patched map


def to_sql(map_: CalibrationMap, column: str = "score") -> str:
    """One ANSI SQL expression, the calibrated score of a row, for any table with the score in ``column``.

    Use it as `SELECT ..., <expression> AS calibrated FROM ...`. The result is NULL where the score is NULL, NaN
    or outside [0, 1]. The score must be a double. Subgroups become conditions on their columns, by name: levels
    of text or whole numbers (booleans where the database knows them, as text where not), NULL for "(missing)",
    ranges of numeric columns.

    It needs LN and EXP (for logistic and beta maps), comparisons and arithmetic; thousands of knots are a shallow
    tree of CASEs. Raises InputError for a map whose subgroups have names alone, or overlap in too many ways.
    """
    score = identifier(column)
    groups = [] if not map_.function.needs_groups else [predicate(group) for group in _usable(map_)]
    inner = _expression(map_.function, score, groups)
    if len(inner) > LONGEST:
        raise InputError(
            f"SQL text of this map would take {len(inner):,} characters, but databases read {LONGEST:,} at most; "
            "export it in another format, such as JSON."
        )
    return f"CASE WHEN {score} >= 0e0 AND {score} <= 1e0 THEN {inner} END"


def sql_file(map_: CalibrationMap, column: str = "score") -> str:
    """The expression below comments that say where it comes from; text from users is escaped there."""
    lines = [
        f"Calibration map, written by calcore {json.dumps(map_.library_version)}; do not edit.",
        f"calibrator {json.dumps(map_.calibrator)}, fitted on {map_.n} rows, created {map_.created or 'not known'}",
        *(f"warning: {json.dumps(item)}" for item in map_.warnings),
        f"map checksum {map_.checksum}",
        "use: SELECT *, <the expression below> AS calibrated FROM <table>; NULL where the score is NULL, NaN or outside",
        "[0, 1]. The score must be a double; columns of ranges must be numeric.",
    ]
    return "".join(f"-- {line}\n" for line in lines) + to_sql(map_, column) + "\n"


@singledispatch
def _expression(function: MapFunction, score: str, groups: list[str]) -> str:
    """The function as an expression of ``score``, which stands in [0, 1]; groups: a condition a subgroup."""
    raise InputError(f"SQL text cannot hold a map of kind {function.kind!r}; export it as JSON.")


@_expression.register
def _(function: IdentityFunction, score: str, groups: list[str]) -> str:
    return score


@_expression.register
def _(function: ConstantFunction, score: str, groups: list[str]) -> str:
    return literal(function.value)


@_expression.register
def _(function: LogisticFunction, score: str, groups: list[str]) -> str:
    z = f"{literal(function.slope)} * LN({score} / (1e0 - {score})) + {literal(function.intercept)}"
    reach = abs(function.slope) * -math.log(function.clip) + abs(function.intercept)
    return _clipped(function, function.clip, score, _sigmoid(z, reach))


@_expression.register
def _(function: BetaFunction, score: str, groups: list[str]) -> str:
    a, b, c = literal(function.a), literal(function.b), literal(function.c)
    z = f"{a} * LN({score}) - {b} * LN(1e0 - {score}) + {c}"
    reach = (abs(function.a) + abs(function.b)) * -math.log(function.clip) + abs(function.c)
    return _clipped(function, function.clip, score, _sigmoid(z, reach))


@_expression.register
def _(function: PiecewiseLinearFunction, score: str, groups: list[str]) -> str:
    return _of_pieces(line_pieces(function), score)


@_expression.register
def _(function: StepFunction, score: str, groups: list[str]) -> str:
    return _of_pieces(step_pieces(function), score)


@_expression.register
def _(function: BlendFunction, score: str, groups: list[str]) -> str:
    weights = np.array(function.weights)
    weights /= max(sum(weights.tolist()), 1.0)
    while sum(weights.tolist()) > 1.0:  # added in the database's order
        # Capping the sum at 1 would write it twice; weights that stay below 1 do the same.
        weights = np.nextafter(weights, 0.0)
    parts = (_expression(part, score, groups) for part in function.parts)
    return " + ".join(f"{literal(w)} * ({part})" for w, part in zip(weights.tolist(), parts, strict=True))


@_expression.register
def _(function: PatchesFunction, score: str, groups: list[str]) -> str:
    first = _expression(function.first, score, groups)
    if len(first) > _LONGEST_FIRST + len(score):
        raise InputError(
            f"SQL text cannot hold patches on top of a long function of kind {function.first.kind!r}; "
            "export the map as JSON."
        )
    first = first if first == score else f"({first})"
    starts, nodes = bin_regions(function)
    if not function.needs_groups:  # one row of intervals, which is a shallower tree
        begins, moved = zip(*intervals(starts, nodes), strict=True)
        starts, nodes = list(begins[1:]), list(moved)
    return tree(first, starts, [_of_node(node, first, groups) for node in nodes])


def _clipped(function: MapFunction, clip: float, score: str, inner: str) -> str:
    """``inner`` between the clips, and at them the map's own numbers."""
    low, high = function([clip, 1.0 - clip]).tolist()
    return case(
        [(f"{score} <= {literal(clip)}", literal(low)), (f"{score} >= {literal(1.0 - clip)}", literal(high))],
        inner,
    )


def _sigmoid(z: str, reach: float) -> str:
    """1 / (1 + exp(-z)), where |z| is at most ``reach``."""
    inner = f"1e0 / (1e0 + EXP(-({z})))"
    if reach < _FARTHEST:
        return inner
    return case([(f"{z} < {literal(-_FARTHEST)}", "0e0"), (f"{z} > {literal(_FARTHEST)}", "1e0")], inner)


def _of_pieces(pieces: Pieces, score: str) -> str:
    columns = (pieces.x, pieces.slope, pieces.y, pieces.leaves)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tree(score, pieces.start.tolist(), [_piece(score, *row) for row in rows])


def _piece(score: str, x: float, slope: float, y: float, leaves: bool) -> str:
    if slope == 0.0:
        return literal(y)
    line = f"{literal(y)} + {literal(slope)} * ({score} - {literal(x)})"
    return case([(f"{line} < 0e0", "0e0"), (f"{line} > 1e0", "1e0")], line) if leaves else line


def _of_node(node: Node, first: str, groups: list[str], depth: int = 0) -> str:
    """A tree of choices; from a depth on as one long CASE, because SQLite's parser nests about ten of them."""
    if depth >= _DEEPEST:
        *flat, (_, last) = _ways(node, first, groups, [])
        choices = [(" AND ".join(conditions), leaf) for conditions, leaf in flat]
        return case(choices, last) if choices else last
    choices = []
    while isinstance(node, ByScore | ByGroup):
        condition, then, node = _choice(node, first, groups)
        choices.append((condition, _of_node(then, first, groups, depth + 1)))
    return case(choices, _of_moved(node, first)) if choices else _of_moved(node, first)


def _ways(node: Node, first: str, groups: list[str], given: list[str]) -> Iterator[tuple[list[str], str]]:
    """Every end of the tree with the conditions that lead there; the first that holds counts."""
    while isinstance(node, ByScore | ByGroup):
        condition, then, node = _choice(node, first, groups)
        yield from _ways(then, first, groups, [*given, condition])
    yield given, _of_moved(node, first)


def _choice(node: ByScore | ByGroup, first: str, groups: list[str]) -> tuple[str, Node, Node]:
    if isinstance(node, ByScore):
        return f"{first} < {literal(node.start)}", node.below, node.above
    return groups[node.group], node.inside, node.outside


def _of_moved(moved: Moved, first: str) -> str:
    if moved.constant is not None:
        return literal(moved.constant)
    return " + ".join([first, *(literal(step) for step in moved.steps)])


def _usable(map_: CalibrationMap) -> tuple[Subgroup, ...]:
    """The subgroups as predicates; InputError where one has no definition or a column is text and number."""
    subgroups = map_.definitions()
    ranged = {leaf.column for group in subgroups for leaf in simple_parts(group) if leaf.kind == "between"}
    for group in subgroups:
        for column, value in group.levels:
            if column in ranged and not _is_number(value):
                raise InputError(
                    f'SQL text cannot hold this map: the column "{column}" is compared both as numbers and with '
                    f"{value!r}; export the map as JSON."
                )
    return subgroups


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return value == MISSING
