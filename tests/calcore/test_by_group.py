"""Any metric by subgroup: values of the rows alone, simultaneous intervals, and the worst by chance."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import PU, Clean
from tests.calcore.samples import sample

EVERY = [
    metrics.ece,
    metrics.brier,
    metrics.auc,
    metrics.spiegelhalter,
    metrics.calibration_slope,
    metrics.score_decomposition,
    metrics.net_benefit,
]


def grouped(seed=0, n=600, groups=4, shift=0.0):
    """Scores in disjoint groups of equal size, the last off by ``shift``."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.2, 0.8, n)
    group = np.arange(n) % groups
    label = rng.random(n) < score - shift * (group == groups - 1)
    return Clean().evidence(score, label, groups=group[:, None] == np.arange(groups)), group


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_values_are_those_of_the_rows_alone(metric):
    evidence, group = grouped()
    found = metrics.by_group(evidence, metric)
    for g in range(4):
        alone = metric(Clean().evidence(evidence.score[group == g], evidence.label[group == g]))
        assert found.value[g] == pytest.approx(alone.value, abs=1e-9)
        assert found.n[g] == 150
    assert found.mass == pytest.approx(0.25)
    assert found.everyone.value == pytest.approx(metric(evidence).value, abs=1e-12)


def test_the_worst_is_the_furthest_from_perfect():
    evidence, _ = grouped(shift=0.2, n=4000)
    for metric in (metrics.ece, metrics.calibration_intercept):
        found = metrics.by_group(evidence, metric)
        assert found.groups[found.worst] == "group 3"
        assert found.worst_estimate is found.estimates[found.worst]
        assert found.beyond_chance.tolist() == [False, False, False, True]
    auc = metrics.by_group(evidence, metrics.auc)
    assert auc.worst == int(np.argmin(auc.value))


@pytest.mark.slow
@pytest.mark.parametrize("metric", [metrics.ece, metrics.brier, metrics.auc, metrics.score_decomposition])
def test_equal_groups_are_rarely_accused(metric):
    found = [metrics.by_group(grouped(seed, 1200)[0], metric) for seed in range(60)]
    assert np.mean([one.beyond_chance.any() for one in found]) < 0.15
    beyond = [one.distance[one.worst] > one.chance[one.worst] for one in found]
    assert np.mean(beyond) < 0.15


def test_intervals_hold_for_all_groups_together():
    at = np.linspace(0.2, 0.8, 100_001)
    truth = (at * (1 - at)).mean()
    found = [metrics.by_group(grouped(seed, 1200)[0], metrics.brier) for seed in range(250)]
    assert np.mean([((one.lower <= truth) & (truth <= one.upper)).all() for one in found]) > 0.92
    alone = found[0].estimates[0].interval
    assert found[0].upper[0] - found[0].lower[0] > alone[1] - alone[0]


def test_small_groups_are_named_and_not_ranked():
    score, label, _ = sample()
    masks = np.column_stack([np.arange(400) < 3, np.arange(400) < 200, np.zeros(400, dtype=bool)])
    found = metrics.by_group(Clean().evidence(score, label, groups=masks), metrics.ece, 0.05)
    assert found.groups == ("group 1",)
    assert found.too_small == ("group 0", "group 2")
    nobody = metrics.by_group(Clean().evidence(score, label, groups=masks), metrics.ece, 0.9)
    assert (len(nobody), nobody.worst) == (0, None)
    assert nobody.note == "no subgroup is heavy enough"
    assert len(nobody.to_frame()) == 0


def test_a_group_of_one_class_has_an_ece_and_no_auc_with_a_reason():
    masks = np.array([[True, False], [True, False], [False, True], [False, True]])
    evidence = Clean().evidence([0.1, 0.2, 0.3, 0.8], [0, 0, 0, 1], groups=masks)
    assert metrics.by_group(evidence, lambda e: metrics.ece(e, 10)).value[0] == pytest.approx(0.15)
    found = metrics.by_group(evidence, metrics.auc)
    assert np.isnan(found.value[0])
    assert found.absent == (("group 0", "n/a: one class only"),)
    assert found.worst == 1


def test_renamed_and_reordered_groups_change_nothing():
    evidence, group = grouped(shift=0.1)
    order = [2, 0, 3, 1]
    other = Clean().evidence(evidence.score, evidence.label, groups=group[:, None] == np.array(order))
    one, two = metrics.by_group(evidence, metrics.ece), metrics.by_group(other, metrics.ece)
    np.testing.assert_allclose(one.value[order], two.value, atol=1e-12)
    assert order[two.worst] == one.worst


def test_weak_labels_have_groups_too():
    rng = np.random.default_rng(0)
    source = np.repeat(["positive", "unlabelled"], [150, 450])
    evidence = PU(0.4).evidence(rng.random(600), source=source, groups=rng.random((600, 3)) < 0.5)
    found = metrics.by_group(evidence, metrics.brier)
    assert np.isfinite(found.value).all()
    assert (found.lower < found.value).all()


def test_evidence_without_groups_is_a_sentence():
    with pytest.raises(InputError, match="no subgroups"):
        metrics.by_group(Clean().evidence([0.5], [1]), metrics.ece)
