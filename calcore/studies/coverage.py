"""Do tests and intervals keep what they promise? python -m calcore.studies.coverage [--quick]

By simulation with fixed seeds, n = 2,000 draws a source, ten overlapping subgroups x ten bins:

* family-wise error: how often a calibrated score is accused in any cell of mass .002 and more, at a nominal .05;
* coverage of the intervals of cell moments, in cells of 20 rows and more, under every observation model;
* coverage of the interval of ECE (15 bins) at a true ECE of 0, .01 and .03, where the error is spread over all
  scores or lies in one range of them.

Each figure stands beside its target. Exits with 1 if one misses it by more than twice its own error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calcore import metrics
from calcore.evidence import Evidence
from calcore.metrics.uncertainty import Z, holm
from calcore.studies.simulation import Population, observation_models, observe
from calcore.validation import Floats

N, BINS, ECE_BINS = 2000, 10, 15
MIN_MASS, LEVEL = 0.002, 0.05
#: Ten subgroups: the levels of three attributes, of very different sizes.
ATTRIBUTES = ((0.4, 0.3, 0.2, 0.08, 0.02), (0.6, 0.3, 0.1), (0.7, 0.3))
BOUNDED = ("Clean", "Noisy", "PU", "UU")
TRUTHS = (0.0, 0.01, 0.03)
MOST_FALSE_ALARMS = 0.06
MOMENT_COVERAGE = (0.93, 0.97)
LEAST_ECE_COVERAGE = 0.95


@dataclass(frozen=True)
class Finding:
    """A rate, its standard error, and the range that it should lie in; ``low`` 0 and ``high`` 1: only reported.

    A target is missed where the rate lies beyond it by more than twice its own error.
    """

    what: str
    model: str
    rate: float
    error: float
    low: float = 0.0
    high: float = 1.0

    @property
    def holds(self) -> bool:
        return self.low - 2 * self.error <= self.rate <= self.high + 2 * self.error

    @property
    def target(self) -> str:
        if (self.low, self.high) == (0.0, 1.0):
            return "reported"
        if self.low == 0:
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high == 1 else f"{self.low:g} to {self.high:g}"


def share(what: str, model: str, hits: float, trials: int, low: float = 0.0, high: float = 1.0) -> Finding:
    """The rate of ``hits`` in independent ``trials``."""
    rate = hits / trials
    return Finding(what, model, rate, float(np.sqrt(rate * (1 - rate) / trials)), low, high)


def score(x: Floats) -> Floats:
    """Scores from .02 to .96, more of them low than high, (n,)."""
    return 0.02 + 0.94 * x * np.sqrt(x)


def spread(f: Floats) -> Floats:
    """An error at all scores: too low below .5, too high above, (n,)."""
    return np.sin(2 * np.pi * f)


def one_range(f: Floats) -> Floats:
    """An error at scores from .4 to .6 alone, (n,)."""
    return np.where((f >= 0.4) & (f < 0.6), -1.0, 0.0)


SHAPES: dict[str, Callable[[Floats], Floats]] = {"spread": spread, "one range": one_range}


def population(shape: Callable[[Floats], Floats] = spread, error: float = 0.0) -> Population:
    """The population whose true ECE is ``error``, its residual r - f a multiple of ``shape`` of the score."""

    def bent(size: float) -> Population:
        return Population(score, lambda x: score(x) + size * shape(score(x)), attributes=ATTRIBUTES)

    return bent(error / bent(0.1).error(ECE_BINS) * 0.1)


def samples(
    model: str, truth: Population, repetitions: int, seed: int, groups: bool = True
) -> Iterator[Evidence]:
    """``repetitions`` samples of the population as the named model sees it."""
    models = observation_models(truth.prior)
    rng = np.random.default_rng([seed, list(models).index(model)])
    return (observe(models[model], truth, rng, N, groups) for _ in range(repetitions))


def family_wise_error(
    repetitions: int, models: Sequence[str] = (*BOUNDED, "Pconf", "Sconf"), seed: int = 1
) -> list[Finding]:
    """How often any heavy cell of a calibrated score is significant: by the test, and by Wald's alone."""
    findings = []
    truth = population()
    for model in models:
        alarms = np.zeros(3)
        for evidence in samples(model, truth, repetitions, seed):
            table = metrics.cells(evidence, BINS)
            heavy = table.mass[1:] >= MIN_MASS
            alarms[0] += bool((heavy & (table.adjusted[1:] <= LEVEL)).any())
            for place, error in ((1, table.error), (2, table.standard_error)):
                p = _p_values(table.moment[1:], error[1:], heavy)
                alarms[place] += bool((holm(p) <= LEVEL).any())
        most = MOST_FALSE_ALARMS if model in BOUNDED else 1.0
        for what, count, high in zip(
            ("family-wise error", "  few rows too", "  few rows too, Wald alone"),
            alarms,
            (most, 1.0, 1.0),
            strict=True,
        ):
            findings.append(share(what, model, count, repetitions, high=high))
    return findings


def _p_values(moment: Floats, error: Floats, heavy: NDArray[np.bool_]) -> Floats:
    p = np.full(moment.shape, np.nan)
    tested = heavy & (error > 0)
    p[tested] = 2 * stats.norm.sf(np.abs(moment[tested]) / error[tested])
    return p


def moment_coverage(repetitions: int, models: Sequence[str] = (), seed: int = 2) -> list[Finding]:
    """How often the interval of a cell's moment holds the true one, over all cells of 20 rows and more."""
    findings = []
    truth = population(spread, 0.03)
    exact = truth.moments(BINS)
    low, high = MOMENT_COVERAGE
    for model in models or observation_models(truth.prior):
        # intervals that hold and intervals, by sample: the cells of a sample are not independent
        counts = []
        for evidence in samples(model, truth, repetitions, seed):
            table = metrics.cells(evidence, BINS)
            rows = table.rows[1:]
            inside = np.abs(table.moment[1:] - exact) <= Z * table.standard_error[1:]
            enough, few = rows >= 20, (rows >= 20) & (rows < 50)
            counts.append([inside[enough].sum(), enough.sum(), inside[few].sum(), few.sum()])
        by_sample = np.array(counts, dtype=float)
        findings.append(Finding("cell moments", model, *_ratio(*by_sample[:, :2].T), low, high))
        findings.append(Finding("  of 20 to 49 rows", model, *_ratio(*by_sample[:, 2:].T)))
    return findings


def _ratio(held: Floats, all_: Floats) -> tuple[float, float]:
    """The ratio of two totals over samples, and its standard error."""
    rate = held.sum() / all_.sum()
    return float(rate), float(np.std(held - rate * all_, ddof=1) * np.sqrt(held.size) / all_.sum())


def ece_coverage(
    repetitions: int,
    models: Sequence[str] = BOUNDED,
    truths: Sequence[float] = TRUTHS,
    shapes: Sequence[str] = tuple(SHAPES),
    seed: int = 3,
) -> list[Finding]:
    """How often the interval of ECE holds the true ECE."""
    findings = []
    for model in models:
        for error in truths:
            # a calibrated score has no shape of its error
            for shape in shapes if error else shapes[:1]:
                truth = population(SHAPES[shape], error)
                held = 0
                for evidence in samples(model, truth, repetitions, seed, groups=False):
                    interval = metrics.ece(evidence, ECE_BINS).interval
                    held += interval is not None and interval[0] <= error <= interval[1]
                what = f"ECE {error:g}" + (f", {shape}" if error else "")
                findings.append(share(what, model, held, repetitions, LEAST_ECE_COVERAGE))
    return findings


def told(findings: Sequence[Finding]) -> str:
    """The findings as a table, each beside its target and its own standard error."""
    lines = [f"{'what':28}{'model':21}{'found':>8}{'+-':>7}  target"]
    for found in findings:
        missed = "" if found.holds else "   MISSED"
        lines.append(
            f"{found.what:28}{found.model:21}{found.rate:8.4f}{found.error:7.4f}  {found.target}{missed}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m calcore.studies.coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: under two minutes")
    quick = parser.parse_args(arguments).quick
    print("calibrated score, a cell of mass .002 and more accused at a nominal .05")
    findings = family_wise_error(300 if quick else 2000)
    print(told(findings))
    print("\nintervals at a nominal .95")
    coverage = moment_coverage(60 if quick else 400) + ece_coverage(80 if quick else 500)
    print(told(coverage))
    return int(not all(found.holds for found in findings + coverage))


if __name__ == "__main__":
    sys.exit(main())
