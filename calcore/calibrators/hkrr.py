"""HKRR: the first multicalibration algorithm, which patches one subgroup and score range at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.discretised import Discretised
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.map_function import MapFunction
from calcore.maps.patches import EVERYONE, PatchesFunction
from calcore.metrics.binning import MAX_BINS
from calcore.validation import fraction, whole_number


@dataclass(frozen=True)
class BoostAudit:
    """What boosting did: ``rounds`` taken, why it ``stopped`` ("nothing left to correct" or "rounds"), and the largest
    |moment| of a cell that counts, ``before`` and ``after``."""

    rounds: int
    stopped: str
    before: float
    after: float


class HKRR(Calibrator):
    """Multicalibration by patches on discretised scores (Hebert-Johnson, Kim, Reingold, Rothblum 2018, Algorithm 1).

    Scores are set to the mean of their bin of width ``width`` (lambda). Subgroups, and everyone, are gone through in
    turn and bin by bin: where the event rate is off the mean score by more than ``alpha``, the scores of the cell move
    by the difference, until a whole turn changes nothing. Cells of less than alpha lambda times their subgroup's mass
    are left alone, as in the paper. The paper's answers to statistical queries come from as many rows as are needed;
    here a difference within ``noise`` standard errors is answered "right" (0: every answer is taken at face value).
    Scores are discretised before rather than after: at the end, cells then hold no mixture of scores that the map could
    still tell apart. A reference for clean labels; other evidence is corrected by its own masses.
    Fitted: ``audit_`` (BoostAudit).
    """

    title = "HKRR"
    summary = "The classic multicalibration algorithm, as a reference: steps of fixed width in the scores."
    needs_groups = True

    def __init__(
        self, alpha: float = 0.01, width: float = 0.05, noise: float = 2.0, max_rounds: int = 10_000
    ) -> None:
        self.alpha = alpha
        self.width = width
        self.noise = noise
        self.max_rounds = max_rounds

    def _check_parameters(self) -> None:
        fraction(self.alpha, "alpha of HKRR")
        check_width(self.width, "HKRR")
        whole_number(self.max_rounds, "max_rounds", 0, 100_000)
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise InputError(f"noise, in standard errors, must be at least 0, got {self.noise!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        if evidence.membership is None:
            self._warn("no subgroups: only the scores of everyone are corrected")
        table = Discretised.of(evidence, round(1 / self.width))
        patches: list[tuple[int, int, float]] = []
        before, wrong = self._state(table)
        turn, stopped = 0, "rounds"
        while len(patches) < self.max_rounds:
            if not wrong.any():
                stopped = "nothing left to correct"
                break
            # the next cell in turn that is wrong, from where the last patch was made
            order = np.flatnonzero(wrong.ravel())
            cell = int(order[np.searchsorted(order, turn) % order.size])
            group, place = divmod(cell, len(table.bins))
            moment, mass, _ = table.cells()
            step = float(np.clip(moment[group, place] / mass[group, place], -1.0, 1.0))
            inside = table.inside(group, place)
            table.score[inside] = np.clip(table.score[inside] + step, 0.0, 1.0)
            patches.append((group - 1 if group else EVERYONE, place, step))
            turn = cell + 1
            after, wrong = self._state(table)
        after, _ = self._state(table)
        self.audit_ = BoostAudit(len(patches), stopped, before, after)
        if stopped == "rounds" and self.max_rounds:
            self._warn(f"stopped after {self.max_rounds:,} patches, with cells still to correct")
        return PatchesFunction(first=table.first, bins=len(table.bins), patches=tuple(patches))

    def _state(self, table: Discretised) -> tuple[float, np.ndarray]:
        """The largest |moment| of a cell that counts, and which cells are off, (groups, bins)."""
        moment, mass, error = table.cells()
        counts = mass > np.maximum(self.alpha * self.width * mass.sum(axis=1, keepdims=True), 1e-12)
        size = np.where(counts, np.abs(moment), 0.0)
        limit = np.maximum(self.alpha * mass, self.noise * error)
        return float(size.max()), counts & (size > limit + 1e-12)


def check_width(width: float, name: str) -> None:
    """Raise InputError unless ``width`` is 1 / k of the score axis for a whole k."""
    if not (np.isfinite(width) and 1 / MAX_BINS <= width <= 1 and abs(1 / width - round(1 / width)) < 1e-9):
        raise InputError(f"the width of {name}'s score ranges must be 1, 1/2, 1/3, ..., got {width!r}")
