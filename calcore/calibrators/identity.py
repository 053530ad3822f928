"""No calibration: the score as it is, the reference of every comparison."""

from __future__ import annotations

from calcore.calibrators.base import Calibrator
from calcore.evidence import Evidence
from calcore.maps.functions import IdentityFunction
from calcore.maps.map_function import MapFunction


class Identity(Calibrator):
    """The map g(p) = p."""

    title = "No change"
    summary = "The score as it is."
    keeps_order = True

    def _fit(self, evidence: Evidence) -> MapFunction:
        return IdentityFunction()
