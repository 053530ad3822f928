"""The model card: where a map comes from, and what it must not be used for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calcore.audit import audit
from calcore.calibrators import HistogramBinning, PatchedWLMC, Platt
from calcore.comparison import compare
from calcore.model_card import model_card, score_card
from calcore.observation import PU, Clean, Noisy
from calcore.provenance import with_provenance
from calcore.subgroups import Membership, make_subgroups


def evidence(n=3000, power=2.0, model=None, groups=False):
    rng = np.random.default_rng(0)
    score = rng.random(n)
    label = (rng.random(n) < score**power).astype(float)
    member = None
    if groups:
        table = pd.DataFrame({"region": rng.choice(["north", "south"], n)})
        label = (rng.random(n) < np.clip(score + np.where(table.region == "north", 0.2, -0.2), 0, 1)).astype(
            float
        )
        member = Membership.of_subgroups(make_subgroups(table, ["region"]).subgroups, table)
    return (model or Clean()).evidence(score, label, groups=member)


def card(rows, calibrator):
    result = compare(rows, [calibrator], harm_draws=2)
    entry = result.entries[-1]
    map_ = with_provenance(entry.map, entry, result.basis, "0" * 64, "2025-01-31T12:00:00Z")
    return map_, model_card(map_, result, audit(rows), "scores.csv")


def test_the_facts_are_those_of_the_map():
    map_, made = card(evidence(), Platt())
    facts = dict(made.facts)
    assert facts["Checksum of the map"] == map_.checksum
    assert facts["SHA-256 of the data"] == "0" * 64
    assert facts["Fitted on"] == "3,000 rows of scores.csv"
    assert "slope" in facts["Learned"]
    assert facts["Looks at"] == "the score alone"
    assert "Harm check" in facts["Harm"]
    assert not any("Not shown to help" in limit for limit in made.limits)


def test_a_map_that_was_not_shown_to_help_says_so():
    _, made = card(evidence(power=1.0), Platt())
    assert any("not clearly below that of no change" in limit for limit in made.limits)
    _, made = card(evidence(model=Noisy()), Platt())
    assert any("these labels allow no ranking" in limit for limit in made.limits)


def test_few_rows_and_unseen_scores_are_limits():
    rows = evidence(100)
    _, made = card(rows.take(rows.score < 0.8), HistogramBinning())
    said = " ".join(made.limits)
    assert "another sample would give another map" in said
    assert "there the map only continues" in said


def test_a_map_of_subgroups_names_the_columns_that_it_needs():
    _, made = card(evidence(groups=True), PatchedWLMC())
    assert dict(made.facts)["Looks at"] == "the score and region"
    assert any("Needs region of every case" in limit for limit in made.limits)


def test_a_map_of_everyone_leaves_a_subgroup_where_it_is():
    rows = evidence(groups=True)
    _, made = card(rows, Platt())
    assert any("every subgroup alike" in limit for limit in made.limits)


@pytest.mark.parametrize(
    "model,words", [(PU(prior=0.3), "the class prior: 0.3"), (Noisy(), "not known"), (Clean(), "none")]
)
def test_the_labels_are_described_in_words(model, words):
    made = score_card(model, audit(evidence()), "scores.csv", "0" * 64)
    assert words in dict(made.facts)["Its parameters"]
    assert "no map was made" in dict(made.facts)["Calibrator"]
