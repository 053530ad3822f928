"""Histogram binning: each bin's event rate."""

from __future__ import annotations

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.evidence import Evidence
from calcore.maps.functions import ConstantFunction, StepFunction
from calcore.maps.map_function import MapFunction
from calcore.metrics.binning import Bins
from calcore.sums import sum_by


class HistogramBinning(Calibrator):
    """The event rate of each bin, cut to [0, 1]; a bin without mass keeps its middle.

    ``bins`` of the ``strategy`` "width" or "mass".
    """

    title = "Histogram"
    summary = "The event rate of each bin: easy to explain, jumps at the edges."

    def __init__(self, bins: int = 10, strategy: str = "width") -> None:
        self.bins = bins
        self.strategy = strategy

    def _fit(self, evidence: Evidence) -> MapFunction:
        bins = Bins.of(evidence, self.bins, self.strategy)
        if bins.edges[0] == bins.edges[-1]:
            return ConstantFunction(value=float(np.clip(evidence.base_rate, 0.0, 1.0)))
        key, count = bins.index(evidence.score), len(bins)
        positive = sum_by(key, evidence.positive, count)
        mass = sum_by(key, evidence.mass, count)
        middle = (bins.edges[:-1] + bins.edges[1:]) / 2
        values = np.divide(positive, mass, out=middle, where=mass > 1e-12)
        empty = int((mass <= 1e-12).sum())
        if empty:
            self._warn(f"{empty} of {count} bins hold no mass: they keep the middle of the bin")
        return StepFunction(edges=bins.edges, values=np.clip(values, 0.0, 1.0))
