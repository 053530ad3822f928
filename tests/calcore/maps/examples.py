"""Maps and scores that several tests use: every kind of function, with knots where arithmetic is hard."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np

from calcore.maps import (
    BetaFunction,
    BlendFunction,
    BoostedTreesFunction,
    CalibrationMap,
    ConstantFunction,
    GroupLogisticFunction,
    IdentityFunction,
    LogisticFunction,
    LogOddsPatchesFunction,
    MapFunction,
    PatchesFunction,
    PiecewiseLinearFunction,
    StepFunction,
)
from calcore.maps.documents import checksum

_rng = np.random.default_rng(7)
_knots = np.unique(np.concatenate([_rng.random(100), _rng.random(20) ** 12, 0.3 + np.arange(20) * 2e-16]))

FUNCTIONS: dict[str, MapFunction] = {
    "identity": IdentityFunction(),
    "constant": ConstantFunction(0.1 + 0.2),
    "logistic": LogisticFunction(1.37, -0.41, 1e-6),
    "logistic_steep": LogisticFunction(30.0, -10.0, 1e-12),
    "logistic_separated": LogisticFunction(1e4, -5e3, 2.0**-53),
    "logistic_decreasing": LogisticFunction(-0.2, 700.0, 1e-15),
    "beta": BetaFunction(1.2, 0.7, -0.3, 1e-6),
    "beta_steep": BetaFunction(40.0, 3.0, 11.0, 1e-12),
    "isotonic": PiecewiseLinearFunction(_knots, np.sort(_rng.random(len(_knots)))),
    "one_knot": PiecewiseLinearFunction([0.4], [0.7]),
    "tiny_knots": PiecewiseLinearFunction([0.0, 1e-310, 1e-308, 1e-3, 1.0], [0.1, 0.2, 0.2, 0.9, 1.0]),
    "step": StepFunction(np.linspace(0, 1, 16), _rng.random(15)),
    "step_one_bin": StepFunction([0.0, 1.0], [0.25]),
}
FUNCTIONS["gated"] = BlendFunction((0.3, 0.7), (FUNCTIONS["isotonic"], FUNCTIONS["beta"]))
FUNCTIONS["nested"] = BlendFunction(
    (0.1, 0.2, 0.7), (FUNCTIONS["gated"], FUNCTIONS["step"], BlendFunction((1.0,), (FUNCTIONS["logistic"],)))
)

#: Functions that look at subgroups too; they are in JSON alone.
GROUPED: dict[str, MapFunction] = {
    "patches": PatchesFunction(
        FUNCTIONS["logistic"], 10, ((0, 3, -0.05), (-1, 9, 0.1 + 0.2), (1, 2, 0.5), (0, 0, -1.0))
    ),
    "log_odds_patches": LogOddsPatchesFunction(
        FUNCTIONS["identity"], 10, ((0, 3, -0.05), (-1, 9, 0.1 + 0.2), (1, 2, 0.5), (0, 0, -1.0))
    ),
    "group_logistic": GroupLogisticFunction(1.37, -0.41, (0.1 + 0.2, -2.5), (0.0, 0.7), 1e-6),
}
_STUMP = ((-1, 0.3, 1, 2), (-2, -0.1, 0, 0), (0, 0.5, 3, 4), (-2, 0.1 + 0.2, 0, 0), (-2, 1.5, 0, 0))
GROUPED["boosted_trees"] = BoostedTreesFunction(
    1e-304,
    (1.1, 0.9),
    ((_STUMP, ((-2, 0.25, 0, 0),)), (((1, 0.5, 1, 2), (-2, -1.0, 0, 0), (-2, 0.7, 0, 0)),)),
)

CLEAN: dict[str, Any] = {"name": "clean", "parameters": {}, "assumptions": ["The labels are right."]}


def example(function: MapFunction, **changes: Any) -> CalibrationMap:
    """A map with every field filled."""
    values: dict[str, Any] = {
        "function": function,
        "calibrator": "GatedLWCal",
        "observation": CLEAN,
        "n": 1234,
        "parameters": {"low": 0.29, "base": {"kind": "isotonic"}, "bins": 15, "smooth": True, "C": None},
        "input_domain": (0.01, 0.98),
        "subgroups": [{"column": "age", "range": [18, 30.5]}],
        "data_sha256": "ab" * 32,
        "metrics": {"ece": 0.0123, "auc": None, "ci": {"low": 0.1, "high": 0.2}},
        "warnings": ("few rows above 0.9",),
        "library_version": "0.1.0",
        "created": "2025-01-31T12:00:00Z",
    }
    return CalibrationMap(**{**values, **changes})


def hard_scores(function: MapFunction, n: int = 10_000) -> np.ndarray:
    """n spread scores, the ends, subnormals, and every knot with its neighbours."""
    rng = np.random.default_rng(3)
    spread = np.concatenate([rng.random(n // 2), rng.random(n - n // 2) ** 30])
    points = np.concatenate([[0.0, -0.0, 1.0, 5e-324, 5e-311, 2.2e-308, 0.5, 1e-6], function.breakpoints()])
    return np.concatenate(
        [spread, 1.0 - spread[:100], points, np.nextafter(points, 0.0), np.nextafter(points, 1.0)]
    )


def document_of(map_: CalibrationMap) -> dict[str, Any]:
    """The exported JSON as a plain dict, to be spoiled."""
    document: dict[str, Any] = json.loads(map_.to_json())
    return document


def signed(document: dict[str, Any]) -> str:
    """The document with a checksum that fits, as a careful forger would send; without one if it has NaN."""
    body = {key: value for key, value in document.items() if key != "checksum"}
    with contextlib.suppress(ValueError):
        body["checksum"] = checksum(body)
    return json.dumps(body)
