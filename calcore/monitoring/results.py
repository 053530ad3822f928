"""What is known of one batch: metrics with their intervals, its bins and subgroups, and what bets on it won."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calcore.monitoring.betting import Growth
from calcore.validation import Floats

#: Metrics of a batch by name, and whether more of them is worse (1), better (-1), or neither (0).
METRICS = {"ECE": 1, "gap": 0, "event rate": 0, "mean score": 0, "Brier": 1, "log loss": 1, "AUC": -1}
TITLES = {
    "ECE": "Calibration error (ECE)",
    "gap": "Event rate minus mean score",
    "event rate": "Event rate",
    "mean score": "Mean score",
    "Brier": "Brier score",
    "log loss": "Log loss",
    "AUC": "AUC",
}


@dataclass(frozen=True)
class Value:
    """A metric of a batch with its standard error and 95 % interval; NaN where there is none."""

    value: float
    error: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True, eq=False)
class BinTable:
    """The equal-width bins of a batch, (K,) each: moments, masses, mean scores, errors of the moments, rows."""

    moment: Floats
    mass: Floats
    mean_score: Floats
    error: Floats
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.moment)


@dataclass(frozen=True)
class GroupGap:
    """How far a subgroup's event rate is from its mean score in a batch, with the standard error of that.

    ``tilt`` is how overconfident its scores are: their gap below the centre minus that above it, by mass. ``parts``
    are the subgroups that it is the intersection of.
    """

    name: str
    rows: int
    mass: float
    gap: float
    error: float
    tilt: float = float("nan")
    tilt_error: float = float("nan")
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BatchResult:
    """One batch.

    ``kind`` is "measured" (on labels), "estimated" (no labels yet: see ``reason``) or "too few" (nothing is judged).
    ``rows`` were scored, ``labelled`` of them count in ``values``. ``noise_floor`` and ``noise_limit`` are what the
    ECE of a calibrated score would be at this size, on average and at most in 95 % of batches; ``debiased`` the ECE
    without that. ``basis`` names the labels. Times are UTC, ISO 8601 without a zone, or None.
    """

    key: str
    label: str
    start: str | None
    end: str | None
    rows: int
    labelled: int
    kind: str
    reason: str = ""
    #: How many calendar units or values of the batch column were joined.
    parts: int = 1
    basis: str = ""
    assumptions: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    noise_floor: float = float("nan")
    noise_limit: float = float("nan")
    debiased: float = float("nan")
    bins: BinTable | None = None
    groups: tuple[GroupGap, ...] = ()
    #: Bets against "calibrated within tolerance", and against "as in the reference period".
    growth: Growth | None = None
    shift: Growth | None = None
    #: How the bets were made: results with other terms cannot be added up. ``reference`` are keys of batches.
    tolerance: float = float("nan")
    centre: int = 0
    reference: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        return self.kind == "measured"

    def value(self, metric: str) -> Value:
        """The metric, NaN where the batch does not have it."""
        return self.values.get(metric, Value(float("nan")))
