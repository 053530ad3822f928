"""Small inputs that tools of this kind get wrong, each with its right number worked out by hand."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special

from calcore import metrics
from calcore.calibrators import REGISTRY, CenteredIsotonic, Isotonic, LWCal, Platt
from calcore.comparison import compare
from calcore.errors import InputError, NotIdentifiable
from calcore.maps import CalibrationMap
from calcore.observation import DU, PU, SD, SU, UU, Clean, Noisy, Pconf, Sconf


def clean(score, label, **columns):
    return Clean().evidence(np.asarray(score, dtype=float), np.asarray(label, dtype=float), **columns)


# --- binned errors and edges


def test_a_score_of_one_is_in_the_last_bin():
    assert metrics.ece(clean([0.95, 1.0], [1, 0]), 10).value == pytest.approx(0.475)


def test_every_tenth_is_in_a_bin_of_its_own():
    found = metrics.reliability(clean(np.arange(1, 10) / 10, np.arange(9) % 2), 10)
    assert found.rows.tolist() == [0] + [1] * 9


def test_equal_scores_share_a_bin_of_equal_mass():
    found = metrics.adaptive_ece(clean([0.5] * 4, [0, 0, 0, 1]), 10)
    assert found.value == pytest.approx(0.25)
    assert found.bins == 1


@pytest.mark.parametrize("label", [[0, 0, 1, 1], [1, 0, 1, 0]])
def test_the_order_of_tied_rows_does_not_matter(label):
    assert metrics.ecce(clean([0.5] * 4, label)).value == pytest.approx(0, abs=1e-12)


def test_an_empty_bin_has_no_rows_and_no_mean():
    found = metrics.reliability(clean([0.9, 0.8, 0.2], [1, 1, 0]), 3)
    assert found.rows.tolist() == [1, 0, 2]
    assert np.isnan(found.mean_score[1])


def test_one_row_and_one_class():
    assert metrics.brier(clean([0.4], [1])).value == pytest.approx(0.36)
    assert metrics.ece(clean([0.01, 0.001, 0.005], [1, 1, 1])).value == pytest.approx(0.99467, abs=1e-4)
    negatives = clean([0.1, 0.2], [0, 0])
    assert metrics.ece(negatives).value == pytest.approx(0.15)
    auc = metrics.auc(negatives)
    assert np.isnan(auc.value)
    assert any("one class" in note for note in auc.notes)
    assert any("one class" in warning for warning in Platt().fit(negatives).warnings_)


def test_an_all_negative_bin_has_an_interval_that_holds_its_rate():
    found = metrics.reliability(clean([0.1] * 8 + [0.9] * 8, [0] * 8 + [1] * 8), 10)
    assert found.event_rate[1] == 0
    assert found.lower[1] <= 0 < found.upper[1]


# --- maps


def test_isotonic_pools_ties_and_keeps_to_its_ends():
    x, y = np.array([0, 1, 1, 2, 3]) / 3, [0, 0, 1, 0, 1]
    np.testing.assert_allclose(Isotonic().fit(x, y).predict(x), [0, 1 / 3, 1 / 3, 1 / 3, 1])
    ends = Isotonic().fit([0.2, 0.6], [0, 1])
    np.testing.assert_array_equal(ends.predict([0.1, 0.9]), [0, 1])


@pytest.mark.parametrize("label, rate", [([0, 0, 1, 1], 0.5), ([0, 1, 1, 1], 0.75)])
def test_a_constant_score_is_mapped_to_the_event_rate(label, rate):
    for method in (Platt(), Isotonic()):
        assert method.fit([0.5] * 4, label).predict([0.5])[0] == pytest.approx(rate)


def test_scores_that_separate_the_classes_stay_finite():
    fitted = Platt().fit([0.0, 1.0], [0, 1])
    assert np.isfinite([fitted.a_, fitted.b_]).all()
    assert any("separates" in warning for warning in fitted.warnings_)


def test_platt_recovers_the_truth_on_logits():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1, 200_000)
    score, label = special.expit(2.5 * z), rng.random(z.size) < special.expit(z)
    grid = np.linspace(-3, 3, 50)
    found = Platt().fit(score, label).predict(special.expit(2.5 * grid))
    np.testing.assert_allclose(found, special.expit(grid), atol=0.006)


def test_separable_logits_of_any_size_keep_the_ranking():
    z = np.concatenate([np.linspace(-1e5, -1, 50), np.linspace(1, 1e5, 50)])
    score = special.expit(z)
    label = z > 0
    out = Platt().fit(score, label).predict(score)
    assert metrics.auc(clean(out, label)).value == 1


def test_a_score_that_ranks_the_wrong_way_is_warned_of():
    score = np.linspace(0.01, 0.99, 100)
    fitted = Platt().fit(score, score < 0.4)
    assert any("turns the ranking round" in warning for warning in fitted.warnings_)


def test_what_merging_scores_costs_is_shown_and_a_strict_map_is_offered():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    found = compare(clean(score, rng.random(300) < score), [Isotonic(), CenteredIsotonic()], harm_draws=0)
    inner = np.linspace(score.min(), score.max(), 400)
    assert (np.diff(found.entry("Isotonic").map.predict(inner)) == 0).any()
    assert np.isfinite(found.entry("Isotonic").auc_change)
    assert abs(found.entry("CenteredIsotonic").auc_change) <= abs(found.entry("Isotonic").auc_change) + 1e-12


def test_equal_losses_weigh_one_half_and_say_so():
    fitted = LWCal().fit([0.5] * 6, [0, 1, 0, 1, 0, 1])
    assert (fitted.audit_.weights == 0.5).all()
    assert any("equal" in warning for warning in fitted.warnings_)


def test_a_sure_score_with_the_opposite_label_keeps_a_finite_weight():
    fitted = LWCal().fit([0.0, 1.0, 0.3, 0.6, 0.7], [1, 0, 0, 1, 1])
    assert np.isfinite(fitted.audit_.losses).all()
    assert fitted.audit_.weights.min() == pytest.approx(0.05)


# --- input


@pytest.mark.parametrize("name", [name for name, method in REGISTRY.items() if not method.needs_groups])
def test_a_missing_score_is_never_a_number(name):
    with pytest.raises(InputError):
        REGISTRY[name]().fit([0.2, np.nan, 0.7], [0, 1, 1])


@pytest.mark.parametrize("kind", ["float32", "Float64", "double[pyarrow]"])
def test_types_of_scores_and_labels_do_not_matter(kind):
    rng = np.random.default_rng(0)
    score = np.round(rng.random(400), 3).astype(np.float32).astype(np.float64)
    label = (rng.random(400) < score).astype(int)
    weight = rng.random(400)
    expected = metrics.ece(clean(score, label, weight=weight)).value
    typed = pd.Series(score).astype(kind)
    for labels in (label, label.astype(bool), pd.Series(label).astype("Int64")):
        assert metrics.ece(Clean().evidence(typed, labels, weight=weight)).value == pytest.approx(
            expected, abs=1e-9
        )


def test_weights_of_zero_do_not_count_and_all_of_zero_are_refused():
    some = clean([0.2, 0.7, 0.9], [0, 1, 0], weight=[1.0, 1.0, 0.0])
    assert metrics.brier(some).value == pytest.approx(metrics.brier(clean([0.2, 0.7], [0, 1])).value)
    with pytest.raises(InputError):
        clean([0.2, 0.7], [0, 1], weight=[0.0, 0.0])


@pytest.mark.parametrize(
    "make",
    [lambda: UU(0.3, 0.4, 0.4), lambda: Noisy(0.5, 0.5), lambda: Noisy(0.7, 0.4), lambda: SD(0.5), lambda: SU(0.5),
     lambda: DU(0.5), lambda: Sconf(0.5), lambda: PU(0.0), lambda: PU(1.0), lambda: PU(None)],
)  # fmt: skip
def test_what_cannot_be_identified_says_which_number(make):
    with pytest.raises((NotIdentifiable, InputError), match=r"\d|None"):
        make()


def test_a_confidence_of_zero_is_clipped_or_refused():
    with pytest.raises(InputError):
        Pconf(0.4).evidence([0.2, 0.7], confidence=[0.0, 0.8])
    assert Pconf(0.4, r_min=0.05).evidence([0.2, 0.7], confidence=[0.0, 0.8]).n == 2


def test_a_missing_group_is_a_group_of_its_own():
    from calcore.subgroups import make_subgroups

    table = pd.DataFrame({"region": ["north", None, "north", None] * 20})
    names = [group.name for group in make_subgroups(table, ["region"], min_mass=0.01).subgroups]
    assert any("missing" in name for name in names)


def test_no_group_of_enough_rows_is_an_empty_answer_with_a_reason():
    rng = np.random.default_rng(0)
    groups = pd.DataFrame({"a": rng.random(200) < 0.01})
    found = metrics.max_ece(clean(rng.random(200), rng.random(200) < 0.5, groups=groups), 10, min_mass=0.5)
    assert np.isnan(found.value)
    assert found.notes


# --- behaviour


def test_levels_give_different_bands():
    rng = np.random.default_rng(0)
    score = rng.random(500)
    evidence = clean(score, rng.random(500) < score)
    narrow, wide = (metrics.corp(evidence, level=level) for level in (0.8, 0.99))
    assert (wide.consistency_upper - wide.consistency_lower).mean() > (
        narrow.consistency_upper - narrow.consistency_lower
    ).mean()


def test_saving_keeps_numbers_and_settings():
    fitted = Platt(C=2.0).fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    again = CalibrationMap.from_json(fitted.map_.to_json())
    grid = np.linspace(0, 1, 101)
    np.testing.assert_array_equal(again.predict(grid), fitted.predict(grid))
    assert again.parameters["C"] == 2.0


def test_importing_changes_nothing_that_is_global():
    program = (
        "import warnings, numpy as np\n"
        "before = (list(warnings.filters), np.geterr(), np.get_printoptions(), np.random.get_state()[1].tolist())\n"
        "import calcore, calcore.metrics, calcore.calibrators, calcore.comparison, calcore.maps, calcore.ingest\n"
        "after = (np.geterr(), np.get_printoptions(), np.random.get_state()[1].tolist())\n"
        "assert before[1:] == after\n"
        "assert 'matplotlib' not in __import__('sys').modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.ece(clean([0.2, 0.7], [0, 1]))
