"""What an observation model is: a way to turn columns into evidence, with its assumptions said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError, NoLabels
from calcore.evidence import Evidence
from calcore.subgroups import Membership, Subgroup
from calcore.sums import sum_by
from calcore.validation import Floats, as_codes, as_labels, as_scores, as_weights, same_length

#: Every observation model by name; a new one registers itself by being defined.
MODELS: dict[str, type[ObservationModel]] = {}


class ObservationModel(ABC):
    """One way of observing labels. Subclasses are frozen dataclasses whose fields are its parameters.

    A subclass says which columns it reads and gives, for every row, the mass ``A / n_s`` of a positive and
    ``B / n_s`` of a negative that the row stands for (``coefficients``).
    """

    sources: ClassVar[tuple[str, ...]] = ("rows",)
    #: Does each row carry a recorded label? LWCal, Gated-LWCal and the trimmed calibrators need one.
    has_row_labels: ClassVar[bool] = False
    #: Are A and B the same for all rows of equal source, label and row parameters?
    discrete: ClassVar[bool] = True
    #: Fewest rows of a cell in which its moment is tested.
    min_cell_rows: ClassVar[int] = 20

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        MODELS[cls.__name__] = cls

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def corrected(self) -> bool:
        """Are the weights corrected ones, so that estimates may leave the range of what they estimate?"""
        return True

    @property
    @abstractmethod
    def basis(self) -> str:
        """What a metric under this model is called: "against the labels", "noise-corrected", ..."""

    @property
    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the estimates to be unbiased, each a sentence."""

    @property
    def parameters(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Name, parameters and assumptions, ready for JSON."""
        return {"name": self.name, "parameters": self.parameters, "assumptions": list(self.assumptions)}

    @abstractmethod
    def coefficients(
        self,
        source: NDArray[np.int8],
        label: Floats | None,
        confidence: Floats | None,
        parameters: Mapping[str, Floats],
    ) -> tuple[Floats, Floats]:
        """A and B of every row, each (n,)."""

    @abstractmethod
    def null_terms(self, evidence: Evidence) -> tuple[tuple[Floats, Floats], ...] | None:
        """For each source, two terms an entry whose sums over a cell describe its moment if f is calibrated.

        The first adds up to the second moment of the cell's residual over the size n of the source, which is
        the score variance of the cell; the second to the cell's mean over the square root of n, by which the
        cells of a source vary together. None where the model has no such variance.
        """

    def two_point(self, evidence: Evidence) -> tuple[Floats, Floats, Floats] | None:
        """P(recorded 1) if f is calibrated, and what a recorded 1 and a 0 add to the moment, each (n,).

        None for models whose rows have no label to draw.
        """
        return None

    def row_parameters(
        self, n: int, table: pd.DataFrame | None, flip_group: ArrayLike | None
    ) -> dict[str, Floats]:
        """Parameters that differ between rows, each (n,)."""
        return {}

    def evidence(
        self,
        scores: ArrayLike,
        labels: ArrayLike | None = None,
        source: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        unit: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        groups: ArrayLike | Membership | Sequence[Subgroup] | None = None,
        *,
        table: pd.DataFrame | None = None,
        time: ArrayLike | None = None,
        flip_group: ArrayLike | None = None,
        weighting: str = "importance",
        clipped: int = 0,
        dropped: int = 0,
    ) -> Evidence:
        """Columns to evidence.

        ``scores`` (n,) in [0, 1]; ``labels`` (n,) of 0, 1 or missing, where rows carry labels also 1/2 (a tie); ``source`` (n,) names from ``sources``;
        ``confidence`` (n,); ``unit`` (n,) identifiers of rows that belong together (missing: with no other);
        ``weight`` (n,) sampling weights; ``groups`` booleans (n x m), a Membership, or Subgroups with their
        ``table``. ``weighting`` is "importance" or "frequency" (a row of weight 2 is two rows, in errors
        too). ``clipped`` and ``dropped`` count what happened to rows before. Rows that carry no information
        (no label where one is needed, or weight 0) are left out and counted in ``dropped``. Raises InputError
        on anything unusable.
        """
        if weighting not in ("importance", "frequency"):
            raise InputError(f'weighting must be "importance" or "frequency", got {weighting!r}')
        score = as_scores(scores)
        n = score.size
        weights = as_weights(weight, n)
        label = None if labels is None else as_labels(labels, n, ties=self.has_row_labels)
        membership = _membership(groups, table, n)
        codes = self._source_codes(source, label, n)
        parameters = self.row_parameters(n, table, flip_group)
        stamps = None if time is None else np.asarray(time)
        units = None if unit is None else _unit_codes(unit, n)
        trust = self._confidence(confidence, n)
        keep = self._usable(label, weights, n)
        row = None if keep is None else np.flatnonzero(keep)
        # what is kept is always a copy: arrays that callers change later change no evidence
        kept = slice(None) if row is None else row

        def part(values: NDArray[Any] | None) -> Any:
            return None if values is None else np.array(values[kept])

        score, codes, weights, label, units, trust, stamps = (
            part(values) for values in (score, codes, weights, label, units, trust, stamps)
        )
        if row is not None:
            dropped += n - row.size
            membership = None if membership is None else membership.take(row)
        parameters = {name: part(values) for name, values in parameters.items()}
        if trust is not None:
            # kept, so that the weights can be made again under another class prior
            parameters["confidence"] = trust
        positive, negative = self.coefficients(codes, label, trust, parameters)
        ones = np.ones(score.size) if weights is None else weights
        totals = self._totals(codes, ones)[codes] if len(self.sources) > 1 else ones.sum()
        made = Evidence(
            score=score,
            positive=positive * ones / totals,
            negative=negative * ones / totals,
            weight=ones,
            weight_squared=ones if weights is None or weighting == "frequency" else ones**2,
            source=codes,
            sources=self.sources,
            model=self,
            label=label if self.has_row_labels else None,
            row=row,
            unit=units,
            time=stamps,
            membership=membership,
            row_parameters=parameters,
            weighting=weighting,
            dropped=dropped,
            clipped=clipped,
        )
        return self._finish(made, confidence)

    def _source_codes(self, source: ArrayLike | None, label: Floats | None, n: int) -> NDArray[np.int8]:
        if len(self.sources) == 1:
            return np.zeros(n, dtype=np.int8)
        if source is None:
            raise InputError(
                f"{self.name} needs a source column that says {_either(self.sources)} on each row"
            )
        same_length(source, n, "source")
        names = pd.Series(source)
        codes = np.full(n, -1, dtype=np.int8)
        for position, name in enumerate(self.sources):
            codes[(names == name).to_numpy(dtype=bool, na_value=False)] = position
        if (codes < 0).any():
            found = names[codes < 0].iloc[0]
            raise InputError(
                f"source {found!r} at position {int(np.argmax(codes < 0))}: {self.name} knows "
                f"{_either(self.sources)}"
            )
        for position, name in enumerate(self.sources):
            if not (codes == position).any():
                raise InputError(
                    f"source {name}: empty; {self.name} needs rows of {_either(self.sources, 'and')}"
                )
        return codes

    def _totals(self, codes: NDArray[np.int8], weights: Floats) -> Floats:
        totals = sum_by(codes, weights, len(self.sources))
        if (totals == 0).any():
            raise InputError(
                f"source {self.sources[int(np.argmin(totals))]}: no row of positive weight is left"
            )
        return totals

    def _confidence(self, confidence: ArrayLike | None, n: int) -> Floats | None:
        return None

    def _finish(self, made: Evidence, confidence: ArrayLike | None) -> Evidence:
        """A last look at the evidence: models may refuse it or add notes."""
        return made

    def _usable(self, label: Floats | None, weights: Floats | None, n: int) -> NDArray[np.bool_] | None:
        """Rows that carry information; None for all of them."""
        keep = None
        if self.has_row_labels:
            if label is None:
                raise InputError(f"{self.name} needs a label on each row")
            if np.isnan(label).any():
                keep = ~np.isnan(label)
                if not keep.any():
                    raise NoLabels("no row has a label: choose another label column or observation model")
        if weights is not None and (weights == 0).any():
            keep = weights > 0 if keep is None else keep & (weights > 0)
            if not keep.any():
                raise InputError("no row has both a label and a positive weight")
        return keep


def _unit_codes(unit: ArrayLike, n: int) -> NDArray[np.int64]:
    """A code for each unit; a row without an identifier belongs with no other."""
    codes, distinct = as_codes(unit, n, "unit")
    missing = np.asarray(pd.isna(distinct))[codes]
    codes[missing] = len(distinct) + np.arange(int(missing.sum()))
    return codes


def _either(names: tuple[str, ...], joint: str = "or") -> str:
    return f" {joint} ".join(f'"{name}"' for name in names)


def _membership(
    groups: ArrayLike | Membership | Sequence[Subgroup] | None, table: pd.DataFrame | None, n: int
) -> Membership | None:
    if groups is None or (isinstance(groups, (list, tuple)) and not groups):
        return None
    if isinstance(groups, Membership):
        same_length(groups.pattern, n, "groups")
        return groups
    if isinstance(groups, (list, tuple)) and groups and all(isinstance(group, Subgroup) for group in groups):
        if table is None:
            raise InputError("subgroups need the table whose columns they look at: give table=")
        same_length(table, n, "table")
        return Membership.of_subgroups(groups, table)
    if isinstance(groups, pd.DataFrame):
        membership = Membership.of_masks(groups.to_numpy(), [str(name) for name in groups.columns])
    else:
        membership = Membership.of_masks(groups)  # type: ignore[arg-type]
    same_length(membership.pattern, n, "groups")
    return membership
