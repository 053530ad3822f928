"""The basics of probability calibration as small computations whose every step can be looked at."""

from calcore.lessons.arithmetic import ErrorArithmetic, contributions, ece_arithmetic
from calcore.lessons.families import Family, certainty_gap, family_tendencies, recalibration_slope
from calcore.lessons.growth import Growth, GrowthLine, calibration_set_growth
from calcore.lessons.pava_steps import Block, Pooling, PoolingStep, pava_steps, ten_points
from calcore.lessons.platt_by_hand import PlattByHand, PlattSteps, platt_by_hand, platt_steps
from calcore.lessons.temperatures import AtTemperature, TemperatureCurve, temperature_curve

__all__ = [
    "AtTemperature",
    "Block",
    "ErrorArithmetic",
    "Family",
    "Growth",
    "GrowthLine",
    "PlattByHand",
    "PlattSteps",
    "Pooling",
    "PoolingStep",
    "TemperatureCurve",
    "calibration_set_growth",
    "certainty_gap",
    "contributions",
    "ece_arithmetic",
    "family_tendencies",
    "pava_steps",
    "platt_by_hand",
    "platt_steps",
    "recalibration_slope",
    "temperature_curve",
    "ten_points",
]
