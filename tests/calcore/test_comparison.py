"""Comparison: ranked only on what can be trusted, a winner only where there is one."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import metrics
from calcore.calibrators import (
    REGISTRY,
    Beta,
    GatedLWCal,
    HistogramBinning,
    Identity,
    Isotonic,
    LWCal,
    PatchedWLMC,
    Platt,
    Temperature,
    TrimmedBeta,
    TrimmedIsotonic,
)
from calcore.comparison import compare, log_odds_slope, ranking_basis
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import COLLAPSE_ABOVE
from calcore.maps import CalibrationMap
from calcore.observation import PU, Clean, Noisy
from calcore.provenance import with_provenance

NAMES = [name for name, method in REGISTRY.items() if not method.needs_groups]


def population(n=2000, seed=0, sharpness=2.5):
    """Scores that are over-confident by ``sharpness`` on the log-odds, and outcomes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    return 1 / (1 + np.exp(-sharpness * z)), (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float), rng


def clean(**options):
    score, label, _ = population(**options)
    return Clean().evidence(score, label)


def weak(n=2000):
    score, label, _rng = population(3 * n)
    positive = score[: 2 * n][label[: 2 * n] == 1][: n // 2]
    source = np.repeat(["positive", "unlabelled"], [positive.size, n])
    return PU(0.5).evidence(np.r_[positive, score[2 * n :]], source=source)


# --- what may be ranked on


@pytest.mark.parametrize(
    "model, with_audit, case, ranked",
    [
        (Clean(), False, "clean", "yes"),
        (Noisy(), True, "audit", "yes"),
        (Noisy(), False, "noisy", "no"),
        (Noisy(0.2, 0.1), False, "rates given", "yes"),
        (Noisy(0.2, 0.1, origin="estimated"), False, "rates estimated", "indicative"),
        (Noisy(0.2, 0.1, origin="estimated"), True, "audit", "yes"),
        (PU(0.5), False, "weak", "yes"),
    ],
)
def test_ranking_basis(model, with_audit, case, ranked):
    evidence = weak() if isinstance(model, PU) else model.evidence(*population()[:2])
    basis = ranking_basis(evidence, clean() if with_audit else None)
    assert (basis.case, basis.ranked) == (case, ranked)
    assert basis.sentence.endswith(".")


def test_noisy_labels_of_unknown_rates_never_rank():
    """Isotonic copies the noise and looks best by far: still nothing is called the winner."""
    score, label, rng = population(5000, sharpness=1)
    noisy = np.where(rng.random(5000) < 0.3, 1 - label, label)
    found = compare(Noisy().evidence(score, noisy), [Isotonic(), Platt()], harm_draws=0)
    assert found.entry("Isotonic").differences["Brier"].upper < 0
    assert found.winner is None
    assert "noisy" in found.verdict
    assert found.entry("Isotonic").metrics["ECE"].basis == "against the noisy labels"


def test_estimated_rates_rank_indicatively_only():
    score, label, rng = population(4000)
    noisy = np.where(rng.random(4000) < 0.2, 1 - label, label)
    found = compare(Noisy(0.2, 0.2, origin="estimated").evidence(score, noisy), [Platt()], harm_draws=0)
    assert found.verdict.startswith("Indicative: ")


# --- winners


def test_a_better_method_wins():
    found = compare(clean(n=4000), [Platt()], harm_draws=0)
    assert found.winner == "Platt"
    assert found.entry("Platt").differences["Brier"].upper < 0


@pytest.mark.parametrize("ranked_on", ["Brier", "log loss", "ECE"])
def test_equal_methods_have_no_clear_winner(ranked_on):
    found = compare(clean(n=1500), [Platt(), Beta(), Temperature()], ranked_on=ranked_on, harm_draws=0)
    assert found.winner is None
    assert "No clear winner" in found.verdict


def test_a_method_that_changes_nothing_wins_against_nobody():
    score = np.random.default_rng(0).random(500)
    found = compare(Clean().evidence(score, score > 0.5), [Identity()], harm_draws=0)
    assert found.winner is None
    assert "Only one" in found.verdict


@pytest.mark.slow
def test_calibrated_scores_rarely_crown_a_winner():
    wins = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score = rng.random(600)
        evidence = Clean().evidence(score, rng.random(600) < score)
        found = compare(evidence, [Platt(), Temperature(), Isotonic()], harm_draws=0)
        wins += found.winner not in (None, "Identity")
    assert wins <= 2


def test_an_audit_sample_decides_against_the_noise():
    """On 30 % flipped labels isotonic pulls scores to the middle; the audit sample shows that it does harm."""
    score, label, rng = population(6000, sharpness=1)
    noisy = np.where(rng.random(6000) < 0.3, 1 - label, label)
    audited = np.where(rng.random(6000) < 0.25, label, np.nan)
    found = compare(
        Noisy().evidence(score, noisy), [Isotonic()], audit=Clean().evidence(score, audited), harm_draws=0
    )
    assert found.basis.case == "audit"
    assert found.winner == "Identity"
    assert found.measured.n == np.isfinite(audited).sum()
    assert found.entry("Isotonic").metrics["Brier"].basis == "against the labels"


def _with_corrections(model, n=4000):
    """A calibrated score; its labels, and the same with the most suspicious fifth of them turned round."""
    rng = np.random.default_rng(0)
    score = rng.random(n)
    label = (rng.random(n) < score).astype(float)
    suspicious = np.argsort(-np.abs(label - score))[: n // 5]
    corrected = label.copy()
    corrected[suspicious] = 1 - label[suspicious]
    return model.evidence(score, label), Noisy().evidence(score, corrected)


@pytest.mark.parametrize("model", [Clean(), Noisy(), Noisy(0.1, 0.1)])
def test_corrected_labels_are_fitted_on_and_never_measured_on(model):
    recorded, corrected = _with_corrections(model)
    plain = compare(recorded, [Platt()], harm_draws=0)
    found = compare(corrected, [Platt()], recorded=recorded, harm_draws=0)
    assert found.basis == plain.basis
    assert found.entry("Identity").metrics == plain.entry("Identity").metrics
    assert found.entry("Platt").map.n == len(corrected)
    # measured on the corrected labels the sharpened map would win by far
    alone = compare(corrected, [Platt()], harm_draws=0)
    assert alone.entry("Platt").differences["Brier"].upper < -0.02
    assert found.entry("Platt").differences["Brier"].lower > 0


def test_every_row_is_measured_by_a_map_that_did_not_see_it_after_corrections_too():
    recorded, corrected = _with_corrections(Noisy(), n=400)
    found = compare(corrected, [HistogramBinning(bins=200)], recorded=recorded, harm_draws=0)
    fit = found.entry("HistogramBinning").fit
    direct = metrics.brier(recorded.with_score(fit.predicted))
    assert found.entry("HistogramBinning").metrics["Brier"] == direct


def test_an_audit_sample_comes_before_recorded_labels():
    recorded, corrected = _with_corrections(Noisy())
    audit = Clean().evidence(recorded.score[:500], recorded.label[:500])
    found = compare(corrected, [Platt()], recorded=recorded, audit=audit, harm_draws=0)
    assert found.basis.case == "audit"
    assert found.measured is audit


# --- entries


def test_every_number_of_an_entry_is_out_of_fold():
    evidence = clean(n=800)
    found = compare(evidence, [Isotonic(), HistogramBinning(bins=400)], harm_draws=0)
    fit = found.entry("HistogramBinning").fit
    direct = metrics.brier(evidence.with_score(fit.predicted))
    assert found.entry("HistogramBinning").metrics["Brier"] == direct
    # in sample, four hundred bins would look best
    inside = metrics.brier(evidence.with_score(fit.map.predict(evidence.score))).value
    assert inside < direct.value


@pytest.mark.slow
def test_every_method_can_be_measured_under_clean_and_noisy_labels():
    score, label, _ = population(600)
    for model in (Clean(), Noisy(0.1, 0.1), Noisy()):
        found = compare(model.evidence(score, label), [REGISTRY[name]() for name in NAMES], harm_draws=2)
        for entry in found.entries:
            assert entry.missing is None
            assert np.isfinite(entry.harm.at_n)
            assert 0 <= entry.share_at_ends <= 1
            assert set(entry.differences) == {"Brier", "log loss", "ECE"}


def test_under_unlabelled_rows_methods_work_or_say_why_not():
    found = compare(weak(), [REGISTRY[name]() for name in NAMES], harm_draws=2)
    for entry in found.entries:
        if REGISTRY[entry.name].needs_row_labels:
            assert "does not exist under PU" in entry.missing
            assert entry.map is None
            assert entry.metrics == {}
        else:
            assert np.isfinite(entry.metrics["ECE"].value)
            assert entry.metrics["Brier"].basis == "corrected for unlabelled rows"
            assert np.isfinite(entry.harm.at_n)
    assert {entry.name for entry in found.entries if entry.missing} == {
        name for name in NAMES if REGISTRY[name].needs_row_labels
    }
    assert found.entry("Platt").differences["Brier"].upper < 0


def test_merged_scores_cost_auc_and_a_flip_turns_the_slope():
    rng = np.random.default_rng(0)
    score = rng.random(500)
    upside_down = Clean().evidence(score, rng.random(500) < 1 - score)
    found = compare(upside_down, [Platt(), HistogramBinning(bins=2), Temperature()], harm_draws=0)
    assert found.entry("Platt").slope < 0
    assert found.entry("HistogramBinning").auc_change != 0
    assert found.entry("Identity").slope == pytest.approx(1)


def test_slope_of_a_constant_score_is_undefined():
    assert np.isnan(log_odds_slope(np.full(5, 0.5), np.full(5, 0.7), np.ones(5)))
    x = np.linspace(0.1, 0.9, 9)
    assert log_odds_slope(x, 1 / (1 + ((1 - x) / x) ** 2), np.ones(9)) == pytest.approx(2)


def test_difference_to_the_chosen_reference():
    found = compare(clean(), [Platt(), Isotonic()], reference="Platt", harm_draws=0)
    assert found.entry("Platt").differences["Brier"].value == 0
    assert [entry.name for entry in found.entries] == ["Platt", "Isotonic"]


@pytest.mark.parametrize(
    "calibrators, options, message",
    [
        ([], {"reference": "Platt"}, "reference 'Platt'"),
        ([Platt(), Platt(C=1.0)], {}, "each given once"),
        ([Platt()], {"ranked_on": "AUC"}, "ranked on"),
        ([Platt()], {"folds": 1}, "folds"),
    ],
)
def test_wrong_requests_are_sentences(calibrators, options, message):
    with pytest.raises(InputError, match=message):
        compare(clean(n=100), calibrators, harm_draws=0, **options)


def test_a_reference_that_does_not_exist_is_told():
    with pytest.raises(DoesNotExist, match="reference"):
        compare(weak(300), [LWCal()], reference="LWCal", harm_draws=0)


def test_no_entry_of_that_name():
    with pytest.raises(InputError, match="'Beta'"):
        compare(clean(n=100), [Platt()], harm_draws=0).entry("Beta")


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]])
def test_hardly_any_rows_or_one_class(labels):
    found = compare(
        Clean().evidence([0.1, 0.4, 0.6, 0.6], labels),
        [Platt(), Isotonic(), GatedLWCal(), TrimmedBeta(), TrimmedIsotonic()],
        harm_draws=2,
    )
    assert found.winner in (None, *(entry.name for entry in found.entries))
    if len(set(labels)) == 1:
        assert np.isnan(found.entry("Platt").metrics["AUC"].value)


@pytest.mark.slow
def test_the_collapsed_path_agrees_with_the_rows(monkeypatch):
    score, label, _ = population(COLLAPSE_ABOVE + 5)
    evidence = Clean().evidence(score, label)
    methods = [Platt(), Temperature(), Isotonic(), HistogramBinning(), GatedLWCal()]
    small = compare(evidence, methods, harm_draws=0, folds=2)
    assert len(small.measured) < COLLAPSE_ABOVE
    monkeypatch.setattr("calcore.evidence.COLLAPSE_ABOVE", 10**9)
    rows = compare(evidence, methods, harm_draws=0, folds=2)
    for one, other in zip(small.entries, rows.entries, strict=True):
        for name in ("Brier", "log loss", "AUC", "macro-F1", "ECE"):
            bound = 2e-4 if name in ("ECE", "macro-F1") else 2e-5
            assert one.metrics[name].value == pytest.approx(other.metrics[name].value, abs=bound), (
                one.name,
                name,
            )
        assert one.differences["Brier"].value == pytest.approx(other.differences["Brier"].value, abs=1e-5)
        assert one.differences["Brier"].standard_error == pytest.approx(
            other.differences["Brier"].standard_error, rel=0.02, abs=1e-9
        )
    assert small.winner == rows.winner


def test_units_give_wider_differences():
    score, label, _rng = population(2000)
    score, label = np.repeat(score[:400], 5), np.repeat(label[:400], 5)
    one = compare(Clean().evidence(score, label), [Platt()], harm_draws=0)
    other = compare(
        Clean().evidence(score, label, unit=np.repeat(np.arange(400), 5)), [Platt()], harm_draws=0
    )
    assert (
        other.entry("Platt").differences["Brier"].standard_error
        > 1.8 * one.entry("Platt").differences["Brier"].standard_error
    )


def test_progress_is_told_and_rises():
    told = []
    compare(clean(n=200), [Platt()], harm_draws=1, progress=lambda step, share: told.append((step, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert told[0][0] == "Fitting No change"


def test_the_exported_map_says_where_it_comes_from():
    found = compare(clean(n=300), [Platt()], harm_draws=2)
    entry = found.entry("Platt")
    stored = with_provenance(entry.map, entry, found.basis, "0" * 64, "2026-01-31T12:00:00Z")
    again = CalibrationMap.from_json(stored.to_json())
    assert again == stored
    assert again.metrics["ranking"] == {"case": "clean", "ranked": "yes"}
    assert again.metrics["Brier"]["value"] == entry.metrics["Brier"].value


def test_ranking_on_mc_finds_the_method_that_corrects_subgroups():
    rng = np.random.default_rng(0)
    n = 12_000
    score, group = rng.uniform(0.15, 0.8, n), rng.random(n) < 0.4
    label = (rng.random(n) < score + 0.2 * group).astype(float)
    evidence = Clean().evidence(score, label, groups=np.column_stack([group, ~group]))
    found = compare(evidence, [Platt(), PatchedWLMC()], ranked_on="MC", harm_draws=0)
    assert found.entry("PatchedWLMC").differences["MC"].upper < 0
    assert "PatchedWLMC" in found.tied
    with pytest.raises(InputError, match="subgroups"):
        compare(evidence.without_groups(), [Platt()], ranked_on="MC")
