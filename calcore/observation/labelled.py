"""Models in which every row carries a recorded label: clean, or flipped at some rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError, NotIdentifiable
from calcore.evidence import Evidence
from calcore.observation.base import ObservationModel
from calcore.subgroups import level_names
from calcore.validation import Floats, as_floats, fraction, same_length

FlipRate = float | Mapping[str, float]


class Labelled(ObservationModel):
    """Shared by Clean and Noisy: a recorded label is drawn on each row, so the null can be drawn too."""

    has_row_labels: ClassVar[bool] = True

    def two_point(self, evidence: Evidence) -> tuple[Floats, Floats, Floats]:
        rho0, slope = self.row_rates(evidence)
        recorded_rate = rho0 + slope * evidence.score
        share = evidence.weight / evidence.source_weight[0]
        of_one = ((1.0 - rho0) / slope - evidence.score) * share
        return recorded_rate, of_one, of_one - share / slope

    def null_terms(self, evidence: Evidence) -> tuple[tuple[Floats, Floats], ...]:
        # q (1 - q) / (1 - rho0 - rho1)^2 with q = rho0 + (1 - rho0 - rho1) f; each row has its own draw, so
        # the mean of a row's residual is 0
        rho0, slope = self.row_rates(evidence)
        q = rho0 + slope * evidence.score
        total = evidence.source_weight[0] ** 2
        return ((q * (1.0 - q) / slope**2 * evidence.weight_squared / total, np.zeros(len(evidence))),)

    def recorded_rate(self, rate: Floats) -> Floats:
        """The rate of recorded positives where ``rate`` is that of positives; for one pair of flip rates."""
        return rate

    def row_rates(self, evidence: Evidence) -> tuple[Floats | float, Floats | float]:
        """rho0 and 1 - rho0 - rho1, for all rows or each."""
        return 0.0, 1.0


@dataclass(frozen=True)
class Clean(Labelled):
    """The label is the outcome. A = y, B = 1 - y."""

    @property
    def corrected(self) -> bool:
        return False

    @property
    def basis(self) -> str:
        return "against the labels"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ("rows are independent draws from the population (within units they may depend)",)

    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        assert label is not None
        return label, 1.0 - label


@dataclass(frozen=True)
class Noisy(Labelled):
    """Recorded labels, some flipped: ``rho0`` = P(1 recorded given 0), ``rho1`` = P(0 recorded given 1).

    A = (y - rho0) / (1 - rho0 - rho1), B = 1 - A. Rates may be mappings from the levels of a column to rates
    (``column`` names it). Both None: the rates are unknown, nothing is corrected, and every metric is one
    "against the noisy labels". Raises NotIdentifiable where rho0 + rho1 >= 1.
    """

    rho0: FlipRate | None = None
    rho1: FlipRate | None = None
    column: str | None = None
    #: Where the rates come from: "given", or "estimated" from the same scores (then only indicative).
    origin: str = "given"

    def __post_init__(self) -> None:
        if (self.rho0 is None) != (self.rho1 is None):
            raise InputError("give both flip rates, rho0 and rho1, or neither")
        if self.origin not in ("given", "estimated"):
            raise InputError(f'the origin of flip rates is "given" or "estimated", got {self.origin!r}')
        if self.rho0 is None or self.rho1 is None:
            return
        if isinstance(self.rho0, Mapping) or isinstance(self.rho1, Mapping):
            for level in self._levels():
                self._check(
                    self._of_level(self.rho0, level), self._of_level(self.rho1, level), f" of {level!r}"
                )
        else:
            self._check(self.rho0, self.rho1, "")
            # text such as "0.1" is a number too
            object.__setattr__(self, "rho0", float(self.rho0))
            object.__setattr__(self, "rho1", float(self.rho1))

    @staticmethod
    def _check(rho0: float, rho1: float, where: str) -> None:
        rho0 = fraction(rho0, f"the flip rate rho0{where}", open_interval=False)
        rho1 = fraction(rho1, f"the flip rate rho1{where}", open_interval=False)
        if rho0 + rho1 >= 1:
            raise NotIdentifiable(
                f"Noisy is not identifiable: the flip rates{where} rho0 = {rho0:g} and rho1 = {rho1:g} sum to "
                f"{rho0 + rho1:g}; at 1 or more the recorded labels say nothing about the true ones"
            )

    def _levels(self) -> list[str]:
        return list(
            dict.fromkeys(
                level for rate in (self.rho0, self.rho1) if isinstance(rate, Mapping) for level in rate
            )
        )

    @staticmethod
    def _of_level(rate: FlipRate, level: str) -> float:
        if not isinstance(rate, Mapping):
            return rate
        if level not in rate:
            raise InputError(f"no flip rate is given for the group {level!r}")
        return rate[level]

    @property
    def known(self) -> bool:
        """Are flip rates given?"""
        return self.rho0 is not None

    def recorded_rate(self, rate: Floats) -> Floats:
        if isinstance(self.rho0, Mapping) or isinstance(self.rho1, Mapping):
            raise InputError("flip rates per group: the recorded rate differs from group to group")
        rho0, slope = self._of_rows({})
        return rho0 + slope * rate

    @property
    def parameters(self) -> dict[str, object]:
        plain = {
            "rho0": dict(self.rho0) if isinstance(self.rho0, Mapping) else self.rho0,
            "rho1": dict(self.rho1) if isinstance(self.rho1, Mapping) else self.rho1,
        }
        return {**plain, "column": self.column, "origin": self.origin}

    @property
    def corrected(self) -> bool:
        return self.known

    @property
    def basis(self) -> str:
        return "noise-corrected" if self.known else "against the noisy labels"

    @property
    def assumptions(self) -> tuple[str, ...]:
        if not self.known:
            return (
                "the recorded labels are taken as they are: flips are not corrected, and move every value",
            )
        within = " within each group" if self.column or self._levels() else ""
        source = "estimated from these scores" if self.origin == "estimated" else "given from outside"
        return (
            f"labels are flipped independently of the scores, given the true label{within}",
            f"the flip rates are {source} and right: rho0 = {self._said(self.rho0)}, "
            f"rho1 = {self._said(self.rho1)}",
        )

    @staticmethod
    def _said(rate: FlipRate | None) -> str:
        if rate is None:
            return "unknown"
        if isinstance(rate, Mapping):
            return ", ".join(f"{level}: {value:g}" for level, value in rate.items())
        return f"{rate:g}"

    def row_parameters(
        self, n: int, table: pd.DataFrame | None, flip_group: ArrayLike | None
    ) -> dict[str, Floats]:
        if self.rho0 is None or self.rho1 is None or not self._levels():
            return {}
        if flip_group is None:
            if table is None or self.column is None or self.column not in table:
                raise InputError(
                    "flip rates per group need the group of each row: give flip_group=, or table= and column"
                )
            flip_group = table[self.column]
        groups = level_names(pd.Series(flip_group))
        same_length(groups, n, "flip_group")
        found: dict[str, Floats] = {}
        for key, rate in (("rho0", self.rho0), ("rho1", self.rho1)):
            by_level = {str(level): self._of_level(rate, level) for level in self._levels()}
            values = as_floats(groups.astype("str").map(by_level), key)
            if np.isnan(values).any():
                level = groups.iloc[int(np.argmax(np.isnan(values)))]
                raise InputError(f"no flip rate is given for the group {level!r}")
            found[key] = values
        return found

    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        assert label is not None
        rho0, slope = self._of_rows(parameters)
        positive = (label - rho0) / slope
        return positive, 1.0 - positive

    def row_rates(self, evidence: Evidence) -> tuple[Floats | float, Floats | float]:
        return self._of_rows(evidence.row_parameters)

    def _of_rows(self, parameters: Mapping[str, Floats]) -> tuple[Floats | float, Floats | float]:
        """rho0 and 1 - rho0 - rho1, of all rows or of each; unknown rates correct nothing."""
        if self.rho0 is None or self.rho1 is None:
            return 0.0, 1.0
        if isinstance(self.rho0, Mapping) or isinstance(self.rho1, Mapping):
            return parameters["rho0"], 1.0 - parameters["rho0"] - parameters["rho1"]
        return self.rho0, 1.0 - self.rho0 - self.rho1
