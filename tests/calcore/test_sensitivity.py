"""How results move with the class prior, the proportions and the flip rates."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.evidence import compress
from calcore.observation import (
    DU,
    PU,
    SD,
    SU,
    UU,
    Clean,
    Noisy,
    Pcomp,
    Pconf,
    PosteriorConfidence,
    Sconf,
)
from calcore.observation.slopes import moved, room
from calcore.sensitivity import (
    band,
    check_pconf,
    coefficient_slopes,
    linear_slopes,
    movable,
    tangent,
    under,
)

PRIOR = 0.35
MODELS = [
    Noisy(0.2, 0.1),
    PU(PRIOR),
    UU(PRIOR, 0.8, 0.15),
    UU(PRIOR, 0.1, 0.7),
    SU(PRIOR),
    DU(PRIOR),
    SD(PRIOR),
    Pcomp(PRIOR),
    Sconf(PRIOR),
    Pconf(PRIOR),
]
CASES = [(model, parameter) for model in MODELS for parameter in movable(model)]
NAMES = [f"{model.name}-{parameter}" for model, parameter in CASES]


def toy(model, cells=3000):
    """The skewed toy problem (f = .05 + .6 x, r = f + .08 sin 2 pi x, prior .35), integrated exactly.

    Every source has the same grid of x, and the density of each point as its weight.
    """
    x = (np.arange(cells) + 0.5) / cells
    score = 0.05 + 0.6 * x
    rate = score + 0.08 * np.sin(2 * np.pi * x)
    unit = np.arange(cells * len(model.sources))
    if isinstance(model, Noisy):
        recorded = model.rho0 + (1 - model.rho0 - model.rho1) * rate
        return model.evidence(
            np.tile(score, 2), np.repeat([1, 0], cells), weight=np.concatenate([recorded, 1 - recorded])
        )
    if isinstance(model, Pconf):
        return model.evidence(score, confidence=rate, weight=rate)
    if isinstance(model, Sconf):
        return model.evidence(
            score, confidence=rate * PRIOR + (1 - rate) * (1 - PRIOR), unit=unit, weight=np.ones(cells)
        )
    weight = [theta * rate / PRIOR + (1 - theta) * (1 - rate) / (1 - PRIOR) for _, _, theta in model.table()]
    return model.evidence(
        np.tile(score, 2),
        source=np.repeat(model.sources, cells),
        unit=unit,
        weight=np.concatenate(weight),
    )


def small(model, seed=0, n=120):
    """Rows of any model with subgroups and weights, not meant to fit it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n) if model.has_row_labels else None
    source = np.array(model.sources)[np.arange(n) % len(model.sources)] if len(model.sources) > 1 else None
    return model.evidence(
        np.round(rng.random(n), 2),
        labels,
        source=source,
        confidence=rng.uniform(0.3, 1, n),
        unit=np.arange(n) // 2,
        weight=rng.uniform(0.5, 2, n),
        groups=rng.random((n, 2)) < 0.7,
    )


def coefficients(evidence, parameter, shift):
    model, rows = moved(evidence, parameter, shift)
    return np.array(model.coefficients(evidence.source, evidence.label, rows.get("confidence"), rows))


# --- closed-form slopes


@pytest.mark.parametrize("model, parameter", CASES, ids=NAMES)
def test_slopes_of_the_coefficients_are_their_finite_differences(model, parameter):
    evidence = small(model)
    step = 1e-5
    numeric = (coefficients(evidence, parameter, step) - coefficients(evidence, parameter, -step)) / (
        2 * step
    )
    np.testing.assert_allclose(coefficient_slopes(evidence, parameter), numeric, atol=1e-6)


@pytest.mark.parametrize("parameter", ["rho0", "rho1"])
def test_slopes_of_flip_rates_per_group(parameter):
    group = np.repeat(["a", "b"], 4)
    model = Noisy({"a": 0.3, "b": 0.05}, 0.1)
    evidence = model.evidence(np.linspace(0.1, 0.9, 8), [0, 1] * 4, flip_group=group)
    step = 1e-5
    numeric = (coefficients(evidence, parameter, step) - coefficients(evidence, parameter, -step)) / (
        2 * step
    )
    np.testing.assert_allclose(coefficient_slopes(evidence, parameter), numeric, atol=1e-6)
    found = band(evidence, metrics.brier, parameter, 0.1)
    assert found.given == pytest.approx(0.175 if parameter == "rho0" else 0.1)
    assert found.cut == (parameter == "rho0")  # group b has only .05 to go


@pytest.mark.parametrize("model, parameter", CASES, ids=NAMES)
@pytest.mark.parametrize("group", [None, 0])
def test_slopes_of_linear_statistics_are_exact(model, parameter, group):
    evidence = small(model)
    evidence = evidence if group is None else evidence.group(group)
    found = linear_slopes(evidence, parameter, 5)
    step = 1e-5
    up, down = (under(evidence, *moved(evidence, parameter, shift)) for shift in (step, -step))

    def numeric(statistic):
        return (statistic(up) - statistic(down)) / (2 * step)

    def table(e):
        cells = metrics.cells(e, 5, groups=False)
        return np.concatenate([cells.moment[0], cells.mass[0]])

    close = {"rel": 1e-6, "abs": 1e-6}
    assert found.base_rate == pytest.approx(numeric(lambda e: e.base_rate), **close)
    assert found.brier == pytest.approx(numeric(lambda e: metrics.brier(e).value), **close)
    assert found.log_loss == pytest.approx(numeric(lambda e: metrics.log_loss(e).value), **close)
    np.testing.assert_allclose(np.concatenate([found.moment, found.mass]), numeric(table), atol=1e-6)
    mass = metrics.cells(evidence, 5, groups=False).mass[0] > 0
    key = metrics.Bins.equal_width(5).index(evidence.score)
    rate = numeric(
        lambda e: (
            np.bincount(key, e.positive, minlength=5)[mass] / np.bincount(key, e.mass, minlength=5)[mass]
        )
    )
    np.testing.assert_allclose(found.event_rate[mass], rate, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "model, expected",
    [
        (PU(PRIOR), 1.000),
        (UU(PRIOR, 0.8, 0.15), 0.902),
        (Pcomp(PRIOR), 1.029),
        (SU(PRIOR), 1.071),
        (SD(PRIOR), 1.149),
        (DU(PRIOR), 1.223),
        (Sconf(PRIOR), 1.126),
        (Pconf(PRIOR), 0.144),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_moments_of_the_toy_problem_move_as_stated(model, expected):
    """Summed over 15 bins, per unit of the class prior: near 1 for PU, UU, Pcomp; 1.1 to 1.2 for the pairs."""
    evidence = toy(model)
    assert evidence.base_rate == pytest.approx(PRIOR, abs=1e-3)
    assert linear_slopes(evidence, "prior", 15).total == pytest.approx(expected, abs=2e-3)


def test_two_mixtures_move_with_the_prior_by_what_the_classes_score():
    """Whatever the proportions: E[1 - f given 1] + E[f given 0] in all."""
    x = (np.arange(3000) + 0.5) / 3000
    score = 0.05 + 0.6 * x
    rate = score + 0.08 * np.sin(2 * np.pi * x)
    expected = np.average(1 - score, weights=rate) + np.average(score, weights=1 - rate)
    for proportions in ((0.8, 0.15), (0.1, 0.9)):
        found = linear_slopes(toy(UU(PRIOR, *proportions)), "prior").total
        assert found == pytest.approx(expected, rel=1e-9)


# --- re-evaluation


@pytest.mark.parametrize("model, parameter", CASES, ids=NAMES)
def test_evidence_under_another_value_is_what_the_columns_would_have_given(model, parameter):
    evidence = small(model)
    shift = min(0.04, room(model, parameter)[1])
    again = small(moved(evidence, parameter, shift)[0])
    found = under(evidence, *moved(evidence, parameter, shift))
    np.testing.assert_allclose(found.positive, again.positive, rtol=1e-12)
    np.testing.assert_allclose(found.negative, again.negative, rtol=1e-12)
    assert found.model == again.model
    part = evidence.group(1)
    for made in (found.group(1), under(part, *moved(part, parameter, shift))):
        np.testing.assert_allclose(made.positive, again.group(1).positive, rtol=1e-10)
        assert made.drawn.share == pytest.approx(again.group(1).drawn.share)


def test_rows_that_were_added_up_are_moved_alike():
    rng = np.random.default_rng(4)
    score = np.round(rng.random(500), 2)
    evidence = PU(0.3).evidence(score, source=np.array(["positive", "unlabelled"])[np.arange(500) % 2])
    collapsed, _ = compress(evidence)
    assert len(collapsed) < len(evidence)
    rows, sums = (band(e, metrics.ece, "prior", 0.1, points=5) for e in (evidence, collapsed))
    np.testing.assert_allclose(rows.results, sums.results, rtol=1e-12)


def test_parts_of_the_rows_can_be_moved_too():
    evidence = small(PU(0.3)).take(np.arange(60))
    back = under(under(evidence, PU(0.5)), PU(0.3))
    np.testing.assert_allclose(back.positive, evidence.positive, rtol=1e-12)


@pytest.mark.parametrize("model, parameter", CASES, ids=NAMES)
@pytest.mark.parametrize("statistic", [metrics.ece, metrics.brier, metrics.auc, metrics.max_ece])
def test_bands_of_every_model(model, parameter, statistic):
    evidence = small(model)
    found = band(evidence, statistic, parameter, 0.05, points=3)
    assert found.values[1] == pytest.approx(found.given)
    assert found.value == pytest.approx(statistic(evidence).value, nan_ok=True)
    if np.isfinite(found.results).all():
        assert found.low <= found.value <= found.high
    assert found.metric == statistic(evidence).name


def test_the_slope_of_a_band_is_the_exact_one():
    evidence = toy(PU(PRIOR))
    found = band(evidence, metrics.brier, "prior", 0.1)
    assert found.slope == pytest.approx(linear_slopes(evidence, "prior").brier, rel=1e-8)
    # Brier is linear in the prior
    assert (found.high - found.low) / 0.2 == pytest.approx(abs(found.slope), rel=1e-8)
    moment = metrics.cells(evidence, 15).moment[0]
    exact = np.sign(moment) @ linear_slopes(evidence, "prior").moment
    assert band(evidence, metrics.ece, "prior", 0.1).slope == pytest.approx(exact, rel=1e-6)


def test_a_calibrated_score_under_a_prior_that_is_off_by_005_shows_an_ece_of_005():
    x = (np.arange(2000) + 0.5) / 2000
    evidence = PU(0.5).evidence(
        np.tile(x, 2),
        source=np.repeat(["positive", "unlabelled"], 2000),
        weight=np.concatenate([x / 0.5, np.ones(2000)]),
    )
    found = band(evidence, metrics.ece, "prior", 0.05, points=3)
    np.testing.assert_allclose(found.results, [0.05, 0, 0.05], atol=1e-5)


@pytest.mark.parametrize(
    "model, parameter, low, high",
    [
        (PU(0.05), "prior", 0.001, 0.25),
        (PU(0.9), "prior", 0.7, 0.999),
        (SU(0.4), "prior", 0.2, 0.499),
        (SU(0.6), "prior", 0.501, 0.8),
        (Noisy(0.05, 0.3), "rho0", 0.0, 0.25),
        (Noisy(0.5, 0.4), "rho1", 0.2, 0.499),
        (Noisy(0.0, 0.4), "rho0", 0.0, 0.2),
        (UU(0.5, 0.6, 0.5), "theta1", 0.501, 0.8),
        (UU(0.5, 0.6, 0.5), "theta2", 0.3, 0.599),
        (UU(0.5, 0.1, 0.9), "theta1", 0.0, 0.3),
    ],
)
def test_a_parameter_is_moved_no_further_than_the_model_is_identifiable(model, parameter, low, high):
    found = band(small(model), lambda e: e.base_rate, parameter, 0.2, points=5)
    assert found.values[[0, -1]] == pytest.approx([low, high], abs=1e-12)
    assert found.cut == (high - low < 0.4 - 1e-9)
    assert np.isfinite(found.results).all()
    assert np.isfinite(found.slope)
    assert (np.diff(found.values) > 0).all()


def test_a_metric_that_does_not_exist_is_nan():
    evidence = Noisy(0.1, 0.1).evidence([0.2, 0.8], [1, 1])
    found = band(evidence, lambda e: float("nan"), "rho0", 0.05)
    assert np.isnan([found.low, found.high, found.value]).all()


@pytest.mark.parametrize("model", [Clean(), Noisy(), PosteriorConfidence()])
def test_models_without_parameters_have_nothing_to_move(model):
    assert movable(model) == ()
    with pytest.raises(InputError, match="no parameter that could be off"):
        band(small(model), metrics.ece, "prior", 0.1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("theta1", 0.1), "its parameters are prior"),
        (("prior", 0.0), "half_width"),
        (("prior", float("nan")), "half_width"),
        (("prior", 0.1, 4), "odd"),
        (("prior", 0.1, 1), "points"),
    ],
)
def test_what_cannot_be_moved_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        band(small(PU(0.3)), metrics.ece, *arguments)


def test_evidence_is_not_read_under_another_model_or_after_reweighting():
    evidence = small(PU(0.3))
    with pytest.raises(InputError, match="PU cannot be read under Pcomp"):
        under(evidence, Pcomp(0.3))
    with pytest.raises(InputError, match="reweighted"):
        under(evidence.reweighted(np.linspace(0.5, 1, len(evidence))), PU(0.4))
    with pytest.raises(InputError, match="reweighted"):
        tangent(evidence.reweighted(np.linspace(0.5, 1, len(evidence))), "prior")
    rates = Noisy({"a": 0.1}, 0.1)
    with pytest.raises(InputError, match="row_parameters"):
        under(rates.evidence([0.1, 0.9], [0, 1], flip_group=["a", "a"]), Noisy({"a": 0.2}, 0.1))


# --- the check of positive confidences


def test_right_confidences_pass_their_check():
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(200):
        rate = rng.beta(3, 3, 2000)
        positive = rate[rng.random(2000) < rate]
        found = check_pconf(Pconf(0.5).evidence(positive, confidence=positive))
        inside.append(found.interval[0] <= 1 <= found.interval[1])
    assert 0.9 < np.mean(inside) < 0.99
    assert found.standard_error == pytest.approx(0.5 * (1 / positive).std(ddof=1) / np.sqrt(positive.size))


def test_a_wrong_prior_of_confidences_is_told():
    evidence = toy(Pconf(PRIOR))
    assert check_pconf(evidence).value == pytest.approx(1, abs=1e-3)
    off = check_pconf(under(evidence, Pconf(0.5)))
    assert off.value == pytest.approx(0.5 / PRIOR, abs=2e-3)
    assert "off" in off.notes[-1]


def test_the_check_is_of_all_rows_of_pconf():
    with pytest.raises(InputError, match="check of Pconf"):
        check_pconf(small(PU(0.3)))
    with pytest.raises(InputError, match="not of a subgroup"):
        check_pconf(small(Pconf(0.3)).group(0))
    assert check_pconf(Pconf(0.3).evidence([0.5], confidence=[0.3])).interval is None
