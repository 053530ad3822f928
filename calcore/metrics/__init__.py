"""Metrics: one implementation of each, for every observation model; every result carries its error."""

from calcore.metrics.binning import Bins
from calcore.metrics.by_group import GroupValues, by_group
from calcore.metrics.calibration_error import adaptive_ece, classwise_ece, ece, mce
from calcore.metrics.cell_layout import EVERYONE
from calcore.metrics.cells import Cells, cells
from calcore.metrics.corp import Corp, corp
from calcore.metrics.cumulative import CumulativeError, ecce, ecce_range
from calcore.metrics.decisions import DecisionCurve, decision_curve, expected_cost, net_benefit
from calcore.metrics.decomposition import ScoreDecomposition, score_decomposition
from calcore.metrics.hosmer_lemeshow import hosmer_lemeshow
from calcore.metrics.maxima import max_ece, multicalibration_error
from calcore.metrics.recalibration import (
    Slope,
    calibration_intercept,
    calibration_slope,
    recalibration_test,
)
from calcore.metrics.reliability import Reliability, reliability
from calcore.metrics.results import CalibrationError, CalibrationTest, Estimate
from calcore.metrics.scores import ClassErrors, auc, brier, class_errors, log_loss, macro_f1
from calcore.metrics.smooth import SmoothError, smooth_ece
from calcore.metrics.spiegelhalter import spiegelhalter
from calcore.metrics.sweep import debiased_ece, sweep_ece

__all__ = [
    "EVERYONE",
    "Bins",
    "CalibrationError",
    "CalibrationTest",
    "Cells",
    "ClassErrors",
    "Corp",
    "CumulativeError",
    "DecisionCurve",
    "Estimate",
    "GroupValues",
    "Reliability",
    "ScoreDecomposition",
    "Slope",
    "SmoothError",
    "adaptive_ece",
    "auc",
    "brier",
    "by_group",
    "calibration_intercept",
    "calibration_slope",
    "cells",
    "class_errors",
    "classwise_ece",
    "corp",
    "debiased_ece",
    "decision_curve",
    "ecce",
    "ecce_range",
    "ece",
    "expected_cost",
    "hosmer_lemeshow",
    "log_loss",
    "macro_f1",
    "max_ece",
    "mce",
    "multicalibration_error",
    "net_benefit",
    "recalibration_test",
    "reliability",
    "score_decomposition",
    "smooth_ece",
    "spiegelhalter",
    "sweep_ece",
]
