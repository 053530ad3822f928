"""Metrics: one implementation of each, for every observation model; every result carries its error."""

from calcore.metrics.binning import Bins
from calcore.metrics.calibration_error import adaptive_ece, classwise_ece, ece, mce
from calcore.metrics.cell_layout import EVERYONE
from calcore.metrics.cells import Cells, cells
from calcore.metrics.maxima import max_ece, multicalibration_error
from calcore.metrics.reliability import Reliability, reliability
from calcore.metrics.results import CalibrationError, Estimate
from calcore.metrics.scores import ClassErrors, auc, brier, class_errors, log_loss, macro_f1

__all__ = [
    "EVERYONE",
    "Bins",
    "CalibrationError",
    "Cells",
    "ClassErrors",
    "Estimate",
    "Reliability",
    "adaptive_ece",
    "auc",
    "brier",
    "cells",
    "class_errors",
    "classwise_ece",
    "ece",
    "log_loss",
    "macro_f1",
    "max_ece",
    "mce",
    "multicalibration_error",
    "reliability",
]
