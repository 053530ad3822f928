"""Calibration maps: fitted functions with their provenance, saved, loaded, exported and verified."""

from calcore.maps.boosted_trees import BoostedTreesFunction
from calcore.maps.calibration_map import CalibrationMap, json_schema
from calcore.maps.functions import (
    BetaFunction,
    BlendFunction,
    ConstantFunction,
    IdentityFunction,
    LogisticFunction,
    PiecewiseLinearFunction,
    StepFunction,
)
from calcore.maps.group_logistic import GroupLogisticFunction
from calcore.maps.map_function import MapFunction, checked_scores, function_from_dict
from calcore.maps.patches import LogOddsPatchesFunction, PatchesFunction
from calcore.maps.python_module import to_python
from calcore.maps.scored import safe_csv, scored_csv, scored_csv_chunks
from calcore.maps.verify import Verification, probe_scores, verify_json, verify_python

__all__ = [
    "BetaFunction",
    "BlendFunction",
    "BoostedTreesFunction",
    "CalibrationMap",
    "ConstantFunction",
    "GroupLogisticFunction",
    "IdentityFunction",
    "LogOddsPatchesFunction",
    "LogisticFunction",
    "MapFunction",
    "PatchesFunction",
    "PiecewiseLinearFunction",
    "StepFunction",
    "Verification",
    "checked_scores",
    "function_from_dict",
    "json_schema",
    "probe_scores",
    "safe_csv",
    "scored_csv",
    "scored_csv_chunks",
    "to_python",
    "verify_json",
    "verify_python",
]
