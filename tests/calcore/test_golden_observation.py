"""Cell moments, masses, errors, maxima and fits against numbers of an independent implementation."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.calibrators import WLMC, Platt, Temperature
from calcore.errors import InputError
from calcore.observation import DU, PU, SD, SU, UU, Clean, Pconf, Sconf

SOURCES = {
    "P": "positive",
    "U": "unlabelled",
    "S": "similar",
    "D": "dissimilar",
    "U1": "first",
    "U2": "second",
    "Sup": "superior",
    "Inf": "inferior",
}


def load(shared, name):
    table = pd.read_csv(shared / "golden" / "observation" / f"{name}.csv", na_values=[""])
    golden = json.loads((shared / "golden" / "observation" / f"{name}.json").read_text())
    shape = {"groups": table[golden["groups"]]}
    source = table["source"].map(SOURCES)
    prior = golden["pi"]
    if name == "PN":
        return Clean().evidence(table["f"], table["y"], **shape), golden
    if name == "PU":
        return PU(prior).evidence(table["f"], source=source, **shape), golden
    if name == "SD":
        return SD(prior).evidence(table["f"], source=source, unit=table["unit"], **shape), golden
    if name == "Sconf":
        model = Sconf(prior)
        return model.evidence(table["f"], confidence=table["r"], unit=table["unit"], **shape), golden
    return Pconf(prior, **golden["params"]).evidence(table["f"], confidence=table["r"], **shape), golden


@pytest.fixture(params=["PN", "PU", "SD", "Sconf", "Pconf"])
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
    found = getattr(table, ours)
    if golden[theirs] is None:
        assert np.isnan(found).all()
        return
    np.testing.assert_allclose(found, np.array(golden[theirs], dtype=float), rtol=0, atol=1e-9)


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


def test_nonnegative_fits_match_golden(shared):
    evidence, golden = load(shared, "PU")
    clip = golden["logit_clip"]
    platt = Platt(clip=clip, nonnegative=True).fit(evidence)
    # the golden optimum is itself good to about 3e-6 here: the plain one, which it must equal, differs by that
    assert platt.a_ == pytest.approx(golden["nn_platt"]["a"], abs=5e-6)
    assert platt.b_ == pytest.approx(golden["nn_platt"]["b"], abs=5e-6)
    temperature = Temperature(clip=clip, nonnegative=True).fit(evidence)
    assert temperature.temperature_ == pytest.approx(golden["nn_temperature"]["beta"], abs=1e-6)
    loss = metrics.log_loss(evidence, clip, nonnegative=True).value
    assert loss == pytest.approx(golden["weak_nll_nn_identity"], abs=1e-9)


def test_the_nonnegative_risk_never_falls_below_zero_where_the_plain_one_does():
    """Confident scores of known positives make the plain PU risk negative; the other one is not."""
    score = np.r_[np.full(30, 0.999), np.linspace(0.001, 0.05, 60)]
    source = ["positive"] * 30 + ["unlabelled"] * 60
    evidence = PU(0.6).evidence(score, source=source)
    assert metrics.log_loss(evidence).value < 0
    assert metrics.log_loss(evidence, nonnegative=True).value >= 0
    for method in (Platt(nonnegative=True), Temperature(nonnegative=True)):
        fitted = method.fit(evidence)
        moved = evidence.with_score(fitted.predict(score))
        assert np.isfinite(metrics.log_loss(moved, nonnegative=True).value)


@pytest.mark.parametrize("name, options", [("wlmc", {}), ("wlmc_patch", {"update": "patch"})])
def test_wlmc_takes_the_golden_rounds(case, name, options):
    evidence, golden = case
    settings = golden["wlmc"]
    method = WLMC(
        eta=settings["eta"],
        rounds=settings["T"],
        alpha=settings["alpha"],
        min_mass=settings["min_mass"],
        **options,
    )
    audit = method.fit(evidence).audit_
    expected = [entry for entry in golden[name]["log"] if "round" in entry]
    last = golden[name]["log"][-1]
    assert [(r.name, r.bin) for r in audit.rounds] == [(r["group"], r["bin"]) for r in expected]
    for ours, theirs in zip(audit.rounds, expected, strict=True):
        assert ours.violation == pytest.approx(theirs["violation"], abs=1e-9)
        assert ours.mass == pytest.approx(theirs["mass"], abs=1e-9)
        assert ours.step == pytest.approx(theirs["step"], abs=1e-9)
    assert {"rounds": "rounds", "alpha": "below alpha"}[last["stop"]] == audit.stopped
    assert audit.max_violation == pytest.approx(last["max_violation"], abs=1e-9)
    np.testing.assert_array_equal(method.predict(evidence.score, evidence.membership), audit.score)


@pytest.fixture
def edge_cases(shared):
    cases = json.loads((shared / "golden" / "observation" / "edge_cases.json").read_text())
    return {case["name"]: case for case in cases}


@pytest.mark.parametrize(
    "name, make",
    [
        ("SU_pi_half", lambda: SU(0.5)),
        ("DU_pi_half", lambda: DU(0.5)),
        ("SD_pi_half", lambda: SD(0.5)),
        ("Sconf_pi_half", lambda: Sconf(0.5)),
        ("UU_gamma_sum_one", lambda: UU(0.4, 1 - 0.3, 0.7)),
        ("Pconf_r_zero_no_clip", lambda: Pconf(0.4).evidence([0.2, 0.8], confidence=[0.0, 0.5])),
        ("Pconf_pi_zero", lambda: Pconf(0.0)),
        ("score_nan", lambda: Clean().evidence([0.1, np.nan], [0, 1])),
        ("score_above_one", lambda: Clean().evidence([0.1, 1.5], [0, 1])),
        ("confidence_nan", lambda: Pconf(0.4).evidence([0.2, 0.8], confidence=[0.5, np.nan])),
        ("label_not_binary", lambda: Clean().evidence([0.1, 0.2], [0, 2])),
        ("empty_source", lambda: PU(0.4).evidence([0.1, 0.2], source=["unlabelled", "unlabelled"])),
    ],
)
def test_what_is_not_identifiable_or_unusable_is_refused_with_a_reason(edge_cases, name, make):
    assert edge_cases[name]["error"] == "ValueError"
    with pytest.raises(InputError) as refusal:
        make()
    shared_words = set(edge_cases[name]["message"].lower().split()) & set(str(refusal.value).lower().split())
    assert shared_words, str(refusal.value)


def test_a_clipped_confidence_weighs_what_its_clip_says(edge_cases):
    evidence = Pconf(0.4, r_min=1e-3).evidence([0.2, 0.8], confidence=[0.0, 0.5])
    found = metrics.cells(evidence, 10).moment[0]
    np.testing.assert_allclose(found, edge_cases["Pconf_r_zero_clip"]["value"], atol=1e-9)
    assert any("1 confidences below" in note for note in evidence.notes)


def test_temperature_that_runs_to_its_bound_says_so(edge_cases):
    fitted = Temperature().fit([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1])
    assert fitted.temperature_ == pytest.approx(edge_cases["temperature_at_bound"]["value"]["beta"])
    assert "bound" in fitted.map_.warnings[0]


def test_a_subgroup_of_negative_corrected_mass_is_inactive_but_its_cells_count():
    """pi < theta2 gives rows of the first source a negative mass; a group of such rows alone has one too."""
    source = ["first"] * 3 + ["second"] * 3
    groups = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 1], [0, 1]], dtype=bool)
    evidence = UU(0.1, 0.8, 0.2).evidence([0.25] * 4 + [0.75] * 2, source=source, groups=groups)
    table = metrics.cells(evidence, 10)
    assert table.group_mass[1] == pytest.approx(-1 / 9)
    assert np.isnan(table.group_error[1])
    assert metrics.max_ece(evidence).where == "group 1"
    largest = np.abs(table.moment[1:]).max()
    assert metrics.multicalibration_error(evidence).value == pytest.approx(largest)
    assert table.moment[1, 2] != 0
