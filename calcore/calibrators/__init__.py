"""Calibrators: each learns a calibration map from any evidence.

Each registers itself when its file is imported; the files of this package are found by name, so that a new
calibrator needs nothing but a new file.
"""

import importlib
import pkgutil

from calcore.calibrators.base import REGISTRY, Calibrator
from calcore.calibrators.bayesian_forward_platt import BayesianForwardPlatt, ForwardAudit
from calcore.calibrators.bbq import BBQ
from calcore.calibrators.beta import Beta
from calcore.calibrators.blend import Blend
from calcore.calibrators.centered_isotonic import CenteredIsotonic
from calcore.calibrators.forward_platt import ForwardPlatt, ForwardPlattAudit
from calcore.calibrators.group_platt import GroupPlatt, GroupPlattAudit
from calcore.calibrators.histogram import HistogramBinning
from calcore.calibrators.hjz import HJZ
from calcore.calibrators.hkrr import HKRR, BoostAudit
from calcore.calibrators.identity import Identity
from calcore.calibrators.inverted_isotonic import InvertedIsotonic
from calcore.calibrators.isotonic import Isotonic
from calcore.calibrators.loss_weighted import GateAudit, GatedLWCal, LWCal
from calcore.calibrators.mcgrad import MCGrad
from calcore.calibrators.platt import Platt, Temperature
from calcore.calibrators.sharpen import Sharpen
from calcore.calibrators.spline import Spline
from calcore.calibrators.trimmed import TrimmedBeta, TrimmedIsotonic
from calcore.calibrators.venn_abers import VennAbers
from calcore.calibrators.wlmc import WLMC, PatchedWLMC

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

#: The calibrator for noisy labels where nobody names another: of those that do not move scores that are right, the
#: best in ``calcore.studies.lwcal``.
DEFAULT_NOISY = BayesianForwardPlatt

__all__ = [
    "BBQ",
    "DEFAULT_NOISY",
    "HJZ",
    "HKRR",
    "REGISTRY",
    "WLMC",
    "BayesianForwardPlatt",
    "Beta",
    "Blend",
    "BoostAudit",
    "Calibrator",
    "CenteredIsotonic",
    "ForwardAudit",
    "ForwardPlatt",
    "ForwardPlattAudit",
    "GateAudit",
    "GatedLWCal",
    "GroupPlatt",
    "GroupPlattAudit",
    "HistogramBinning",
    "Identity",
    "InvertedIsotonic",
    "Isotonic",
    "LWCal",
    "MCGrad",
    "PatchedWLMC",
    "Platt",
    "Sharpen",
    "Spline",
    "Temperature",
    "TrimmedBeta",
    "TrimmedIsotonic",
    "VennAbers",
]
