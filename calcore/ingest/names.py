"""The names that columns of each role tend to have, and how names are taken apart."""

from __future__ import annotations

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SCORE = _set(
    "score scores prob probs proba probability p phat p_hat yhat y_hat pred_proba y_pred_proba y_prob "
    "y_proba y_score predicted_probability pred_prob predicted_prob model_score model_probability pd "
    "risk_score risk forecast prediction_score positive_probability p1 prob_1 proba_1 score_1 "
    "propensity"
)
SCORE_WORDS = _set("score prob probs proba probability pd phat yhat propensity likelihood logit")
WEAK_SCORE_WORDS = _set("p pred predicted prediction forecast risk scored")
LABEL = _set(
    "label labels y y_true ytrue target targets outcome actual class truth response noisy_label "
    "label_noisy label_value y_noisy observed obs ground_truth default churn churned event is_positive "
    "is_event converted default_payment defaulted repaid result y_obs annotation recorded_label "
    "weak_label"
)
LABEL_WORDS = _set("label target outcome actual class truth response default result y")
AUDIT = _set(
    "true_label label_true gold gold_label label_gold clean clean_label label_clean y_clean y_gold "
    "audit audit_label verified verified_label adjudicated expert_label reviewed_label checked checked_label "
    "reviewed rechecked geprueft geprüft"
)
AUDIT_WORDS = _set("true gold clean audit audited verified adjudicated expert truth checked reviewed")
ALSO_AUDIT = _set("y_true ytrue truth ground_truth actual true")
SOURCE = _set("source sources sample_source data_source set_name pu_source origin")
SOURCE_VALUES = _set("positive unlabelled unlabeled first second similar dissimilar superior inferior")
CONFIDENCE_WORDS = _set("confidence conf posterior")
WEIGHT = _set("weight weights sample_weight sample_weights w wt sampling_weight survey_weight")
UNIT = _set("unit units id ids pair cluster subject patient customer user account household uid")
TIME = _set("timestamp time date datetime ts dt day month year week scored_at created_at")
TIME_WORDS = _set("timestamp date datetime time")
DATE_ENDINGS = _set("on at date time")
DATE_WORDS = _set("date timestamp created applied opened")
OTHER_DATES = _set(
    "birth born dob birthday birthdate expiry expires expiration due maturity until end ends ended closed"
)
"""Dates that a row may hold beside the one it was scored on."""
OUTPUT_WORDS = _set("pred predicted prediction predictions yhat")


def words(name: str) -> list[str]:
    """A column name as lower-case words: ".pred_good" -> pred, good; "probSaps" -> prob, saps."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [w for w in re.split(r"[^a-z0-9]+|(?<=[a-z])(?=\d)", spaced.lower()) if w]


def hints_at_date(name: str) -> bool:
    """Whether a column is called as columns of dates often are, and others too: applied_on, created, date_opened."""
    parts = words(name)
    return bool(set(parts) & DATE_WORDS) or (len(parts) > 1 and parts[-1] in DATE_ENDINGS)


def _normal(name: str) -> str:
    return "_".join(words(name))


def is_known(name: str, known: frozenset[str]) -> bool:
    """Whether a column name is one of a set of names."""
    # y_score and elo1 are written with and without a separator.
    return _normal(name) in known or re.sub(r"\W", "", name.lower()) in known
