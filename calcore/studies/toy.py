"""Estimation error against sample size on the toy problem: python -m calcore.studies.toy [--quick]

WLMC, Figure 1 (left) and Appendix E: the mean absolute error of MC, and of ECE and maxECE, estimated from n draws of
each source under PN (clean labels), PU, UU and Pconf. On log-log axes each falls with a slope of -1/2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calcore.metrics.cells import cells
from calcore.observation import PU, UU, Clean, ObservationModel, Pconf
from calcore.studies.simulation import Population, observe, toy
from calcore.validation import Floats

BINS = 10
SIZES = tuple(2**k for k in range(7, 14))
SLOPE, TOLERANCE = -0.5, 0.1
METRICS = ("MC", "ECE", "maxECE")


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean absolute error of one metric under one model, and its standard deviation, at ``sizes``, each (sizes,)."""

    model: str
    metric: str
    truth: float
    sizes: tuple[int, ...]
    error: Floats
    deviation: Floats

    @property
    def slope(self) -> float:
        """Least-squares slope of log error against log n."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.error), 1)[0])

    @property
    def holds(self) -> bool:
        return abs(self.slope - SLOPE) <= TOLERANCE


def toy_models(prior: float) -> dict[str, ObservationModel]:
    """The four models of the figure, by the names of the paper."""
    return {"PN": Clean(), "PU": PU(prior), "UU": UU(prior, 0.8, 0.2), "Pconf": Pconf(prior)}


def values(moment: Floats, mass: Floats) -> Floats:
    """MC, ECE and maxECE from moments (groups, bins) and group masses (groups,) of disjoint groups."""
    of_groups = np.divide(np.abs(moment).sum(axis=1), mass, out=np.zeros(mass.shape), where=mass > 0)
    return np.array([np.abs(moment).max(), np.abs(moment.sum(axis=0)).sum(), of_groups.max()])


def truth(population: Population) -> Floats:
    """The population's MC, ECE and maxECE, (3,)."""
    return values(population.moments(BINS), population.masses())


def curves(sizes: Sequence[int] = SIZES, repetitions: int = 100, seed: int = 0) -> tuple[Curve, ...]:
    """The curves of every model and metric; point estimates only, so that only sampling error is seen."""
    population = toy()
    exact = truth(population)
    found: list[Curve] = []
    for position, (name, model) in enumerate(toy_models(population.prior).items()):
        rng = np.random.default_rng([seed, position])
        errors = np.empty((len(sizes), repetitions, len(METRICS)))
        for place, n in enumerate(sizes):
            for repetition in range(repetitions):
                table = cells(observe(model, population, rng, n), BINS)
                estimate = values(table.moment[1:], table.group_mass[1:])
                errors[place, repetition] = np.abs(estimate - exact)
        mean, deviation = errors.mean(axis=1), errors.std(axis=1)
        found += [
            Curve(name, metric, float(exact[k]), tuple(sizes), mean[:, k], deviation[:, k])
            for k, metric in enumerate(METRICS)
        ]
    return tuple(found)


def told(found: Sequence[Curve]) -> str:
    """One row a curve: the errors at each n and the slope."""
    sizes = found[0].sizes
    head = f"{'metric':8}{'model':7}{'truth':>8}" + "".join(f"{f'n={n:,}':>10}" for n in sizes)
    lines = [f"{head}{'slope':>8}  target {SLOPE:g} +- {TOLERANCE:g}"]
    for metric in METRICS:
        for curve in found:
            if curve.metric == metric:
                errors = "".join(f"{error:10.5f}" for error in curve.error)
                missed = "" if curve.holds else "  MISSED"
                lines.append(f"{metric:8}{curve.model:7}{curve.truth:8.5f}{errors}{curve.slope:8.3f}{missed}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m calcore.studies.toy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 repetitions instead of 100")
    quick = parser.parse_args(arguments).quick
    found = curves(repetitions=30 if quick else 100)
    print(told(found))
    # the paper's figure is about MC; sums of |moment| leave their bias at small n, which falls faster
    return int(not all(curve.holds for curve in found if curve.metric == "MC"))


if __name__ == "__main__":
    sys.exit(main())
