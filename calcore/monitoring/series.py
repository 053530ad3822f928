"""Gaps batch by batch, of the population and of subgroups, and what they come to over several batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calcore.metrics.reliability import Reliability, wilson
from calcore.metrics.uncertainty import Z, holm
from calcore.monitoring.reference import Reference
from calcore.monitoring.results import BatchResult, Value
from calcore.monitoring.watch import Watch
from calcore.validation import Floats

#: A bin with fewer rows is drawn, and not taken for more than it is.
FEWEST_ROWS_OF_A_BIN = 20
#: So begin the names of labels that are counted as they are: event rates are then shares of rows.
UNCORRECTED = "against "
#: What a subgroup is like now: its gap over so many of the newest measured batches.
RECENT = 3


@dataclass(frozen=True, eq=False)
class GroupSeries:
    """The gap (event rate - mean score) of a subgroup in each batch, (batches,), with its 95 % interval.

    NaN where a batch is not measured or does not hold the subgroup. ``pooled`` is the gap over all batches after the
    reference period, ``recent`` that over the newest ``RECENT`` that are measured; ``alarmed`` says that one of the two
    tests convicted the subgroup, ``over`` that this has passed, and ``during`` (batches,) which batches it is about.
    """

    name: str
    gap: Floats
    low: Floats
    high: Floats
    rows: NDArray[np.int64]
    pooled: Value
    recent: Value
    alarmed: bool
    over: bool
    during: NDArray[np.bool_]


def pooled_gap(results: Sequence[BatchResult]) -> Value:
    """The gap over all measured ``results``, each by its labelled rows."""
    found = [(one.labelled, one.value("gap")) for one in results if one.measured]
    return _pooled(
        np.array([rows for rows, _ in found], dtype=np.float64),
        np.array([gap.value for _, gap in found]),
        np.array([gap.error for _, gap in found]),
    )


def group_series(watch: Watch) -> tuple[GroupSeries, ...]:
    """Every subgroup: those that a test convicted and that is not over first, then the others; each by the recent gap.

    Convicted are intersections too where a part of them is, although only the part is told of as an alert.
    """
    results = watch.results
    names = tuple(dict.fromkeys(group.name for one in results for group in one.groups))
    place = {name: g for g, name in enumerate(names)}
    shape = (len(names), len(results))
    gap, error, weight = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape)
    rows = np.zeros(shape, dtype=np.int64)
    for t, one in enumerate(results):
        for group in one.groups:
            g = place[group.name]
            gap[g, t], error[g, t], rows[g, t] = group.gap, group.error, group.rows
            weight[g, t] = one.labelled * group.mass
    later = np.ones(len(results), dtype=bool)
    if watch.reference is not None:
        later[list(watch.reference.positions)] = False
    measured = np.flatnonzero([one.measured for one in results])
    recently = np.isin(np.arange(len(results)), measured[-RECENT:])
    convictions = [one for one in (*watch.test.changes, *watch.change.changes) if one.group is not None]
    convicted, lasting = (
        {one.group for one in convictions},
        {one.group for one in convictions if not one.over},
    )
    made = []
    for g, name in enumerate(names):
        use = np.isfinite(gap[g]) & (weight[g] > 0)
        use = use & later if (use & later).any() else use
        pooled = _pooled(weight[g][use], gap[g][use], error[g][use])
        newest = np.isfinite(gap[g]) & recently
        recent = _pooled(weight[g][newest], gap[g][newest], error[g][newest])
        half = Z * error[g]
        alarmed = name in convicted
        over = alarmed and name not in lasting
        during = np.zeros(len(results), dtype=bool)
        for change in convictions:
            if change.group == name:
                during[change.since : change.until + 1] = True
        made.append(
            GroupSeries(
                name, gap[g], gap[g] - half, gap[g] + half, rows[g], pooled, recent, alarmed, over, during
            )
        )
    return tuple(sorted(made, key=_order))


def _order(one: GroupSeries) -> tuple[bool, float]:
    lasting = one.alarmed and not one.over
    return (not lasting, -abs(one.recent.value) if np.isfinite(one.recent.value) else 0.0)


def _pooled(weight: Floats, gap: Floats, error: Floats) -> Value:
    known = np.isfinite(gap) & (weight > 0)
    if not known.any():
        return Value(float("nan"))
    share = weight[known] / weight[known].sum()
    value = float(share @ gap[known])
    spread = float(np.sqrt(share**2 @ np.nan_to_num(error[known]) ** 2))
    return Value(value, spread, value - Z * spread, value + Z * spread)


def batch_reliability(one: BatchResult) -> Reliability | None:
    """The reliability table of a measured batch, from its bins; None without them."""
    if one.bins is None:
        return None
    table = one.bins
    held = table.mass > 1e-12
    nothing = np.full(len(table), np.nan)
    gap = np.divide(table.moment, table.mass, out=nothing.copy(), where=held)
    error = np.divide(table.error, table.mass, out=nothing.copy(), where=held)
    return _table(
        table.mean_score, gap, error, table.mass, table.rows, one.labelled, one.basis, one.assumptions
    )


def reference_reliability(reference: Reference, results: Sequence[BatchResult]) -> Reliability:
    """The reliability table of the reference period, pooled over its batches in ``results``."""
    first = results[reference.positions[0]]
    tables = [results[i].bins for i in reference.positions]
    rows = np.sum([table.rows for table in tables if table is not None], axis=0)
    return _table(
        reference.mean_score,
        reference.gap,
        reference.error,
        reference.mass,
        rows,
        reference.rows,
        first.basis,
        first.assumptions,
    )


def _table(
    score: Floats,
    gap: Floats,
    error: Floats,
    mass: Floats,
    rows: NDArray[np.int64],
    n: int,
    basis: str,
    assumptions: tuple[str, ...],
) -> Reliability:
    count = len(mass)
    rate = score + gap
    lower, upper, method = rate - Z * error, rate + Z * error, "Wald"
    if basis.startswith(UNCORRECTED):
        lower, upper, method = *_shares(rate, error, mass, rows), "Wilson"
    few = (rows < FEWEST_ROWS_OF_A_BIN) | ~(error > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(few, np.nan, 2 * stats.norm.sf(np.abs(gap) / error))
    return Reliability(
        low=np.arange(count) / count,
        high=(np.arange(count) + 1) / count,
        rows=rows,
        mass=mass,
        mean_score=score,
        event_rate=rate,
        residual=gap,
        lower=lower,
        upper=upper,
        p_value=p,
        adjusted=holm(p),
        too_few=few,
        contradiction=np.zeros(count, dtype=bool),
        strategy="width",
        method=method,
        n=n,
        dropped=0,
        clipped=0,
        basis=basis,
        assumptions=assumptions,
    )


def _shares(rate: Floats, error: Floats, mass: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Wilson's intervals of event rates. Weights and units make rows count for less: for as much as their errors say."""
    by_count = np.divide(rate * (1 - rate), rows, out=np.zeros(len(rate)), where=rows > 0)
    known = np.isfinite(rate) & np.isfinite(error)
    expected = float((mass[known] ** 2) @ by_count[known])
    effect = float(np.sum((mass[known] * error[known]) ** 2)) / expected if expected > 0 else 1.0
    lower, upper = wilson(rate * rows / max(effect, 1.0), rows / max(effect, 1.0))
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
