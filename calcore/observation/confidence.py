"""Models whose rows carry a probability instead of a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.observation.base import ObservationModel
from calcore.observation.pairs import checked_confidence
from calcore.validation import Floats, as_floats, fraction


class _Confidence(ObservationModel):
    discrete: ClassVar[bool] = False
    min_cell_rows: ClassVar[int] = 30

    @property
    def basis(self) -> str:
        return "from confidences"

    def null_terms(self, evidence: Evidence) -> None:
        return None

    def _confidence(self, confidence: ArrayLike | None, n: int) -> Floats | None:
        return checked_confidence(confidence, n, self.name)


@dataclass(frozen=True)
class PosteriorConfidence(_Confidence):
    """Rows of the population with r = P(Y=1 given x). A = r, B = 1 - r."""

    @property
    def corrected(self) -> bool:
        return False

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ("the confidence is P(Y=1 given x), or unbiased for it given x", "rows are a random sample")

    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        assert confidence is not None
        return confidence, 1.0 - confidence


@dataclass(frozen=True)
class Pconf(_Confidence):
    """Positives only, with r = P(Y=1 given x). A = pi, B = pi (1 - r) / r.

    ``prior`` = P(Y=1); ``r_min`` clips confidences from below (a confidence of 0 weighs infinitely much).
    """

    prior: float
    r_min: float | None = None
    sources: ClassVar[tuple[str, ...]] = ("positive",)

    def __post_init__(self) -> None:
        fraction(self.prior, "the class prior pi")
        if self.r_min is not None:
            fraction(self.r_min, "r_min")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "rows are a random sample of all positives",
            "the confidence is exactly P(Y=1 given x): noise in it biases every value",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        assert confidence is not None
        return np.full(confidence.size, self.prior), self.prior * (1.0 - confidence) / confidence

    def _confidence(self, confidence: ArrayLike | None, n: int) -> Floats | None:
        values = checked_confidence(confidence, n, self.name)
        if self.r_min is None and (values == 0).any():
            raise InputError("Pconf confidence 0: the weight pi*(1-r)/r is infinite; pass r_min > 0 to clip")
        return values if self.r_min is None else np.maximum(values, self.r_min)

    def _finish(self, made: Evidence, confidence: ArrayLike | None) -> Evidence:
        notes = ["rows of small confidence weigh heavily: tests of single cells accuse too often here"]
        if self.r_min is not None and confidence is not None:
            below = int((as_floats(confidence, "confidence") < self.r_min).sum())
            notes.append(f"{below:,} confidences below {self.r_min:g} were clipped to it")
        check = float(made.mass.sum())
        if abs(check - 1) > 0.1:
            notes.append(
                f"prior x mean(1/r) is {check:.3g} and should be near 1: the confidences or the prior are off"
            )
        return replace(made, notes=(*made.notes, *notes))
