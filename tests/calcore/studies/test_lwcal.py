"""The LWCal study: its data, its measures, its intervals over data sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as peer

from calcore.calibrators import Isotonic
from calcore.studies import lwcal, noisy_methods, published
from calcore.studies.human_votes import Problem, rows_of, told
from calcore.studies.noisy_cells import LEARNERS, TASKS, cells, flipped


def test_the_tasks_are_those_of_table_two():
    sizes = {"Breast Cancer": (569, 30, 0.627), "Wine Class 0": (178, 13, 0.331), "Wine Class 2": (178, 13, 0.270),
             "Digits High": (1797, 64, 0.499), "Digits Even": (1797, 64, 0.496), "Iris Versicolor": (150, 4, 0.333),
             "Synthetic Overlap": (1800, 24, 0.496), "Synthetic Sparse": (1900, 72, 0.503),
             "Synthetic Imbalance": (2200, 30, 0.225)}  # fmt: skip
    for name, (n, d, rate) in sizes.items():
        x, y = TASKS[name]()
        assert x.shape == (n, d)
        assert y.mean() == pytest.approx(rate, abs=0.0015)


def test_labels_are_flipped_at_the_stated_rates():
    labels = np.repeat([0, 1], 100_000)
    rng = np.random.default_rng(0)
    symmetric = flipped(labels, "symmetric", 0.3, rng) != labels
    asymmetric = flipped(labels, "asymmetric", 0.4, rng) != labels
    assert symmetric[labels == 0].mean() == pytest.approx(0.3, abs=0.006)
    assert symmetric[labels == 1].mean() == pytest.approx(0.3, abs=0.006)
    assert asymmetric[labels == 0].mean() == pytest.approx(0.2, abs=0.006)
    assert asymmetric[labels == 1].mean() == pytest.approx(0.5, abs=0.006)


def test_cells_are_split_in_halves_and_quarters_and_tested_on_clean_labels():
    found = list(cells("Iris Versicolor", 0, LEARNERS[2], rates=(0.0, 0.2)))
    assert [(cell.mode, cell.rate) for cell in found] == [
        ("symmetric", 0.0),
        ("symmetric", 0.2),
        ("asymmetric", 0.2),
    ]
    assert all(cell.score.size == 38 and cell.test_score.size == 38 for cell in found)
    assert (found[0].recorded == found[0].true).all()
    assert (found[1].recorded != found[1].true).any()
    np.testing.assert_array_equal(found[0].test_true, found[2].test_true)


def test_measures_agree_with_a_peer():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    label = (rng.random(300) < score).astype(int)
    found = noisy_methods.measured(score, label)
    assert found["Brier"] == pytest.approx(peer.brier_score_loss(label, score))
    assert found["AUC"] == pytest.approx(peer.roc_auc_score(label, score))
    assert found["NLL"] == pytest.approx(peer.log_loss(label, score.clip(0.005, 0.995)))
    bins = np.minimum((score * 15).astype(int), 14)
    by_hand = sum(abs((label - score)[bins == b].sum()) for b in range(15)) / 300
    assert found["ECE"] == pytest.approx(by_hand)


def test_intervals_are_over_data_sets():
    """Cells of one data set move together: three data sets give three values, whatever the number of cells."""
    task = pd.Series(np.repeat(["a", "b", "c"], 100))
    mean, low, high = lwcal.clustered(pd.Series(np.repeat([1.0, 2.0, 6.0], 100)), task)
    half = 4.302653 * np.std([1, 2, 6], ddof=1) / np.sqrt(3)  # t at 2 degrees of freedom
    assert (mean, low, high) == pytest.approx((3.0, 3.0 - half, 3.0 + half), abs=1e-5)


def test_one_cell_is_measured_by_every_method():
    cell = next(iter(cells("Wine Class 0", 0, rates=(0.2,))))
    rows = noisy_methods.rows_of(cell, {"Isotonic": Isotonic()})
    assert [row["method"] for row in rows] == ["Isotonic", noisy_methods.ORACLE]
    gates = noisy_methods.gates_of(cell)
    assert [(row["center"], row["width"]) for row in gates] == list(published.GATES)


def test_every_table_is_told():
    rng = np.random.default_rng(0)
    keys = list(
        product(
            TASKS,
            (0, 1),
            ("symmetric", "asymmetric"),
            published.BY_RATE,
            LEARNERS,
            (*noisy_methods.METHODS, noisy_methods.ORACLE),
        )
    )
    found = pd.DataFrame(keys, columns=["task", "seed", "mode", "rate", "learner", "method"])
    for measure in ("ECE", "Brier", "NLL", "AUC", "classwise", "minority", "gap"):
        found[measure] = rng.random(len(found))
    gates = pd.DataFrame(list(published.GATES), columns=["center", "width"]).assign(
        ECE=0.1, Brier=0.2, NLL=0.3
    )
    harm = pd.DataFrame(
        0.01,
        index=list(noisy_methods.METHODS),
        columns=[name + more for name in lwcal.SPREADS for more in ("", " large")],
    )
    forests = found[found.learner == LEARNERS[0]]
    text = "\n".join(
        [*lwcal.main_tables(forests), *lwcal.robust_tables(found, gates), *lwcal.frontier(forests, harm)]
    )
    for table in ("III", "IV", "V", "VI", "VII", "VIII", "IX", "X"):
        assert f"Table {table}:" in text
    assert "nan" not in text


@pytest.mark.slow
def test_human_votes_are_told():
    rng = np.random.default_rng(0)
    problems = []
    for network in ("wrn", "lenet"):
        for k in range(2):
            score = rng.beta(0.5, 2, 200)
            true = (rng.random(200) < score).astype(int)
            problems.append(Problem(network, k, score, 0.1 + 0.8 * true, true))
    found = pd.DataFrame([row for problem in problems for row in rows_of(problem, 1)])
    text = told(found)
    assert "LeNet, one vote and 20% asymmetric flips" in text
    assert "nan" not in text
