"""Rows a second of `map.predict` for every calibrator: python -m tests.benchmarks.map_rows [ROWS]

10,000,000 scores on one core (maps of subgroups with four plausible ones); beside each stands `np.interp` on the same
knots, or on 200 where the map has none. A map adds to it the check of the scores and of the result. Prints the best of
three runs, of the processor's time; asserts nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from calcore.observation import Clean
from calcore.subgroups import Membership, Subgroup

FITTED_ON = 5_000
GROUPS = [
    *(Subgroup.equals("region", level) for level in ("north", "south", "west")),
    Subgroup.between("age", 40, None),
]


def rows_a_second(work: Callable[[], object], rows: int, repeats: int = 3) -> float:
    """Of the best of ``repeats`` runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return rows / best


def rows_of(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Membership]:
    """Scores and who belongs to the four subgroups."""
    table = pd.DataFrame(
        {
            "region": pd.Categorical.from_codes(rng.integers(0, 3, n), ["north", "south", "west"]),
            "age": rng.integers(20, 60, n),
        }
    )
    return rng.random(n), Membership.of_subgroups(GROUPS, table)


def main(rows: int) -> None:
    rng = np.random.default_rng(0)
    score, member = rows_of(rng, FITTED_ON)
    wrong = 0.2 * member.mask(0) - 0.15 * member.mask(3)
    label = (rng.random(FITTED_ON) < np.clip(score + 0.3 * (score - 0.5) + wrong, 0, 1)).astype(float)
    evidence = Clean().evidence(score, label, groups=member)
    scores, members = rows_of(rng, rows)
    print(f"{rows:,} scores, millions of rows a second of one core")
    print(f"  {'calibrator':24} {'kind':18} {'map':>7} {'np.interp':>10} {'knots':>7}")
    for name in sorted(REGISTRY):
        try:
            map_ = REGISTRY[name]().fit(evidence).map_
        except InputError as error:
            print(f"  {name:24} {error}")
            continue
        knots = np.unique(map_.function.breakpoints())
        x = knots if len(knots) > 2 else np.linspace(0, 1, 200)
        y = np.sort(rng.random(len(x)))
        ours = rows_a_second(lambda m=map_: m.predict(scores, members), rows) / 1e6
        alone = rows_a_second(lambda x=x, y=y: np.interp(scores, x, y), rows) / 1e6
        print(f"  {name:24} {map_.function.kind:18} {ours:7.1f} {alone:10.1f} {len(x):7,}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
