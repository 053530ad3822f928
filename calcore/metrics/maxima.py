"""Maxima over subgroups and cells: maxECE and MC, against what chance alone gives the largest of so many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.cell_layout import CellLayout
from calcore.metrics.cells import Cells, cells
from calcore.metrics.inversion import invert
from calcore.metrics.results import CalibrationError, provenance
from calcore.metrics.uncertainty import honest_interval
from calcore.subgroups import Membership
from calcore.validation import Floats


def max_ece(
    evidence: Evidence,
    bins: int | Bins = 10,
    min_mass: float = 0.0,
    *,
    include_all: bool = False,
    pool: Membership | None = None,
) -> CalibrationError:
    """The largest ECE of any subgroup of mass above ``min_mass``, each by its own mass.

    ``pool``: the subgroups of a full sample of the population, labels or not, whose shares are then the masses
    (WLMC, Eq. 75); else the corrected masses of the evidence are.

    The whole population is left out unless ``include_all`` or there are no subgroups. NaN with a reason where
    no subgroup is heavy enough.
    """
    layout = CellLayout.of(evidence, bins, "width", True)
    table = cells(evidence, layout.bins)
    every_mass = table.group_mass if pool is None else pool_mass(pool, table.groups)
    used = _used(table, include_all) & (every_mass > min_mass)
    if not used.any():
        return _nothing(evidence, "maxECE", layout.bins, f"no subgroup has a mass above {min_mass:g}")
    mass = every_mass[used]
    errors = np.abs(table.moment[used]).sum(axis=1) / mass
    worst = int(np.flatnonzero(used)[np.argmax(errors)])

    def statistic(moments: Floats) -> Floats:
        return (np.abs(moments).sum(axis=2) / mass).max(axis=1)

    return _maximum(evidence, "maxECE", layout, table, used, statistic, table.groups[worst])


def pool_mass(pool: Membership, groups: tuple[str, ...]) -> Floats:
    """Share of the rows of ``pool`` in each of ``groups``, the whole population first, (groups,) (WLMC, Eq. 75).

    Raises InputError unless the pool has the same subgroups in the same order.
    """
    if pool.names != groups[1:]:
        raise InputError("the pool of rows must have the same subgroups as the evidence, in the same order")
    rows = np.bincount(pool.pattern, minlength=pool.table.shape[0])
    return np.concatenate([[1.0], (pool.table.T @ rows) / max(len(pool.pattern), 1)])


def multicalibration_error(
    evidence: Evidence, bins: int | Bins = 10, *, include_all: bool = False
) -> CalibrationError:
    """MC: the largest |moment| over all cells of the subgroups."""
    layout = CellLayout.of(evidence, bins, "width", True)
    table = cells(evidence, layout.bins)
    used = _used(table, include_all)
    size = np.abs(table.moment) * used[:, None]
    group, place = np.unravel_index(int(np.argmax(size)), size.shape)

    def statistic(moments: Floats) -> Floats:
        return np.abs(moments).max(axis=(1, 2))

    where = f"{table.groups[group]}, score {layout.bins.label(int(place))}"
    return _maximum(evidence, "MC", layout, table, used, statistic, where)


def _used(table: Cells, include_all: bool) -> NDArray[np.bool_]:
    used = np.ones(len(table.groups), dtype=bool)
    used[0] = include_all or len(table.groups) == 1
    return used


def _maximum(
    evidence: Evidence,
    name: str,
    layout: CellLayout,
    table: Cells,
    used: NDArray[np.bool_],
    statistic: Callable[[Floats], Floats],
    where: str,
) -> CalibrationError:
    observed = float(statistic(table.moment[None, used])[0])
    noise = layout.noise()[:, used]
    result = invert(statistic, observed, table.moment[used], table.error[used] ** 2, noise)
    return CalibrationError(
        name=name,
        value=observed,
        interval=honest_interval(evidence, result.interval, 1.0),
        standard_error=None,
        noise_floor=result.noise_floor,
        noise_limit=result.noise_limit,
        debiased=result.debiased,
        bins=len(layout.bins),
        where=where,
        **provenance(evidence),
    )


def _nothing(evidence: Evidence, name: str, bins: Bins, reason: str) -> CalibrationError:
    return CalibrationError(
        name=name,
        value=float("nan"),
        interval=None,
        standard_error=None,
        bins=len(bins),
        **provenance(evidence, reason),
    )
