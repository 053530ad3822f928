"""Corrected suspicious labels are no audit sample: measured on them, a score that is right looks wrong."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.calibrators import Isotonic, LWCal
from calcore.comparison import compare
from calcore.observation import Clean, Noisy
from calcore.suspicious import suspicious_labels

N = 40_000


@pytest.fixture(scope="module")
def data():
    """A calibrated score, its labels, those with 30 % flipped, and the 20 % most suspicious rows."""
    rng = np.random.default_rng(0)
    score = rng.random(N)
    clean = (rng.random(N) < score).astype(float)
    noisy = np.where(rng.random(N) < 0.3, 1 - clean, clean)
    evidence = Noisy().evidence(score, noisy)
    worst = suspicious_labels(evidence, LWCal().fit(evidence).audit_).position[: N // 5]
    return score, clean, noisy, worst


def ece(score, label):
    return metrics.ece(Clean().evidence(score, label), 15).value


def test_measured_on_corrected_suspicious_rows_a_right_score_looks_wrong(data):
    score, clean, noisy, worst = data
    assert ece(score, clean) < 0.01
    # every one of these labels is right now, and still
    assert ece(score[worst], clean[worst]) == pytest.approx(0.130, abs=0.005)
    corrected = noisy.copy()
    corrected[worst] = clean[worst]
    # flips that agree with the score stayed: the column is neither noisy nor clean
    assert ece(score, corrected) == pytest.approx(0.047, abs=0.005)


def test_of_picked_rows_more_go_against_the_score_than_it_promises(data):
    score, clean, _, worst = data
    near = np.abs(score - 0.9) < 0.02
    picked = np.isin(np.arange(N), worst)
    assert 1 - clean[near].mean() == pytest.approx(0.10, abs=0.02)
    # P(0 given recorded 0) = .1 * .7 / (.1 * .7 + .9 * .3)
    assert 1 - clean[near & picked].mean() == pytest.approx(0.07 / 0.34, abs=0.06)


def test_a_random_sample_of_the_same_size_says_that_the_score_is_right(data):
    score, clean, _, worst = data
    drawn = np.random.default_rng(1).choice(N, worst.size, replace=False)
    assert ece(score[drawn], clean[drawn]) < 0.02


def test_corrections_leave_what_the_random_audit_sample_says_unchanged(data):
    """They reach the maps, which are fitted on the labels, and not the score's own figures."""
    score, clean, noisy, worst = data
    corrected = noisy.copy()
    corrected[worst] = clean[worst]
    sampled = np.random.default_rng(2).random(N) < 0.1
    audit = Clean().evidence(score, np.where(sampled, clean, np.nan))
    before, after = (
        compare(Noisy().evidence(score, label), [Isotonic()], audit=audit, harm_draws=0)
        for label in (noisy, corrected)
    )
    for name in ("ECE", "Brier", "log loss", "AUC"):
        one, other = (found.entry("Identity").metrics[name] for found in (before, after))
        assert one.value == other.value
        assert one.interval == other.interval
    assert before.entry("Isotonic").metrics["ECE"].value > after.entry("Isotonic").metrics["ECE"].value + 0.05
    assert before.basis == after.basis
