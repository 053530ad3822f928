"""Calibration maps as scikit-learn estimators: a transformer of scores, and a classifier with a map behind it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from calcore.errors import InputError
from calcore.maps.calibration_map import CalibrationMap
from calcore.maps.fields import shown
from calcore.subgroups import Membership
from calcore.validation import Floats

Groups = ArrayLike | pd.DataFrame | Membership | None


def as_sklearn(map_: CalibrationMap) -> MapEstimator:
    """The map as a fitted estimator: `as_sklearn(CalibrationMap.from_json(text)).predict(scores)`."""
    return MapEstimator(map_)


class MapEstimator(TransformerMixin, RegressorMixin, BaseEstimator):
    """A map in scikit-learn's terms, fitted from the start: there is nothing that `fit` could change.

    calibration_map: the map. Its numbers are the map's own, to the last bit.
    """

    def __init__(self, calibration_map: CalibrationMap) -> None:
        self.calibration_map = calibration_map

    def fit(self, scores: Any = None, y: Any = None) -> Self:
        """Nothing: the map is what it is."""
        _checked(self.calibration_map)
        return self

    def predict(self, scores: ArrayLike, groups: Groups = None) -> Floats:
        """Calibrated scores (n,) of scores (n,) or (n, 1); ``groups`` as in CalibrationMap.predict.

        Raises InputError for several columns and for all that the map refuses.
        """
        flat = np.asarray(scores)
        if flat.ndim == 2 and flat.shape[1] == 1:
            flat = flat[:, 0]
        if flat.ndim != 1:
            raise InputError(f"The scores have the shape {flat.shape}; give one column of probabilities.")
        return _checked(self.calibration_map).predict(flat, groups)

    def transform(self, scores: ArrayLike, groups: Groups = None) -> Floats:
        """Calibrated scores as a column (n, 1), for the next step of a pipeline."""
        return self.predict(scores, groups).reshape(-1, 1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        return np.array(["calibrated"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A fitted binary classifier whose `predict_proba` goes through a map.

    classifier: fitted, with two `classes_`; the second is the event that the map is about. calibration_map: the map,
    fitted on this classifier's scores, so `fit` leaves both as they are and clones share them.

    A map that differs between subgroups looks for their columns in X where that is a DataFrame that has them, or in
    ``groups``; it refuses rows without them.
    """

    def __init__(self, classifier: Any, calibration_map: CalibrationMap) -> None:
        self.classifier = classifier
        self.calibration_map = calibration_map

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Only checks that the classifier is fitted: another fit would need another map."""
        check_is_fitted(self.classifier)
        _checked(self.calibration_map)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The classifier's two classes. Raises InputError where there are not two."""
        classes = np.asarray(self.classifier.classes_)
        if classes.shape != (2,):
            raise InputError(
                f"The classifier has {classes.size} classes, but a calibration map is about one event; give a "
                "classifier with two."
            )
        return classes

    def predict_proba(self, X: Any, groups: Groups = None) -> Floats:
        """Probabilities (n, 2) of the two classes; they sum to 1, and the second is the map's number."""
        _ = self.classes_
        map_ = _checked(self.calibration_map)
        if groups is None and map_.function.needs_groups and isinstance(X, pd.DataFrame):
            groups = X
        event = map_.predict(np.asarray(self.classifier.predict_proba(X))[:, 1], groups)
        return np.column_stack([1.0 - event, event])

    def predict(self, X: Any, groups: Groups = None) -> np.ndarray:
        """The second class where its calibrated probability is above .5, else the first."""
        result: np.ndarray = self.classes_[(self.predict_proba(X, groups)[:, 1] > 0.5).astype(int)]
        return result

    def __sklearn_clone__(self) -> CalibratedClassifier:
        return type(self)(self.classifier, self.calibration_map)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _checked(map_: Any) -> CalibrationMap:
    if not isinstance(map_, CalibrationMap):
        raise InputError(f"The calibration map is {shown(map_)}; give a CalibrationMap.")
    return map_
