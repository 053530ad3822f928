"""Evidence cannot change, takes every kind of column, and can be added up without loss."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calcore import metrics
from calcore.calibrators import Beta, GatedLWCal, HistogramBinning, Isotonic, LWCal, Platt, Temperature
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import GRID, compress
from calcore.observation import PU, Clean, Noisy


def drawn(model, n=3000, seed=0, decimals=None, **columns):
    """Evidence of ``model`` on scores that are a little too low in the middle, with two overlapping groups."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    if decimals is not None:
        score = score.round(decimals)
    y = rng.random(n) < np.clip(score + 0.05 * np.sin(np.pi * score), 0, 1)
    groups = np.column_stack([rng.random(n) < 0.4, score + rng.normal(0, 0.2, n) > 0.5])
    if isinstance(model, PU):
        source = np.where(y & (rng.random(n) < 0.5), "positive", "unlabelled")
        return model.evidence(score, source=source, groups=groups, **columns)
    if isinstance(model, Noisy) and model.known:
        y = rng.random(n) < np.where(y, 1 - model.rho1, model.rho0)
    return model.evidence(score, y, groups=groups, **columns)


MODELS = [Clean(), Noisy(0.2, 0.1), Noisy(), PU(0.53)]


# --- what is given


@pytest.mark.parametrize(
    "name", ["score", "positive", "negative", "weight", "label", "mass", "residual", "count"]
)
def test_arrays_cannot_be_written(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(drawn(Clean(), 20), name)[0] = 5


def test_fields_cannot_be_set():
    with pytest.raises(FrozenInstanceError):
        drawn(Clean(), 20).score = np.zeros(20)


def test_later_changes_of_the_callers_arrays_change_no_evidence():
    score, label, weight = np.array([0.2, 0.4, 0.6]), np.array([0.0, 1.0, 1.0]), np.ones(3)
    evidence = Clean().evidence(score, label, weight=weight)
    score[0], label[0], weight[0] = 0.9, 1.0, 7.0
    assert evidence.score[0] == 0.2
    assert evidence.label[0] == 0.0
    assert evidence.weight[0] == 1.0


KINDS = {
    "float32": (lambda s: s.astype(np.float32), lambda y: y.astype(np.float32)),
    "integer labels": (lambda s: s, lambda y: y.astype(np.int8)),
    "boolean labels": (lambda s: s, lambda y: y.astype(bool)),
    "nullable": (lambda s: pd.Series(s, dtype="Float64"), lambda y: pd.Series(y.astype(int), dtype="Int64")),
    "nullable boolean": (lambda s: pd.Series(s), lambda y: pd.Series(y == 1, dtype="boolean")),
    "pandas on Arrow": (
        lambda s: pd.Series(s, dtype="double[pyarrow]"),
        lambda y: pd.Series(y.astype(int), dtype="int8[pyarrow]"),
    ),
    "Arrow": (lambda s: pa.array(s), lambda y: pa.chunked_array([y.astype(int)])),
    "lists": (list, list),
    "a column": (lambda s: s[:, None], lambda y: y[:, None]),
    "objects": (lambda s: s.astype(object), lambda y: y.astype(object)),
    "other index": (
        lambda s: pd.Series(s, index=s[::-1]),
        lambda y: pd.Series(y, index=np.arange(y.size) + 5),
    ),
    "categories": (lambda s: pd.Series(s).astype("category"), lambda y: pd.Series(y).astype("category")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_gives_the_answer_of_float64(kind):
    rng = np.random.default_rng(1)
    score = rng.random(300).astype(np.float32).astype(np.float64)
    label = (rng.random(300) < score).astype(float)
    of_score, of_label = KINDS[kind]
    plain, other = Clean().evidence(score, label), Clean().evidence(of_score(score), of_label(label))
    np.testing.assert_array_equal(plain.score, other.score)
    np.testing.assert_array_equal(plain.positive, other.positive)
    assert metrics.ece(plain) == metrics.ece(other)
    for method in (Platt, Isotonic, GatedLWCal):
        np.testing.assert_array_equal(
            method().fit(score, label).predict(score),
            method().fit(of_score(score), of_label(label)).predict(score),
        )


def test_float32_scores_with_float64_weights():
    rng = np.random.default_rng(2)
    score, weight = rng.random(200).astype(np.float32), rng.random(200)
    label = rng.random(200) < score
    one = Clean().evidence(score, label, weight=weight)
    other = Clean().evidence(score.astype(np.float64), label, weight=weight)
    assert metrics.ece(one).value == metrics.ece(other).value


@pytest.mark.parametrize(
    "missing",
    [pd.Series([1, None, 0], dtype="Int8"), pd.Series([1, None, 0], dtype="int8[pyarrow]"), [1, None, 0]],
)
def test_rows_without_a_label_are_dropped_and_counted(missing):
    evidence = Clean().evidence([0.1, 0.5, 0.9], missing)
    assert (evidence.n, evidence.dropped) == (2, 1)
    np.testing.assert_array_equal(evidence.row, [0, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_score_is_an_error_that_names_rows(bad):
    with pytest.raises(InputError, match="positions 1, 3"):
        Clean().evidence([0.1, bad, 0.3, bad], [0, 1, 0, 1])


@pytest.mark.parametrize(
    "scores, labels, message",
    [
        ([0.1, 1.2], [0, 1], "outside .0, 1. at position 1 .found 1.2."),
        ([-0.1, 0.2], [0, 1], "outside"),
        ([0.1, 0.2], [0, 2], "labels must be 0 or 1, found 2 at position 1"),
        ([0.1, 0.2], [0, 1, 1], "3 values for 2 scores"),
        ([], [], "empty"),
        (["a", "b"], [0, 1], "not numbers"),
        (pd.Series(["a", "b"]), [0, 1], "not numbers"),
        (np.full((2, 2), 0.5), [0, 1], "one-dimensional"),
        (0.5, [1], "one-dimensional"),
        ([0.1, 0.2], None, "needs a label"),
        ([0.1, 0.2], [None, None], "no row has a label"),
    ],
)
def test_unusable_input_is_a_sentence(scores, labels, message):
    with pytest.raises(InputError, match=message):
        Clean().evidence(scores, labels)


@pytest.mark.parametrize("weight", [[1, np.nan], [1, -1], [1, np.inf], [0, 0], [1]])
def test_unusable_weights_are_refused(weight):
    with pytest.raises(InputError, match="weight"):
        Clean().evidence([0.2, 0.7], [0, 1], weight=weight)


def test_rows_of_weight_zero_are_left_out_and_counted():
    evidence = Clean().evidence([0.2, 0.7, 0.9], [0, 1, 0], weight=[1, 2, 0])
    assert (evidence.n, evidence.dropped) == (2, 1)
    assert metrics.brier(evidence).value == pytest.approx((0.2**2 + 2 * 0.3**2) / 3)


def test_rows_of_unknown_unit_do_not_form_one_unit():
    unit = Clean().evidence([0.1, 0.2, 0.3, 0.4], [0, 1, 1, 0], unit=["a", None, None, "a"]).unit
    assert unit[0] == unit[3]
    assert len(set(unit.tolist())) == 3


# --- parts


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_part_of_the_rows_has_the_mass_of_all(model):
    evidence = drawn(model)
    part = evidence.take(np.arange(len(evidence)) % 3 > 0)
    assert part.mass.sum() == pytest.approx(1)


def test_a_subgroup_of_labelled_rows_is_those_rows():
    evidence = drawn(Clean())
    inside = evidence.membership.mask(0)
    alone = Clean().evidence(evidence.score[inside], evidence.label[inside])
    group = evidence.group(0)
    assert metrics.ece(group) == metrics.ece(alone)
    assert metrics.brier(group) == metrics.brier(alone)


def test_a_subgroup_of_unlabelled_rows_keeps_its_own_share_of_positives():
    """The prior of a subgroup differs from that of the population: pi P(G | Y=1) / P(G)."""
    evidence = drawn(PU(0.53))
    inside, positive = evidence.membership.mask(1), evidence.source == 0
    expected = 0.53 * inside[positive].mean() / inside[~positive].mean()
    group = evidence.group(1)
    assert group.base_rate == pytest.approx(expected)
    table, own = metrics.cells(evidence), metrics.cells(group)
    share = table.group_mass[2]
    np.testing.assert_allclose(own.moment[0] * share, table.moment[2], atol=1e-15)
    np.testing.assert_allclose(own.standard_error[0] * share, table.standard_error[2], rtol=1e-9)
    np.testing.assert_allclose(own.null_error[0] * share, table.null_error[2], rtol=1e-9)
    assert metrics.ece(group, 10).value == pytest.approx(table.group_error[2])


def test_a_subgroup_without_rows_of_a_source_gives_no_warning():
    rng = np.random.default_rng(3)
    source = np.repeat(["positive", "unlabelled"], [50, 200])
    groups = np.column_stack([np.arange(250) >= 50, np.arange(250) < 50])
    evidence = PU(0.3).evidence(rng.random(250), source=source, groups=groups)
    assert metrics.ece(evidence.group(0)).value > 0
    assert np.isfinite(metrics.reliability(evidence.group(0)).event_rate).all()
    with pytest.raises(DoesNotExist, match="no mass"):
        evidence.group(1)


# --- adding up

VALUES = {
    "ece": metrics.ece,
    "adaptive": metrics.adaptive_ece,
    "mce": metrics.mce,
    "classwise": metrics.classwise_ece,
    "brier": metrics.brier,
    "log loss": metrics.log_loss,
    "auc": metrics.auc,
    "f1": metrics.macro_f1,
}
COLUMNS = {
    "plain": lambda n: {},
    "importance": lambda n: {"weight": np.random.default_rng(5).choice([0.5, 1.0, 3.0], n)},
    "frequency": lambda n: {"weight": np.random.default_rng(5).integers(1, 4, n), "weighting": "frequency"},
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_adding_up_equal_scores_loses_nothing(model, columns):
    evidence = drawn(model, 4000, decimals=2, **COLUMNS[columns](4000))
    small, _ = compress(evidence)
    assert len(small) <= 101 * 2 < len(evidence)
    assert small.n == evidence.n
    for name, metric in VALUES.items():
        one, other = metric(evidence), metric(small)
        assert one.value == pytest.approx(other.value, abs=1e-12), name
        if one.standard_error is not None:
            assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9), name
    one, other = metrics.reliability(evidence), metrics.reliability(small)
    for name in ("rows", "event_rate", "mean_score", "lower", "upper", "p_value"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12)
    methods = [Platt, Temperature, Beta, Isotonic, HistogramBinning]
    if evidence.label is not None:
        methods += [LWCal, GatedLWCal]
    grid = np.linspace(0, 1, 101)
    for method in methods:
        np.testing.assert_allclose(
            method().fit(evidence).predict(grid),
            method().fit(small).predict(grid),
            atol=1e-7,
            err_msg=method.__name__,
        )


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_joint_table_keeps_the_subgroups(model):
    evidence = drawn(model, 4000, decimals=2)
    small, _ = compress(evidence, joint=True)
    one, other = metrics.cells(evidence), metrics.cells(small)
    for name in ("moment", "mass", "rows", "standard_error", "null_error", "p_value"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    assert metrics.max_ece(evidence).value == pytest.approx(metrics.max_ece(small).value, abs=1e-12)
    assert metrics.multicalibration_error(evidence).value == pytest.approx(
        metrics.multicalibration_error(small).value, abs=1e-12
    )


@pytest.mark.parametrize("bins", [5, 10, 12, 15, 20, 30, 40])
@pytest.mark.parametrize("model", [Clean(), PU(0.53)], ids=str)
def test_binned_errors_are_exact_on_the_grid(model, bins):
    evidence = drawn(model, 20_000)
    small, _ = compress(evidence, grid=GRID)
    assert metrics.ece(small, bins).value == pytest.approx(metrics.ece(evidence, bins).value, abs=1e-12)
    np.testing.assert_array_equal(
        metrics.cells(small, bins).rows[0], metrics.cells(evidence, bins, groups=False).rows[0]
    )


@pytest.mark.parametrize("bins", [5, 10, 12, 15, 20, 30, 40])
@pytest.mark.parametrize("times", [1, 3, 7])
def test_scores_on_an_edge_stay_in_their_bin_on_the_grid(bins, times):
    """The mean of seven times 23/40 rounds to less than 23/40, and 23/40 x 27,720 to less than 15,939."""
    edges = np.arange(bins + 1) / bins
    score = np.repeat(np.concatenate([edges, np.nextafter(edges[1:], 0)]), times)
    evidence = Clean().evidence(score, np.arange(score.size) % 2)
    small, _ = compress(evidence, grid=GRID)
    np.testing.assert_array_equal(metrics.cells(small, bins).rows, metrics.cells(evidence, bins).rows)


@pytest.mark.slow
def test_maps_from_the_grid_are_within_their_stated_bounds():
    evidence = drawn(Clean(), 400_000).without_groups()
    small, _ = compress(evidence, grid=GRID)
    assert len(small) < 2 * GRID + 1
    assert any("27,720" in note for note in small.notes)
    x = np.linspace(0, 1, 5001)
    for method, bound in ((Platt, 3e-7), (Temperature, 3e-7), (Beta, 2e-6)):
        distance = np.abs(method().fit(evidence).predict(x) - method().fit(small).predict(x))
        assert distance.max() < bound, method.__name__
    distance = np.abs(Isotonic().fit(evidence).predict(x) - Isotonic().fit(small).predict(x))
    assert distance.mean() < 3e-4
    assert distance.max() < 3e-2


def test_folds_stay_apart():
    evidence = drawn(Clean(), 2000, decimals=1).without_groups()
    fold = np.arange(2000) % 4
    small, of_entry = compress(evidence, fold=fold)
    for k in range(4):
        assert small.rows[of_entry == k].sum() == 500


def test_units_are_not_added_up():
    with pytest.raises(DoesNotExist, match="belong together"):
        compress(Clean().evidence([0.1, 0.2], [0, 1], unit=[1, 1]))
