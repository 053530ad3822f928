"""Seconds for each metric and calibrator, beside the peer that has it: python -m tests.benchmarks.shelf [--rows N ...]

One run, one process; the median of three where the first took less than a second. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calcore import metrics
from calcore.calibrators import REGISTRY
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.observation import Clean

ROWS = (10_000, 100_000, 1_000_000)
#: Sums of row terms, binned errors and fits that one score and label is enough for.
METRICS: dict[str, Callable[[Evidence], Any]] = {
    "ece": lambda e: metrics.ece(e, 15),
    "adaptive_ece": lambda e: metrics.adaptive_ece(e, 15),
    "sweep_ece": metrics.sweep_ece,
    "smooth_ece": metrics.smooth_ece,
    "ecce": metrics.ecce,
    "spiegelhalter": metrics.spiegelhalter,
    "hosmer_lemeshow": metrics.hosmer_lemeshow,
    "calibration_slope": metrics.calibration_slope,
    "brier": metrics.brier,
    "log_loss": metrics.log_loss,
    "auc": metrics.auc,
    "corp": metrics.corp,
    "decision_curve": metrics.decision_curve,
}


def peers(score: np.ndarray, label: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The same by another library, by the name of ours."""
    found: dict[str, Callable[[], Any]] = {}
    sk = importlib.import_module("sklearn.metrics")
    found["brier"] = lambda: sk.brier_score_loss(label, score)
    found["log_loss"] = lambda: sk.log_loss(label, score)
    found["auc"] = lambda: sk.roc_auc_score(label, score)
    isotonic = importlib.import_module("sklearn.isotonic").IsotonicRegression
    found["Isotonic"] = lambda: isotonic(out_of_bounds="clip").fit(score, label)
    logistic = importlib.import_module("sklearn.linear_model").LogisticRegression
    z = np.log(score / (1 - score))[:, None]
    found["Platt"] = lambda: logistic(C=np.inf).fit(z, label)
    for name, package, call in (
        ("smooth_ece", "relplot", lambda m: m.smECE(score, label)),
        ("ece", "probcal.metrics", lambda m: m.ece(label, score, n_bins=15)),
        ("VennAbers", "venn_abers", lambda m: m.VennAbers().fit(np.column_stack([1 - score, score]), label)),
        ("Beta", "betacal", lambda m: m.BetaCalibration().fit(score[:, None], label)),
    ):
        try:
            module = importlib.import_module(package)
        except ImportError:
            continue
        found[name] = lambda call=call, module=module: call(module)
    return found


def seconds(work: Callable[[], Any]) -> float | str:
    """The median of up to three runs, or why there is none."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        try:
            work()
        except DoesNotExist as reason:
            return str(reason)
        except Exception as error:  # a peer's own trouble is a result here
            return f"{type(error).__name__}: {str(error)[:60]}"
        times.append(time.perf_counter() - start)
        if times[0] > 1:
            break
    return float(np.median(times))


def told(rows: Sequence[int], slowest: float) -> None:
    skipped: set[str] = set()
    for n in rows:
        rng = np.random.default_rng(0)
        score = np.clip(rng.beta(2, 3, n), 1e-6, 1 - 1e-6)
        label = (rng.random(n) < score).astype(int)
        evidence = Clean().evidence(score, label)
        others = peers(score, label)
        calibrators = {
            name: lambda method=method, e=evidence: method().fit(e)
            for name, method in REGISTRY.items()
            if not method.needs_groups
        }
        ours = {name: lambda f=f, e=evidence: f(e) for name, f in METRICS.items()} | calibrators
        print(f"\n{n:,} rows{'':14}{'seconds':>10}{'peer':>10}")
        for name, work in ours.items():
            if name in skipped:
                print(f"{name:24}{'slow':>10}")
                continue
            mine = seconds(work)
            peer = seconds(others[name]) if name in others else ""
            print(
                f"{name:24}"
                + "".join(f"{v:10.4f}" if isinstance(v, float) else f"{v:>10}" for v in (mine, peer))
            )
            if isinstance(mine, float) and mine > slowest:
                skipped.add(name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.shelf", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument(
        "--slowest", type=float, default=20.0, help="seconds after which a larger size is left out"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    told(given.rows, given.slowest)


if __name__ == "__main__":
    main()
