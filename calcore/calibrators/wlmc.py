"""WLMC: multicalibration by boosting on corrected cell moments, under any observation model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.platt import Platt
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import IdentityFunction
from calcore.maps.map_function import MapFunction
from calcore.maps.patches import PatchesFunction
from calcore.metrics.binning import Bins
from calcore.metrics.cells import Cells, cells
from calcore.validation import Floats, whole_number

UPDATES = ("step", "patch", "half patch")
#: A patch never moves scores further than this: corrected masses can be tiny.
LARGEST_PATCH = 0.5


@dataclass(frozen=True)
class Round:
    """One update: ``group`` (position among the subgroups, -1 for everyone) and ``bin`` of the cell, its moment ``violation`` and
    corrected ``mass`` before, the ``step`` that its scores moved, and how many ``rows`` it touched."""

    round: int
    group: int
    name: str
    bin: int
    violation: float
    mass: float
    step: float
    rows: int


@dataclass(frozen=True, eq=False)
class WLMCAudit:
    """The trajectory: ``rounds``, why it ``stopped`` ("below alpha", "within noise" or "rounds"), the largest
    |moment| left (``max_violation``) and the final scores of the evidence's rows (``score``, (n,))."""

    rounds: tuple[Round, ...]
    stopped: str
    max_violation: float
    score: Floats

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class WLMC(Calibrator):
    """Weak-label multicalibration boost, by default exactly as in the paper (WLMC, Algorithm 1, H.3, Table 3).

    Each round moves the scores of the cell with the largest |corrected moment|, among cells whose corrected mass
    is at least ``min_mass``: by ``eta`` towards 0 (``update`` "step"), or by moment / mass, at most .5 ("patch",
    "half patch"). ``select`` "gain" takes the largest moment^2 / mass instead. It stops after ``rounds`` or
    when the largest |moment| is at most ``alpha``; with ``noise`` above 0, cells within that many standard errors of
    0, by the larger of the Wald and the score error, are left alone. ``platt_first`` starts from a Platt fit.
    The whole population is searched too with ``include_all``, and alone where there are no subgroups. Fitted: ``audit_`` (WLMCAudit).
    """

    title = "WLMC"
    summary = "Corrects one subgroup and score range at a time, as in its paper; needs subgroups."
    needs_groups = True

    def __init__(
        self,
        eta: float = 0.05,
        rounds: int = 50,
        alpha: float = 0.005,
        min_mass: float = 0.01,
        bins: int = 10,
        update: str = "step",
        select: str = "moment",
        noise: float = 0.0,
        platt_first: bool = False,
        include_all: bool = False,
    ) -> None:
        self.eta = eta
        self.rounds = rounds
        self.alpha = alpha
        self.min_mass = min_mass
        self.bins = bins
        self.update = update
        self.select = select
        self.noise = noise
        self.platt_first = platt_first
        self.include_all = include_all

    def _check_parameters(self) -> None:
        whole_number(self.rounds, "rounds", 0, 100_000)
        if self.update not in UPDATES:
            raise InputError(f"the update of WLMC is one of {', '.join(UPDATES)}, got {self.update!r}")
        if self.select not in ("moment", "gain"):
            raise InputError(f'WLMC selects by "moment" or "gain", got {self.select!r}')
        if not (0 < self.eta <= 1 and self.alpha >= 0 and 0 <= self.min_mass < 1 and self.noise >= 0):
            raise InputError(
                "WLMC needs eta in (0, 1], alpha and noise of at least 0 and a minimum mass in [0, 1)"
            )

    def _fit(self, evidence: Evidence) -> MapFunction:
        if evidence.membership is None:
            self._warn("no subgroups: only the scores of everyone are corrected")
        first: MapFunction = Platt().fit(evidence).map_.function if self.platt_first else IdentityFunction()
        current = evidence.with_score(first(evidence.score))
        edges = Bins.equal_width(self.bins)
        done: list[Round] = []
        stopped = "rounds"
        table = cells(current, edges)
        while len(done) < self.rounds:
            found = self._worst(table)
            if found is None:
                stopped = (
                    "within noise" if self.noise and self._largest(table) > self.alpha else "below alpha"
                )
                break
            current, entry = self._moved(current, table, edges, len(done), *found)
            done.append(entry)
            table = cells(current, edges)
        self.audit_ = WLMCAudit(tuple(done), stopped, self._largest(table), current.score)
        patches = tuple((entry.group, entry.bin, entry.step) for entry in done)
        return PatchesFunction(first=first, bins=self.bins, patches=patches)

    def _eligible(self, table: Cells) -> np.ndarray:
        eligible = table.mass >= self.min_mass
        eligible[0] &= self.include_all or len(table.groups) == 1
        return eligible

    def _largest(self, table: Cells) -> float:
        return float(np.abs(np.where(self._eligible(table), table.moment, 0.0)).max())

    def _worst(self, table: Cells) -> tuple[int, int] | None:
        """Row and bin of the cell to move, the first in C order among equals; None when it is time to stop."""
        eligible = self._eligible(table)
        size = np.where(eligible, np.abs(table.moment), 0.0)
        if size.max() <= self.alpha and not self.noise:
            return None
        if self.noise:
            clear = eligible & (np.abs(table.moment) > self.noise * table.error)
            size = np.where(clear, size, 0.0)
            if not size.any():
                return None
        if self.select == "gain":
            size = np.divide(size**2, table.mass, out=np.zeros_like(size), where=table.mass > 0)
        row, place = np.unravel_index(int(np.argmax(size)), size.shape)
        return int(row), int(place)

    def _moved(
        self, current: Evidence, table: Cells, edges: Bins, number: int, row: int, place: int
    ) -> tuple[Evidence, Round]:
        violation, mass = float(table.moment[row, place]), float(table.mass[row, place])
        if self.update == "step":
            step = self.eta * float(np.sign(violation))
        else:
            full = violation / mass if mass > 0 else np.sign(violation) * LARGEST_PATCH
            step = float(
                np.clip(full * (0.5 if self.update == "half patch" else 1.0), -LARGEST_PATCH, LARGEST_PATCH)
            )
        inside = edges.index(current.score) == place
        if row > 0:
            assert current.membership is not None
            inside &= current.membership.mask(row - 1)
        score = current.score.copy()
        score[inside] = np.clip(score[inside] + step, 0.0, 1.0)
        entry = Round(
            number, row - 1, table.groups[row], place, violation, mass, step, int(current.count[inside].sum())
        )
        return current.with_score(score), entry


class PatchedWLMC(WLMC):
    """WLMC in the form that measures best: Platt first, then patches of cells that are clear of noise.

    The same class as WLMC with other defaults, chosen on ``calcore.studies.acs_income``: the whole population is
    searched too, and a cell counts from a mass of .005 and 2.5 standard errors.
    """

    title = "WLMC, patched"
    summary = "Platt, then one subgroup and score range at a time, stopping where only noise is left."

    def __init__(
        self,
        eta: float = 0.05,
        rounds: int = 200,
        alpha: float = 0.0,
        min_mass: float = 0.005,
        bins: int = 10,
        update: str = "patch",
        select: str = "moment",
        noise: float = 2.5,
        platt_first: bool = True,
        include_all: bool = True,
    ) -> None:
        super().__init__(eta, rounds, alpha, min_mass, bins, update, select, noise, platt_first, include_all)
