"""Score scales: probabilities as they are, percentages and logits only when the user says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.validation import ROUNDING

from .choices import Question, ScoreScale
from .numbers import Numbers

_FEW = 0.01


@dataclass(frozen=True)
class Scaled:
    """Scores on [0, 1] where the scale is known; `refused` are masks of rows by reason."""

    values: np.ndarray
    refused: tuple[tuple[str, np.ndarray], ...]
    clipped: int = 0
    question: Question | None = None
    open: bool = False
    """True while only the user can say which scale it is; `values` are then as in the file."""


def to_probability(numbers: Numbers, name: str, scale: ScoreScale | None) -> Scaled:
    """Bring scores to [0, 1]; with `scale` None nothing is rescaled, and a question is asked where needed."""
    values = numbers.values
    with_sign = numbers.percent
    percent = bool(with_sign.any())
    if scale is None:
        question = _question(numbers, name)
        if question is not None:
            return Scaled(values, (), question=question, open=True)
    refused: list[tuple[str, np.ndarray]] = []
    if scale == "percent":
        if percent and not with_sign.all():
            lacking = np.isfinite(values) & ~with_sign
            refused.append(("score lacks the % sign that others have", lacking))
        values = values / 100
    elif percent:
        refused.append(("score is a percentage and the others are not", with_sign))
    if scale == "logit":
        return Scaled(_sigmoid(values), tuple(refused))
    if _within(values, 0.0, 1.0):
        return Scaled(values, tuple(refused))
    outside = (values < -ROUNDING) | (values > 1 + ROUNDING)
    limits = "0 to 100 %" if scale == "percent" else "0 to 1"
    refused.append((f"score is outside {limits}", outside))
    clipped = int((((values < 0) | (values > 1)) & ~outside).sum())
    return Scaled(np.clip(values, 0.0, 1.0), tuple(refused), clipped)


def _within(values: np.ndarray, low: float, high: float) -> bool:
    return bool(np.fmin.reduce(values) >= low and np.fmax.reduce(values) <= high)


def _question(numbers: Numbers, name: str) -> Question | None:
    if _within(numbers.values, 0.0, 1.0) and not numbers.percent.any():
        return None
    values = numbers.values[np.isfinite(numbers.values)]
    if not len(values):
        return None
    if numbers.percent.sum() > 0.5 * len(values):
        sentence = f'"{name}" holds percentages such as {values[0]:g}%: divide by 100?'
        return Question("score_scale", name, sentence, ("percent",), "percent")
    values = numbers.values[np.isfinite(numbers.values) & ~numbers.percent]
    low, high = float(values.min()), float(values.max())
    outside = ((values < -ROUNDING) | (values > 1 + ROUNDING)).mean()
    if outside <= _FEW:
        return None  # stray values in a column of probabilities: refused one by one
    span = f'"{name}" runs from {low:g} to {high:g}'
    if low < -ROUNDING:
        sentence = f"{span}: these look like logits, apply the sigmoid?"
        return Question("score_scale", name, sentence, ("logit", "probability"), "logit")
    if high <= 100:
        sentence = f"{span}: are these percentages (divide by 100) or logits (apply the sigmoid)?"
        return Question("score_scale", name, sentence, ("percent", "logit", "probability"), "percent")
    sentence = f"{span}, too far for percentages: choose another score column, or are these logits?"
    return Question("score_scale", name, sentence, ("logit", "probability"), None)


def _sigmoid(values: np.ndarray) -> np.ndarray:
    # exp of a negative number never overflows, and both tails keep their digits.
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)
