"""What may be ranked on: a sample that is too small, or of one class, blocks a ranking."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.observation import Clean, Noisy
from calcore.ranking import FEWEST_AUDITED, ranking_basis

RECORDED = Noisy(0.1, 0.1).evidence(np.linspace(0, 1, 100), np.arange(100) % 2)


@pytest.mark.parametrize(
    "n, positives, words",
    [
        (FEWEST_AUDITED - 1, 10, "29 rows of both classes"),
        (FEWEST_AUDITED, 0, "30 rows of one class"),
        (FEWEST_AUDITED, FEWEST_AUDITED, "30 rows of one class"),
    ],
)
def test_a_small_or_one_sided_audit_sample_blocks_a_ranking(n, positives, words):
    audit = Clean().evidence(np.linspace(0, 1, n), np.arange(n) < positives)
    found = ranking_basis(RECORDED, audit)
    # even though the flip rates are known: the sample was drawn to be measured on
    assert (found.case, found.ranked) == ("audit", "no")
    assert words in found.sentence


def test_enough_rows_of_both_classes_rank():
    audit = Clean().evidence(np.linspace(0, 1, FEWEST_AUDITED), np.arange(FEWEST_AUDITED) < 1)
    assert ranking_basis(RECORDED, audit).ranked == "yes"
