"""What the Learn page computes: on the session's analysis, else on the sample's clean labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from calcore import ingest
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.lessons import (
    ErrorArithmetic,
    Family,
    Growth,
    PlattByHand,
    Pooling,
    TemperatureCurve,
    calibration_set_growth,
    ece_arithmetic,
    family_tendencies,
    pava_steps,
    platt_by_hand,
    temperature_curve,
    ten_points,
)
from calcore.observation import Clean
from dashboard.services.files import sample_bytes
from dashboard.services.memory import once
from dashboard.services.results import Analysis, analysis
from dashboard.state import get_state

#: The worked example of pooling: scores and labels of ten cases, three merges.
TEN = (
    (0.10, 0.18, 0.25, 0.33, 0.41, 0.52, 0.60, 0.71, 0.83, 0.92),
    (0, 0, 1, 0, 1, 1, 0, 1, 1, 1),
)


@dataclass(frozen=True, eq=False)
class LessonData:
    """What the lessons are computed on: ``found`` is the session's analysis, None for the sample."""

    key: tuple[Any, ...]
    evidence: Evidence
    bins: int
    found: Analysis | None


@dataclass(frozen=True, eq=False)
class GrowthShown:
    """``growth`` of the lesson's data; where these do not suffice, of the sample, for the ``reason``."""

    growth: Growth
    reason: str | None


def own_lesson() -> LessonData | None:
    """The session's analysis as it is measured; None where there is none. Raises InputError where it fails."""
    state = get_state()
    if state.ingested is None or not state.analysed:
        return None
    found = analysis(state)
    key = (*found.key, found.settings.measure_on, found.settings.bins)
    return LessonData(key, found.measured.without_groups(), found.settings.bins, found)


def sample_lesson() -> LessonData:
    """The sample's scores against its clean labels, with this session's number of bins."""
    bins = get_state().settings.bins
    return LessonData(("sample", bins), _sample_evidence(), bins, None)


@st.cache_resource(show_spinner=False)
def _sample_evidence() -> Evidence:
    columns = ingest.read(sample_bytes(), filename="sample.csv").columns
    return Clean().evidence(columns.score, columns.audit)


def arithmetic_of(data: LessonData) -> ErrorArithmetic:
    return once(("arithmetic", *data.key), partial(ece_arithmetic, data.evidence, data.bins))


def temperatures_of(data: LessonData) -> TemperatureCurve:
    return once(("temperatures", *data.key), partial(temperature_curve, data.evidence, data.bins))


def platt_by_hand_of(data: LessonData) -> PlattByHand:
    return once(("platt by hand", *data.key), partial(platt_by_hand, data.evidence))


def pooling_of(data: LessonData, draw: int | None) -> Pooling | None:
    """The merges on ten rows of the data by the number of the ``draw``, or on the worked example (None).

    None where the rows carry no label.
    """
    if draw is None:
        return pava_steps(*TEN)
    ten = once(("ten points", *data.key, draw), partial(ten_points, data.evidence, draw))
    return None if ten is None else pava_steps(*ten)


def growth_ready(data: LessonData) -> bool:
    return ("growth", *data.key) in get_state().results


def growth_of(data: LessonData) -> GrowthShown:
    def compute() -> GrowthShown:
        try:
            return GrowthShown(calibration_set_growth(data.evidence, data.bins), None)
        except InputError as error:
            return GrowthShown(calibration_set_growth(_sample_evidence(), data.bins), str(error))

    return once(("growth", *data.key), compute)


def families_ready() -> bool:
    return ("families",) in get_state().results


def families() -> tuple[Family, ...]:
    """Trained once a process: no user's data is in it."""
    return once(("families",), _families)


@st.cache_resource(show_spinner=False)
def _families() -> tuple[Family, ...]:
    return family_tendencies()
