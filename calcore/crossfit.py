"""Cross-fitting: every row is predicted by a map that never saw it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from calcore.calibrators import Calibrator
from calcore.errors import InputError
from calcore.evidence import Evidence, collapsed_if_large
from calcore.maps import CalibrationMap
from calcore.validation import Floats, whole_number


def assign_folds(evidence: Evidence, folds: int, seed: int) -> NDArray[np.int64]:
    """A fold 0 ... folds - 1 for each entry, (n,), balanced within source and label; units stay whole."""
    whole_number(folds, "folds", 2, 100)
    rng = np.random.default_rng(seed)
    if evidence.unit is not None:
        units, place = np.unique(evidence.unit, return_inverse=True)
        if units.size < 2:
            raise InputError("all rows belong to one unit: nothing is left to predict it from")
        return _dealt(rng, units.size, folds, 0)[place]
    stratum = evidence.source.astype(np.int64) * 3 + evidence.label_kind
    fold = np.empty(len(evidence), dtype=np.int64)
    # each stratum goes on where the one before it ended: small ones do not all land in one fold
    start = int(rng.integers(folds))
    for value in np.unique(stratum):
        inside = np.flatnonzero(stratum == value)
        fold[inside] = _dealt(rng, inside.size, folds, start)
        start += inside.size
    return fold


def _dealt(rng: np.random.Generator, size: int, folds: int, start: int) -> NDArray[np.int64]:
    return rng.permutation((start + np.arange(size)) % folds)


@dataclass(frozen=True, eq=False)
class Folds:
    """Evidence cut into ``count`` parts.

    ``evidence`` has one entry a row and ``row_fold`` (n,) their folds; ``work`` is the same evidence, added up
    where it is large, and ``fold`` the folds of its entries.
    """

    evidence: Evidence
    work: Evidence
    fold: NDArray[np.int64]
    row_fold: NDArray[np.int64]
    count: int
    seed: int

    @classmethod
    def of(cls, evidence: Evidence, folds: int = 5, seed: int = 0, *, keep_rows: bool = False) -> Folds:
        """Split ``evidence`` in ``folds`` parts (fewer where it has fewer rows).

        ``keep_rows`` leaves the rows and their subgroups as they are, for calibrators that need them.
        """
        plain = evidence if keep_rows else evidence.without_groups()
        if evidence.n < 2:
            raise InputError("one row cannot be predicted from others: comparing needs at least two")
        folds = min(folds, evidence.n)
        row_fold = assign_folds(plain, folds, seed)
        work, fold = (plain, row_fold) if keep_rows else collapsed_if_large(plain, row_fold)
        assert fold is not None
        return cls(plain, work, fold, row_fold, folds, seed)


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A calibrator's maps: ``map`` of all rows, ``fold_maps`` of all but each fold, ``predicted`` (n,) of
    the entries of ``Folds.work``, each by the map that did not see it."""

    fitted: Calibrator
    fold_maps: tuple[CalibrationMap, ...]
    predicted: Floats

    @property
    def map(self) -> CalibrationMap:
        return self.fitted.map_


def predict_rows(map_: CalibrationMap, evidence: Evidence) -> Floats:
    """The map's predictions (n,) for the rows of ``evidence``, with their subgroups where the map needs them."""
    return map_.predict(evidence.score, evidence.membership)


def cross_fit(calibrator: Calibrator, folds: Folds) -> CrossFit:
    """Fit ``calibrator`` without each fold and on everything. Raises DoesNotExist where it cannot be fitted."""
    predicted = folds.work.score.copy()
    maps = []
    for k in range(folds.count):
        held_out = folds.fold == k
        if held_out.all():
            raise InputError("all rows are in one fold: too few rows to compare calibrators")
        fitted = clone(calibrator).fit(folds.work.take(~held_out))
        maps.append(fitted.map_)
        if held_out.any():
            predicted[held_out] = predict_rows(fitted.map_, folds.work.take(held_out))
    return CrossFit(clone(calibrator).fit(folds.evidence), tuple(maps), predicted)


def fold_elsewhere(folds: Folds, other: Evidence) -> NDArray[np.int64]:
    """The fold (n,) of each row of ``other``, made from the same file; -1 for rows that are not in the evidence."""
    ours = np.arange(len(folds.evidence)) if folds.evidence.row is None else folds.evidence.row
    theirs = np.arange(len(other)) if other.row is None else other.row
    fold_of_row = np.full(int(max(ours.max(), theirs.max())) + 1, -1, dtype=np.int64)
    fold_of_row[ours] = folds.row_fold
    return fold_of_row[theirs]


def predict_elsewhere(fit: CrossFit, folds: Folds, other: Evidence) -> Floats:
    """Predictions (n,) for the rows of ``other``, made from the same file.

    A row that is also in the evidence is predicted by the map that did not see it, another by the map of all.
    """
    fold = fold_elsewhere(folds, other)
    predicted = np.empty(len(other))
    for k, map_ in [(-1, fit.map), *enumerate(fit.fold_maps)]:
        inside = fold == k
        if inside.any():
            predicted[inside] = predict_rows(map_, other.take(inside))
    return predicted
