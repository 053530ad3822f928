"""Calibrators: each learns a calibration map from any evidence.

Each registers itself when its file is imported; the files of this package are found by name, so that a new
calibrator needs nothing but a new file.
"""

import importlib
import pkgutil

from calcore.calibrators.base import REGISTRY, Calibrator
from calcore.calibrators.beta import Beta
from calcore.calibrators.histogram import HistogramBinning
from calcore.calibrators.identity import Identity
from calcore.calibrators.isotonic import Isotonic
from calcore.calibrators.loss_weighted import GateAudit, GatedLWCal, LWCal
from calcore.calibrators.platt import Platt, Temperature
from calcore.calibrators.trimmed import TrimmedBeta, TrimmedIsotonic
from calcore.calibrators.wlmc import WLMC, PatchedWLMC

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

#: The calibrator for noisy labels where nobody names another.
DEFAULT_NOISY = GatedLWCal

__all__ = [
    "DEFAULT_NOISY",
    "REGISTRY",
    "WLMC",
    "Beta",
    "Calibrator",
    "GateAudit",
    "GatedLWCal",
    "HistogramBinning",
    "Identity",
    "Isotonic",
    "LWCal",
    "PatchedWLMC",
    "Platt",
    "Temperature",
    "TrimmedBeta",
    "TrimmedIsotonic",
]
