"""What holds for every calibrator in the registry, whatever the rows: ranges, order, permutations, saving, names."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.utils import estimator_checks

from calcore.calibrators import REGISTRY
from calcore.maps import CalibrationMap
from calcore.observation import Clean
from calcore.subgroups import Membership

GRID = np.linspace(0, 1, 203)
each = pytest.mark.parametrize("name", REGISTRY)
ordered = pytest.mark.parametrize("name", [name for name, method in REGISTRY.items() if method.keeps_order])
by_group = pytest.mark.parametrize("name", [name for name, method in REGISTRY.items() if method.needs_groups])
#: A posterior sample takes .1 s a fit: few examples find what there is to find.
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Rows:
    score: np.ndarray
    label: np.ndarray
    masks: np.ndarray

    def take(self, order):
        return Rows(self.score[order], self.label[order], self.masks[order])

    def fit(self, name, names=None, dtype=np.float64):
        groups = Membership.of_masks(self.masks, names)
        evidence = Clean().evidence(self.score.astype(dtype), self.label, groups=groups)
        return REGISTRY[name]().fit(evidence)


@st.composite
def rows(draw, smallest=1, decimals=(1, 2, 6)):
    """A few to 120 rows of scores with ties or without, labels that rise, fall or do not care, three subgroups."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(smallest, 120))
    score = rng.random(n).round(draw(st.sampled_from(decimals)))
    if draw(st.booleans()):
        score[rng.random(n) < 0.1] = draw(st.sampled_from([0.0, 1.0]))
    rate = draw(st.sampled_from([lambda p: p**2, lambda p: 0 * p + 0.3, lambda p: 1 - p, lambda p: p > 0.5]))
    return Rows(score, (rng.random(n) < rate(score)).astype(float), rng.random((n, 3)) < 0.4)


def memberships():
    return np.random.default_rng(5).random((GRID.size, 3)) < 0.4


@each
@few
@given(data=rows())
def test_values_are_probabilities_and_saving_keeps_every_bit(name, data):
    fitted = data.fit(name)
    groups = memberships()
    found = fitted.predict(GRID, groups)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 1
    back = CalibrationMap.from_json(fitted.map_.to_json())
    assert back == fitted.map_
    assert back.predict(GRID, groups).tobytes() == found.tobytes()
    assert pickle.loads(pickle.dumps(fitted)).predict(GRID, groups).tobytes() == found.tobytes()


@ordered
@few
@given(data=rows())
def test_a_higher_score_never_gets_a_lower_value_where_that_is_promised(name, data):
    found = data.fit(name).predict(np.unique(np.concatenate([GRID, data.score])))
    assert (np.diff(found) >= -1e-15).all()


@each
@few
@given(data=rows(smallest=2, decimals=(6,)), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(name, data, seed):
    order = np.random.default_rng(seed).permutation(data.score.size)
    one, other = data.fit(name), data.take(order).fit(name)
    np.testing.assert_allclose(
        one.predict(GRID, memberships()), other.predict(GRID, memberships()), atol=1e-7
    )


@each
@few
@given(data=rows(decimals=(1, 2)))
def test_float32_gives_what_the_same_numbers_in_float64_give(name, data):
    single = Rows(data.score.astype(np.float32), data.label, data.masks)
    double = Rows(single.score.astype(np.float64), data.label, data.masks)
    one, other = single.fit(name, dtype=np.float32), double.fit(name)
    np.testing.assert_array_equal(one.predict(GRID, memberships()), other.predict(GRID, memberships()))


@by_group
@few
@given(data=rows(smallest=20))
def test_the_names_of_subgroups_change_nothing(name, data):
    one, other = data.fit(name, ["a", "b", "c"]), data.fit(name, ["é", "a", "-1"])
    np.testing.assert_array_equal(one.predict(GRID, memberships()), other.predict(GRID, memberships()))


@each
@pytest.mark.parametrize(
    "check",
    [
        "check_parameters_default_constructible",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
    ],
)
def test_checks_of_scikit_learn_that_need_no_matrix_of_features(name, check):
    """The others fit on several columns or strings; a calibrator takes one column of scores in [0, 1]."""
    if not hasattr(estimator_checks, check):
        pytest.skip(f"this scikit-learn has no {check}")
    getattr(estimator_checks, check)(name, REGISTRY[name]())
