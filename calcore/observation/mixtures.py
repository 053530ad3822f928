"""Models whose sources are mixtures of positives and negatives at known proportions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calcore.errors import NotIdentifiable
from calcore.evidence import Evidence
from calcore.observation.base import ObservationModel
from calcore.validation import Floats, fraction


class Mixture(ObservationModel):
    """A model given by a small table: for each source A, B and theta, its share of positives."""

    prior: float

    @abstractmethod
    def table(self) -> tuple[tuple[float, float, float], ...]:
        """(A, B, theta) of each source, in the order of ``sources``."""

    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        table = np.array(self.table())
        return table[source, 0], table[source, 1]

    def null_terms(self, evidence: Evidence) -> tuple[tuple[Floats, Floats], ...]:
        # the variance of a cell's moment is the sum over sources s of
        # E_X[rho_s(f) (A (1 - f) - B f)^2 1{cell}] / n_s, E_X by the mass; a subgroup's is over its own mass
        score, drawn = evidence.score, evidence.drawn
        # pairs and units are one draw each; rows count at their effective number under weights
        effective = np.divide(
            drawn.weight**2,
            drawn.weight_squared,
            out=np.ones_like(drawn.weight),
            where=drawn.weight_squared > 0,
        )
        size = np.maximum(drawn.size, 1.0) if evidence.unit is not None else effective
        terms = []
        for (positive, negative, theta), draws in zip(self.table(), size, strict=True):
            density = theta * score / self.prior + (1.0 - theta) * (1.0 - score) / (1.0 - self.prior)
            value = positive * (1.0 - score) - negative * score
            expected = evidence.mass * density * value
            terms.append((expected * value / (draws * drawn.share), expected / np.sqrt(draws)))
        return tuple(terms)


@dataclass(frozen=True)
class PU(Mixture):
    """Known positives, and rows nobody has checked; ``prior`` = P(Y=1).

    A, B = prior, -prior on positives; 0, 1 on unlabelled rows. Raises InputError unless 0 < prior < 1.
    """

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("positive", "unlabelled")

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", fraction(self.prior, "the class prior pi"))

    @property
    def basis(self) -> str:
        return "corrected for unlabelled rows"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "the known positives are a random sample of all positives (SCAR)",
            "the unlabelled rows are a random sample of the population",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        return (self.prior, -self.prior, 1.0), (0.0, 1.0, self.prior)


@dataclass(frozen=True)
class UU(Mixture):
    """Two unlabelled samples with known shares of positives ``theta1`` and ``theta2``; ``prior`` = P(Y=1).

    With Delta = theta1 - theta2: first A = pi (1 - theta2) / Delta, B = -(1 - pi) theta2 / Delta; second
    A = -pi (1 - theta1) / Delta, B = (1 - pi) theta1 / Delta. Raises NotIdentifiable where theta1 = theta2.
    """

    prior: float
    theta1: float
    theta2: float
    sources: ClassVar[tuple[str, ...]] = ("first", "second")

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", fraction(self.prior, "the class prior pi"))
        for name, words in (("theta1", "first"), ("theta2", "second")):
            value = fraction(
                getattr(self, name), f"the share of positives in the {words} sample", open_interval=False
            )
            object.__setattr__(self, name, value)
        if abs(self.theta1 - self.theta2) < 1e-12:
            raise NotIdentifiable(
                "UU: the two sources have the same positive fraction (Delta = 0), not identifiable: both are "
                f"{self.theta1:g}"
            )

    @property
    def basis(self) -> str:
        return "corrected for two mixed samples"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "both samples mix the same positives and negatives, and differ only in their shares",
            f"the shares of positives are right: {self.theta1:g} and {self.theta2:g}",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        pi, negative = self.prior, 1 - self.prior
        delta = self.theta1 - self.theta2
        return (
            (pi * (1 - self.theta2) / delta, -negative * self.theta2 / delta, self.theta1),
            (-pi * (1 - self.theta1) / delta, negative * self.theta1 / delta, self.theta2),
        )
