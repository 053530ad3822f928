"""What may be ranked on: a sample that is too small, or of one class, blocks a ranking."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.observation import Clean, Noisy
from calcore.ranking import FEWEST, ranking_basis

RECORDED = Noisy(0.1, 0.1).evidence(np.linspace(0, 1, 100), np.arange(100) % 2)


@pytest.mark.parametrize(
    "n, positives, words",
    [
        (FEWEST - 1, 10, "29 rows of both classes"),
        (FEWEST, 0, "30 rows of one class"),
        (FEWEST, FEWEST, "30 rows of one class"),
    ],
)
def test_a_small_or_one_sided_audit_sample_blocks_a_ranking(n, positives, words):
    audit = Clean().evidence(np.linspace(0, 1, n), np.arange(n) < positives)
    found = ranking_basis(RECORDED, audit)
    # even though the flip rates are known: the sample was drawn to be measured on
    assert (found.case, found.ranked) == ("audit", "no")
    assert words in found.sentence


def test_enough_rows_of_both_classes_rank():
    audit = Clean().evidence(np.linspace(0, 1, FEWEST), np.arange(FEWEST) < 1)
    assert ranking_basis(RECORDED, audit).ranked == "yes"


@pytest.mark.parametrize(
    "n, positives, words", [(3, 1, "has 3 rows;"), (200, 0, "has 200 rows of one class")]
)
def test_a_handful_of_outcomes_or_one_class_ranks_nothing(n, positives, words):
    found = ranking_basis(Clean().evidence(np.linspace(0, 1, n), np.arange(n) < positives), None)
    assert (found.case, found.ranked) == ("few", "no")
    assert words in found.sentence
