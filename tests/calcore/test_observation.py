"""Observation models: unbiased under their assumptions, refused where nothing can be known."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.calibrators import Temperature
from calcore.errors import InputError, NotIdentifiable
from calcore.observation import PU, Clean, Noisy, from_dict


@pytest.fixture
def edge_cases(shared):
    cases = json.loads((shared / "golden" / "observation" / "edge_cases.json").read_text())
    return {case["name"]: case for case in cases}


# --- what cannot be known


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.9, 0.3), (1, 0), (0.0, 1.0)])
def test_flip_rates_that_sum_to_one_are_not_identifiable(rates):
    with pytest.raises(NotIdentifiable, match=r"rho0 = .*rho1 = .*sum to"):
        Noisy(*rates)


@pytest.mark.parametrize("rates", [(-0.1, 0.2), (0.1, 1.2), (float("nan"), 0.1), ("x", 0.1)])
def test_flip_rates_that_are_no_rates_are_refused(rates):
    with pytest.raises(InputError, match="flip rate rho"):
        Noisy(*rates)


@pytest.mark.parametrize("rates", [(0.1, None), (None, 0.1)])
def test_one_flip_rate_is_not_enough(rates):
    with pytest.raises(InputError, match="both"):
        Noisy(*rates)


def test_flip_rates_of_one_group_that_sum_to_one_name_the_group():
    with pytest.raises(NotIdentifiable, match="'north'"):
        Noisy({"north": 0.6, "south": 0.1}, 0.5)


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, float("nan"), None, "", "blank"])
def test_a_prior_outside_the_open_interval_is_refused(prior):
    with pytest.raises(InputError, match="class prior pi must be"):
        PU(prior)


def test_numbers_given_as_text_are_numbers():
    assert PU("0.3").prior == 0.3
    assert Noisy("0.1", "0.2").rho0 == 0.1


@pytest.mark.parametrize(
    "source, message",
    [
        (None, "needs a source column"),
        (["unlabelled"] * 3, "source positive: empty"),
        (["positive"] * 3, "source unlabelled: empty"),
        (["positive", "unlabelled", "other"], "'other' at position 2"),
        (["positive", "unlabelled", None], "position 2"),
        (["positive", "unlabelled"], "2 values for 3 scores"),
    ],
)
def test_sources_are_checked(source, message):
    with pytest.raises(InputError, match=message):
        PU(0.3).evidence([0.1, 0.5, 0.9], source=source)


def test_a_source_whose_rows_all_weigh_nothing_is_refused():
    with pytest.raises(InputError, match="source positive"):
        PU(0.3).evidence([0.1, 0.5], source=["positive", "unlabelled"], weight=[0, 1])


@pytest.mark.parametrize("dtype", [object, "str", "category", "string[pyarrow]"])
def test_sources_of_every_text_type(dtype):
    source = pd.Series(["positive", "unlabelled", "positive"], dtype=dtype)
    np.testing.assert_array_equal(PU(0.3).evidence([0.1, 0.2, 0.3], source=source).source, [0, 1, 0])


# --- golden edge cases


def test_edge_case_scores_and_labels(edge_cases):
    for name in ("score_nan", "score_above_one", "label_not_binary", "empty_source"):
        assert edge_cases[name]["error"] == "ValueError"
    for scores, labels in (([0.2, np.nan], [0, 1]), ([0.2, 1.5], [0, 1]), ([0.2, 0.3], [0, 2])):
        with pytest.raises(ValueError, match=r"score|label"):
            Clean().evidence(scores, labels)


def test_edge_case_bin_edges(edge_cases):
    value = edge_cases["edges"]["value"]
    found = metrics.Bins.equal_width(10).index(np.array(value["scores"]))
    np.testing.assert_array_equal(found, value["bins"])


def test_edge_case_a_group_that_is_never_active(edge_cases):
    value = edge_cases["group_never_active"]["value"]
    groups = np.array([[False, True], [False, True], [False, False]])
    never = Clean().evidence([0.9, 0.3, 0.05], [0, 1, 0], groups=groups)
    table = metrics.cells(never, 10)
    np.testing.assert_allclose(table.group_mass, value["group_mass"], atol=1e-15)
    assert np.isnan(table.group_error[1])
    assert (table.moment[1] == 0).all()
    assert metrics.max_ece(never, 10).value == pytest.approx(table.group_error[2])
    assert metrics.multicalibration_error(never, 10).value == pytest.approx(np.abs(table.moment[2]).max())


def test_edge_case_the_minimum_mass_is_strict(edge_cases):
    """.1 > .1 is false: a group of exactly the minimum is too small."""
    value = edge_cases["mu_min_strict"]["value"]
    scores, labels = np.full(10, 0.5), np.array([1, 0, 1, 0, 1, 1, 0, 0, 1, 0])
    groups = np.zeros((10, 2), dtype=bool)
    groups[0, 0] = True
    groups[:, 1] = True
    scores[0] = 1 - value["0.0"]
    evidence = Clean().evidence(scores, labels, groups=groups)
    heavier = metrics.max_ece(evidence, 10, min_mass=0.1)
    assert metrics.max_ece(evidence, 10, min_mass=0.09).value == pytest.approx(value["0.09"])
    assert heavier.where == "group 1"


def test_edge_case_a_temperature_at_its_bound_is_reported(edge_cases):
    value = edge_cases["temperature_at_bound"]["value"]
    fitted = Temperature().fit([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1])
    assert fitted.temperature_ == value["beta"] == 100
    assert any("bound" in warning for warning in fitted.warnings_)


# --- unbiased


def population(rng, n):
    """Scores and outcomes whose event rate lies .08 below to .08 above the score."""
    score = rng.beta(2, 3, n)
    rate = np.clip(score + 0.08 * np.sin(2 * np.pi * score), 0, 1)
    return score, rng.random(n) < rate


def truth():
    score, y = population(np.random.default_rng(99), 2_000_000)
    return Clean().evidence(score, y)


def noisy(rng, n, rho0=0.25, rho1=0.15):
    score, y = population(rng, n)
    recorded = rng.random(n) < np.where(y, 1 - rho1, rho0)
    return Noisy(rho0, rho1).evidence(score, recorded)


def unlabelled(rng, n, prior):
    score, _ = population(rng, n)
    pool, y = population(rng, 4 * n)
    positive = pool[y][: n // 2]
    source = np.repeat(["positive", "unlabelled"], [positive.size, n])
    return PU(prior).evidence(np.concatenate([positive, score]), source=source)


@pytest.mark.parametrize("kind", ["noisy", "unlabelled"])
def test_moments_masses_and_scores_are_unbiased(kind):
    exact = truth()
    rng = np.random.default_rng(7)
    draws = 300
    found = []
    for _ in range(draws):
        evidence = noisy(rng, 1000) if kind == "noisy" else unlabelled(rng, 1000, exact.base_rate)
        table = metrics.cells(evidence, 5)
        scores = [metrics.brier(evidence).value, metrics.log_loss(evidence).value, evidence.base_rate]
        found.append(np.concatenate([table.moment[0], table.mass[0], scores]))
    table = metrics.cells(exact, 5)
    expected = [metrics.brier(exact).value, metrics.log_loss(exact).value, exact.base_rate]
    expected = np.concatenate([table.moment[0], table.mass[0], expected])
    error = np.std(found, axis=0) / np.sqrt(draws) + 1e-4
    assert (np.abs(np.mean(found, axis=0) - expected) < 4 * error).all()


@pytest.mark.parametrize("kind", ["noisy", "unlabelled"])
def test_the_corrected_auc_is_that_of_the_true_labels(kind):
    exact = truth()
    rng = np.random.default_rng(8)
    found = [
        metrics.auc(noisy(rng, 2000) if kind == "noisy" else unlabelled(rng, 2000, exact.base_rate)).value
        for _ in range(100)
    ]
    assert np.mean(found) == pytest.approx(metrics.auc(exact).value, abs=4 * np.std(found) / 10 + 1e-3)


def test_flip_rates_that_differ_between_groups():
    rng = np.random.default_rng(3)
    score, y = population(rng, 200_000)
    group = np.where(rng.random(200_000) < 0.5, "north", "south")
    rho0 = np.where(group == "north", 0.3, 0.05)
    recorded = rng.random(200_000) < np.where(y, 0.9, rho0)
    model = Noisy({"north": 0.3, "south": 0.05}, 0.1, column="region")
    evidence = model.evidence(score, recorded, table=pd.DataFrame({"region": group}))
    clean = Clean().evidence(score, y)
    np.testing.assert_allclose(
        metrics.reliability(evidence, 10).event_rate, metrics.reliability(clean, 10).event_rate, atol=0.03
    )
    again = model.evidence(score, recorded, flip_group=pd.Series(group).astype("category"))
    np.testing.assert_array_equal(again.positive, evidence.positive)
    with pytest.raises(InputError, match="'south'"):
        Noisy({"north": 0.3}, 0.1).evidence(score, recorded, flip_group=group)
    with pytest.raises(InputError, match="group of each row"):
        model.evidence(score, recorded)


def test_unknown_flip_rates_correct_nothing_and_say_so():
    evidence = Noisy().evidence([0.2, 0.8], [0, 1])
    np.testing.assert_array_equal(evidence.positive, Clean().evidence([0.2, 0.8], [0, 1]).positive)
    assert metrics.ece(evidence).basis == "against the noisy labels"
    assert metrics.ece(Noisy(0.1, 0.1).evidence([0.2, 0.8], [0, 1])).basis == "noise-corrected"


# --- said and stored


@pytest.mark.parametrize(
    "model",
    [Clean(), Noisy(), Noisy(0.1, 0.2, origin="estimated"), Noisy({"a": 0.1, "b": 0.2}, 0.0), PU(0.3)],
)
def test_models_survive_json(model):
    stored = json.loads(json.dumps(model.to_dict()))
    assert from_dict(stored) == model
    assert all(isinstance(sentence, str) for sentence in stored["assumptions"])


@pytest.mark.parametrize("name", ["Nothing", "Mixture", "Labelled", None])
def test_unknown_models_are_refused(name):
    with pytest.raises(InputError, match="unknown observation model"):
        from_dict({"name": name})


def test_importing_changes_no_global():
    import subprocess
    import sys

    code = """
import warnings, numpy, pandas, scipy.stats, sklearn.base, sklearn.utils.validation
before = list(warnings.filters), numpy.geterr(), numpy.random.get_state()[1].tolist(), pandas.get_option("display.max_rows")
import calcore.audit, calcore.comparison, calcore.metrics, calcore.calibrators
score = numpy.linspace(.01, .99, 200)
evidence = calcore.observation.Clean().evidence(score, numpy.arange(200) % 2)
calcore.audit.audit(evidence)
calcore.comparison.compare(evidence, [calcore.calibrators.Platt(), calcore.calibrators.Isotonic()])
after = list(warnings.filters), numpy.geterr(), numpy.random.get_state()[1].tolist(), pandas.get_option("display.max_rows")
assert before == after, "a global changed"
assert "streamlit" not in __import__("sys").modules and "plotly" not in __import__("sys").modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
