"""A calibration map as an ONNX model in double precision; needs the package `onnx`, to verify `onnxruntime`."""

from __future__ import annotations

import json
from functools import singledispatch
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
from calcore.maps.patch_regions import bin_regions, intervals
from calcore.maps.patches import PatchesFunction
from calcore.maps.pieces import Pieces, line_pieces, step_pieces
from calcore.maps.verify import Verification, compared, failed, probe_scores
from calcore.validation import ROUNDING, Floats

ONNX_TOLERANCE = 1e-12
"""A runtime computes Log and Exp with an error in the last bits; stored in the model as `tolerance`."""

OPSET, IR_VERSION = 17, 8  # of 2022: old enough for every runtime in use
_FARTHEST = 700.0  # Exp of more overflows


def to_onnx(map_: CalibrationMap) -> bytes:
    """A model with the input "score" and the output "calibrated", doubles of shape (N,).

    Scores up to 1e-6 outside [0, 1] are taken as 0 or 1; for NaN and what lies farther outside the result is NaN.
    The metadata say where the map comes from and how far a runtime may differ from it (`tolerance`).
    Raises InputError where `onnx` is not installed, and for a map that differs between subgroups.
    """
    if find_spec("onnx") is None:
        raise InputError("ONNX models need the package onnx here: pip install onnx onnxruntime.")
    if map_.function.needs_groups:
        raise InputError(
            "An ONNX model takes the score alone, but this map differs between subgroups; export it as JSON or SQL."
        )
    from onnx import TensorProto, checker, helper

    graph = _Graph()
    score = graph.op("Clip", "score", graph.number(0.0), graph.number(1.0))
    result = _node(map_.function, graph, score)
    low = graph.op("GreaterOrEqual", "score", graph.number(-ROUNDING))
    usable = graph.op("And", low, graph.op("LessOrEqual", "score", graph.number(1.0 + ROUNDING)))
    graph.op("Where", usable, result, graph.number(float("nan")), output="calibrated")
    ends = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, ["N"]) for n in ("score", "calibrated")]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "calibration_map", ends[:1], ends[1:], graph.tables),
        producer_name="calcore",
        producer_version=map_.library_version,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(model, _metadata(map_))
    checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data


def verify_onnx(map_: CalibrationMap, scores: ArrayLike) -> Verification:
    """Run the model with onnxruntime and compare within 1e-12.

    scores: as for `verify_json`. Raises `InputError` for scores that are not in [0, 1], for a map that a model
    cannot hold, and where `onnx` or `onnxruntime` is not installed.
    """
    probes = probe_scores(map_, scores)
    model = to_onnx(map_)
    try:
        result = run_onnx(model, probes)
    except InputError:
        raise
    except Exception as error:  # the runtime's own errors derive from Exception alone
        return failed("ONNX", f"The ONNX model does not run ({type(error).__name__}); do not use it.")
    return compared("ONNX", map_.predict(probes), result, tolerance=ONNX_TOLERANCE)


def run_onnx(model: bytes, scores: Floats) -> Floats:
    """What onnxruntime computes from the model, on one thread."""
    if find_spec("onnxruntime") is None:
        raise InputError(
            "To run ONNX models before they are offered, install onnxruntime: pip install onnxruntime."
        )
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["calibrated"], {"score": scores})[0], dtype=np.float64)


class _Graph:
    """Collects nodes and tables; every name is made here, so none comes from a user."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self._numbers: dict[str, str] = {}

    def op(self, kind: str, *inputs: str, output: str | None = None) -> str:
        from onnx import helper

        name = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name]))
        return name

    def table(self, values: ArrayLike, dtype: type = np.float64) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.tables)}"
        self.tables.append(numpy_helper.from_array(np.array(values, dtype=dtype), name))
        return name

    def number(self, value: float, dtype: type = np.float64) -> str:
        key = f"{dtype.__name__} {value!r}"
        if key not in self._numbers:
            self._numbers[key] = self.table(value, dtype)
        return self._numbers[key]


@singledispatch
def _node(function: MapFunction, graph: _Graph, score: str) -> str:
    """Adds the function of ``score``, which stands in [0, 1]; the name of its result."""
    raise InputError(f"An ONNX model cannot hold a map of kind {function.kind!r}; export it as JSON.")


@_node.register
def _(function: IdentityFunction, graph: _Graph, score: str) -> str:
    return score


@_node.register
def _(function: ConstantFunction, graph: _Graph, score: str) -> str:
    nothing = graph.op("Mul", score, graph.number(0.0))  # the shape of the scores
    return graph.op("Add", nothing, graph.number(function.value))


@_node.register
def _(function: LogisticFunction, graph: _Graph, score: str) -> str:
    q = graph.op("Clip", score, graph.number(function.clip), graph.number(1.0 - function.clip))
    odds = graph.op("Div", q, graph.op("Sub", graph.number(1.0), q))
    z = graph.op("Mul", graph.number(function.slope), graph.op("Log", odds))
    return _sigmoid(graph, graph.op("Add", z, graph.number(function.intercept)))


@_node.register
def _(function: BetaFunction, graph: _Graph, score: str) -> str:
    q = graph.op("Clip", score, graph.number(function.clip), graph.number(1.0 - function.clip))
    up = graph.op("Mul", graph.number(function.a), graph.op("Log", q))
    rest = graph.op("Log", graph.op("Sub", graph.number(1.0), q))
    z = graph.op("Sub", up, graph.op("Mul", graph.number(function.b), rest))
    return _sigmoid(graph, graph.op("Add", z, graph.number(function.c)))


@_node.register
def _(function: PiecewiseLinearFunction, graph: _Graph, score: str) -> str:
    return _of_pieces(line_pieces(function), graph, score)


@_node.register
def _(function: StepFunction, graph: _Graph, score: str) -> str:
    return _of_pieces(step_pieces(function), graph, score)


@_node.register
def _(function: BlendFunction, graph: _Graph, score: str) -> str:
    total = ""
    for weight, part in zip(function.weights, function.parts, strict=True):
        term = graph.op("Mul", graph.number(weight), _node(part, graph, score))
        total = graph.op("Add", total, term) if total else term
    return _in_unit(graph, total)


@_node.register
def _(function: PatchesFunction, graph: _Graph, score: str) -> str:
    starts, moved = zip(*intervals(*bin_regions(function)), strict=True)
    still = np.array([one.constant is not None for one in moved])
    y = [sum(one.steps) if one.constant is None else one.constant for one in moved]
    pieces = Pieces(np.array(starts[1:]), np.zeros(len(y)), np.where(still, 0.0, 1.0), np.array(y))
    return _of_pieces(pieces, graph, _node(function.first, graph, score))


def _of_pieces(pieces: Pieces, graph: _Graph, score: str) -> str:
    """Which piece a score lies on by halving, in log2 of their number rounds, then its line."""
    place = _place(pieces.start, graph, score)
    x, slope, y = (graph.op("Gather", graph.table(c), place) for c in (pieces.x, pieces.slope, pieces.y))
    line = graph.op("Add", graph.op("Mul", slope, graph.op("Sub", score, x)), y)
    return _in_unit(graph, line) if pieces.leaves.any() else line


def _place(start: Floats, graph: _Graph, score: str) -> str:
    """How many of ``start`` are at most the score: comparisons in double alone, so exact at every border."""
    if not len(start):
        return _zero(graph, score)
    size = 1 << len(start).bit_length()
    borders = graph.table(np.append(start, np.full(size - len(start), 2.0)))  # never reached
    place = _zero(graph, score)
    step = size // 2
    while step:
        last = graph.op("Add", place, graph.number(step - 1, np.int64))
        passed = graph.op("LessOrEqual", graph.op("Gather", borders, last), score)
        further = graph.op("Add", place, graph.number(step, np.int64))
        place = graph.op("Where", passed, further, place)
        step //= 2
    return place


def _zero(graph: _Graph, score: str) -> str:
    """0 as a whole number, in the shape of the scores."""
    never = graph.op("Less", score, graph.number(0.0))
    return graph.op("Where", never, graph.number(1, np.int64), graph.number(0, np.int64))


def _sigmoid(graph: _Graph, z: str) -> str:
    near = graph.op("Clip", z, graph.number(-_FARTHEST), graph.number(_FARTHEST))
    one = graph.number(1.0)
    return graph.op("Div", one, graph.op("Add", one, graph.op("Exp", graph.op("Neg", near))))


def _in_unit(graph: _Graph, value: str) -> str:
    return graph.op("Clip", value, graph.number(0.0), graph.number(1.0))


def _metadata(map_: CalibrationMap) -> dict[str, str]:
    return {
        "tolerance": repr(ONNX_TOLERANCE),
        "calibrator": map_.calibrator,
        "parameters": json.dumps(map_.parameters),
        "rows_fitted_on": str(map_.n),
        "warnings": json.dumps(map_.warnings),
        "created": map_.created or "",
        "map_checksum": map_.checksum,
    }
