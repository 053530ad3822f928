"""Blend: the weighted mean of two calibrators' maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from calcore.calibrators.base import Calibrator
from calcore.calibrators.forward_platt import ForwardPlatt
from calcore.calibrators.loss_weighted import LWCal
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.maps.functions import BlendFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import fraction


class Blend(Calibrator):
    """(1 - ``weight``) g1(p) + ``weight`` g2(p), g1 and g2 the maps of ``first`` and ``second``.

    Both are cloned and fitted on the same evidence; None stands for ForwardPlatt and for LWCal. ``weight`` in [0, 1].
    Fitted: ``first_``, ``second_``.
    """

    title = "Blend"
    summary = "The mean of two maps: half forward Platt and half LWCal, where nothing else is said."

    def __init__(
        self, first: Calibrator | None = None, second: Calibrator | None = None, weight: float = 0.5
    ) -> None:
        self.first = first
        self.second = second
        self.weight = weight

    @classmethod
    def of_fitted(cls, first: Calibrator, second: Calibrator, weight: float = 0.5) -> Self:
        """The blend of two calibrators that are fitted already, on the same rows.

        Raises NotFittedError where one is not, InputError where they were fitted on different data.
        """
        for part in (first, second):
            check_is_fitted(part, "map_")
        one, other = first.map_, second.map_
        if one.n != other.n or one.observation != other.observation or one.input_domain != other.input_domain:
            raise InputError(
                "the two calibrators of a blend were fitted on different rows or kinds of labels"
            )
        blended = cls(first, second, weight)
        blended._check_parameters()
        blended.warnings_ = ()
        function = blended._of_parts(first, second)
        blended.map_ = replace(
            one,
            function=function,
            calibrator=cls.__name__,
            parameters=blended.described(),
            warnings=blended.warnings_,
        )
        return blended

    @property
    def needs_row_labels(self) -> bool:  # type: ignore[override]
        """Whether one of the two looks at recorded labels; of the class itself it is true, as of its defaults."""
        return any(part.needs_row_labels for part in self._parts())

    def described(self) -> dict[str, Any]:
        first, second = (
            {"calibrator": type(part).__name__, "parameters": part.described()} for part in self._parts()
        )
        return {"first": first, "second": second, "weight": self.weight}

    def _parts(self) -> tuple[Calibrator, Calibrator]:
        first = ForwardPlatt() if self.first is None else self.first
        second = LWCal() if self.second is None else self.second
        for part in (first, second):
            if not isinstance(part, Calibrator):
                raise InputError(f"a blend is of two calibrators, got {part!r}")
        return first, second

    def _check_parameters(self) -> None:
        super()._check_parameters()
        fraction(self.weight, "the weight of the second calibrator", open_interval=False)
        if any(part.needs_groups for part in self._parts()):
            raise InputError("a blend is one curve: it cannot hold a map that differs between subgroups")

    def _fit(self, evidence: Evidence) -> MapFunction:
        first, second = (clone(part).fit(evidence) for part in self._parts())
        return self._of_parts(first, second)

    def _of_parts(self, first: Calibrator, second: Calibrator) -> MapFunction:
        self.first_, self.second_ = first, second
        for part in (first, second):
            for warning in part.warnings_:
                self._warn(f"{part.title}: {warning}")
        return BlendFunction(
            weights=(1.0 - self.weight, self.weight), parts=(first.map_.function, second.map_.function)
        )
