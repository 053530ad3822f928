"""The analysis of the session's file, and what each view asks of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from calcore import metrics
from calcore.audit import Audit, GroupFinding, audit
from calcore.calibrators import REGISTRY, GatedLWCal
from calcore.crossfit import CrossFit, Folds, cross_fit, predict_elsewhere
from calcore.evidence import Evidence
from calcore.file_evidence import evidence_of, evidence_of_corrections
from calcore.harm import Harm, harm_check
from calcore.ingest import Ingested
from calcore.metrics.reliability import Reliability
from calcore.sensitivity import Band, band, movable
from calcore.settings import Settings, smallest_share
from calcore.subgroups import Membership, SubgroupChoice
from dashboard.services.memory import once
from dashboard.services.returned import checked_labels, corrected_labels, lists_in_use
from dashboard.state import AppState, get_state


@dataclass(frozen=True, eq=False)
class Analysis:
    """The session's evidence: ``evidence`` of the recorded labels, ``audit`` of clean audit labels that form a random
    sample (else None), and ``measured``, the one of the two that verdicts are about.

    ``calibration`` is what calibrators are fitted on: ``evidence``, or that of partly corrected labels, which nothing
    is ever measured on.
    """

    key: tuple[Any, ...]
    ingested: Ingested
    settings: Settings
    evidence: Evidence
    audit: Evidence | None
    choice: SubgroupChoice
    calibration: Evidence

    @property
    def measured(self) -> Evidence:
        return self.audit if self.audit is not None and self.settings.measure_on == "audit" else self.evidence


def left_out(found: Analysis) -> int:
    """Kept rows of the file that the measured evidence does not use."""
    report = found.ingested.report
    return found.measured.dropped - (report.rows_read - report.rows_kept)


def measured_words(found: Analysis) -> str:
    """What results are measured against, in words."""
    if found.audit is not None and found.measured is found.audit:
        return "against the clean audit labels"
    return found.measured.model.basis


def analysis(state: AppState) -> Analysis:
    """Evidence for the present file, choices and settings. Raises InputError where they do not fit."""
    assert state.ingested is not None
    settings = state.settings
    # how results are judged does not change the evidence
    identity = replace(settings, measure_on="", tolerance=0.0, bins=1)
    ingested, (sample, corrections) = state.ingested, lists_in_use(state)
    lists = tuple(one and (one.sha256, one.mapping) for one in (sample, corrections))
    key = (ingested.report.sha256, state.choices, identity, lists)
    smallest = smallest_share(settings, ingested.report.rows_kept)

    def build() -> tuple[Evidence, Evidence | None, SubgroupChoice, Evidence]:
        checked = None if sample is None else checked_labels(sample, ingested, settings)
        evidence, audited, choice = evidence_of(ingested, settings, smallest, checked)
        if corrections is None or evidence.label is None:
            return evidence, audited, choice, evidence
        looked_up = corrected_labels(corrections, ingested)
        return evidence, audited, choice, evidence_of_corrections(ingested, settings, choice, looked_up)

    return Analysis(key, ingested, settings, *once(("analysis", *key), build))


def audit_of(found: Analysis) -> Audit:
    settings = found.settings
    key = ("audit", *found.key, settings.measure_on, settings.bins, settings.tolerance)
    return once(
        key,
        partial(
            audit,
            found.measured,
            bins=settings.bins,
            tolerance=settings.tolerance,
            min_mass=smallest_share(settings, found.measured.n),
        ),
    )


def headline_scores(found: Analysis) -> dict[str, metrics.Estimate]:
    """Brier, log loss and AUC of the score as it is."""
    measured = found.measured
    return once(
        ("headline", *found.key, found.settings.measure_on),
        lambda: {
            "Brier": metrics.brier(measured),
            "log loss": metrics.log_loss(measured),
            "AUC": metrics.auc(measured),
        },
    )


def gate_of(found: Analysis) -> GatedLWCal | None:
    """Gated-LWCal fitted on the recorded labels; None where rows carry no label."""
    if found.evidence.label is None:
        return None
    return once(("gate", *found.key), lambda: GatedLWCal().fit(found.evidence))


def harm_of(found: Analysis, name: str) -> Harm:
    bins = found.settings.bins
    return once(
        ("harm", *found.key, bins, name), lambda: harm_check(REGISTRY[name](), found.evidence, bins=bins)
    )


def folds_of(found: Analysis, keep_rows: bool = False) -> Folds:
    return once(("folds", *found.key, keep_rows), lambda: Folds.of(found.calibration, keep_rows=keep_rows))


def cross_fit_of(found: Analysis, name: str) -> CrossFit:
    """A calibrator's maps. Raises DoesNotExist where it cannot be fitted on this evidence."""
    method = REGISTRY[name]
    return once(
        ("cross-fit", *found.key, name), lambda: cross_fit(method(), folds_of(found, method.needs_groups))
    )


def predicted_by(found: Analysis, name: str) -> Evidence:
    """The measured evidence at a calibrator's out-of-fold predictions."""
    if name == "Identity":
        return found.measured
    return once(("predicted", *found.key, found.settings.measure_on, name), partial(_predicted, found, name))


def _predicted(found: Analysis, name: str) -> Evidence:
    fit, split = cross_fit_of(found, name), folds_of(found, REGISTRY[name].needs_groups)
    return found.measured.with_score(predict_elsewhere(fit, split, found.measured))


def reliability_of(found: Analysis, name: str, bins: int, strategy: str, group: int | None) -> Reliability:
    key = ("reliability", *found.key, found.settings.measure_on, name, bins, strategy, group)

    def compute() -> Reliability:
        evidence = predicted_by(found, name)
        if group is not None:
            mask = found.measured.membership.mask(group)  # type: ignore[union-attr]
            evidence = evidence.take(mask)
        return metrics.reliability(evidence, bins, strategy)

    return once(key, compute)


def error_of(found: Analysis, name: str, bins: int, strategy: str) -> metrics.CalibrationError:
    key = ("error", *found.key, found.settings.measure_on, name, bins, strategy)
    return once(key, lambda: metrics.ece(predicted_by(found, name).without_groups(), bins, strategy))


def pool_in_use(found: Analysis) -> bool:
    """Do sizes of subgroups come from a sample of the population? It must have every subgroup column."""
    pool = get_state().pool
    if pool is None or found.measured is not found.evidence or not found.choice.subgroups:
        return False
    columns = {name for group in found.choice.subgroups for name in group.columns}
    return found.evidence.model.corrected and columns <= set(pool.table.columns)


def maxima_of(found: Analysis) -> dict[str, metrics.CalibrationError]:
    """maxECE and MC of the score; masses of subgroups are those of the pool, where one was given."""
    settings, pool = found.settings, get_state().pool
    key = ("maxima", *found.key, settings.measure_on, settings.bins, pool and pool.report.sha256)
    member = None
    if pool_in_use(found):
        assert pool is not None
        member = Membership.of_subgroups(found.choice.subgroups, pool.table)
    return once(
        key,
        lambda: {
            "maxECE": metrics.max_ece(
                found.measured, settings.bins, smallest_share(settings, found.measured.n), pool=member
            ),
            "MC": metrics.multicalibration_error(found.measured, settings.bins),
        },
    )


def corrected_cells(found: Analysis, name: str) -> metrics.Cells:
    """The cells of the measured evidence at a calibrator's out-of-fold predictions."""
    bins = found.settings.bins
    key = ("cells", *found.key, found.settings.measure_on, bins, name)
    return once(key, lambda: metrics.cells(predicted_by(found, name), bins))


def rows_of_cell(found: Analysis, group: int, bin_position: int, most: int = 500) -> np.ndarray:
    """Positions in the table of the rows of one cell, the first ``most``."""
    evidence = found.measured
    inside = metrics.Bins.equal_width(found.settings.bins).index(evidence.score) == bin_position
    if group > 0 and evidence.membership is not None:
        inside &= evidence.membership.mask(group - 1)
    places = np.flatnonzero(inside)[:most]
    return places if evidence.row is None else evidence.row[places]


def worst_groups(found: Analysis, most: int = 3) -> tuple[GroupFinding, ...]:
    """The worst subgroups, without intersections of one that is named already."""
    return audit_of(found).worst_groups(found.choice.subgroups, most)


#: How far a stated parameter is moved to show what depends on it: 5 points.
MOVED_BY = 0.05


def sensitivity_of(found: Analysis) -> tuple[tuple[Band, Band], ...]:
    """For each stated parameter of the labels: the ECE and the event rate with it moved by up to 5 points."""
    measured, bins = found.measured.without_groups(), found.settings.bins

    def compute() -> tuple[tuple[Band, Band], ...]:
        return tuple(
            (
                band(measured, lambda e: metrics.ece(e, bins), name, MOVED_BY, points=5),
                band(measured, lambda e: e.base_rate, name, MOVED_BY, points=5),
            )
            for name in movable(measured.model)
            if name != "r_min"
        )

    return once(("sensitivity", *found.key, found.settings.measure_on, bins), compute)
