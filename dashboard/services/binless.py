"""What the Reliability page shows without bins: the isotonic curve, the decision curve, and a table of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from calcore import metrics
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from dashboard.services.memory import once
from dashboard.services.results import Analysis, predicted_by

#: Numbers of the table, by name.
NUMBERS: dict[str, Callable[[Evidence], metrics.Estimate]] = {
    "Smooth ECE": metrics.smooth_ece,
    "ECCE (largest cumulative error)": metrics.ecce,
    "Spiegelhalter z": metrics.spiegelhalter,
    "Calibration slope": metrics.calibration_slope,
    "Calibration intercept": metrics.calibration_intercept,
    "Slope 1 and intercept 0": metrics.recalibration_test,
    "Miscalibration (Brier)": metrics.score_decomposition,
}


def _evidence(found: Analysis, name: str, group: int | None) -> Evidence:
    evidence = predicted_by(found, name)
    return evidence.without_groups() if group is None else evidence.group(group)


def _key(kind: str, found: Analysis, name: str, group: int | None) -> tuple[Any, ...]:
    return (kind, *found.key, found.settings.measure_on, name, group)


def corp_of(found: Analysis, name: str, group: int | None) -> metrics.Corp:
    return once(_key("corp", found, name, group), lambda: metrics.corp(_evidence(found, name, group)))


def decision_curve_of(found: Analysis, name: str, group: int | None) -> metrics.DecisionCurve:
    return once(
        _key("decisions", found, name, group), lambda: metrics.decision_curve(_evidence(found, name, group))
    )


def numbers_of(found: Analysis, name: str, group: int | None) -> dict[str, metrics.Estimate | str]:
    """Each number of the table, or why it does not exist."""

    def compute() -> dict[str, metrics.Estimate | str]:
        evidence, made = _evidence(found, name, group), dict[str, metrics.Estimate | str]()
        for title, metric in NUMBERS.items():
            try:
                made[title] = metric(evidence)
            except DoesNotExist as reason:
                made[title] = str(reason)
        return made

    return once(_key("numbers", found, name, group), compute)
