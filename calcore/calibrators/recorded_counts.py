"""Recorded labels counted at each score: what methods see that need labels one by one, not estimates of masses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.observation import Noisy
from calcore.sums import sum_by
from calcore.validation import Floats


@dataclass(frozen=True, eq=False)
class RecordedCounts:
    """Distinct ``score`` (m,) ascending, the ``size`` in rows at each and how many of them are ``positive``.

    A row of weight 2 is two rows. ``rho0`` and ``slope`` = 1 - rho0 - rho1 are of the flips that the evidence knows.
    """

    score: Floats
    size: Floats
    positive: Floats
    rho0: float
    slope: float

    @classmethod
    def of(cls, evidence: Evidence, title: str) -> RecordedCounts:
        """Counts of evidence that has recorded labels. DoesNotExist where flip rates differ between groups."""
        assert evidence.label is not None
        model = evidence.model
        rho0, slope = 0.0, 1.0
        if isinstance(model, Noisy) and model.known:
            if not (isinstance(model.rho0, float) and isinstance(model.rho1, float)):
                raise DoesNotExist(
                    f"{title} does not exist where flip rates differ between groups: one curve of recorded labels "
                    "cannot be corrected for all of them"
                )
            rho0, slope = model.rho0, 1.0 - model.rho0 - model.rho1
        used = evidence.weight > 0
        score, place = np.unique(evidence.score[used], return_inverse=True)
        weight = evidence.weight[used]
        size = sum_by(place, weight, score.size)
        return cls(score, size, sum_by(place, weight * evidence.label[used], score.size), rho0, slope)

    @property
    def one_class(self) -> bool:
        """Are all recorded labels equal?"""
        return bool(self.positive.sum() in (0.0, self.size.sum()))

    def true_rate(self, recorded: Floats) -> Floats:
        """P(Y=1), in [0, 1], where the rate of recorded positives is ``recorded``."""
        return np.clip((recorded - self.rho0) / self.slope, 0.0, 1.0)
