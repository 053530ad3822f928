"""Calibrators: each learns a calibration map from any evidence. Adding one is one file."""

from calcore.calibrators.base import REGISTRY, Calibrator
from calcore.calibrators.beta import Beta
from calcore.calibrators.histogram import HistogramBinning
from calcore.calibrators.identity import Identity
from calcore.calibrators.isotonic import Isotonic
from calcore.calibrators.loss_weighted import GateAudit, GatedLWCal, LWCal
from calcore.calibrators.platt import Platt, Temperature
from calcore.calibrators.trimmed import TrimmedBeta, TrimmedIsotonic
from calcore.calibrators.wlmc import WLMC, PatchedWLMC

#: The calibrator that is offered first where labels are noisy.
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
