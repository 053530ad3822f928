"""Rows a second of `map.predict` for each kind of function: python -m tests.benchmarks.map_rows [ROWS]

10,000,000 scores on one core; `np.interp` on the same knots stands beside the isotonic map, which adds to it
the check of the scores and of the result. Prints the best of three runs; asserts nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from calcore.maps import (
    BetaFunction,
    BlendFunction,
    ConstantFunction,
    IdentityFunction,
    LogisticFunction,
    PatchesFunction,
    PiecewiseLinearFunction,
    StepFunction,
)
from tests.calcore.maps.examples import example


def rows_a_second(work: Callable[[], object], rows: int, repeats: int = 3) -> float:
    """Of the best of ``repeats`` runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return rows / best


def main(rows: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(rows)
    x = np.unique(rng.random(200))
    isotonic = PiecewiseLinearFunction(x, np.sort(rng.random(len(x))))
    beta = BetaFunction(1.2, 0.7, -0.3, 1e-6)
    patches = tuple((-1, place, 0.01) for place in range(10))
    functions = [
        IdentityFunction(),
        ConstantFunction(0.3),
        LogisticFunction(1.37, -0.41, 1e-6),
        beta,
        isotonic,
        StepFunction(np.linspace(0, 1, 16), rng.random(15)),
        BlendFunction((0.3, 0.7), (isotonic, beta)),
        PatchesFunction(LogisticFunction(1.37, -0.41, 1e-6), 10, patches),
    ]
    print(f"{rows:,} scores, millions of rows a second")
    for function in functions:
        map_ = example(function)
        print(f"  {function.kind:20} {rows_a_second(lambda m=map_: m.predict(scores), rows) / 1e6:8.1f}")
    alone = rows_a_second(lambda: np.interp(scores, isotonic.x, isotonic.y), rows)
    print(f"  {'np.interp, 200 knots':20} {alone / 1e6:8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
