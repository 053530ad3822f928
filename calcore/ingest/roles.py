"""Which column plays which role: guessed from names and from what the columns hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from calcore.errors import InputError

from .choices import Roles
from .columns import Column
from .labels import apply_mapping, guess_mapping, spelled
from .times import looks_like_time

GROUP_LIMIT = 200
"""A text column with more distinct values than this is no group column unless its top values are chosen."""
_NUMBER_GROUP_LIMIT = 20

_SCORE = frozenset(
    ["score", "scores", "prob", "probs", "proba", "probability", "p", "phat", "p_hat", "yhat", "y_hat", "pred_proba", "y_pred_proba", "y_prob", "y_proba", "y_score", "predicted_probability", "pred_prob", "predicted_prob", "model_score", "model_probability", "pd", "risk_score", "risk", "forecast", "prediction_score", "positive_probability", "p1", "prob_1", "proba_1", "score_1", "propensity"]
)
_SCORE_WORDS = frozenset(["score", "prob", "probs", "proba", "probability", "pd", "phat", "yhat", "propensity", "likelihood", "logit"])
_WEAK_SCORE_WORDS = frozenset(["p", "pred", "predicted", "prediction", "forecast", "risk", "scored"])
_LABEL = frozenset(
    ["label", "labels", "y", "y_true", "ytrue", "target", "targets", "outcome", "actual", "class", "truth", "response", "noisy_label", "label_noisy", "label_value", "y_noisy", "observed", "obs", "ground_truth", "default", "churn", "churned", "event", "is_positive", "is_event", "converted", "default_payment", "defaulted", "repaid", "result", "y_obs", "annotation", "recorded_label", "weak_label"]
)
_LABEL_WORDS = frozenset(["label", "target", "outcome", "actual", "class", "truth", "response", "default", "result", "y"])
_AUDIT = frozenset(
    ["true_label", "label_true", "gold", "gold_label", "label_gold", "clean", "clean_label", "label_clean", "y_clean", "y_gold", "audit", "audit_label", "verified", "verified_label", "adjudicated", "expert_label", "reviewed_label"]
)
_AUDIT_WORDS = frozenset(["true", "gold", "clean", "audit", "audited", "verified", "adjudicated", "expert", "truth"])
_ALSO_AUDIT = frozenset(["y_true", "ytrue", "truth", "ground_truth", "actual", "true"])
_SOURCE = frozenset(["source", "sources", "sample_source", "data_source", "set_name", "pu_source", "origin"])
_SOURCE_VALUES = frozenset(
    ["positive", "unlabelled", "unlabeled", "first", "second", "similar", "dissimilar", "superior", "inferior"]
)
_CONFIDENCE_WORDS = frozenset(["confidence", "conf", "posterior"])
_WEIGHT = frozenset(["weight", "weights", "sample_weight", "sample_weights", "w", "wt", "sampling_weight", "survey_weight"])
_UNIT = frozenset(["unit", "units", "id", "ids", "pair", "cluster", "subject", "patient", "customer", "user", "account", "household", "uid"])
_TIME = frozenset(["timestamp", "time", "date", "datetime", "ts", "dt", "day", "month", "year", "week", "scored_at", "created_at"])
_TIME_WORDS = frozenset(["timestamp", "date", "datetime", "time"])
_OUTPUT_WORDS = frozenset(["pred", "predicted", "prediction", "predictions", "yhat"])


def words(name: str) -> list[str]:
    """A column name as lower-case words: ".pred_good" -> pred, good; "probSaps" -> prob, saps."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [w for w in re.split(r"[^a-z0-9]+|(?<=[a-z])(?=\d)", spaced.lower()) if w]


def guess_roles(columns: Mapping[str, Column]) -> Roles:
    """The most likely role of every column; a role that nothing fits stays None."""
    free = dict(columns)

    def take(points: Callable[[str, Column], float]) -> str | None:
        ranked = {name: points(name, column) for name, column in free.items()}
        best = max(ranked, key=ranked.__getitem__, default=None)
        if best is None or ranked[best] <= 0:
            return None
        del free[best]
        return best

    time = take(_time_points)
    source = take(_source_points)
    weight = take(_weight_points)
    score = take(lambda n, c: _score_points(n, c, columns))
    label = take(lambda n, c: _label_points(n, c, columns.get(score or "")))
    audit = take(_audit_points) if label is not None else None
    if label is None:
        label = take(_audit_points)  # a true label alone is simply the label
    confidence = take(_confidence_points)
    if score is None and confidence is not None:
        score, confidence = confidence, None
    unit = take(_unit_points)
    groups = tuple(name for name, column in free.items() if _is_group(name, column))
    return Roles(score, label, audit, source, confidence, weight, unit, time, groups)


def check_roles(roles: Roles, columns: Mapping[str, Column]) -> None:
    """Raise InputError for roles that name no column, or give one column two roles that exclude each other."""
    for name in [*roles.single().values(), *roles.groups]:
        if name not in columns:
            raise InputError(f'There is no column "{name}"; the file has {", ".join(columns)}.')
    if roles.score is not None:
        for role, name in roles.single().items():
            if name == roles.score and role != "score":
                raise InputError(f'"{name}" cannot be both the score and the {role}; choose another column.')
    if len(set(roles.groups)) < len(roles.groups):
        raise InputError("A group column was chosen twice; choose each one once.")


def many_valued(columns: Mapping[str, Column], roles: Roles) -> list[str]:
    """Text columns without a role that would be groups if they had fewer values."""
    return [
        name
        for name, column in columns.items()
        if column.is_text and roles.role_of(name) is None and column.distinct > GROUP_LIMIT
        and not _mostly_numbers(column) and not _is_identifier(name)
    ]  # fmt: skip


def _normal(name: str) -> str:
    return "_".join(words(name))


def _known(name: str, known: frozenset[str]) -> bool:
    # y_score and elo1 are written with and without a separator.
    return _normal(name) in known or re.sub(r"\W", "", name.lower()) in known


def _score_points(name: str, column: Column, columns: Mapping[str, Column]) -> float:
    if column.is_boolean or column.is_time:
        return 0
    parts = set(words(name))
    if not _mostly_numbers(column):
        # A column that is called score stays the score even when most of its cells are broken.
        return 60.0 if _known(name, _SCORE) and np.isfinite(column.numbers.values).any() else 0
    if parts & _CONFIDENCE_WORDS or _known(name, _LABEL | _AUDIT | _WEIGHT):
        return 0
    points = 100.0 if _known(name, _SCORE) else 50.0 * bool(parts & _SCORE_WORDS)
    points += 30.0 * bool(parts & _WEAK_SCORE_WORDS) if not points else 0
    numbers = column.sample.numbers
    values = numbers.values[np.isfinite(numbers.values)]
    inside = float(((values >= -1e-6) & (values <= 1 + 1e-6)).mean())
    if numbers.percent.mean() > 0.5:
        return points + 30.0 if points else 0
    if inside < 0.99:
        return points - 30.0
    if not np.isin(values, (0.0, 1.0)).all():
        return points + 40.0 + _names_the_positive(name, columns)
    return points + 5.0 if points >= 50 and not parts & _OUTPUT_WORDS else 0


def _names_the_positive(name: str, columns: Mapping[str, Column]) -> float:
    """Of `.pred_good` and `.pred_poor` the score is the one named after the positive label."""
    last = words(name)[-1:]
    for column in columns.values():
        if column.is_text and 2 <= column.distinct <= 3 and not _mostly_numbers(column):
            mapping = guess_mapping(spelled(column.categories), column.name).mapping
            if mapping is not None and last and last[0] in mapping.positive:
                return 5.0
    return 0.0


def _label_points(name: str, column: Column, score: Column | None) -> float:
    parts = set(words(name))
    if column.is_time or parts & _OUTPUT_WORDS or column.distinct > 20 or not column.distinct:
        return 0
    points = 100.0 if _known(name, _LABEL) else 50.0 * bool(parts & _LABEL_WORDS)
    if _known(name, _AUDIT) or (parts & _AUDIT_WORDS and not _known(name, _LABEL)):
        return 0
    if _known(name, _ALSO_AUDIT):
        points -= 10.0
    counts = spelled(column.sample.categories)
    mapping = guess_mapping(counts, name).mapping
    both = mapping is not None and bool(set(mapping.positive) & set(counts)) and bool(
        set(mapping.negative) & set(counts)
    )  # fmt: skip
    if not points and (not both or _is_identifier(name)):
        return 0
    return points + (20.0 if both else 0.0) + 20.0 * _agreement(column, score)


def _agreement(column: Column, score: Column | None) -> float:
    """How closely a two-valued column follows the score: the absolute correlation on a sample."""
    if score is None:
        return 0.0
    sample = column.sample
    mapping = guess_mapping(spelled(sample.categories), column.name).mapping
    if mapping is None:
        return 0.0
    labels, _ = apply_mapping(sample.categories, mapping)
    scores = score.sample.numbers.values
    ok = np.isfinite(labels) & np.isfinite(scores)
    labels, scores = labels[ok], scores[ok]
    if len(labels) < 3 or np.ptp(labels) == 0 or np.ptp(scores) == 0:
        return 0.0
    return abs(float(np.corrcoef(labels, scores)[0, 1]))


def _audit_points(name: str, column: Column) -> float:
    if column.is_time or not 1 <= column.distinct <= 20:
        return 0
    if _known(name, _AUDIT):
        return 100.0
    parts = set(words(name))
    if _known(name, _ALSO_AUDIT):
        return 60.0
    return 50.0 if parts & _AUDIT_WORDS and parts & {"label", "y", "class", "target"} else 0


def _source_points(name: str, column: Column) -> float:
    if not column.is_text or not 1 <= column.distinct <= 10:
        return 0
    values = {v.casefold() for v in column.categories.values}
    if _known(name, _SOURCE):
        return 100.0
    said = len(values) == 2 and values <= _SOURCE_VALUES and not _known(name, _LABEL | _AUDIT)
    return 50.0 if said else 0


def _confidence_points(name: str, column: Column) -> float:
    if not set(words(name)) & _CONFIDENCE_WORDS or not _mostly_numbers(column):
        return 0
    values = column.sample.numbers.values
    values = values[np.isfinite(values)]
    return 100.0 if ((values >= -1e-6) & (values <= 1 + 1e-6)).mean() > 0.99 else 0


def _weight_points(name: str, column: Column) -> float:
    if not _known(name, _WEIGHT) or column.is_time or not _mostly_numbers(column):
        return 0
    values = column.sample.numbers.values
    return 100.0 if np.nanmean(values < 0) < 0.5 else 0


def _unit_points(name: str, column: Column) -> float:
    if not _is_identifier(name) or column.distinct < 2:
        return 0
    return 100.0 if _known(name, _UNIT) else 50.0


def _time_points(name: str, column: Column) -> float:
    if column.is_time:
        return 60.0 + 40.0 * _known(name, _TIME)
    named = 100.0 if _known(name, _TIME) else 50.0 * bool(
        set(words(name)) & _TIME_WORDS or words(name)[-1:] == ["at"]
    )  # fmt: skip
    return named if named and looks_like_time(column) else 0


def _is_identifier(name: str) -> bool:
    return _known(name, _UNIT) or words(name)[-1:] in (["id"], ["uuid"], ["key"])


def _is_group(name: str, column: Column) -> bool:
    if _is_identifier(name) or set(words(name)) & _OUTPUT_WORDS or column.is_time or column.distinct < 2:
        return False
    if column.is_boolean:
        return True
    if column.is_text and not _mostly_numbers(column):
        return column.distinct <= GROUP_LIMIT
    if column.distinct > _NUMBER_GROUP_LIMIT:
        return False
    values = column.sample.numbers.values
    values = values[np.isfinite(values)]
    return bool((values == np.round(values)).all())


def _mostly_numbers(column: Column) -> bool:
    if column.is_boolean:
        return False
    numbers = column.sample.numbers
    filled = ~numbers.blank
    return bool(filled.any()) and bool(numbers.bad[filled].mean() < 0.5)
