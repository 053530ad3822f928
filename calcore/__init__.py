"""Calibration of classifier scores whose labels are clean, noisy or weak."""

from calcore import ingest, metrics
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.subgroups import Subgroup

__all__ = ["Evidence", "InputError", "Subgroup", "ingest", "metrics"]
