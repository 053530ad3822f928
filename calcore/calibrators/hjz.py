"""HJZ: multicalibration as a game between a predictor and whoever looks for the worst cell."""

from __future__ import annotations

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.discretised import Discretised
from calcore.calibrators.hkrr import BoostAudit, check_width
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps import elementary
from calcore.maps.map_function import MapFunction
from calcore.maps.patches import EVERYONE, LOG_ODDS_CLIP, LogOddsPatchesFunction
from calcore.validation import Floats, whole_number


class HJZ(Calibrator):
    """Multicalibration as a repeated game (Haghtalab, Jordan and Zhao 2023, "A Unifying Perspective").

    Of the paper's variants the one of no-regret against best response: each round the adversary names the subgroup,
    or everyone, and the score range of width ``width`` whose |moment| is largest; the learner answers with Hedge over
    the two labels of every row there, which is a step of ``eta`` in log-odds. The game ends where no cell of mass
    ``min_mass`` is clear of 0 by ``noise`` standard errors, or after ``rounds``; kept is the round whose largest
    |moment| was smallest, one predictor and not the paper's draw among all rounds. A reference for clean labels;
    other evidence is corrected by its own masses. Fitted: ``audit_`` (BoostAudit).
    """

    title = "HJZ"
    summary = "Multicalibration as a game, as a reference: small steps on the log-odds of the worst cell."
    needs_groups = True

    def __init__(
        self,
        eta: float = 0.05,
        width: float = 0.05,
        min_mass: float = 0.005,
        noise: float = 2.0,
        rounds: int = 1000,
    ) -> None:
        self.eta = eta
        self.width = width
        self.min_mass = min_mass
        self.noise = noise
        self.rounds = rounds

    def _check_parameters(self) -> None:
        check_width(self.width, "HJZ")
        whole_number(self.rounds, "rounds", 0, 100_000)
        if not (0 < self.eta <= 1 and 0 <= self.min_mass < 1 and np.isfinite(self.noise) and self.noise >= 0):
            raise InputError("HJZ needs eta in (0, 1], a minimum mass in [0, 1) and noise of at least 0")

    def _fit(self, evidence: Evidence) -> MapFunction:
        if evidence.membership is None:
            self._warn("no subgroups: only the scores of everyone are corrected")
        table = Discretised.of(evidence, round(1 / self.width))
        patches: list[tuple[int, int, float]] = []
        violations: list[float] = []
        stopped = "rounds"
        while True:
            size, moment = self._worst(table)
            violations.append(float(np.abs(moment * (size >= 0)).max()))
            if size.max() <= 0:
                stopped = "nothing left to correct"
                break
            if len(patches) >= self.rounds:
                break
            group, place = divmod(int(np.argmax(size)), len(table.bins))
            step = self.eta * float(np.sign(moment[group, place]))
            inside = table.inside(group, place)
            q = np.clip(table.score[inside], LOG_ODDS_CLIP, 1.0 - LOG_ODDS_CLIP)
            table.score[inside] = elementary.sigmoid(elementary.log(q / (1.0 - q)) + step)
            patches.append((group - 1 if group else EVERYONE, place, step))
        kept = int(np.argmin(violations))
        self.audit_ = BoostAudit(kept, stopped, violations[0], violations[kept])
        return LogOddsPatchesFunction(first=table.first, bins=len(table.bins), patches=tuple(patches[:kept]))

    def _worst(self, table: Discretised) -> tuple[Floats, Floats]:
        """|moment| of each cell, 0 where within noise and -1 where its mass does not count; and the moments."""
        moment, mass, error = table.cells()
        size = np.where(np.abs(moment) > np.maximum(self.noise * error, 1e-12), np.abs(moment), 0.0)
        return np.where(mass >= max(self.min_mass, 1e-12), size, -1.0), moment
