"""What a calibrator is: scikit-learn's conventions on top of evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.half_labels import halves_apart
from calcore.maps import CalibrationMap
from calcore.maps.functions import ConstantFunction
from calcore.maps.map_function import MapFunction
from calcore.observation import Clean
from calcore.subgroups import Membership
from calcore.validation import Floats, as_floats

#: Every calibrator by name; a new one registers by being defined with a ``title`` of its own.
REGISTRY: dict[str, type[Calibrator]] = {}


class Calibrator(BaseEstimator, ABC):
    """A method that learns a calibration map. Subclasses say how in ``_fit``.

    Fitted: ``map_`` (the CalibrationMap), ``audit_`` where the method has one, ``warnings_`` (sentences).
    """

    #: The method's name for people, and one sentence of what it does and when it fits.
    title: ClassVar[str]
    summary: ClassVar[str]
    #: LWCal and the trimmed methods look at the recorded label of each row.
    needs_row_labels: ClassVar[bool] = False
    #: WLMC looks at the subgroups of each row, and so does its map.
    needs_groups: ClassVar[bool] = False
    #: A higher score never gets a lower value, whatever the labels.
    keeps_order: ClassVar[bool] = False

    def __init__(self) -> None:
        """No hyper-parameters; a method that has some names them here."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "title" in cls.__dict__:
            REGISTRY[cls.__name__] = cls

    def fit(
        self,
        scores: ArrayLike | Evidence,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the map from scores (n,) with labels ``y`` (n,) of 0 and 1 (1/2: a tie), or from any evidence.

        One row or one class of labels gives a constant map. Raises InputError on unusable input, DoesNotExist
        where the method needs row labels that the evidence does not have.
        """
        if isinstance(scores, Evidence):
            evidence = scores
        else:
            evidence = Clean().evidence(scores, y, weight=sample_weight)
        if self.needs_row_labels and evidence.label is None:
            raise DoesNotExist(
                f"{self.title} does not exist under {evidence.model.name}: its rows carry no recorded label"
            )
        self.warnings_: tuple[str, ...] = ()
        self._check_parameters()
        function = self._fit(self._prepared(evidence))
        self.map_ = CalibrationMap(
            function=function,
            calibrator=type(self).__name__,
            parameters=self.described(),
            input_domain=(float(evidence.score.min()), float(evidence.score.max())),
            observation=evidence.model.to_dict(),
            subgroups=_definitions(evidence) if function.needs_groups else (),
            n=evidence.n,
            warnings=self.warnings_,
        )
        return self

    def predict(
        self, scores: ArrayLike, groups: ArrayLike | pd.DataFrame | Membership | None = None
    ) -> Floats:
        """Calibrated scores (n,) in [0, 1]; ``groups`` as in CalibrationMap.predict."""
        check_is_fitted(self, "map_")
        return self.map_.predict(as_floats(scores, "score"), groups)

    def described(self) -> dict[str, Any]:
        """The hyper-parameters as plain values, as the map carries them."""
        return self.get_params(deep=False)

    @abstractmethod
    def _fit(self, evidence: Evidence) -> MapFunction:
        """The function of the map, for checked evidence; may set ``audit_`` and add ``warnings_``."""

    def _prepared(self, evidence: Evidence) -> Evidence:
        """What ``_fit`` gets: methods that look at labels one by one get each tie as a positive and a negative."""
        return halves_apart(evidence).evidence if self.needs_row_labels else evidence

    def _check_parameters(self) -> None:
        """Raise InputError for hyper-parameters out of range: ``clip`` for all that have one."""
        clip = getattr(self, "clip", 0.25)
        if not 0 < clip < 0.5:
            raise InputError(f"the clip of scores must be above 0 and below 0.5, got {clip!r}")

    def _warn(self, sentence: str) -> None:
        self.warnings_ = (*self.warnings_, sentence)

    def _warn_of_weights(self, evidence: Evidence) -> None:
        """Where priors are set against weights, weights on another scale than rows would drown either."""
        mean = float(evidence.weight.sum() / evidence.n)
        if not 0.5 <= mean <= 2 and evidence.weighting == "importance":
            self._warn(
                f"weights count as rows beside the prior, and are {mean:.3g} on average: scale them to 1 on average"
            )

    def _constant_of_labels(self, evidence: Evidence) -> ConstantFunction | None:
        """The constant map where one class alone is recorded, or one row."""
        if evidence.label is not None and bool((evidence.label == evidence.label[0]).all()):
            self._warn("one class of labels only: the map is constant")
            return ConstantFunction(value=float(evidence.label[0]))
        return None

    def _constant(self, evidence: Evidence) -> ConstantFunction | None:
        """The constant map where nothing else can be learned: one row, one class, no mass of one class."""
        of_labels = self._constant_of_labels(evidence)
        if of_labels is not None:
            return of_labels
        rate = float(np.clip(evidence.base_rate, 0.0, 1.0)) if evidence.mass.sum() > 0 else 0.5
        if evidence.n == 1 or evidence.positive.sum() <= 0 or evidence.negative.sum() <= 0:
            self._warn("one row, or no mass of one class: the map is constant")
            return ConstantFunction(value=rate)
        return None


def _definitions(evidence: Evidence) -> tuple[dict[str, Any], ...]:
    """The subgroups of the evidence as JSON: by their columns, or by name alone where only masks were given."""
    member = evidence.membership
    if member is None:
        return ()
    if member.subgroups:
        return tuple(group.to_dict() for group in member.subgroups)
    return tuple({"name": name} for name in member.names)
