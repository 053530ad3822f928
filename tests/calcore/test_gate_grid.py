"""The gate at other settings, against Gated-LWCal fitted again for each; and the protocol of Table XI."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.calibrators import GatedLWCal
from calcore.calibrators.loss_weighted import GATE_CENTERS, GATE_WIDTHS, contradiction_rate, gate_opening
from calcore.crossfit import Folds, cross_fit, predict_elsewhere
from calcore.errors import DoesNotExist
from calcore.gate_grid import gate_grid
from calcore.gate_protocol import protocol
from calcore.metrics.pairs import Pairs
from calcore.observation import PU, Clean, Noisy


def drawn(n=1500, seed=0, flips=0.2):
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 0.7, n)
    clean = rng.random(n) < score
    return score, clean ^ (rng.random(n) < flips), clean


@pytest.mark.parametrize("model", [Clean(), Noisy(0.2, 0.2)], ids=str)
def test_every_setting_is_gated_lwcal_fitted_again(model):
    score, noisy, _ = drawn()
    evidence = model.evidence(score, noisy)
    found = gate_grid(evidence)
    assert len(found.settings) == 12
    folds = Folds.of(evidence)
    for one in found.settings:
        fit = cross_fit(GatedLWCal(center=one.center, width=one.width), folds)
        again = metrics.brier(evidence.with_score(fit.predicted))
        assert one.rho == pytest.approx(fit.fitted.audit_.rho)
        assert one.brier.value == pytest.approx(again.value, abs=1e-12)
        assert one.brier.interval == pytest.approx(again.interval)


def test_on_audit_labels_each_row_is_predicted_by_maps_that_did_not_see_it():
    score, noisy, clean = drawn()
    recorded = np.where(np.arange(score.size) % 7 == 0, np.nan, noisy)
    audited = np.where(np.arange(score.size) % 3 == 0, clean, np.nan)
    evidence, audit = Noisy().evidence(score, recorded), Clean().evidence(score, audited)
    found = gate_grid(evidence, audit)
    folds = Folds.of(evidence)
    for one in found.settings[::5]:
        fit = cross_fit(GatedLWCal(center=one.center, width=one.width), folds)
        again = metrics.brier(audit.with_score(predict_elsewhere(fit, folds, audit)))
        assert one.brier.value == pytest.approx(again.value, abs=1e-12)
    assert found.basis.case == "audit"


def test_noisy_labels_alone_give_the_gate_and_a_reason():
    score, noisy, _ = drawn()
    found = gate_grid(Noisy().evidence(score, noisy))
    assert not found.measured
    assert "noisy" in found.basis.sentence
    d_hat = np.mean((score >= 0.5) != noisy)
    for one in found.settings:
        assert one.rho == pytest.approx(np.clip((d_hat - one.center) / one.width, 0, 1))


def test_the_present_setting_is_marked_and_its_difference_is_nothing():
    score, noisy, _ = drawn()
    found = gate_grid(Clean().evidence(score, noisy))
    (present,) = [one for one in found.settings if one.present]
    assert (present.center, present.width) == (0.29, 0.12)
    assert present.difference.value == 0
    assert not present.difference.separated
    other = gate_grid(Clean().evidence(score, noisy), present=(0.4, 0.2))
    assert other.centers == (*GATE_CENTERS, 0.4)
    assert other.widths == (*GATE_WIDTHS, 0.2)
    assert sum(one.present for one in other.settings) == 1


def test_settings_are_separated_only_by_more_than_chance():
    """A gate that is shut everywhere gives one map: nothing can differ."""
    score, _, clean = drawn()
    found = gate_grid(Clean().evidence(score, clean))
    assert {one.rho for one in found.settings} == {0.0}
    assert not found.separated


def test_differences_are_bootstrapped_at_the_level_of_all_settings_together():
    score, noisy, _ = drawn(flips=0.35)
    evidence = Clean().evidence(score, noisy)
    found = gate_grid(evidence)
    assert max(one.rho for one in found.settings) > min(one.rho for one in found.settings)
    folds = Folds.of(evidence)
    blended = {
        f"{one.center} {one.width}": evidence.with_score(
            cross_fit(GatedLWCal(center=one.center, width=one.width), folds).predicted
        )
        for one in found.settings
    }
    pairs = Pairs.of(blended)
    for one, name in zip(found.settings, blended, strict=True):
        again = pairs.difference("Brier", name, "0.29 0.12")
        assert one.difference.draws is not None
        assert one.difference.level == pairs.level == 1 - 0.05 / 11
        assert (one.difference.lower, one.difference.upper) == pytest.approx((again.lower, again.upper))


def test_the_best_setting_beats_the_present_one_by_more_than_chance():
    score, noisy, _ = drawn(4000, flips=0.2)
    found = gate_grid(Noisy(0.2, 0.2).evidence(score, noisy))
    beaten = [one for one in found.separated if one.difference.value < 0]
    assert found.best in beaten
    assert found.best.brier.value == min(one.brier.value for one in beaten)
    assert gate_grid(Noisy().evidence(score, noisy)).best is None


def test_one_unit_may_be_ranked_on_and_cannot_be_measured():
    score, noisy, _ = drawn(50)
    found = gate_grid(Clean().evidence(score, noisy, unit=np.zeros(50, int)))
    assert not found.measured
    assert found.basis.ranked == "yes"
    assert found.failure
    assert not found.failure.endswith(".")
    assert gate_grid(Clean().evidence(score, noisy)).failure is None


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_hardly_any_rows(n):
    score, noisy, _ = drawn(n)
    found = gate_grid(Clean().evidence(score, noisy))
    assert len(found.settings) == 12
    assert not found.measured
    assert found.basis.ranked == "no"


def test_the_gate_of_the_calibrator_is_the_gate_of_the_grid():
    rng = np.random.default_rng(3)
    score, noisy, _ = drawn(flips=0.3)
    evidence = Noisy().evidence(score, noisy, weight=rng.uniform(0.5, 3, score.size))
    audit = GatedLWCal(center=0.33, width=0.16).fit(evidence).audit_
    assert audit.d_hat == contradiction_rate(evidence)
    assert audit.rho == float(gate_opening(audit.d_hat, 0.33, 0.16))
    assert gate_opening(np.array([0.2, 0.37, 0.6]), 0.29, 0.16) == pytest.approx([0, 0.5, 1])


def test_rows_without_labels_have_no_gate():
    with pytest.raises(DoesNotExist):
        gate_grid(PU(0.5).evidence(np.linspace(0, 1, 8), source=np.repeat(["positive", "unlabelled"], 4)))


@pytest.mark.parametrize(
    "d_hat, score",
    [
        (0.0, "LWCal"),
        (0.2899, "LWCal"),
        (0.29, "Gated-LWCal"),
        (0.41, "Raw or Gated-LWCal"),
        (1.0, "Raw or Gated-LWCal"),
    ],
)
def test_the_protocol_marks_the_row_of_the_contradiction_rate(d_hat, score):
    rows = protocol(d_hat)
    assert [row.score for row in rows] == ["LWCal", "Gated-LWCal", "Raw or Gated-LWCal"]
    assert [row.score for row in rows if row.here] == [score]
    assert [(row.low, row.high) for row in rows] == [
        (0.0, 0.29),
        (0.29, pytest.approx(0.41)),
        (pytest.approx(0.41), 1.0),
    ]
    assert all(row.action for row in rows)
