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
from calcore.maps.onnx_model import ONNX_TOLERANCE, to_onnx, verify_onnx
from calcore.maps.patches import LogOddsPatchesFunction, PatchesFunction
from calcore.maps.python_module import to_python
from calcore.maps.run_sql import verify_sql
from calcore.maps.scored import safe_csv, scored_csv, scored_csv_chunks
from calcore.maps.sklearn_estimators import CalibratedClassifier, MapEstimator, as_sklearn
from calcore.maps.sql import SQL_TOLERANCE, sql_file, to_sql
from calcore.maps.verify import Verification, probe_scores, verify_json, verify_python

__all__ = [
    "ONNX_TOLERANCE",
    "SQL_TOLERANCE",
    "BetaFunction",
    "BlendFunction",
    "BoostedTreesFunction",
    "CalibratedClassifier",
    "CalibrationMap",
    "ConstantFunction",
    "GroupLogisticFunction",
    "IdentityFunction",
    "LogOddsPatchesFunction",
    "LogisticFunction",
    "MapEstimator",
    "MapFunction",
    "PatchesFunction",
    "PiecewiseLinearFunction",
    "StepFunction",
    "Verification",
    "as_sklearn",
    "checked_scores",
    "function_from_dict",
    "json_schema",
    "probe_scores",
    "safe_csv",
    "scored_csv",
    "scored_csv_chunks",
    "sql_file",
    "to_onnx",
    "to_python",
    "to_sql",
    "verify_json",
    "verify_onnx",
    "verify_python",
    "verify_sql",
]
