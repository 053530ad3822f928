"""Maps in scikit-learn: bit for bit the map's numbers; in pipelines, clones and beside a classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from calcore.calibrators import Isotonic
from calcore.errors import InputError
from calcore.maps import CalibratedClassifier, CalibrationMap, IdentityFunction, PatchesFunction, as_sklearn
from calcore.subgroups import Subgroup

from .examples import FUNCTIONS, example, hard_scores

ROWS, LABELS = make_classification(400, weights=[0.7], random_state=0)
NAMED = np.where(LABELS == 1, "yes", "no")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_an_estimator_from_json_gives_the_maps_bits(function) -> None:
    map_ = example(function)
    estimator = as_sklearn(CalibrationMap.from_json(map_.to_json()))
    scores = hard_scores(function)
    assert np.array_equal(estimator.predict(scores), map_.predict(scores))
    assert np.array_equal(estimator.predict(scores.reshape(-1, 1)), map_.predict(scores))
    assert np.array_equal(estimator.transform(scores), map_.predict(scores).reshape(-1, 1))
    assert np.array_equal(clone(estimator).fit(scores).predict(scores), map_.predict(scores))


def test_an_estimator_is_a_step_of_a_pipeline() -> None:
    map_ = example(FUNCTIONS["isotonic"])
    scores = np.linspace(0.0, 1.0, 50)
    halved = make_pipeline(FunctionTransformer(lambda s: s / 2.0), as_sklearn(map_))
    assert np.array_equal(
        halved.fit(scores.reshape(-1, 1)).predict(scores.reshape(-1, 1)), map_.predict(scores / 2)
    )
    named = make_pipeline(as_sklearn(map_), StandardScaler()).set_output(transform="pandas")
    assert list(named.fit_transform(scores.reshape(-1, 1)).columns) == ["calibrated"]


def test_several_columns_and_things_that_are_no_map_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 2\)"):
        as_sklearn(example(IdentityFunction())).predict([[0.1, 0.9], [0.5, 0.5]])
    with pytest.raises(InputError, match="give a CalibrationMap"):
        as_sklearn("{}").predict([0.1])  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [LABELS, NAMED], ids=["numbers", "text"])
def test_a_classifier_with_a_map_is_a_classifier(labels) -> None:
    classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, labels)
    scores = classifier.predict_proba(ROWS)[:, 1]
    map_ = Isotonic().fit(scores, LABELS).map_
    calibrated = CalibratedClassifier(classifier, map_)
    found = calibrated.predict_proba(ROWS)
    assert np.array_equal(found[:, 1], map_.predict(scores))
    assert np.array_equal(found.sum(axis=1), np.ones(len(ROWS)))
    assert calibrated.classes_.tolist() == classifier.classes_.tolist()
    assert np.array_equal(calibrated.predict(ROWS), calibrated.classes_[found.argmax(axis=1)])
    assert calibrated.get_params()["classifier"] is classifier
    assert calibrated.score(ROWS, labels) > 0.8
    assert brier_score_loss(LABELS, found[:, 1]) <= brier_score_loss(LABELS, scores)


def test_clones_pipelines_and_cross_validation_keep_the_fitted_classifier() -> None:
    classifier = LogisticRegression().fit(ROWS, LABELS)
    calibrated = CalibratedClassifier(classifier, example(FUNCTIONS["beta"]))
    expected = calibrated.predict_proba(ROWS)
    for other in (clone(calibrated), make_pipeline("passthrough", calibrated), calibrated.fit(ROWS, LABELS)):
        assert np.array_equal(other.predict_proba(ROWS), expected)
    assert len(cross_val_score(calibrated, ROWS, LABELS, cv=3)) == 3


def test_subgroups_are_found_in_the_rows_or_refused() -> None:
    map_ = example(
        PatchesFunction(IdentityFunction(), 1, ((0, 0, 0.25),)),
        subgroups=[Subgroup.equals("region", "north").to_dict()],
    )
    rows = (
        pd.DataFrame(ROWS).rename(columns=str).assign(region=np.where(np.arange(400) % 2, "north", "south"))
    )
    numbers = FunctionTransformer(lambda X: X.drop(columns="region").to_numpy())
    classifier = make_pipeline(numbers, LogisticRegression()).fit(rows, LABELS)
    calibrated = CalibratedClassifier(classifier, map_)
    scores = classifier.predict_proba(rows)[:, 1]
    assert np.array_equal(calibrated.predict_proba(rows)[:, 1], map_.predict(scores, rows))
    plain = CalibratedClassifier(LogisticRegression().fit(ROWS, LABELS), map_)
    assert plain.predict_proba(ROWS, rows).shape == (400, 2)
    with pytest.raises(InputError, match="no groups were given"):
        plain.predict_proba(ROWS)


def test_unfitted_classifiers_and_those_of_three_classes_are_refused() -> None:
    map_ = example(IdentityFunction())
    with pytest.raises(ValueError, match="not fitted"):
        CalibratedClassifier(LogisticRegression(), map_).fit()
    three = LogisticRegression().fit(ROWS, np.arange(400) % 3)
    with pytest.raises(InputError, match="3 classes"):
        CalibratedClassifier(three, map_).predict_proba(ROWS)
