"""Which way families of models err: six of them on one bundled data set, held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calcore.calibrators import Platt
from calcore.calibrators.logistic import logit
from calcore.evidence import Evidence
from calcore.metrics import CalibrationError, Reliability, ece, reliability
from calcore.metrics.uncertainty import Z
from calcore.observation import Clean

#: A forest says exactly 0 and 1 and naive Bayes almost so: in slopes they count as .001 and .999, as logits of
#: -14 and 14 would let a few rows decide.
SLOPE_CLIP = 1e-3
FOLDS = 3


@dataclass(frozen=True, eq=False)
class Family:
    """A family of models and how its held-out scores err.

    ``slope`` is that of logit recalibration with its 95 % ``slope_interval``: below 1 scores are too extreme, above
    1 too timid. ``certainty_gap`` as in the function of that name.
    """

    name: str
    reliability: Reliability
    error: CalibrationError
    slope: float
    slope_interval: tuple[float, float]
    certainty_gap: float

    @property
    def direction(self) -> str:
        """ "overconfident", "underconfident", or "" where the slope cannot be told from 1."""
        low, high = self.slope_interval
        return "overconfident" if high < 1 else "underconfident" if low > 1 else ""


def family_tendencies(seed: int = 0, bins: int = 10) -> tuple[Family, ...]:
    """Families on scikit-learn's handwritten digits, event "the digit is 5 or more" (Basics, section 3).

    Every row is scored by a model of the other folds. The support vector machine is there twice: its margin put
    through a sigmoid as it is, and its margin scaled by Platt's method, as libraries do that offer probabilities.
    """
    digits = load_digits()
    event = (digits.target >= 5).astype(float)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return tuple(
        _family(name, _held_out(model, digits.data, event, folds), event, bins)
        for name, model in _models(seed).items()
    )


def _models(seed: int) -> dict[str, Any]:
    svm = SVC(random_state=seed)
    return {
        "Logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        # some pixels are never dark: without smoothing one dark one would decide alone
        "Naive Bayes": GaussianNB(var_smoothing=1e-2),
        "Random forest": RandomForestClassifier(100, random_state=seed),
        "Gradient boosting": GradientBoostingClassifier(max_features=8, random_state=seed),
        "SVM, raw margin": make_pipeline(StandardScaler(), svm),
        "SVM, Platt-scaled": make_pipeline(
            StandardScaler(), CalibratedClassifierCV(svm, ensemble=False, cv=FOLDS)
        ),
    }


def _held_out(model: Any, rows: np.ndarray, event: np.ndarray, folds: StratifiedKFold) -> np.ndarray:
    if hasattr(model, "predict_proba"):
        return cross_val_predict(model, rows, event, cv=folds, method="predict_proba")[:, 1]
    return special.expit(cross_val_predict(model, rows, event, cv=folds, method="decision_function"))


def _family(name: str, score: np.ndarray, event: np.ndarray, bins: int) -> Family:
    evidence = Clean().evidence(score, event)
    slope, interval = recalibration_slope(evidence)
    return Family(
        name, reliability(evidence, bins), ece(evidence, bins), slope, interval, certainty_gap(evidence)
    )


def recalibration_slope(evidence: Evidence, clip: float = SLOPE_CLIP) -> tuple[float, tuple[float, float]]:
    """Slope of sigmoid(a logit(score) + b) by maximum likelihood, and its 95 % Wald interval, on clean labels."""
    fit = Platt(clip=clip).fit(evidence)
    design = np.column_stack([logit(evidence.score, clip), np.ones(len(evidence))])
    rate = special.expit(design @ np.array([fit.a_, fit.b_]))
    information = (design * (evidence.weight * rate * (1 - rate))[:, None]).T @ design
    error = float(np.sqrt(np.linalg.pinv(information, hermitian=True)[0, 0]))
    return fit.a_, (fit.a_ - Z * error, fit.a_ + Z * error)


def certainty_gap(evidence: Evidence) -> float:
    """Mean of max(score, 1 - score) minus the share of decisions at one half that are right.

    The paper's tendency: positive where the score claims more certainty than it earns.
    """
    up = evidence.score >= 0.5
    stated = evidence.mass @ np.maximum(evidence.score, 1 - evidence.score)
    return float(stated - evidence.positive[up].sum() - evidence.negative[~up].sum())
