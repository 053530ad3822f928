"""What metrics return: frozen results that carry n, what was dropped or clipped, errors and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calcore.evidence import Evidence

#: Sums of masses below this are rounding, and accuse nobody.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Estimate:
    """One number about calibration.

    ``value`` is NaN where it does not exist, and ``notes`` says why. ``interval`` holds at ``level``, or is
    None. ``basis`` names the labels that it was measured on; a value is only as good as ``assumptions``.
    """

    name: str
    value: float
    interval: tuple[float, float] | None
    standard_error: float | None
    n: int
    dropped: int
    clipped: int
    basis: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    level: float = 0.95
    #: The value of a perfect score: how bad a value is, is its distance from there.
    ideal: float = 0.0

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class CalibrationError(Estimate):
    """A binned error, which is positive even for a calibrated score.

    ``noise_floor`` is its mean and ``noise_limit`` its 95 % point if the score were calibrated; ``debiased``
    is the true value under which the observed one would be the median; ``interval`` holds the true values
    that the observed one does not contradict.
    """

    noise_floor: float = float("nan")
    noise_limit: float = float("nan")
    debiased: float = float("nan")
    bins: int = 0
    strategy: str = "width"
    #: Where a maximum is attained: "subgroup, bin", or the bin.
    where: str | None = None

    @property
    def beyond_chance(self) -> bool:
        """Larger than a calibrated score would show in 95 % of samples of this size."""
        return self.value > max(self.noise_limit, ROUNDING)


@dataclass(frozen=True)
class CalibrationTest(Estimate):
    """A test that the score is calibrated: ``value`` is its statistic, ``p_value`` how rare one as large would be.

    ``p_value`` is NaN where the value is. ``degrees`` of freedom of a chi-square statistic, else 0. ``method``
    says in words where the distribution under calibration comes from.
    """

    p_value: float = float("nan")
    degrees: int = 0
    method: str = ""


def provenance(evidence: Evidence, *notes: str) -> dict[str, Any]:
    """The fields of an Estimate that come from the evidence alone."""
    return {
        "n": evidence.n,
        "dropped": evidence.dropped,
        "clipped": evidence.clipped,
        "basis": evidence.model.basis,
        "assumptions": evidence.model.assumptions,
        "notes": (*evidence.notes, *notes),
    }
