"""The data of the LWCal study: nine tabular tasks, labels flipped in training and calibration, clean in the test.

Where the paper leaves the set-up open it is chosen so that its numbers come out: the seeds of the splits, and the
three synthetic tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from calcore.validation import Floats

Labels = NDArray[np.int64]
MODES = ("symmetric", "asymmetric")
RATES = (0.1, 0.2, 0.3, 0.4)
SEEDS = (0, 1, 2, 3, 4, 5)
LEARNERS = ("random forest", "extra trees", "gradient boosting")


@dataclass(frozen=True, eq=False)
class Cell:
    """Scores and labels of one task, seed and noise: calibration labels ``recorded`` (flipped) and ``true``."""

    task: str
    seed: int
    mode: str
    rate: float
    score: Floats
    recorded: Labels
    true: Labels
    test_score: Floats
    test_true: Labels


def _synthetic(**settings: Any) -> tuple[Floats, Labels]:
    made = make_classification(**settings)
    return made[0], made[1]


def _bundled(load: Callable[..., Any], positive: Callable[[Labels], Any]) -> tuple[Floats, Labels]:
    x, y = load(return_X_y=True)
    return x, positive(y).astype(np.int64)


TASKS: dict[str, Callable[[], tuple[Floats, Labels]]] = {
    "Breast Cancer": lambda: _bundled(load_breast_cancer, lambda y: y == 1),
    "Wine Class 0": lambda: _bundled(load_wine, lambda y: y == 0),
    "Wine Class 2": lambda: _bundled(load_wine, lambda y: y == 2),
    "Digits High": lambda: _bundled(load_digits, lambda y: y >= 5),
    "Digits Even": lambda: _bundled(load_digits, lambda y: y % 2 == 0),
    "Iris Versicolor": lambda: _bundled(load_iris, lambda y: y == 1),
    "Synthetic Overlap": lambda: _synthetic(
        n_samples=1800, n_features=24, n_informative=10, n_redundant=4, class_sep=1.0, flip_y=0.03, random_state=58
    ),
    "Synthetic Sparse": lambda: _synthetic(
        n_samples=1900, n_features=72, n_informative=8, n_redundant=2, class_sep=0.65, flip_y=0.02, random_state=7
    ),
    "Synthetic Imbalance": lambda: _synthetic(
        n_samples=2200, n_features=30, n_informative=10, n_redundant=5, class_sep=0.9, flip_y=0.02,
        random_state=15, weights=[0.78, 0.22],
    ),
}  # fmt: skip


def classifier(
    learner: str, seed: int
) -> RandomForestClassifier | ExtraTreesClassifier | GradientBoostingClassifier:
    """A base learner; trees as in the paper, boosting as scikit-learn sets it."""
    if learner == "gradient boosting":
        return GradientBoostingClassifier(random_state=seed)
    trees = RandomForestClassifier if learner == "random forest" else ExtraTreesClassifier
    return trees(n_estimators=160, min_samples_leaf=2, max_features="sqrt", random_state=seed)


def flipped(labels: Labels, mode: str, rate: float, rng: np.random.Generator) -> Labels:
    """Labels flipped independently: at ``rate``, or asymmetric: 1 to 0 at 1.25 and 0 to 1 at .5 times that."""
    of_one, of_zero = (rate, rate) if mode == "symmetric" else (1.25 * rate, 0.5 * rate)
    return np.where(rng.random(labels.size) < np.where(labels == 1, of_one, of_zero), 1 - labels, labels)


def cells(
    task: str, seed: int, learner: str = LEARNERS[0], rates: tuple[float, ...] = (0.0, *RATES)
) -> Iterator[Cell]:
    """Every noise of one task and seed; a rate of 0 comes once."""
    x, y = TASKS[task]()
    everything = np.arange(y.size)
    rest, test = train_test_split(everything, test_size=0.25, random_state=seed, stratify=y)
    train, calibration = train_test_split(rest, test_size=1 / 3, random_state=seed + 1000, stratify=y[rest])
    for mode in MODES:
        for rate in rates:
            if rate == 0 and mode != MODES[0]:
                continue
            rng = np.random.default_rng([seed, round(100 * rate), MODES.index(mode), list(TASKS).index(task)])
            model = classifier(learner, seed).fit(x[train], flipped(y[train], mode, rate, rng))
            yield Cell(
                task=task,
                seed=seed,
                mode=mode,
                rate=rate,
                score=model.predict_proba(x[calibration])[:, 1],
                recorded=flipped(y[calibration], mode, rate, rng),
                true=y[calibration],
                test_score=model.predict_proba(x[test])[:, 1],
                test_true=y[test],
            )
