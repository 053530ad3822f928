"""Cross-fitting: no row is predicted by a map that saw it, or that saw a row of its unit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from calcore.calibrators import GatedLWCal, HistogramBinning, Isotonic, Platt
from calcore.crossfit import Folds, assign_folds, cross_fit, predict_elsewhere
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import COLLAPSE_ABOVE
from calcore.observation import PU, Clean, Noisy


def sample(n=600, seed=0, **columns):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return Clean().evidence(score, rng.random(n) < score, **columns)


@pytest.mark.parametrize("method", [Platt(), Isotonic(), GatedLWCal()], ids=str)
def test_predictions_are_those_of_maps_fitted_without_the_row(method):
    evidence = sample()
    folds = Folds.of(evidence, 5, seed=1)
    found = cross_fit(method, folds)
    for k in range(5):
        outside = folds.fold != k
        alone = clone(method).fit(evidence.score[outside], evidence.label[outside])
        np.testing.assert_allclose(
            found.predicted[~outside], alone.predict(evidence.score[~outside]), atol=1e-9
        )
    whole = clone(method).fit(evidence.score, evidence.label)
    np.testing.assert_array_equal(found.map.predict(evidence.score), whole.predict(evidence.score))


def test_turning_a_label_does_not_move_its_own_prediction():
    evidence = sample(100)
    turned = evidence.label.copy()
    turned[7] = 1 - turned[7]
    folds = Folds.of(evidence, 4)
    other = Clean().evidence(evidence.score, turned)
    same = Folds(other, other, folds.fold, folds.row_fold, 4, 0)
    one, two = cross_fit(Isotonic(), folds).predicted, cross_fit(Isotonic(), same).predicted
    mates = folds.fold == folds.fold[7]
    np.testing.assert_array_equal(one[mates], two[mates])
    assert (one[~mates] != two[~mates]).any()


def test_folds_are_balanced_within_source_and_label():
    rng = np.random.default_rng(0)
    source = rng.choice(["positive", "unlabelled"], 1003)
    for evidence, strata in (
        (sample(1003), lambda e: e.label),
        (PU(0.4).evidence(rng.random(1003), source=source), lambda e: e.source),
    ):
        fold = assign_folds(evidence, 5, 0)
        for value in (0, 1):
            counts = np.bincount(fold[strata(evidence) == value], minlength=5)
            assert np.ptp(counts) <= 1


def test_small_strata_do_not_all_land_in_the_first_fold():
    score = np.linspace(0.01, 0.99, 50)
    label = np.zeros(50)
    label[3] = 1
    folds = {int(assign_folds(Clean().evidence(score, label), 5, seed)[3]) for seed in range(30)}
    assert len(folds) > 2


def test_units_stay_whole():
    unit = np.random.default_rng(0).integers(0, 40, 600)
    folds = Folds.of(sample(unit=unit), 5)
    for value in range(40):
        assert len(set(folds.fold[unit == value])) == 1
    assert len(set(folds.fold)) == 5


def test_fewer_units_than_folds():
    evidence = sample(60, unit=np.arange(60) % 3)
    predicted = cross_fit(Platt(), Folds.of(evidence, 5)).predicted
    assert np.isfinite(predicted).all()


def test_what_cannot_be_split_is_refused():
    with pytest.raises(InputError, match="one unit"):
        Folds.of(sample(60, unit=np.zeros(60)), 5)
    with pytest.raises(InputError, match="one row"):
        Folds.of(Clean().evidence([0.5], [1]), 5)
    with pytest.raises(InputError, match="folds must be a whole number"):
        Folds.of(sample(), 1)


def test_two_rows_are_enough():
    assert np.isfinite(cross_fit(Platt(), Folds.of(Clean().evidence([0.2, 0.7], [0, 1]), 5)).predicted).all()


def test_the_same_seed_gives_the_same_folds():
    evidence = sample()
    np.testing.assert_array_equal(assign_folds(evidence, 5, 3), assign_folds(evidence, 5, 3))
    assert (assign_folds(evidence, 5, 3) != assign_folds(evidence, 5, 4)).any()


def test_missing_labels_under_weak_models():
    rng = np.random.default_rng(0)
    weak = PU(0.4).evidence(rng.random(60), source=rng.choice(["positive", "unlabelled"], 60))
    with pytest.raises(DoesNotExist):
        cross_fit(GatedLWCal(), Folds.of(weak, 3))


def test_audit_rows_in_and_not_in_the_evidence():
    """Rows without a noisy label are in no fold: they take the map of all rows, the others that of their fold."""
    rng = np.random.default_rng(0)
    score = rng.random(400)
    clean = (rng.random(400) < score).astype(float)
    noisy = np.where(rng.random(400) < 0.2, 1 - clean, clean)
    noisy[:50] = np.nan  # not in the evidence
    clean[200:] = np.nan  # not audited
    evidence, audit = Noisy().evidence(score, noisy), Clean().evidence(score, clean)
    folds = Folds.of(evidence, 5)
    fit = cross_fit(HistogramBinning(), folds)
    predicted = predict_elsewhere(fit, folds, audit)
    assert len(predicted) == 200
    np.testing.assert_array_equal(predicted[:50], fit.map.predict(score[:50]))
    np.testing.assert_array_equal(predicted[50:], fit.predicted[:150])


@pytest.mark.slow
def test_great_evidence_is_added_up_and_agrees_with_its_rows(monkeypatch):
    evidence = sample(COLLAPSE_ABOVE + 1)
    collapsed = Folds.of(evidence, 3)
    assert len(collapsed.work) < len(evidence)
    assert collapsed.work.rows.sum() == len(evidence)
    monkeypatch.setattr("calcore.evidence.COLLAPSE_ABOVE", 10**9)
    rows = Folds.of(evidence, 3)
    np.testing.assert_array_equal(rows.row_fold, collapsed.row_fold)
    for method, bound in ((Platt(), 1e-6), (HistogramBinning(), 1e-9)):
        one, other = cross_fit(method, collapsed), cross_fit(method, rows)
        for first, second in zip(one.fold_maps, other.fold_maps, strict=True):
            x = np.linspace(0, 1, 101)
            np.testing.assert_allclose(first.predict(x), second.predict(x), atol=bound)
