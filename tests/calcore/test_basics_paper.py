"""What "Probability Calibration" prints and anybody can recompute; where its print is wrong, what is right.

Its data and models are not given, so that rows of its tables are taken as printed, and tolerances are those of the
printed digits.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.datasets import make_classification
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from calcore import metrics
from calcore.calibrators import Isotonic, Platt, Temperature
from calcore.lessons import certainty_gap, ece_arithmetic, pava_steps, platt_steps, temperature_curve
from calcore.observation import Clean

# "Reliability, bin by bin": n, mean predicted, actual positive, gap of naive Bayes on its 1,000 test rows
BINS = np.array(
    [
        (356, 0.0203, 0.1376, 0.1174),
        (67, 0.1501, 0.2687, 0.1186),
        (44, 0.2516, 0.2273, 0.0243),
        (26, 0.3469, 0.1923, 0.1546),
        (25, 0.4452, 0.5600, 0.1148),
        (20, 0.5489, 0.7500, 0.2011),
        (38, 0.6442, 0.5263, 0.1179),
        (29, 0.7450, 0.5517, 0.1933),
        (46, 0.8539, 0.7391, 0.1147),
        (349, 0.9799, 0.9083, 0.0716),
    ]
)
COUNT, PREDICTED, ACTUAL, GAP = BINS.T
FLAGGED = np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 0], dtype=bool)
DIGIT = 0.5e-4

# "PAVA, run by hand on ten points"
TEN = np.array([0.10, 0.18, 0.25, 0.33, 0.41, 0.52, 0.60, 0.71, 0.83, 0.92])
TEN_LABELS = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1])
TEN_FITTED = [0.0, 0.0, 0.5, 0.5, 0.6667, 0.6667, 0.6667, 1.0, 1.0, 1.0]

# "Platt scaling, fitted by hand": raw score, logit, A logit + B, calibrated
A, B = 0.4024, -0.0260
PLATT = np.array(
    [
        (0.0200, -3.8937, -1.5930, 0.1690),
        (0.1993, -1.3909, -0.5857, 0.3576),
        (0.5010, 0.0040, -0.0244, 0.4939),
        (0.8001, 1.3868, 0.5321, 0.6300),
        (0.9802, 3.9024, 1.5445, 0.8241),
    ]
)


@pytest.fixture(scope="module")
def rebuilt():
    """1,000 rows with the printed counts, means and numbers of positives of each bin."""
    positives = np.rint(COUNT * ACTUAL).astype(int)
    score = np.repeat(PREDICTED, COUNT.astype(int))
    label = np.concatenate(
        [np.arange(n) < k for n, k in zip(COUNT.astype(int), positives, strict=True)]
    ).astype(float)
    return Clean().evidence(score, label)


def test_the_rates_of_the_bins_are_whole_numbers_of_rows():
    assert COUNT.sum() == 1000
    positives = COUNT * ACTUAL
    assert np.abs(positives - np.rint(positives)).max() <= COUNT.max() * DIGIT
    # the last of these: the bins' positives are the event rate of the table of tendencies, .4980
    assert np.rint(positives).sum() == 498


def test_the_means_of_the_bins_give_the_mean_prediction_of_the_other_table():
    mean = float(COUNT @ PREDICTED) / 1000
    assert mean == pytest.approx(0.4868, abs=2 * DIGIT)


def test_the_gaps_are_those_of_the_printed_rates_and_the_flags_the_three_largest():
    assert np.abs(np.abs(ACTUAL - PREDICTED) - GAP).max() <= 2 * DIGIT + 1e-12
    assert set(np.flatnonzero(FLAGGED)) == set(np.argsort(-GAP)[:3])


def test_the_ece_is_the_sum_over_the_bins(rebuilt):
    error = float(COUNT @ GAP) / 1000
    assert error == pytest.approx(0.1021, abs=2 * DIGIT)
    found = ece_arithmetic(rebuilt, 10)
    assert found.rows.tolist() == COUNT.tolist()
    assert found.gap == pytest.approx(ACTUAL - PREDICTED, abs=2 * DIGIT)
    assert found.total == pytest.approx(0.1021, abs=2 * DIGIT)
    assert found.total == metrics.ece(rebuilt, 10).value


def test_naive_bayes_is_overconfident_by_the_papers_own_measure(rebuilt):
    # stated minus earned certainty, bin by bin, away from one half
    by_hand = np.where(PREDICTED < 0.5, ACTUAL - PREDICTED, PREDICTED - ACTUAL)
    assert certainty_gap(rebuilt) == pytest.approx(COUNT @ by_hand / 1000, abs=2 * DIGIT)
    assert certainty_gap(rebuilt) > 0.05


def test_wrong_in_print_the_first_bin_is_not_underconfident_as_a_tendency():
    # "UNDERconfident by 11.7%" is said of predictions of 2 % where 13.8 % happened: the event is underestimated, but the
    # certainty (98 % stated, 86 % earned) is too large, which the same paper's tendencies call overconfident
    stated, earned = 1 - PREDICTED[0], 1 - ACTUAL[0]
    assert ACTUAL[0] > PREDICTED[0]
    assert stated - earned == pytest.approx(0.1174, abs=3 * DIGIT)


def test_wrong_in_print_the_auc_moves_as_much_as_the_ece_between_the_models():
    # "the AUC column barely moves while ECE varies a lot": both span about .07
    auc, error = np.array([0.8973, 0.9597, 0.8898]), np.array([0.0357, 0.0926, 0.1021])
    assert np.ptp(auc) == pytest.approx(0.0699, abs=1e-9)
    assert np.ptp(error) == pytest.approx(0.0664, abs=1e-9)
    assert np.ptp(auc) > np.ptp(error)


def test_platt_rows_step_by_step():
    raw, log_odds, line, calibrated = PLATT.T
    steps = platt_steps(raw, A, B)
    # a raw score is known to half a digit, and the logit is steep at both ends
    assert (np.abs(steps.logit - log_odds) <= DIGIT / (raw * (1 - raw)) + DIGIT).all()
    from_logit = A * log_odds + B
    assert (np.abs(from_logit - line) <= DIGIT * (np.abs(log_odds) + A + 2)).all()
    assert special.expit(line) == pytest.approx(calibrated, abs=2 * DIGIT)
    assert steps.calibrated == pytest.approx(calibrated, abs=3e-4)


def test_the_hand_checked_platt_row():
    assert special.expit(1.5445) == pytest.approx(0.824117, abs=DIGIT * 0.15)
    assert special.expit(A * 3.9024 + B) == pytest.approx(0.824117, abs=DIGIT)
    assert platt_steps([0.9802], A, B).calibrated[0] == pytest.approx(0.824117, abs=2e-4)


def test_wrong_in_print_the_formula_of_platt_has_the_other_sign():
    # 1 / (1 + exp(A s + B)) with the printed A > 0 falls in the score, and gives .18 for .9802 instead of .82
    as_printed = 1 / (1 + np.exp(A * PLATT[:, 1] + B))
    assert (np.diff(as_printed) < 0).all()
    assert as_printed == pytest.approx(1 - PLATT[:, 3], abs=2e-4)
    # both signs turned, it is the map that the paper applies
    assert 1 / (1 + np.exp(-A * PLATT[:, 1] - B)) == pytest.approx(PLATT[:, 3], abs=2e-4)


def test_a_slope_below_one_pulls_scores_towards_the_middle():
    raw, calibrated = PLATT[:, 0], PLATT[:, 3]
    outside = np.abs(raw - 0.5) > 0.05
    assert (np.abs(calibrated - 0.5) < np.abs(raw - 0.5))[outside].all()


def test_platt_reduces_the_ece_by_sixty_percent():
    assert round(100 * (1 - 0.0410 / 0.1021)) == 60


def test_the_pooling_steps_are_those_of_the_paper():
    found = pava_steps(TEN, TEN_LABELS)
    told = [
        (
            step.left.members,
            step.right.members,
            round(step.merged.value, 4),
            step.left.value,
            step.right.value,
        )
        for step in found.steps
    ]
    assert told == [
        ((2,), (3,), 0.5, 1.0, 0.0),
        ((5,), (6,), 0.5, 1.0, 0.0),
        ((4,), (5, 6), 0.6667, 1.0, 0.5),
    ]
    assert found.steps[2].merged.value == pytest.approx((1.000 * 1 + 0.500 * 2) / 3)


def test_the_blocks_and_the_fitted_values_are_those_of_the_paper():
    found = pava_steps(TEN, TEN_LABELS)
    assert [block.members for block in found.blocks] == [(0,), (1,), (2, 3), (4, 5, 6), (7,), (8,), (9,)]
    assert found.fitted.round(4).tolist() == TEN_FITTED
    assert found.squared_error == pytest.approx(1.1667, abs=DIGIT)
    assert IsotonicRegression().fit_transform(TEN, TEN_LABELS) == pytest.approx(found.fitted, abs=1e-12)
    assert Isotonic().fit(TEN, TEN_LABELS).predict(TEN) == pytest.approx(found.fitted, abs=1e-12)


def test_no_other_rising_fit_is_closer():
    # the paper tries 4,000 at random and finds 1.2962 at best; its draws are not given, so that this draws its own
    rng = np.random.default_rng(0)
    others = np.sort(rng.random((4000, 10)), axis=1)
    least = ((TEN_LABELS - others) ** 2).sum(axis=1).min()
    assert least > 1.1667
    assert 1.1667 < 1.2962


@pytest.fixture(scope="module")
def halves():
    """Held-out scores of a naive model, for calibrating (first) and for measuring (second)."""
    rows, label = make_classification(
        4000, 20, n_informative=6, n_redundant=10, flip_y=0.1, class_sep=0.8, random_state=0
    )
    score = GaussianNB().fit(rows[:2000], label[:2000]).predict_proba(rows[2000:])[:, 1]
    return (score[:1000], label[2000:3000]), (score[1000:], label[3000:])


def test_wrong_in_print_isotonic_can_cost_ranking(halves):
    # "both repairs are monotone, so neither can cost you ranking", beside an AUC of .889762 that became .887756:
    # isotonic does not rise strictly; the scores that it merges are tied, and ties count one half
    assert 0.887756 < 0.889762
    (score, label), (test, truth) = halves
    raw = roc_auc_score(truth, test)
    assert roc_auc_score(truth, Platt().fit(score, label).predict(test)) == pytest.approx(raw, abs=1e-12)
    flat = Isotonic().fit(score, label).predict(test)
    assert np.unique(flat).size < np.unique(test).size
    assert roc_auc_score(truth, flat) != raw


def test_wrong_in_print_the_winner_by_ece_is_not_the_winner_by_brier():
    # "isotonic" is called the winner at 1,000 rows by its ECE of .0270 against .0410; the Brier scores, .1332 and
    # .1330, say that its predictions are no better
    platt, isotonic = {"ECE": 0.0410, "Brier": 0.1330}, {"ECE": 0.0270, "Brier": 0.1332}
    assert isotonic["ECE"] < platt["ECE"]
    assert isotonic["Brier"] > platt["Brier"]


def test_the_winners_over_the_sizes_are_those_of_the_lower_ece():
    platt = np.array([0.0969, 0.0723, 0.0612, 0.0458, 0.0410])
    isotonic = np.array([0.1083, 0.0846, 0.0591, 0.0384, 0.0270])
    assert (isotonic < platt).tolist() == [False, False, True, True, True]


def test_temperatures_leave_the_ranking_and_move_the_rest(halves):
    evidence = Clean().evidence(*halves[1])
    curve = temperature_curve(evidence, 10, (0.5, 1.0, 2.0, 4.0))
    assert curve.auc_spread < 1e-4
    assert np.ptp([point.ece for point in curve.points]) > 0.05
    assert np.ptp([point.brier for point in curve.points]) > 0.005


def test_wrong_in_print_its_t_is_the_inverse_of_a_temperature():
    # the paper calls T = 0.25 "over-soft" and T = 4 "over-sharp", as it multiplies the log-odds by T; the usual
    # temperature divides them, so that its 4 is a temperature of 1/4
    score = np.array([0.2, 0.8])
    sharp = special.expit(4.0 * special.logit(score))
    assert (np.abs(sharp - 0.5) > np.abs(score - 0.5)).all()
    fit = Temperature().fit(np.repeat(score, 100), np.repeat([0, 1, 0, 1], [94, 6, 6, 94]))
    assert fit.temperature_ < 1  # the labels ask for sharper scores
    assert fit.predict(score) == pytest.approx(special.expit(special.logit(score) / fit.temperature_))
