"""Every verdict names its numbers, its basis, and what chance would give."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import verdicts
from calcore.audit import audit
from calcore.calibrators import WLMC, Identity, Isotonic, Platt
from calcore.comparison import compare
from calcore.comparison_table import comparison_table
from calcore.observation import Clean, Noisy
from calcore.verdicts import Level


def drawn(n, distort=lambda s: s, seed=0, group_shift=0.0):
    """Evidence with labels drawn from ``distort(score)``; half of the rows are in a shifted group."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    group = rng.random(n) < 0.5
    truth = np.clip(distort(score) + group_shift * group, 0, 1)
    return score, (rng.random(n) < truth).astype(float), np.column_stack([group, ~group])


def clean(*given, **options):
    score, label, groups = drawn(*given, **options)
    return Clean().evidence(score, label, groups=groups)


def test_a_calibrated_score_is_called_so_with_what_chance_gives():
    verdict = verdicts.overall(audit(clean(20_000)))
    assert verdict.level is Level.GOOD
    assert "expected by chance" in verdict.sentence
    assert "subgroups" in verdict.sentence


def test_a_score_that_is_too_high_is_named_with_bin_rates_and_rows():
    verdict = verdicts.overall(audit(clean(20_000, distort=lambda s: s * 0.8)))
    assert verdict.level is Level.BAD
    assert verdict.sentence.startswith("Scores too high")
    for part in ("predicted", "observed", "95 % interval", "rows"):
        assert part in verdict.sentence


@pytest.mark.parametrize("slope, word", [(0.4, "Overconfident"), (3.0, "Underconfident")])
def test_extreme_and_timid_scores_are_told_apart(slope, word):
    def distort(s):
        return 1 / (1 + (s / (1 - s)) ** -slope)

    assert word in verdicts.overall(audit(clean(20_000, distort=distort))).sentence


def test_a_gap_within_the_tolerance_is_not_wrong_however_many_rows_show_it():
    evidence = clean(1_000_000, distort=lambda s: s * 0.99)
    assert verdicts.overall(audit(evidence, tolerance=0.02)).level is Level.GOOD
    assert verdicts.overall(audit(evidence, tolerance=0.0)).level is Level.BAD


def test_a_subgroup_is_named_when_the_whole_is_fine():
    rng = np.random.default_rng(3)
    n = 40_000
    score, small = rng.uniform(0.2, 0.8, n), rng.random(n) < 0.04
    label = rng.random(n) < score + 0.2 * small
    found = audit(Clean().evidence(score, label, groups=np.column_stack([small, ~small])))
    verdict = verdicts.overall(found)
    assert verdict.level is Level.WATCH
    assert "not for group 0" in verdict.sentence
    assert "too low" in verdict.sentence


def test_few_rows_say_how_many_would_do():
    verdict = verdicts.overall(audit(clean(60)))
    assert verdict.level is Level.UNKNOWN
    assert "would settle" in verdict.sentence


def test_noisy_labels_are_never_called_plain():
    score, label, _ = drawn(20_000)
    flipped = np.where(np.random.default_rng(1).random(label.size) < 0.3, 1 - label, label)
    verdict = verdicts.overall(audit(Noisy().evidence(score, flipped)))
    assert verdict.sentence.startswith("Against the noisy labels")
    corrected = verdicts.overall(audit(Noisy(0.3, 0.3).evidence(score, flipped)))
    assert corrected.sentence.startswith("Noise-corrected")
    assert corrected.level is Level.GOOD


def test_noisy_labels_alone_are_not_ranked_and_suggest_no_change():
    score, label, _ = drawn(1000)
    result = compare(Noisy().evidence(score, label), [Platt(), Isotonic()], harm_draws=0)
    verdict = verdicts.comparison(result)
    assert verdict.title == "Not ranked"
    assert verdicts.suggested(result) == "Identity"


def test_a_calibrator_that_helps_is_suggested_over_the_score():
    score, label, _ = drawn(5000, distort=lambda s: s**3)
    result = compare(Clean().evidence(score, label), [Identity(), Isotonic()], harm_draws=2)
    assert verdicts.suggested(result) == "Isotonic"


def one_small_subgroup_off():
    rng = np.random.default_rng(3)
    score, small = rng.uniform(0.2, 0.8, 6_000), rng.random(6_000) < 0.06
    label = rng.random(6_000) < score + 0.2 * small
    return Clean().evidence(score, label, groups=np.column_stack([small, ~small]))


@pytest.mark.parametrize(
    ("tried", "said"),
    [
        (Platt(), "add WLMC to the comparison, which corrects subgroups."),
        (WLMC(rounds=1, eta=1e-4), "WLMC, which corrects subgroups, is no clear improvement on 6,000 rows."),
        (WLMC(alpha=0.5), "WLMC, which corrects subgroups, found nothing to correct."),
    ],
)
def test_what_subgroup_calibrators_came_to_is_said_instead_of_to_try_them(tried, said):
    evidence = one_small_subgroup_off()
    found = audit(evidence)
    assert found.level == "subgroup"
    result = compare(evidence, [Identity(), tried], harm_draws=0)
    assert verdicts.suggested(result) == "Identity"
    advice = verdicts.advice(result, found)
    assert said in advice
    if isinstance(tried, WLMC):
        assert "Get more labelled rows of group 0, or look at Over time whether it began lately." in advice


def test_the_change_of_the_auc_is_that_of_the_aucs_beside_it():
    score, label, _ = drawn(1500, distort=lambda s: s**2)
    table = comparison_table(compare(Clean().evidence(score, label), [Identity(), Isotonic()], harm_draws=0))
    auc = {row["Calibrator"]: float(row["AUC"].split()[0]) for _, row in table.iterrows()}
    change = table.set_index("Calibrator")["AUC change"]
    assert float(change["Isotonic"]) == pytest.approx(auc["Isotonic"] - auc["No change"], abs=0.0011)
    assert float(change["Isotonic"]) < 0
    assert float(change["No change"]) == 0
