"""Paired differences between candidates that were measured on the same rows, each by its own way to an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.evidence import Evidence
from calcore.metrics.bootstrap import PairedBootstrap, paired_bootstrap
from calcore.metrics.differences import Difference, ece_difference, mc_difference
from calcore.metrics.scores import LOG_CLIP, brier_terms, log_loss_terms


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidates by name, each the same rows at its own scores, and one bootstrap that all their pairs share.

    Brier and log loss differ by paired draws; ECE and MC, which must not be bootstrapped, by their own intervals.
    ``bins`` are those of ECE and MC, ``clip`` that of the log loss.
    """

    measured: dict[str, Evidence]
    bootstraps: dict[str, PairedBootstrap]
    bins: int
    clip: float

    @classmethod
    def of(cls, measured: dict[str, Evidence], bins: int = 10, clip: float = LOG_CLIP) -> Pairs:
        sides = list(measured.values())
        terms = {
            "Brier": np.column_stack([brier_terms(one) for one in sides]),
            "log loss": np.column_stack([log_loss_terms(one, clip) for one in sides]),
        }
        return cls(measured, paired_bootstrap(sides[0], terms), bins, clip)

    @property
    def level(self) -> float:
        """Level of each interval so that all those to one calibrator hold together at 95 %."""
        return 1 - 0.05 / max(len(self.measured) - 1, 1)

    def difference(self, kind: str, one: str, other: str) -> Difference:
        if kind in self.bootstraps:
            names = list(self.measured)
            return self.bootstraps[kind].difference(names.index(one), names.index(other)).at_level(self.level)
        measure = ece_difference if kind == "ECE" else mc_difference
        return measure(self.measured[one], self.measured[other], self.bins).at_level(self.level)
