"""Files in which each row holds a pair."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.errors import InputError
from calcore.observation import SD
from calcore.observation.pair_columns import stack_pairs


def test_members_become_rows_and_keep_their_pair():
    pairs = stack_pairs([0.1, 0.2, 0.3], [0.9, np.nan, 0.7])
    np.testing.assert_array_equal(pairs.score, [0.1, 0.2, 0.3, 0.9, 0.7])
    np.testing.assert_array_equal(pairs.row, [0, 1, 2, 0, 2])
    np.testing.assert_array_equal(pairs.second, [False, False, False, True, True])


def test_stacked_pairs_give_the_errors_of_paired_rows():
    rng = np.random.default_rng(0)
    first, second = rng.random(300), rng.random(300)
    kind = np.where(rng.random(300) < 0.5, "similar", "dissimilar")
    pairs = stack_pairs(first, second)
    one = SD(0.3).evidence(pairs.score, source=kind[pairs.row], unit=pairs.row)
    order = rng.permutation(600)
    rows = np.concatenate([first, second])[order]
    other = SD(0.3).evidence(rows, source=np.tile(kind, 2)[order], unit=np.tile(np.arange(300), 2)[order])
    np.testing.assert_allclose(metrics.cells(one).moment, metrics.cells(other).moment, atol=1e-12)
    np.testing.assert_allclose(
        metrics.cells(one).standard_error, metrics.cells(other).standard_error, atol=1e-12
    )


def test_a_second_score_out_of_range_is_named():
    with pytest.raises(InputError, match="second score"):
        stack_pairs([0.1], [1.5])
