"""Roles guessed on the column names and contents that real files have."""

from __future__ import annotations

import numpy as np
import pytest

from calcore import ingest

REAL = {
    "compas_for_aequitas.csv": {"score": "score", "label": "label_value", "unit": "entity_id"},
    "nannyml_car_loan.parquet": {"score": "y_pred_proba", "label": "repaid", "time": "timestamp"},
    "nannyml_employment_ma.parquet": {
        "score": "predicted_probability", "label": "employed", "unit": "id", "time": "year"
    },
    "segment_naive_bayes.csv": {"score": ".pred_good", "label": "Class"},
    "538_nfl_elo_1920on.csv": {"score": "elo_prob1", "label": "result1", "time": "date"},
    "538_percent_true_congress_2024.csv": {"score": "agreement_score"},
    "DERIVED_icu_saps2_semicolon_decimalcomma.csv": {"score": "probSaps", "label": "outcome"},
    "precip_niamey_2016.csv": {"score": "Logistic", "label": "obs", "time": "date"},
    "uci_credit_default.csv": {"label": "default payment"},
    "acsincome_ca2018_40pct.parquet": {"label": "PINCP_gt_50k"},
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_real_files_get_their_roles(shared, name):
    ingested = ingest.read(shared / "data" / name)
    assert ingested.roles.single() == REAL[name]
    report = ingested.report
    assert report.rows_read == report.rows_kept + sum(r.count for r in report.refused)


def test_real_groups_and_refusals(shared):
    compas = ingest.read(shared / "data" / "compas_for_aequitas.csv")
    assert compas.roles.groups == ("race", "sex", "age_cat")
    ties = ingest.read(shared / "data" / "538_nfl_elo_1920on.csv").report
    assert (ties.refused, ties.tied, ties.left_out_ties) == ((), 316, 316)
    assert ties.questions[0].sentence == (
        '"result1" holds 316 rows with 0.5 between 0 and 1: what does a tie count as?'
    )
    icu = ingest.read(shared / "data" / "DERIVED_icu_saps2_semicolon_decimalcomma.csv")
    assert (icu.report.format.separator, icu.report.format.decimal) == (";", ",")
    assert icu.columns.score[1] == 0.619273966505765
    congress = ingest.read(shared / "data" / "538_percent_true_congress_2024.csv")
    assert congress.report.questions[0].kind == "score_scale"


def test_golden_noise_files(shared):
    for path in sorted((shared / "golden" / "noise").glob("*.csv")):
        header = path.read_text().splitlines()[0].split(",")
        ingested = ingest.read(path)
        assert ingested.roles.score == "score"
        assert ingested.roles.label == ("label" if "label" in header else "true_label")
        assert ingested.roles.audit == ("true_label" if {"label", "true_label"} <= set(header) else None)
        raw = np.loadtxt(path, delimiter=",", skiprows=1)
        assert np.array_equal(ingested.columns.score, raw[:, 0])
        assert np.array_equal(ingested.columns.label, raw[:, 1])


@pytest.mark.parametrize(
    "score", ["score", "prob", "p", "y_pred_proba", "predicted_probability", "PD", "Risk Score"]
)
@pytest.mark.parametrize("label", ["label", "y", "Target", "outcome", "y_true", "default"])
def test_usual_names_in_any_order(score, label):
    rows = "".join(f"{'fm'[i % 2]},{i % 3 // 2},{i},0.{i + 10},{1.5 + i % 4}\n" for i in range(60))
    ingested = ingest.read(f"sex,{label},customer_id,{score},sample_weight\n{rows}".encode())
    roles = {"score": score, "label": label, "unit": "customer_id", "weight": "sample_weight"}
    assert ingested.roles.single() == roles
    assert ingested.roles.groups == ("sex",)


@pytest.mark.parametrize("audit", ["true_label", "gold", "y_clean", "audit_label", "clean_label", "y_true"])
@pytest.mark.parametrize("label", ["label", "noisy_label"])
def test_the_clean_label_is_the_audit_column_and_not_the_label(label, audit):
    rows = "".join(f"{i % 2},0.{i + 10},{i % 3 // 2}\n" for i in range(60))
    ingested = ingest.read(f"{audit},score,{label}\n{rows}".encode())
    assert ingested.roles.label == label
    assert ingested.roles.audit == audit


def test_thresholded_predictions_are_neither_label_nor_group():
    rows = "".join(f"0.{i + 10},{int(i > 30)},{i % 2}\n" for i in range(60))
    ingested = ingest.read(f"probability,prediction,converted\n{rows}".encode())
    assert ingested.roles.label == "converted"
    assert ingested.roles.groups == ()


def test_the_outcome_without_a_telling_name_is_the_column_that_follows_the_score():
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    rows = "".join(f"{rng.integers(2)},{int(rng.random() < s)},{s}\n" for s in scores)
    assert ingest.read(f"owns_house,paid_back,model_score\n{rows}".encode()).roles.label == "paid_back"
