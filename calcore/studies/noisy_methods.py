"""The calibrators of the LWCal study, measured on every cell of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from calcore import metrics
from calcore.calibrators import (
    BayesianForwardPlatt,
    Beta,
    Blend,
    Calibrator,
    ForwardPlatt,
    GatedLWCal,
    Identity,
    InvertedIsotonic,
    Isotonic,
    LWCal,
    Platt,
    Sharpen,
    TrimmedBeta,
    TrimmedIsotonic,
)
from calcore.calibrators.loss_weighted import GATE_CENTERS, GATE_WIDTHS, gate_opening
from calcore.observation import Clean
from calcore.studies.noisy_cells import LEARNERS, RATES, SEEDS, TASKS, Cell, Labels, cells
from calcore.sums import sum_by
from calcore.validation import Floats

#: The paper's methods under its names.
PAPERS: dict[str, Calibrator] = {
    "Raw": Identity(),
    "Platt": Platt(C=1.0),
    "Isotonic": Isotonic(),
    "Beta": Beta(C=1.0),
    "TrimCal-Iso": TrimmedIsotonic(),
    "TrimCal-Beta": TrimmedBeta(C=1.0),
    "LWCal": LWCal(),
    "Gated-LWCal": GatedLWCal(),
}
#: A prior of an earlier study of this calibrator, without and with a little mass on scores that are right.
EARLIER: dict[str, Any] = {
    "slope_median": 3.0,
    "slope_spread": 1.0,
    "shift_spread": 0.3,
    "rates": (1.0, 1.0, 1.0),
    "calibrated_noisy": 0.0,
}
DEFAULT, CONTROL, GATED = "Bayes FPL (default)", "Sharpen (no labels)", "Gated-LWCal"
OTHERS: dict[str, Calibrator] = {
    CONTROL: Sharpen(),
    "Forward Platt": ForwardPlatt(),
    "Forward Platt, ln 2": ForwardPlatt(slope_median=2.0, slope_spread=0.75),
    "Inverted isotonic": InvertedIsotonic(),
    "Half FPL half LWCal": Blend(ForwardPlatt(slope_median=2.0, slope_spread=0.75), LWCal()),
    "Bayes FPL, no mass": BayesianForwardPlatt(calibrated=0.0, **EARLIER),
    "Bayes FPL, mass .03": BayesianForwardPlatt(calibrated=0.03, **EARLIER),
    DEFAULT: BayesianForwardPlatt(),
}
METHODS = PAPERS | OTHERS
ORACLE = "Clean-label isotonic"
#: Log losses of the tables clip scores here; at 1e-6 the trimmed isotonic map would lose twice as much.
LOG_CLIP = 0.005
MEASURES = ("ECE", "Brier", "NLL")
ROBUST_RATES, ROBUST_SEEDS = (0.2, 0.3), (0, 1, 2)


def measured(score: Floats, label: Labels) -> dict[str, float]:
    """Every measure of the tables, on clean labels."""
    evidence = Clean().evidence(score, label)
    edges = metrics.Bins.equal_width(15)
    of_classes = metrics.class_errors(evidence)
    return {
        "ECE": float(np.abs(sum_by(edges.index(score), evidence.residual, len(edges))).sum()),
        "Brier": metrics.brier(evidence).value,
        "NLL": metrics.log_loss(evidence, LOG_CLIP).value,
        "AUC": metrics.auc(evidence).value,
        "classwise": of_classes.mean,
        "minority": of_classes.minority,
        "gap": of_classes.gap,
    }


def rows_of(cell: Cell, methods: dict[str, Calibrator]) -> list[dict[str, Any]]:
    """A row for each method on one cell."""
    rows = []
    fits = [(name, method, cell.recorded) for name, method in methods.items()]
    for name, method, labels in [*fits, (ORACLE, Isotonic(), cell.true)]:
        fitted = clone(method).fit(cell.score, labels)
        row = {"method": name, **measured(fitted.predict(cell.test_score), cell.test_true)}
        if isinstance(fitted, GatedLWCal):
            row["d_hat"] = fitted.audit_.d_hat
        rows.append({**row, "task": cell.task, "seed": cell.seed, "mode": cell.mode, "rate": cell.rate})
    return rows


def gates_of(cell: Cell) -> list[dict[str, Any]]:
    """Gated-LWCal at every centre and width of Table VII: one LWCal map, blended differently."""
    fitted = LWCal().fit(cell.score, cell.recorded)
    sharp, raw = fitted.predict(cell.test_score), cell.test_score
    rows = []
    for center, width in product(GATE_CENTERS, GATE_WIDTHS):
        rho = float(gate_opening(fitted.audit_.d_hat, center, width))
        found = measured((1 - rho) * sharp + rho * raw, cell.test_true)
        rows.append({"center": center, "width": width, "task": cell.task, **found})
    return rows


def _work(job: tuple[str, int, str, tuple[float, ...]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    task, seed, learner, rates = job
    main, gates = [], []
    # the other learners are compared on the paper's methods and on the default
    methods = METHODS if learner == LEARNERS[0] else {**PAPERS, DEFAULT: METHODS[DEFAULT]}
    with threadpool_limits(1):
        for cell in cells(task, seed, learner, rates):
            main += [{**row, "learner": learner} for row in rows_of(cell, methods)]
            if learner == LEARNERS[0] and cell.rate:
                gates += gates_of(cell)
    return main, gates


def run(
    seeds: Sequence[int] = SEEDS, robust_seeds: Sequence[int] = ROBUST_SEEDS, tasks: Iterable[str] = TASKS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every cell and method, and every gate: one row each."""
    jobs: list[tuple[str, int, str, tuple[float, ...]]] = [
        (task, seed, LEARNERS[0], (0.0, *RATES)) for seed in seeds for task in tasks
    ]
    jobs += [
        (task, seed, learner, ROBUST_RATES)
        for seed in robust_seeds
        for task in tasks
        for learner in LEARNERS[1:]
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(_work, jobs))
    return (
        pd.DataFrame([row for main, _ in parts for row in main]),
        pd.DataFrame([row for _, gates in parts for row in gates]),
    )
