"""The one place where arrays from callers are checked and turned into plain float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from calcore.errors import InputError

Floats = NDArray[np.float64]
#: Scores this far outside [0, 1] are rounding errors: who clips them counts them, the rest is refused.
ROUNDING = 1e-6
#: The label of a tie: half a positive and half a negative.
HALF = 0.5


def _positions(bad: NDArray[np.bool_], limit: int = 5) -> str:
    """Name the first offending positions: "at positions 3, 7 and 9"."""
    where = np.flatnonzero(bad)
    shown = ", ".join(str(i) for i in where[:limit])
    more = "" if where.size <= limit else f" and {where.size - limit:,} more"
    return f"at position{'s' if where.size > 1 else ''} {shown}{more}"


def as_floats(values: ArrayLike, name: str) -> Floats:
    """A one-dimensional float64 array; missing values become NaN.

    Takes lists, numpy, pandas with its nullable and Arrow types, and Arrow arrays; a single column may have
    the shape (n, 1). Raises InputError on what is not a number, or on another shape.
    """
    if np.ma.isMaskedArray(values):
        raise InputError(f"{name}: is a masked array; remove the masked rows or fill them")
    kind = getattr(getattr(values, "dtype", None), "kind", "f")
    if kind in "mMc":
        raise InputError(f"{name}: holds {'complex numbers' if kind == 'c' else 'times'}, not numbers")
    try:
        if isinstance(values, (pd.Series, pd.Index)):
            array = values.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: holds values that are not numbers ({error})") from None
    if array.ndim == 2 and array.shape[-1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise InputError(f"{name}: must be one-dimensional, got shape {array.shape}")
    return np.ascontiguousarray(array)


def as_scores(values: ArrayLike, name: str = "score") -> Floats:
    """Scores as float64 (n,), every one finite and in [0, 1]."""
    scores = as_floats(values, name)
    if scores.size == 0:
        raise InputError(f"{name}: empty")
    # min and max see NaN too and cost one pass each: the masks are made only for the message
    if not (scores.min() >= 0.0 and scores.max() <= 1.0):
        unusable = ~np.isfinite(scores)
        if unusable.any():
            raise InputError(f"NaN or infinite {name} {_positions(unusable)}: remove or repair these rows")
        outside = (scores < 0) | (scores > 1)
        raise InputError(
            f"{name} outside [0, 1] {_positions(outside)} (found {scores[outside][0]:g}): "
            "probabilities are needed; apply the sigmoid to logits, divide percentages by 100"
        )
    return scores


def as_labels(values: ArrayLike, n: int, name: str = "label", *, ties: bool = False) -> Floats:
    """Labels as float64 (n,) of 0, 1 and NaN (not labelled); with ``ties`` also 1/2."""
    labels = as_floats(values, name)
    same_length(labels, n, name)
    wrong = ~((labels == 0) | (labels == 1) | np.isnan(labels))
    if ties:
        wrong &= labels != HALF
    if wrong.any():
        raise InputError(f"{name}s must be 0 or 1, found {labels[wrong][0]:g} {_positions(wrong)}")
    return labels


def as_weights(values: ArrayLike | None, n: int) -> Floats | None:
    """Sampling weights as float64 (n,), finite and not negative, with a positive sum; None stays None."""
    if values is None:
        return None
    weights = as_floats(values, "weight")
    same_length(weights, n, "weight")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        raise InputError(f"weight missing, infinite or negative {_positions(wrong)}: remove these rows")
    if not weights.any():
        raise InputError("every weight is zero: nothing is left to compute on")
    # squares of weights must neither vanish nor overflow; within reason the scale stays as given
    largest = float(weights.max())
    return weights if 1e-100 < largest < 1e100 else weights / largest


def as_codes(values: ArrayLike, n: int, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Integer codes (n,) of arbitrary identifiers, and the distinct identifiers in order of first code."""
    codes, distinct = pd.factorize(pd.Series(values), use_na_sentinel=False)
    same_length(codes, n, name)
    return codes.astype(np.int64), np.asarray(distinct)


def same_length(array: Any, n: int, name: str) -> None:
    if len(array) != n:
        raise InputError(f"{name}: {len(array):,} values for {n:,} scores")


def fraction(value: float, name: str, *, open_interval: bool = True) -> float:
    """A finite number inside (0, 1), or [0, 1] when not ``open_interval``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number between 0 and 1, got {value!r}") from None
    inside = 0 < number < 1 if open_interval else 0 <= number <= 1
    if not inside:
        kind = "a finite number strictly inside (0, 1)" if open_interval else "a finite number in [0, 1]"
        raise InputError(f"{name} must be {kind}, got {value!r}")
    return number


def whole_number(value: int, name: str, low: int, high: int) -> int:
    """An integer in [low, high]."""
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not low <= value <= high:
        raise InputError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return int(value)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view
