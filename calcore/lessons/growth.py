"""Platt against isotonic as the calibration set grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.calibrators import Calibrator, Identity, Isotonic, Platt
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.lessons.arithmetic import contributions
from calcore.metrics.binning import Bins
from calcore.metrics.scores import brier_terms
from calcore.validation import Floats

SIZES = (25, 50, 100, 200, 300, 600, 1000)
REPEATS = 40
METRICS = ("Brier", "ECE")
#: More rows than this tell nothing more here: as many are drawn once.
MOST_ROWS = 12_000
#: The middle 80 % of the resamples.
BAND = (0.1, 0.9)
#: Differences below this are rounding: on a constant score both methods learn the same constant.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class GrowthLine:
    """One method's held-out ``metric`` over ``Growth.sizes``, (k,) each: mean and band over the resamples."""

    method: str
    title: str
    metric: str
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Growth:
    """``lines`` of each method and metric; ``overtakes`` by metric: where isotonic goes past Platt.

    That is the first size from which its mean is lower, there and at every larger size; None where it never is.
    ``isotonic_wins`` by metric: the share of resamples in which it is lower than Platt, (k,). ``complete`` is
    whether the rows were enough for every size; ``held_out`` the rows that are measured on, ``n`` those that
    are drawn from, ``total`` those of the evidence.
    """

    sizes: tuple[int, ...]
    lines: tuple[GrowthLine, ...]
    overtakes: dict[str, int | None]
    isotonic_wins: dict[str, Floats]
    repeats: int
    held_out: int
    n: int
    total: int
    basis: str
    complete: bool

    @property
    def same(self) -> bool:
        """Whether Platt and isotonic cannot be told apart at any size."""
        pairs = [(self.line("Platt", metric), self.line("Isotonic", metric)) for metric in METRICS]
        return all(float(np.abs(one.mean - other.mean).max()) <= ROUNDING for one, other in pairs)

    def line(self, method: str, metric: str) -> GrowthLine:
        return next(one for one in self.lines if (one.method, one.metric) == (method, metric))


def calibration_set_growth(
    evidence: Evidence, bins: int = 10, *, repeats: int = REPEATS, seed: int = 0
) -> Growth:
    """Held-out Brier score and ECE of Platt and isotonic fitted on 25 ... 1000 rows (Basics, section 5).

    In each of ``repeats`` seeded resamples a third of the rows or more is held out and the sizes are nested in the
    rest; units stay whole, sources keep their shares. Sizes that the rows do not suffice for are left out.
    Raises InputError where not even the smallest is possible, and for one class of labels.
    """
    if not (evidence.positive.sum() > 0 and evidence.negative.sum() > 0):
        raise InputError("one class of labels only: no map can be learned from them")
    rng = np.random.default_rng(seed)
    evidence, total = evidence.without_groups(), len(evidence)
    if len(evidence) > MOST_ROWS:
        evidence = evidence.take(np.sort(_order(evidence, rng)[:MOST_ROWS]))
    n = len(evidence)
    held = max(n // 3, n - max(SIZES)) if n >= 3 else n
    methods: tuple[Calibrator, ...] = (Identity(), Platt(), Isotonic())
    splits = [_split(evidence, held, rng) for _ in range(repeats)]
    room = min(rest.size for _, rest in splits)
    sizes = tuple(size for size in SIZES if size <= room)
    if not sizes:
        raise InputError(f"{n:,} rows are too few to hold some out and fit on {SIZES[0]} others")
    made = Bins.equal_width(bins)
    found = np.array([_resample(evidence, split, sizes, methods, made) for split in splits])
    names = tuple(type(method).__name__ for method in methods)
    platt, isotonic = names.index("Platt"), names.index("Isotonic")
    return Growth(
        sizes=sizes,
        lines=tuple(
            _line(method, metric, found[:, :, i, j])
            for j, metric in enumerate(METRICS)
            for i, method in enumerate(methods)
        ),
        overtakes={
            metric: _overtakes(sizes, (found[:, :, isotonic, j] - found[:, :, platt, j]).mean(axis=0))
            for j, metric in enumerate(METRICS)
        },
        isotonic_wins={
            metric: (found[:, :, isotonic, j] < found[:, :, platt, j] - ROUNDING).mean(axis=0)
            for j, metric in enumerate(METRICS)
        },
        repeats=repeats,
        held_out=held,
        n=n,
        total=total,
        basis=evidence.model.basis,
        complete=sizes == SIZES,
    )


Split = tuple[NDArray[np.int64], NDArray[np.int64]]


def _order(evidence: Evidence, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows in a random order of which every beginning has about the sources' shares; units stay together."""
    unit = np.arange(len(evidence)) if evidence.unit is None else evidence.unit
    _, first, place = np.unique(unit, return_index=True, return_inverse=True)
    source = evidence.source[first]
    when = np.empty(first.size)
    for value in np.unique(source):
        inside = np.flatnonzero(source == value)
        when[inside] = (rng.permutation(inside.size) + rng.random()) / inside.size
    return np.lexsort((place, when[place]))


def _split(evidence: Evidence, held: int, rng: np.random.Generator) -> Split:
    """At least ``held`` rows to measure on, and the others in the order in which they are used."""
    order = _order(evidence, rng)
    if evidence.unit is not None:
        unit = evidence.unit[order]
        while 0 < held < order.size and unit[held] == unit[held - 1]:
            held += 1
    return order[:held], order[held:]


def _resample(
    evidence: Evidence,
    split: Split,
    sizes: tuple[int, ...],
    methods: tuple[Calibrator, ...],
    bins: Bins,
) -> Floats:
    """(sizes, methods, metrics) of one resample."""
    test = evidence.take(split[0])
    values = np.empty((len(sizes), len(methods), len(METRICS)))
    for k, size in enumerate(sizes):
        part = evidence.take(split[1][:size])
        for i, method in enumerate(methods):
            # a few rows of corrected labels may have no best fit: the search runs far out before it ends at its bound
            with np.errstate(over="ignore", invalid="ignore"):
                predicted = test.with_score(method.fit(part).predict(test.score))
            values[k, i] = brier_terms(predicted).sum(), contributions(predicted, bins).sum()
    return values


def _line(method: Calibrator, metric: str, values: Floats) -> GrowthLine:
    low, high = np.quantile(values, BAND, axis=0)
    return GrowthLine(type(method).__name__, method.title, metric, values.mean(axis=0), low, high)


def _overtakes(sizes: tuple[int, ...], difference: Floats) -> int | None:
    """The first size from which every ``difference`` (isotonic - Platt) is below 0."""
    ahead = np.logical_and.accumulate((difference < -ROUNDING)[::-1])[::-1]
    return sizes[int(np.argmax(ahead))] if ahead.any() else None
