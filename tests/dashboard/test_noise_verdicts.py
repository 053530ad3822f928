"""Sentences about label noise name their numbers, and never call noise absent that is only hidden."""

from __future__ import annotations

import numpy as np
import pytest

from calcore.calibrators import GatedLWCal
from calcore.contradictions import contradictions
from calcore.gate_grid import gate_grid
from calcore.gate_protocol import protocol
from calcore.group_contradictions import group_contradictions
from calcore.observation import Clean, Noisy
from calcore.observation.priors import flip_rates_from_forward_platt
from calcore.prevalence import prevalence
from calcore.subgroups import Membership
from calcore.verdicts import Level
from dashboard import noise_verdicts


def drawn(n=4000, seed=0, shape=0.4, rho0=0.0, rho1=0.0):
    rng = np.random.default_rng(seed)
    score = rng.beta(shape, shape, n)
    label, u = rng.random(n) < score, rng.random(n)
    return score, np.where(label, u >= rho1, u < rho0).astype(float)


@pytest.mark.parametrize(
    "flips, word",
    [
        (0.0, "No more contradictions than expected"),
        (0.1, "Some contradictions"),
        (0.3, "Many contradictions"),
        (0.45, "Too many contradictions"),
    ],
)
def test_the_gate_says_how_far_it_is_open(flips, word):
    score, label = drawn(rho0=flips, rho1=flips)
    evidence = Noisy().evidence(score, label)
    verdict = noise_verdicts.gate(GatedLWCal().fit(evidence).audit_, contradictions(evidence))
    assert verdict.title == word
    assert "would be expected if the labels were right" in verdict.sentence
    assert "95 % interval" in verdict.sentence
    assert "4,000 rows" in verdict.sentence


def test_noise_that_unsure_scores_hide_is_no_good_news():
    rng = np.random.default_rng(0)
    score = rng.uniform(0.35, 0.65, 4000)
    label = np.where(rng.random(4000) < 0.25, score < 0.5, score >= 0.5)
    evidence = Noisy(0.25, 0.25).evidence(score, label)
    verdict = noise_verdicts.gate(GatedLWCal().fit(evidence).audit_, contradictions(evidence))
    assert verdict.level is Level.WATCH
    assert "not sure enough" in verdict.sentence


def test_the_split_is_a_table_with_an_interval_on_every_line():
    score, label = drawn(rho0=0.05, rho1=0.3)
    split = contradictions(
        Noisy().evidence(score, label), estimated=flip_rates_from_forward_platt(score, label)
    )
    rows = noise_verdicts.split_rows(split, split)
    assert len(rows) == 6
    assert all(len(row) == 4 and all(row) for row in rows)
    assert not any("nan" in cell for row in rows for cell in row)


def region_search(extra, seed=0):
    rng = np.random.default_rng(seed)
    score, label = drawn(seed=seed, n=6000)
    region = rng.integers(0, 4, score.size)
    label = np.where((rng.random(score.size) < extra) & (region == 0), 1 - label, label)
    names = [f"region = {name}" for name in ("north", "south", "east", "west")]
    member = Membership.of_masks(region[:, None] == np.arange(4), names)
    return group_contradictions(Noisy().evidence(score, label, groups=member))


def test_a_group_whose_labels_look_worse_is_named_with_its_numbers_and_chance():
    verdict = noise_verdicts.groups(region_search(0.25))
    assert verdict.level is Level.WATCH
    assert verdict.sentence.startswith("Labels of region = north look worse")
    for part in ("points more often", "95 % interval +", "rows)", "Chance alone, over 4 subgroups"):
        assert part in verdict.sentence


def test_groups_that_do_not_stand_out_come_with_what_chance_gives():
    verdict = noise_verdicts.groups(region_search(0.0))
    assert verdict.level is Level.GOOD
    assert verdict.title == "No group's labels stand out"
    assert "Chance alone would give it up to" in verdict.sentence


def test_too_few_rows_compare_nothing():
    score, label = drawn(20)
    found = group_contradictions(Noisy().evidence(score, label, groups=np.arange(20)[:, None] < 10))
    assert noise_verdicts.groups(found).level is Level.UNKNOWN


def test_the_grid_says_what_it_was_measured_on_or_why_not():
    score, label = drawn(1500, rho0=0.3, rho1=0.3)
    unknown = noise_verdicts.gate_grid(gate_grid(Noisy().evidence(score, label)))
    assert "cannot be measured here" in unknown
    known = noise_verdicts.gate_grid(gate_grid(Noisy(0.3, 0.3).evidence(score, label)))
    assert "Brier" in known
    same = noise_verdicts.gate_grid(gate_grid(Clean().evidence(*drawn(1500))))
    assert "same map" in same
    unit = np.zeros(1500, int)
    alone = noise_verdicts.gate_grid(gate_grid(Clean().evidence(*drawn(1500), unit=unit)))
    assert "cannot be measured here. Not measured: " in alone
    assert not alone.endswith("..")


def test_the_best_setting_is_named_with_its_difference():
    found = gate_grid(Noisy(0.2, 0.2).evidence(*drawn(4000, shape=0.7, rho0=0.2, rho1=0.2)))
    assert found.best is not None
    sentence = noise_verdicts.gate_grid(found)
    assert f"Centre {found.best.center} and width {found.best.width} have the lowest Brier score" in sentence


def test_every_recommendation_of_the_protocol_has_its_reason():
    assert {row.score for row in protocol(0.2)} == set(noise_verdicts.PROTOCOL_REASONS)


def test_too_few_positives_recorded_are_told_with_what_follows():
    score, label = drawn(rho0=0.02, rho1=0.4)
    found = prevalence(Noisy(0.02, 0.4).evidence(score, label))
    verdict = noise_verdicts.prevalence(found)
    assert verdict.level is Level.WATCH
    assert verdict.title == "Too few positives recorded"
    assert "comes out too low" in verdict.sentence
    assert noise_verdicts.prevalence(prevalence(Noisy().evidence(score, label))) is None


def test_agreeing_shares_of_positives_are_no_alarm():
    found = prevalence(Noisy(0.2, 0.2).evidence(*drawn(rho0=0.2, rho1=0.2)))
    assert noise_verdicts.prevalence(found).level is Level.GOOD


def test_only_given_rates_are_called_exact():
    score, label = drawn(rho0=0.2, rho1=0.2)
    for origin, said in (("given", "exact"), ("estimated", "not known")):
        rows = noise_verdicts.split_rows(
            contradictions(Noisy(0.2, 0.2, origin=origin).evidence(score, label))
        )
        (interval,) = [row[2] for row in rows if row[0] == "Expected with flips"]
        assert interval == said


def test_a_share_whose_error_is_not_known_is_no_verdict():
    score, label = drawn(rho0=0.02, rho1=0.4)
    found = prevalence(Noisy(0.02, 0.4, origin="estimated").evidence(score, label))
    verdict = noise_verdicts.prevalence(found)
    assert verdict.level is Level.UNKNOWN
    assert "not known" in verdict.sentence


@pytest.mark.parametrize("seed", range(12))
def test_what_is_no_alarm_is_not_called_fewer_where_it_is_more(seed):
    score, label = drawn(seed=seed, rho0=0.005, rho1=0.005)
    evidence = Noisy().evidence(score, label)
    split = contradictions(evidence)
    verdict = noise_verdicts.gate(GatedLWCal().fit(evidence).audit_, split, 0.02)
    assert verdict.level is Level.GOOD
    if split.excess > 0:
        assert verdict.title == "About as many contradictions as expected"
        within = "the tolerance of 2\u00a0points" if split.beyond_chance else "what chance would give"
        assert f" more, within {within}." in verdict.sentence
    else:
        assert verdict.title == "No more contradictions than expected"
    assert "a calibrator that trusts its map less the more labels contradict the scores" in verdict.sentence
