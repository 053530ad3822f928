"""Models whose rows come in pairs: alike or not, one ranked above the other, or a probability of being alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError, NotIdentifiable
from calcore.evidence import Evidence
from calcore.observation.base import ObservationModel
from calcore.observation.mixtures import Mixture
from calcore.validation import Floats, as_floats, fraction, same_length


def _identifiable(model: str, prior: float) -> float:
    """D = 2 pi - 1, which must not be 0."""
    fraction(prior, "the class prior pi")
    if abs(2 * prior - 1) < 1e-12:
        raise NotIdentifiable(f"{model} is not identifiable at pi = {prior:g} (pi+ - pi- = 0)")
    return 2 * prior - 1


def needs_pairs(made: Evidence) -> Evidence:
    """The evidence, with notes on what is wrong with its pairs: errors are clustered by them."""
    if made.unit is None:
        note = "no unit column names the pair of each row: errors take the rows as independent"
        return replace(made, notes=(*made.notes, note))
    paired = np.array([name != "unlabelled" for name in made.sources])[made.source]
    members = np.unique(made.unit[paired] * len(made.sources) + made.source[paired], return_counts=True)[1]
    odd = int((members != 2).sum())
    if not odd:
        return made
    note = f"{odd:,} of {members.size:,} pairs do not have two rows: errors are by what there is"
    return replace(made, notes=(*made.notes, note))


class _Pairs(Mixture):
    """Mixtures of which at least one source is sampled as pairs that are alike or not."""

    def __post_init__(self) -> None:
        _identifiable(self.name, self.prior)

    @property
    def basis(self) -> str:
        return "corrected for pairwise labels"

    @property
    def _alike(self) -> float:
        """q = pi^2 + (1 - pi)^2: the share of pairs that are alike."""
        return self.prior**2 + (1 - self.prior) ** 2

    def _finish(self, made: Evidence, confidence: ArrayLike | None) -> Evidence:
        return needs_pairs(made)


@dataclass(frozen=True)
class SU(_Pairs):
    """Pairs known to be alike, and unlabelled rows; ``prior`` = P(Y=1), not 1/2."""

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("similar", "unlabelled")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "both members of a pair are drawn independently, and the pair is kept because their labels agree",
            "the unlabelled rows are a random sample of the population",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        pi, q, d = self.prior, self._alike, 2 * self.prior - 1
        return (q / d, -q / d, pi**2 / q), (-(1 - pi) / d, pi / d, pi)


@dataclass(frozen=True)
class DU(_Pairs):
    """Pairs known to differ, and unlabelled rows; ``prior`` = P(Y=1), not 1/2."""

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("dissimilar", "unlabelled")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "both members of a pair are drawn independently, and the pair is kept because their labels differ",
            "the unlabelled rows are a random sample of the population",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        pi, d = self.prior, 2 * self.prior - 1
        both = 2 * pi * (1 - pi) / d
        return (-both, both, 0.5), (pi / d, -(1 - pi) / d, pi)


@dataclass(frozen=True)
class SD(_Pairs):
    """Pairs known to be alike, and pairs known to differ; ``prior`` = P(Y=1), not 1/2."""

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("similar", "dissimilar")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "both members of a pair are drawn independently, and labelled by whether their labels agree",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        pi, q, d = self.prior, self._alike, 2 * self.prior - 1
        negative = 1 - pi
        return (
            (q * pi / d, -q * negative / d, pi**2 / q),
            (-2 * pi * negative**2 / d, 2 * pi**2 * negative / d, 0.5),
        )


@dataclass(frozen=True)
class Pcomp(Mixture):
    """Pairs of which one member is at least as likely positive: superior and inferior; ``prior`` = P(Y=1)."""

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("superior", "inferior")

    def __post_init__(self) -> None:
        fraction(self.prior, "the class prior pi")

    @property
    def basis(self) -> str:
        return "corrected for pairwise labels"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "pairs are drawn independently and kept only as (+,+), (+,-) or (-,-), the superior member first",
            f"the class prior is right: pi = {self.prior:g}",
        )

    def table(self) -> tuple[tuple[float, float, float], ...]:
        pi = self.prior
        negative = 1 - pi
        return (1.0, -pi, pi / (pi + negative**2)), (-negative, 1.0, pi**2 / (pi**2 + negative))


@dataclass(frozen=True)
class Sconf(ObservationModel):
    """Pairs with s = P(y = y' given x, x'), on both members; ``prior`` = P(Y=1), not 1/2.

    A = (s - (1 - pi)) / D, B = (pi - s) / D. (The paper prints P(Y=1 given X, X'), which is biased.)
    """

    prior: float
    sources: ClassVar[tuple[str, ...]] = ("pairs",)
    discrete: ClassVar[bool] = False
    min_cell_rows: ClassVar[int] = 30

    def __post_init__(self) -> None:
        _identifiable(self.name, self.prior)

    @property
    def basis(self) -> str:
        return "from confidences of pairs"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            "the confidence is the exact probability that both members of the pair have the same label",
            "both members of a pair are drawn independently from the population",
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
        d = 2 * self.prior - 1
        return (confidence - (1 - self.prior)) / d, (self.prior - confidence) / d

    def null_terms(self, evidence: Evidence) -> None:
        return None

    def _finish(self, made: Evidence, confidence: ArrayLike | None) -> Evidence:
        return needs_pairs(made)

    def _confidence(self, confidence: ArrayLike | None, n: int) -> Floats | None:
        return checked_confidence(confidence, n, self.name)


def checked_confidence(confidence: ArrayLike | None, n: int, model: str) -> Floats:
    """Confidences (n,) in [0, 1]; raises InputError where absent, NaN, infinite or outside."""
    if confidence is None:
        raise InputError(f"{model} needs a confidence on each row")
    values = as_floats(confidence, "confidence")
    same_length(values, n, "confidence")
    if not np.isfinite(values).all():
        raise InputError("confidence contains NaN or infinity: remove or repair these rows")
    if values.min() < 0 or values.max() > 1:
        raise InputError("confidence outside [0, 1]: probabilities are needed")
    return values
