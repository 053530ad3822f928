"""Whether an export gives the map's numbers: read it back, or run it, and compare."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calcore.errors import InputError
from calcore.maps.calibration_map import CalibrationMap
from calcore.maps.map_function import checked_scores
from calcore.maps.python_module import to_python
from calcore.validation import Floats

MOST_SCORES = 20_000
MOST_BREAKPOINTS = 5_000
SECONDS = 60
_ULPS = 4
_RUNNER = """\
import json, sys
given = json.load(sys.stdin)
module = {"__name__": "calibration"}
exec(compile(given["source"], "calibration.py", "exec"), module)
json.dump(module["calibrate_many"](given["scores"]), sys.stdout)
"""


@dataclass(frozen=True)
class Verification:
    """How an export compares with its map.

    format: "JSON", "Python", "SQL" or "ONNX". n: scores compared. largest_difference: the largest absolute
    difference, infinite where the export could not be run. ok: whether it is within the format's tolerance (JSON:
    no difference; Python: 4 ulp; SQL and ONNX: 1e-12). sentence: the same for a reader.
    """

    format: str
    n: int
    largest_difference: float
    ok: bool
    sentence: str


def verify_json(map_: CalibrationMap, scores: ArrayLike) -> Verification:
    """Read the JSON export back and compare: everything must be equal, predictions to the last bit.

    scores: numbers in [0, 1], of which up to 20,000 are used with a grid and the neighbours of every
    knot. Raises `InputError` for scores that are not in [0, 1].
    """
    probes = probe_scores(map_, scores)
    try:
        back = CalibrationMap.from_json(map_.to_json())
    except InputError as error:
        return failed("JSON", f"The JSON export cannot be read back: {error}")
    if back != map_:
        return failed("JSON", "The JSON export reads back as a different map; do not use it.")
    membership = np.random.default_rng(0).random((len(probes), len(map_.subgroups))) < 0.5
    return compared("JSON", map_.predict(probes, membership), back.predict(probes, membership), ulps=0)


def verify_python(map_: CalibrationMap, scores: ArrayLike) -> Verification:
    """Run the Python export in an interpreter of its own (isolated, `-I`) and compare within 4 ulp.

    scores: as for `verify_json`. Raises `InputError` for scores that are not in [0, 1] and for a map that
    a Python module cannot hold.
    """
    probes = probe_scores(map_, scores)
    given = json.dumps({"source": to_python(map_), "scores": probes.tolist()})
    try:
        run = subprocess.run(
            [sys.executable, "-I", "-c", _RUNNER],
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        result = np.array(json.loads(run.stdout), dtype=np.float64)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return failed("Python", f"The Python module does not run ({type(error).__name__}); do not use it.")
    return compared("Python", map_.predict(probes), result, ulps=_ULPS)


def probe_scores(map_: CalibrationMap, scores: ArrayLike) -> Floats:
    """Scores to compare on: up to 20,000 given ones, a grid, the ends, knots and their neighbours."""
    given = checked_scores(scores).reshape(-1)
    knots = _evenly(map_.function.breakpoints(), MOST_BREAKPOINTS)
    points = np.concatenate([np.linspace(0.0, 1.0, 1001), [5e-324, 2.2250738585072014e-308, 1e-300], knots])
    around = np.concatenate([points, np.nextafter(points, 0.0), np.nextafter(points, 1.0)])
    return np.concatenate([_evenly(given, MOST_SCORES), around])


def _evenly(values: Floats, most: int) -> Floats:
    """At most `most` of the values, evenly spaced, with the first and the last."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).astype(np.int64)]


def compared(
    name: str, expected: Floats, result: Floats, ulps: int = 0, tolerance: float = 0.0
) -> Verification:
    """The verdict on numbers that the export called ``name`` gave, within ``ulps`` or ``tolerance`` of the map's."""
    if result.shape != expected.shape:
        return failed(
            name,
            f"The {name} export returns {result.size} numbers for {expected.size} scores; do not use it.",
        )
    difference = np.abs(result - expected)
    largest = float(difference.max())
    allowed = np.maximum(ulps * np.spacing(expected), tolerance)
    ok = bool((difference <= allowed).all())  # False with a NaN
    if not ok:
        sentence = f"The {name} export differs from the map by up to {largest:.2g}; do not use it."
    elif largest == 0.0:
        sentence = f"The {name} export gives exactly the map's numbers on {len(expected):,} scores."
    else:
        within = f"of {tolerance:.0e} allowed" if tolerance else "within rounding"
        sentence = (
            f"The {name} export gives the map's numbers on {len(expected):,} scores "
            f"(largest difference {largest:.2g}, {within})."
        )
    return Verification(name, len(expected), largest, ok, sentence)


def failed(name: str, sentence: str) -> Verification:
    """The verdict on an export that could not be run or read."""
    return Verification(name, 0, float("inf"), False, sentence)
