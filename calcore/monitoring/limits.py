"""Limits for a metric over batches: what the reference period gives a batch of that size, or what somebody fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.metrics.uncertainty import SEED
from calcore.monitoring.reference import Reference
from calcore.monitoring.results import METRICS, BatchResult, Value
from calcore.validation import Floats

#: Control limits stand at three standard errors (Shewhart 1931).
SIGMA = 3.0
#: Quantiles of a normal at minus and plus three.
TAILS = (0.00135, 0.99865)
DRAWS = 4_000
#: Fewer reference batches than this say nothing about how batches differ beyond chance.
FEWEST_BATCHES = 3


@dataclass(frozen=True)
class FixedLimit:
    """A metric may not be below ``low`` or above ``high``; None: no limit on that side."""

    metric: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(
                f'There is no metric "{self.metric}" to limit; choose one of {", ".join(METRICS)}.'
            )
        if self.low is None and self.high is None:
            raise InputError(f"The limit on {self.metric} needs a lowest or a highest value.")
        for value in (self.low, self.high):
            if value is not None and not np.isfinite(value):
                raise InputError(f"The limit on {self.metric} must be a finite number, got {value}.")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError(f"The limits on {self.metric} cross: {self.low:g} is above {self.high:g}.")


@dataclass(frozen=True, eq=False)
class Limits:
    """``low`` and ``high`` (batches,) of a metric, NaN where there is none, and which batches are ``outside``.

    ``centre`` is what the reference period gives, NaN for fixed limits. ``spread`` is the standard deviation by which
    its batches differ beyond chance; 0 where fewer than three batches say nothing about it (then ``note`` says so).
    """

    metric: str
    kind: str
    centre: float
    spread: float
    low: Floats
    high: Floats
    outside: NDArray[np.bool_]
    note: str = ""


def control_limits(results: Sequence[BatchResult], metric: str, reference: Reference) -> Limits:
    """Limits at three standard errors of each batch around the mean of the reference period.

    A batch may differ by its own sampling error, by that of the reference mean, and by as much as the reference
    batches differ among themselves beyond chance (DerSimonian and Laird 1986). The ECE, which is never below its
    noise, is compared with what batches of that size from the reference period show.
    """
    if metric == "ECE":
        return _ece_limits(results, reference)
    chosen = [results[i].value(metric) for i in reference.positions]
    usable = [one for one in chosen if np.isfinite(one.value) and np.isfinite(one.error) and one.error > 0]
    values = np.array([one.value(metric).value for one in results])
    if not usable:
        nothing = np.full(len(results), np.nan)
        return Limits(metric, "control", float("nan"), 0.0, nothing, nothing, np.zeros(len(results), bool))
    centre, own_error, spread = _pooled(usable)
    errors = np.array([one.value(metric).error for one in results])
    half = SIGMA * np.sqrt(errors**2 + own_error**2 + spread**2)
    low, high = centre - half, centre + half
    with np.errstate(invalid="ignore"):
        outside = (values < low) | (values > high)
    return Limits(metric, "control", centre, spread, low, high, outside & _measured(results), _note(usable))


def _measured(results: Sequence[BatchResult]) -> NDArray[np.bool_]:
    return np.array([one.measured for one in results], dtype=bool)


def _note(usable: Sequence[Value]) -> str:
    if len(usable) >= FEWEST_BATCHES:
        return ""
    return f"{len(usable)} reference batches cannot tell how much batches differ beyond chance: it counts as nothing"


def _pooled(values: Sequence[Value]) -> tuple[float, float, float]:
    """Mean of the reference batches, its standard error, and the spread between batches beyond chance."""
    x = np.array([one.value for one in values])
    weight = 1 / np.array([one.error for one in values]) ** 2
    between = 0.0
    if len(values) >= FEWEST_BATCHES:
        mean = float(weight @ x / weight.sum())
        excess = float(weight @ (x - mean) ** 2) - (len(x) - 1)
        between = max(excess / float(weight.sum() - (weight**2).sum() / weight.sum()), 0.0)
    weight = 1 / (1 / weight + between)
    return float(weight @ x / weight.sum()), float(weight.sum() ** -0.5), float(np.sqrt(between))


def _ece_limits(results: Sequence[BatchResult], reference: Reference) -> Limits:
    """Quantiles of the sum of |moment| over batches of each size from the reference period.

    Scores and gaps are those of the period: a batch whose scores lie where gaps are larger is off by more, whatever
    the reason. The errors of its bins shrink as one over the square root of the rows.
    """
    noise = np.random.default_rng(SEED).standard_normal((2, DRAWS, len(reference.gap)))
    low, high = np.full((2, len(results)), np.nan)
    values = np.array([one.value("ECE").value for one in results])
    moment = reference.mass * np.nan_to_num(reference.gap)
    error = reference.mass * np.nan_to_num(reference.error)
    by_size: dict[int, tuple[float, float]] = {}
    for i, one in enumerate(results):
        if one.measured and one.labelled:
            if one.labelled not in by_size:
                own = error * np.sqrt(reference.rows / one.labelled)
                drawn = np.abs(moment + error * noise[0] + own * noise[1]).sum(axis=1)
                by_size[one.labelled] = tuple(np.quantile(drawn, TAILS).tolist())
            low[i], high[i] = by_size[one.labelled]
    with np.errstate(invalid="ignore"):
        outside = values > high  # a lower error is no reason for an alert
    centre = float(np.abs(moment).sum())
    return Limits("ECE", "control", centre, 0.0, low, high, outside & _measured(results))


def fixed_limits(results: Sequence[BatchResult], limit: FixedLimit) -> Limits:
    """Batches beyond a fixed limit with their whole 95 % interval: of batches right at it, one in forty by chance.

    Each batch is judged by itself, so that false alarms add up over batches, unlike those of the tests.
    """
    low = np.full(len(results), np.nan if limit.low is None else limit.low)
    high = np.full(len(results), np.nan if limit.high is None else limit.high)
    ends = [one.value(limit.metric) for one in results]
    with np.errstate(invalid="ignore"):
        outside = (np.array([end.high for end in ends]) < low) | (np.array([end.low for end in ends]) > high)
    return Limits(limit.metric, "fixed", float("nan"), 0.0, low, high, outside & _measured(results))
