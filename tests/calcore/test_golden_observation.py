"""Cell moments, masses, errors and maxima against numbers of an independent implementation."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.calibrators import Platt, Temperature
from calcore.observation import PU, Clean

SOURCES = {"P": "positive", "U": "unlabelled"}


def load(shared, name):
    table = pd.read_csv(shared / "golden" / "observation" / f"{name}.csv", na_values=[""])
    golden = json.loads((shared / "golden" / "observation" / f"{name}.json").read_text())
    groups = table[golden["groups"]]
    if name == "PN":
        evidence = Clean().evidence(table["f"], table["y"], groups=groups)
    else:
        evidence = PU(golden["pi"]).evidence(table["f"], source=table["source"].map(SOURCES), groups=groups)
    return evidence, golden


@pytest.fixture(params=["PN", "PU"])
def case(request, shared):
    return load(shared, request.param)


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ("moment", "cell_moments"),
        ("mass", "cell_mass_corrected"),
        ("standard_error", "cell_se"),
        ("rows", "cell_rows"),
        ("null_error", "cell_se_null"),
    ],
)
def test_cells_match_golden(case, ours, theirs):
    evidence, golden = case
    table = metrics.cells(evidence, bins=golden["bins"])
    expected = np.array(golden[theirs], dtype=float)
    np.testing.assert_allclose(getattr(table, ours), expected, rtol=0, atol=1e-9)


def test_group_mass_and_error_match_golden(case):
    evidence, golden = case
    table = metrics.cells(evidence, bins=golden["bins"])
    np.testing.assert_allclose(table.group_mass, golden["group_mass"], atol=1e-9)
    np.testing.assert_allclose(table.group_error, np.array(golden["group_ece"], dtype=float), atol=1e-9)


def test_maxima_match_golden(case):
    evidence, golden = case
    bins = golden["bins"]
    assert metrics.ece(evidence, bins).value == pytest.approx(golden["ECE"], abs=1e-9)
    assert metrics.max_ece(evidence, bins).value == pytest.approx(golden["maxECE_mu_min_0"], abs=1e-9)
    smaller = metrics.max_ece(evidence, bins, min_mass=0.05)
    assert smaller.value == pytest.approx(golden["maxECE_mu_min_0_05"], abs=1e-9)
    assert metrics.multicalibration_error(evidence, bins).value == pytest.approx(golden["MC"], abs=1e-9)


def test_log_loss_of_the_score_matches_golden(case):
    evidence, golden = case
    clip = golden["logit_clip"]
    assert metrics.log_loss(evidence, clip).value == pytest.approx(golden["weak_nll_identity"], abs=1e-9)


def test_platt_and_temperature_match_golden(case):
    evidence, golden = case
    platt = Platt(clip=golden["logit_clip"]).fit(evidence)
    assert platt.a_ == pytest.approx(golden["platt"]["a"], abs=1e-6)
    assert platt.b_ == pytest.approx(golden["platt"]["b"], abs=1e-6)
    temperature = Temperature(clip=golden["logit_clip"]).fit(evidence)
    assert temperature.temperature_ == pytest.approx(golden["temperature"]["beta"], abs=1e-6)
    for fitted, name in ((platt, "platt"), (temperature, "temperature")):
        moved = evidence.with_score(fitted.predict(evidence.score))
        # the loss of the fitted logits, not of their rounded probabilities
        assert metrics.log_loss(moved, 1e-12).value == pytest.approx(golden[name]["nll"], abs=1e-6)
