"""Every observation model x calibrator x metric: a number or a reason, at any size."""

from __future__ import annotations

import inspect

import pytest

from calcore.calibrators import REGISTRY
from calcore.observation import MODELS
from calcore.studies import everything
from calcore.studies.simulation import SIGHTS, observation_models, skewed


def checked(entries, models):
    assert len(entries) == len(models) * len(REGISTRY) * len(everything.METRICS)
    assert [entry for entry in entries if entry.raised] == []
    for entry in entries:
        assert (entry.value is None) != (entry.reason is None)
        exists = not REGISTRY[entry.calibrator].needs_row_labels or MODELS[entry.model].has_row_labels
        if not exists:
            assert "does not exist" in entry.reason


def test_every_observation_model_is_simulated():
    concrete = {name for name, model in MODELS.items() if not inspect.isabstract(model)}
    assert set(SIGHTS) == set(observation_models(skewed().prior)) == concrete


@pytest.mark.slow
def test_no_cell_raises_on_few_rows():
    models = ("Noisy", "PU", "SU", "Sconf")
    checked(everything.run(n=60, models=models), models)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 400])
def test_no_cell_raises_under_any_model(n):
    checked(everything.run(n=n, seed=1), list(SIGHTS))


def test_what_is_printed_names_what_does_not_exist_and_what_raised():
    entries = [
        everything.Entry("PU", "Platt", "ECE", value=0.01234, by_chance=True),
        everything.Entry("PU", "LWCal", "ECE", reason="its rows carry no recorded label"),
        everything.Entry("UU", "Platt", "ECE", raised="ValueError('bad')"),
    ]
    text = everything.told(entries)
    assert "(0.0123)" in text
    assert "LWCal              does not exist: its rows carry no recorded label" in text
    assert "3 cells: 1 numbers, 1 that do not exist, 1 that raised" in text
    assert "UU, Platt, ECE: ValueError('bad')" in text
