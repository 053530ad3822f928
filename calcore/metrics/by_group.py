"""Any metric in every subgroup, the worst of them, and what chance alone would make the worst look like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.metrics.results import CalibrationError, CalibrationTest, Estimate
from calcore.metrics.uncertainty import LEVEL, SIGNIFICANCE, Z, holm
from calcore.validation import Floats, fraction

Metric = Callable[[Evidence], Estimate]


@dataclass(frozen=True, eq=False)
class GroupValues:
    """One entry a subgroup of enough mass, (groups,) each, in the order that was given.

    [``lower``, ``upper``] hold for all groups together at ``level`` (Bonferroni: each interval is widened as a normal
    one), NaN where there is none. ``chance`` is up to what distance from the ideal each group would show as one of so
    many if it were no worse than everyone (for errors that noise pushes up: if it were calibrated), and ``p_value``,
    ``adjusted`` (Holm) the test of that. ``worst`` is the position of the largest ``distance`` among those that have
    a value, None without any. ``too_small`` and ``absent`` name groups that are not ranked, and why.
    """

    name: str
    groups: tuple[str, ...]
    value: Floats
    lower: Floats
    upper: Floats
    n: NDArray[np.int64]
    mass: Floats
    distance: Floats
    chance: Floats
    p_value: Floats
    adjusted: Floats
    estimates: tuple[Estimate, ...]
    everyone: Estimate
    worst: int | None
    too_small: tuple[str, ...]
    absent: tuple[tuple[str, str], ...]
    note: str
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def worst_estimate(self) -> Estimate | None:
        return None if self.worst is None else self.estimates[self.worst]

    @property
    def beyond_chance(self) -> NDArray[np.bool_]:
        """Groups that are worse than chance explains, after Holm, (groups,)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.adjusted < SIGNIFICANCE)

    def to_frame(self) -> pd.DataFrame:
        """One row a group."""
        names = ["value", "lower", "upper", "n", "mass", "distance", "chance", "p_value", "adjusted"]
        frame = pd.DataFrame({name: getattr(self, name) for name in names})
        frame.insert(0, "group", pd.Series(self.groups, dtype="str"))
        return frame


def by_group(
    evidence: Evidence, metric: Metric, min_mass: float = 0.0, *, level: float = LEVEL
) -> GroupValues:
    """``metric`` in every subgroup of mass above ``min_mass``, each as evidence of its own.

    Raises InputError where the evidence has no subgroups, or DoesNotExist where the metric does not exist under its
    observation model. Groups are compared with everyone, as if independent of them: careful for large groups.
    """
    fraction(level, "the level")
    if evidence.membership is None:
        raise InputError("this evidence has no subgroups: give groups when it is made")
    everyone = metric(evidence.without_groups())
    names: list[str] = []
    found: list[Estimate] = []
    mass, small, absent = [], [], []
    for position, name in enumerate(evidence.membership.names):
        share = float(evidence.mass[evidence.membership.mask(position)].sum())
        if not share > max(min_mass, 0.0):
            small.append(name)
            continue
        try:
            one = metric(evidence.group(position))
        except DoesNotExist as error:
            absent.append((name, str(error)))
            continue
        if np.isnan(one.value):
            absent.append((name, one.notes[-1] if one.notes else "no value"))
        names.append(name)
        found.append(one)
        mass.append(share)
    return _table(everyone, names, found, np.array(mass), (tuple(small), tuple(absent)), level)


def _table(
    everyone: Estimate,
    names: list[str],
    found: list[Estimate],
    mass: Floats,
    missing: tuple[tuple[str, ...], tuple[tuple[str, str], ...]],
    level: float,
) -> GroupValues:
    value = np.array([one.value for one in found])
    known = np.isfinite(value)
    count = max(int(known.sum()), 1)
    tail = (1 - level) / count
    distance = np.abs(value - everyone.ideal)
    wider = float(stats.norm.isf(tail / 2)) / Z
    bounds = [(np.nan, np.nan) if one.interval is None else _widened(one, wider) for one in found]
    by_chance = np.array([_chance(one, everyone, tail) for one in found]).reshape(-1, 2)
    p_value = np.where(known, by_chance[:, 1], np.nan)
    note = f"{count} groups: intervals hold for all together (Bonferroni), p-values after Holm"
    if not found:
        note = "no subgroup is heavy enough" if missing[0] else "no subgroup has a value"
    return GroupValues(
        name=everyone.name,
        groups=tuple(names),
        value=value,
        lower=np.array([low for low, _ in bounds]),
        upper=np.array([high for _, high in bounds]),
        n=np.array([one.n for one in found], dtype=np.int64),
        mass=mass,
        distance=distance,
        chance=by_chance[:, 0],
        p_value=p_value,
        adjusted=holm(p_value),
        estimates=tuple(found),
        everyone=everyone,
        worst=int(np.nanargmax(np.where(known, distance, np.nan))) if known.any() else None,
        too_small=missing[0],
        absent=missing[1],
        note=note,
        level=level,
    )


def _widened(one: Estimate, factor: float) -> tuple[float, float]:
    assert one.interval is not None
    low, high = one.interval
    middle = one.value if low <= one.value <= high else (low + high) / 2
    lower, upper = middle - factor * (middle - low), middle + factor * (high - middle)
    # what cannot be below 0 stays there
    return (max(lower, 0.0) if isinstance(one, CalibrationError) and low >= 0 else lower), upper


def _chance(one: Estimate, everyone: Estimate, tail: float) -> tuple[float, float]:
    """Up to what distance chance explains with probability 1 - ``tail``, and the p-value of the one seen."""
    if isinstance(one, CalibrationTest):
        return float("nan"), one.p_value
    if isinstance(one, CalibrationError):
        # the noise of a calibrated score, normal through its mean and its 95 % point
        spread = (one.noise_limit - one.noise_floor) / float(stats.norm.isf(0.05))
        if not spread > 0:
            return one.noise_limit, float("nan")
        return (
            one.noise_floor + float(stats.norm.isf(tail)) * spread,
            float(stats.norm.sf((one.value - one.noise_floor) / spread)),
        )
    if not one.standard_error or not np.isfinite(everyone.value):
        return float("nan"), float("nan")
    # worse than everyone: further from the ideal
    typical = abs(everyone.value - one.ideal)
    gap = abs(one.value - one.ideal) - typical
    return (
        typical + float(stats.norm.isf(tail)) * one.standard_error,
        float(stats.norm.sf(gap / one.standard_error)),
    )
