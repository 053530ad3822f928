"""The reference period: what was normal, pooled over its batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calcore.errors import InputError
from calcore.monitoring.betting import Allowed
from calcore.monitoring.results import BatchResult
from calcore.validation import Floats

#: What the reference period leaves open of a gap, in standard errors. A normal error is larger one time in 370: for one
#: of ten bins one time in 37, and more often with more bins and with subgroups. The test adds its own false alarms.
SIGMA = 3.0


@dataclass(frozen=True, eq=False)
class Reference:
    """Bins of the reference period: ``gap`` (K,) event rate minus mean score with ``error``, ``mass`` and ``rows``.

    ``positions`` are its batches among those it was taken from, by ``keys`` too; ``labels`` their first and last.
    ``groups`` give the overall gap of each subgroup and its error.
    """

    positions: tuple[int, ...]
    keys: tuple[str, ...]
    labels: tuple[str, str]
    gap: Floats
    error: Floats
    mass: Floats
    mean_score: Floats
    rows: int
    groups: dict[str, tuple[float, float]]

    def allowed(self, tolerance: float) -> Allowed:
        """Gaps as in the reference period: within the tolerance, and what the period itself leaves open."""
        known = np.isfinite(self.gap) & (self.error > 0)
        room = tolerance + np.where(known, SIGMA * np.nan_to_num(self.error), 1.0)
        groups = {name: (gap, tolerance + SIGMA * error) for name, (gap, error) in self.groups.items()}
        return Allowed(np.where(known, self.gap, 0.0), room, groups)


def reference_of(results: Sequence[BatchResult], batches: int | Sequence[str]) -> Reference:
    """The first ``batches`` measured batches, or those with these keys. Raises InputError where none is measured."""
    measured = [i for i, one in enumerate(results) if one.measured and one.bins is not None]
    if isinstance(batches, int):
        chosen = measured[: max(batches, 1)]
    else:
        wanted = set(batches)
        chosen = [i for i in measured if results[i].key in wanted]
    if not chosen:
        raise InputError("No batch of the reference period has labels enough; choose another period.")
    tables = [(results[i].bins, results[i].labelled) for i in chosen]
    rows = np.array([labelled for _, labelled in tables], dtype=np.float64)
    share = rows / rows.sum()
    moment = sum(s * t.moment for s, (t, _) in zip(share, tables, strict=True) if t is not None)
    mass = sum(s * t.mass for s, (t, _) in zip(share, tables, strict=True) if t is not None)
    score = sum(
        s * t.mass * np.nan_to_num(t.mean_score)
        for s, (t, _) in zip(share, tables, strict=True)
        if t is not None
    )
    variance = sum(
        s**2 * np.nan_to_num(t.error) ** 2 for s, (t, _) in zip(share, tables, strict=True) if t is not None
    )
    assert isinstance(moment, np.ndarray)
    assert isinstance(mass, np.ndarray)
    assert isinstance(score, np.ndarray)
    held = mass > 1e-12
    nothing = np.full(mass.shape, np.nan)
    return Reference(
        tuple(chosen),
        tuple(results[i].key for i in chosen),
        (results[chosen[0]].label, results[chosen[-1]].label),
        np.divide(moment, mass, out=nothing.copy(), where=held),
        np.divide(np.sqrt(variance), mass, out=nothing.copy(), where=held),
        np.where(held, mass, 0.0),
        np.divide(score, mass, out=nothing.copy(), where=held),
        int(rows.sum()),
        _groups([results[i] for i in chosen]),
    )


def _groups(chosen: Sequence[BatchResult]) -> dict[str, tuple[float, float]]:
    """Gap and error of each subgroup over the reference batches, each by its labelled rows."""
    sums: dict[str, Floats] = {}
    for one in chosen:
        for group in one.groups:
            mass = one.labelled * group.mass
            moments = np.array([mass, mass * group.gap, (mass * np.nan_to_num(group.error)) ** 2])
            sums[group.name] = sums.get(group.name, np.zeros(3)) + moments
    return {
        name: (float(m / n), float(np.sqrt(v) / n)) for name, (n, m, v) in sums.items() if n > 0 and v > 0
    }
