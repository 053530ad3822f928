"""Sharpening without labels: the control that a calibrator for noisy labels must beat."""

from __future__ import annotations

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.logistic import CLIP
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import LogisticFunction
from calcore.maps.map_function import MapFunction


class Sharpen(Calibrator):
    """sigmoid(``factor`` logit(p)), whatever the labels are.

    A calibrator that does no better than this has learned nothing from the labels: the base model was merely
    under-confident.
    """

    title = "Sharpen (no labels)"
    summary = "A control that looks at no label: what cannot beat it has learned nothing from the labels."
    keeps_order = True

    def __init__(self, factor: float = 2.5, clip: float = CLIP) -> None:
        self.factor = factor
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise InputError(f"the factor of the log-odds must be above 0, got {self.factor!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        return LogisticFunction(slope=self.factor, intercept=0.0, clip=self.clip)
