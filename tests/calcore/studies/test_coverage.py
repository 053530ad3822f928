"""Tests and intervals keep what they promise, on a moderate number of repetitions."""

from __future__ import annotations

import pytest

from calcore.studies import coverage
from calcore.studies.simulation import observation_models


@pytest.mark.parametrize("shape", list(coverage.SHAPES))
@pytest.mark.parametrize("error", coverage.TRUTHS)
def test_the_population_has_the_stated_error(shape, error):
    truth = coverage.population(coverage.SHAPES[shape], error)
    assert truth.error(coverage.ECE_BINS) == pytest.approx(error, abs=1e-12)
    x = truth._grid[0]
    assert ((truth.rate(x) >= 0) & (truth.rate(x) <= 1)).all()


def test_a_missed_target_is_told():
    held = coverage.share("cell moments", "PU", 95, 100, 0.93, 0.97)
    missed = coverage.share("family-wise error", "PU", 20, 100, high=0.06)
    assert held.holds
    assert not missed.holds
    text = coverage.told([held, missed, coverage.share("family-wise error", "Pconf", 30, 100)])
    assert "0.93 to 0.97\n" in text
    assert "at most 0.06   MISSED" in text
    assert text.endswith("reported")


@pytest.mark.slow
@pytest.mark.parametrize("model", coverage.BOUNDED)
def test_a_calibrated_score_is_rarely_accused(model):
    found, few_rows, wald = coverage.family_wise_error(200, (model,))
    assert found.rate <= coverage.MOST_FALSE_ALARMS
    assert few_rows.rate <= coverage.MOST_FALSE_ALARMS
    assert wald.rate > found.rate


@pytest.mark.slow
@pytest.mark.parametrize("model", list(observation_models(0.3)))
def test_intervals_of_cell_moments_cover(model):
    found, _ = coverage.moment_coverage(100, (model,))
    assert 0.93 <= found.rate <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("model", coverage.BOUNDED)
def test_intervals_of_ece_cover(model):
    for found in coverage.ece_coverage(60, (model,)):
        assert found.holds, coverage.told([found])
