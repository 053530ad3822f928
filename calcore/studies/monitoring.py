"""How often a watched stream cries wolf, and how soon it is right: python -m calcore.studies.monitoring [--quick]

By simulation with fixed seeds, 1,000 rows a week:

* false alarms in 52 weekly looks at a calibrated stream, and at one that is off by all of the tolerance everywhere;
* weeks until an ECE of .05 is noticed that begins in week 14, for scores that are too low, overconfident, wrong in one
  range, or wrong in one subgroup of a fifth of the rows.

The sequential test, and that against the first four weeks as a reference, stand beside charts with fixed three-sigma
limits on the gap and the ECE: once around a calibrated score, once three sigma beyond the tolerance, which is what the
test is about. Exits with 1 if one of these tests raises a false alarm in more than 5 % of streams by more than twice the
error of that figure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.stats import beta

from calcore.audit import TOLERANCE
from calcore.monitoring.batches import Batch
from calcore.monitoring.betting import Allowed, Growth, growth
from calcore.monitoring.measure import measure
from calcore.monitoring.reference import reference_of
from calcore.monitoring.results import BatchResult
from calcore.monitoring.sequential import ALPHA, sequential_test
from calcore.observation import Clean
from calcore.sums import grid_place
from calcore.validation import Floats

ROWS, LOOKS, BINS, BREAK, ERROR = 1_000, 52, 10, 13, 0.05
REFERENCE = 4
CENTRE = 5
SEED = 20_261
GROUP_SHARE = 0.2
#: Spreads of scores, as shapes of a beta distribution.
SPREADS = {"even scores": (1.0, 1.0), "rare events": (2.0, 8.0)}

Rate = Callable[[Floats, Floats], Floats]


def _level(size: float) -> Rate:
    return lambda f, group: np.clip(f + size, 0, 1)


def _confidence(size: float) -> Rate:
    def rate(f: Floats, group: Floats) -> Floats:
        inside = np.clip(f, 1e-12, 1 - 1e-12)
        odds = np.log(inside) - np.log1p(-inside)
        return 1 / (1 + np.exp(-odds * (1 - size)))

    return rate


def _one_range(size: float) -> Rate:
    return lambda f, group: np.where((f >= 0.2) & (f < 0.4), np.clip(f + size, 0, 1), f)


def _one_group(size: float) -> Rate:
    return lambda f, group: np.where(group > 0, np.clip(f + size, 0, 1), f)


BREAKS: dict[str, Callable[[float], Rate]] = {
    "too low everywhere": _level,
    "overconfident": _confidence,
    "one range, .2 to .4": _one_range,
    "one subgroup": _one_group,
}


def calibrated(f: Floats, group: Floats) -> Floats:
    """Events as frequent as the score says."""
    return f


def error_of(rate: Rate, shape: tuple[float, float], points: int = 200_000) -> float:
    """The ECE over ten bins in the population, on evenly spaced quantiles of the scores."""
    f = beta.ppf((np.arange(points) + 0.5) / points, *shape)
    group = np.array([0.0, 1.0])[:, None]
    gap = rate(f[None], group) - f
    mean = (1 - GROUP_SHARE) * gap[0] + GROUP_SHARE * gap[-1]
    return float(np.abs(np.bincount(grid_place(f, BINS), mean, minlength=BINS)).sum() / points)


def scaled(kind: str, shape: tuple[float, float], error: float = ERROR) -> Rate:
    """The break of a ``kind`` whose ECE is ``error`` for scores of this spread."""
    make = BREAKS[kind]
    size = optimize.brentq(lambda s: error_of(make(s), shape, 20_000) - error, 0.0, 0.95)
    return make(float(size))


@dataclass(frozen=True)
class Looks:
    """The first week at which the test, and each chart, spoke; None: never."""

    test: int | None
    change: int | None
    charts: dict[str, int | None]


def stream(
    rng: np.random.Generator,
    shape: tuple[float, float],
    before: Rate,
    after: Rate,
    weeks: int,
    limits: dict[str, Floats],
) -> Looks:
    """One stream of ``weeks`` weeks that changes at ``BREAK``: the first week at which each method speaks."""
    grown: list[Growth] = []
    shifted: list[Growth | None] = []
    first: list[BatchResult] = []
    usual: Allowed | None = None
    outside = {name: np.zeros(weeks, dtype=bool) for name in limits}
    for week in range(weeks):
        f = rng.beta(*shape, size=ROWS)
        group = (rng.random(ROWS) < GROUP_SHARE).astype(float)
        y = (rng.random(ROWS) < (before if week < BREAK else after)(f, group)).astype(float)
        evidence = Clean().evidence(f, y, groups=np.column_stack([group > 0, group == 0]))
        grown.append(growth(evidence, Allowed.around_zero(TOLERANCE, BINS), CENTRE))
        if week < REFERENCE:
            batch = Batch(str(week), str(week), np.arange(ROWS), None, None)
            first.append(measure(batch, evidence, bins=BINS, tolerance=TOLERANCE, centre=CENTRE))
            shifted.append(None)
        else:
            usual = usual or reference_of(first, REFERENCE).allowed(TOLERANCE)
            shifted.append(growth(evidence, usual, CENTRE))
        gap, ece = _charted(f, y)
        for name, (of_gap, of_ece) in limits.items():
            outside[name][week] = abs(gap) > of_gap or ece > of_ece
    alarms, changes = sequential_test(grown, ALPHA / 2).alarms, sequential_test(shifted, ALPHA / 2).alarms
    charts = {name: int(np.argmax(was)) if was.any() else None for name, was in outside.items()}
    return Looks(alarms[0] if alarms else None, changes[0] if changes else None, charts)


def _charted(f: Floats, y: Floats) -> tuple[float, float]:
    moment = np.bincount(grid_place(f, BINS), y - f, minlength=BINS) / f.size
    return float(moment.sum()), float(np.abs(moment).sum())


def three_sigma(shape: tuple[float, float], draws: int = 2_000) -> dict[str, Floats]:
    """Limits (gap, ECE) from calibrated weeks, and the same around scores that are off by the tolerance."""
    rng = np.random.default_rng(SEED)
    found = {}
    for name, offset in (("3 sigma", 0.0), ("3 sigma beyond the tolerance", TOLERANCE)):
        weeks = []
        for _ in range(draws):
            f = rng.beta(*shape, size=ROWS)
            y = (rng.random(ROWS) < np.clip(f + offset, 0, 1)).astype(float)
            weeks.append(_charted(f, y))
        mean, spread = np.mean(weeks, axis=0), np.std(weeks, axis=0)
        found[name] = np.abs(mean) + 3 * spread
    return found


def false_alarms(shape: tuple[float, float], rate: Rate, repetitions: int, seed: int) -> dict[str, float]:
    """The share of streams with an alarm in ``LOOKS`` weeks, by method."""
    rng, limits = np.random.default_rng(seed), three_sigma(shape)
    seen = [stream(rng, shape, rate, rate, LOOKS, limits) for _ in range(repetitions)]
    found = {
        "sequential test": float(np.mean([one.test is not None for one in seen])),
        "against the reference": float(np.mean([one.change is not None for one in seen])),
    }
    return found | {name: float(np.mean([one.charts[name] is not None for one in seen])) for name in limits}


def delays(
    shape: tuple[float, float], kind: str, repetitions: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Median weeks from the break to the alarm, and the share of streams that cried wolf before it, by method."""
    rng, limits = np.random.default_rng(seed), three_sigma(shape)
    after = scaled(kind, shape)
    seen = [stream(rng, shape, calibrated, after, LOOKS, limits) for _ in range(repetitions)]
    found = {}
    of_tests: dict[str, Callable[[Looks], int | None]] = {
        "sequential test": lambda one: one.test,
        "against the reference": lambda one: one.change,
    }
    for name in (*of_tests, *limits):
        firsts = [of_tests[name](one) if name in of_tests else one.charts[name] for one in seen]
        waits = [np.inf if first is None else first - BREAK + 1 for first in firsts]
        after_break = [wait for wait in waits if wait > 0]
        median = float(np.median(after_break)) if after_break else float("nan")
        found[name] = (median, float(np.mean([wait <= 0 for wait in waits])))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    parser.add_argument("--repetitions", type=int, default=None, help="streams of each kind (default 400)")
    chosen = parser.parse_args(arguments)
    repetitions = chosen.repetitions or (40 if chosen.quick else 400)
    missed = False
    print(f"False alarms in {LOOKS} weekly looks, {ROWS:,} rows a week, {repetitions} streams")
    for spread, shape in SPREADS.items():
        for name, rate in (("calibrated", calibrated), ("off by the tolerance", _level(TOLERANCE))):
            found = false_alarms(shape, rate, repetitions, SEED)
            error = np.sqrt(ALPHA * (1 - ALPHA) / repetitions)
            missed |= max(found["sequential test"], found["against the reference"]) > ALPHA + 2 * error
            print(
                f"  {spread}, {name}: " + ", ".join(f"{key} {value:.3f}" for key, value in found.items()),
                flush=True,
            )
    print(f"Weeks until an ECE of {ERROR} is noticed (median), and false alarms in the {BREAK} weeks before")
    for spread, shape in SPREADS.items():
        for kind in BREAKS:
            waits = delays(shape, kind, repetitions, SEED + 1)
            told = ", ".join(f"{key} {wait:.0f} ({early:.3f})" for key, (wait, early) in waits.items())
            print(f"  {spread}, {kind}: {told}", flush=True)
    if missed:
        print("MISSED: more than 5 % of streams raise a false alarm")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
