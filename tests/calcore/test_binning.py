"""The one binning: every score in the bin that its edges say, and equal scores together."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.metrics import Bins
from calcore.observation import Clean


def slow_index(edges, scores):
    """The definition, score by score."""
    found = []
    for score in scores:
        place = max(j for j in range(len(edges) - 1) if score >= edges[j] or j == 0)
        found.append(place)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 10, 15, 20, 49, 100])
def test_scores_on_and_beside_every_edge(count):
    bins = Bins.equal_width(count)
    edges = np.arange(count + 1) / count
    scores = np.unique(np.clip(np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)]), 0, 1))
    np.testing.assert_array_equal(bins.index(scores), slow_index(edges, scores))
    rng = np.random.default_rng(count)
    random = rng.random(2000)
    np.testing.assert_array_equal(bins.index(random), slow_index(edges, random))


def test_tenths_each_have_their_own_bin():
    tenths = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    np.testing.assert_array_equal(Bins.equal_width(10).index(tenths), np.arange(1, 10))


def test_tenths_that_were_added_up_are_binned_by_their_value():
    np.testing.assert_array_equal(
        Bins.equal_width(10).index(np.array([0.1 + 0.2, 1 - 0.9, 1.0, 0.0])), [3, 0, 9, 0]
    )


def test_equal_mass_bins_never_split_equal_scores():
    rng = np.random.default_rng(0)
    scores = rng.choice([0.1, 0.5, 0.52, 0.9], 500, p=[0.1, 0.6, 0.2, 0.1])
    bins = Bins.equal_mass(scores, 10)
    key = bins.index(scores)
    for value in np.unique(scores):
        assert len(np.unique(key[scores == value])) == 1


def test_equal_mass_bins_hold_about_equal_mass():
    scores = np.random.default_rng(0).beta(1, 8, 10_000)
    counts = np.bincount(Bins.equal_mass(scores, 10).index(scores))
    np.testing.assert_allclose(counts, 1000, atol=2)


def test_equal_mass_bins_of_a_constant_score_are_one_bin():
    evidence = Clean().evidence([0.5] * 4, [0, 0, 0, 1])
    assert metrics.adaptive_ece(evidence, 10).value == pytest.approx(0.25)
    assert len(metrics.reliability(evidence, 10, "mass")) == 1


def test_equal_mass_error_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    scores = rng.random(400).round(1)
    labels = (rng.random(400) < scores).astype(float)
    order = rng.permutation(400)
    one = metrics.adaptive_ece(Clean().evidence(scores, labels)).value
    other = metrics.adaptive_ece(Clean().evidence(scores[order], labels[order])).value
    assert one == pytest.approx(other, abs=1e-14)


def test_weights_move_equal_mass_edges_like_repeated_rows():
    rng = np.random.default_rng(0)
    scores, weights = rng.random(200), rng.integers(1, 5, 200)
    one = Bins.equal_mass(scores, 7, weights.astype(float))
    other = Bins.equal_mass(np.repeat(scores, weights), 7)
    np.testing.assert_allclose(one.edges, other.edges)


@pytest.mark.parametrize("bins", [0, -1, 1001, 9999, 2.5, float("nan"), "15", None, True])
def test_a_number_of_bins_out_of_range_is_a_sentence(bins):
    with pytest.raises(InputError, match="bins must be a whole number from 1 to 1000"):
        metrics.ece(Clean().evidence([0.1, 0.9], [0, 1]), bins)


def test_an_unknown_strategy_is_a_sentence():
    with pytest.raises(InputError, match='"width" or "mass"'):
        metrics.reliability(Clean().evidence([0.1, 0.9], [0, 1]), 5, "equal")
