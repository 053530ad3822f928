"""Real label noise: python -m calcore.studies.human_votes FOLDER [--quick]

CIFAR-10 test images with the probabilities of two networks and the votes of people. Of each of ten classes against
the rest, one vote drawn at random is the noisy label; calibrators are fitted on half of the images and measured on the
true labels of the other half. Again with 20 and 30 % asymmetric flips on top (positives at 1.25, negatives at .5 times
that). Ranks are of the mean, 1 the best.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from calcore.studies.lwcal import numbers, paired
from calcore.studies.noisy_cells import Labels, flipped
from calcore.studies.noisy_methods import CONTROL, DEFAULT, GATED, MEASURES, METHODS, measured
from calcore.validation import Floats

FILE = "cifar10_test_models_x_human.parquet"
NETWORKS = {"wrn": "wide network", "lenet": "LeNet"}
ADDED = (0.0, 0.2, 0.3)
DRAWS, QUICK_DRAWS = 20, 1


@dataclass(frozen=True, eq=False)
class Problem:
    """One class against the rest: ``score`` of a network, ``share`` of people who voted for it, ``true`` labels."""

    network: str
    kind: int
    score: Floats
    share: Floats
    true: Labels


def problems(folder: Path) -> list[Problem]:
    """Ten classes for each of the two networks."""
    table = pd.read_parquet(folder / FILE)
    votes = table[[f"human_{k}" for k in range(10)]].to_numpy(dtype=np.float64)
    share = votes / votes.sum(axis=1, keepdims=True)
    return [
        Problem(
            network,
            k,
            table[f"p_{network}_{k}"].to_numpy(dtype=np.float64).clip(0, 1),
            share[:, k],
            np.asarray(table["y"] == k, dtype=np.int64),
        )
        for network, k in product(NETWORKS, range(10))
    ]


def rows_of(problem: Problem, draws: int) -> list[dict[str, Any]]:
    """A row for each draw, noise and method."""
    rows = []
    for draw, added in product(range(draws), ADDED):
        rng = np.random.default_rng([draw, round(100 * added), problem.kind])
        vote = (rng.random(problem.share.size) < problem.share).astype(np.int64)
        recorded = flipped(vote, "asymmetric", added, rng)
        order = rng.permutation(recorded.size)
        fit, test = order[: order.size // 2], order[order.size // 2 :]
        for name, method in METHODS.items():
            with threadpool_limits(1):
                fitted = clone(method).fit(problem.score[fit], recorded[fit])
            found = measured(fitted.predict(problem.score[test]), problem.true[test])
            # the two networks saw the same images and votes: a class is one cluster
            place = {
                "task": problem.kind,
                "seed": draw,
                "mode": "votes",
                "rate": added,
                "learner": problem.network,
            }
            rows.append({**place, "method": name, **found})
    return rows


def run(folder: Path, draws: int = DRAWS) -> pd.DataFrame:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(partial(rows_of, draws=draws), problems(folder))
        return pd.DataFrame([row for part in parts for row in part])


def told(found: pd.DataFrame) -> str:
    """A table for each network and noise, then the default's paired differences, with intervals over the ten classes."""
    lines = []
    for name, added in product(NETWORKS, ADDED):
        means = (
            found[(found.learner == name) & (found.rate == added)].groupby("method")[list(MEASURES)].mean()
        )
        ranks = means.rank()
        lines.append(f"\n{NETWORKS[name]}, one vote{f' and {added:.0%} asymmetric flips' if added else ''}")
        lines.append(f"{'':24}" + "".join(f"{measure:>8}" for measure in MEASURES) + "   ranks")
        for method in means.NLL.sort_values().index:
            placed = "".join(f"{rank:4.0f}" for rank in ranks.loc[method])
            lines.append(f"{method:24}{numbers(means.loc[method])}   {placed}")
    for added, other in product(ADDED, ("Raw", GATED, CONTROL)):
        for measure in MEASURES:
            mean, low, high = paired(found[found.rate == added], DEFAULT, other, measure)
            lines.append(
                f"{added:4.0%}  {DEFAULT} - {other:20}{measure:6}{mean:8.4f} [{low:.4f}, {high:.4f}]"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m calcore.studies.human_votes",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help=f"where {FILE} is")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DRAWS} draw instead of {DRAWS}")
    given = parser.parse_args(arguments)
    if not (given.folder / FILE).is_file():
        parser.error(f"there is no {FILE} in {given.folder}")
    print(told(run(given.folder, QUICK_DRAWS if given.quick else DRAWS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
