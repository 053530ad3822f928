"""Calls into calcore for this session's file, each made once: results are kept by file, choices and settings.

Every key starts with the SHA-256 of the file's bytes. Results live in the session, so that nobody sees the
data of another session, and go with the file.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from calcore import ingest, metrics
from calcore.audit import Audit, GroupFinding, audit
from calcore.calibrators import REGISTRY, GatedLWCal
from calcore.comparison import Comparison, Progress, compare, with_provenance
from calcore.crossfit import CrossFit, Folds, cross_fit, predict_elsewhere
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.harm import Harm, harm_check
from calcore.ingest import Choices, Ingested
from calcore.maps import (
    CalibrationMap,
    Verification,
    safe_csv,
    scored_csv,
    to_python,
    verify_json,
    verify_python,
)
from calcore.metrics.reliability import Reliability
from calcore.observation import Noisy
from calcore.observation.priors import FlipRates, flip_rates_from_audit
from calcore.samples import digits_with_flipped_labels
from calcore.subgroups import SubgroupChoice
from calcore.suspicious import SuspiciousLabels, suspicious_labels
from dashboard.meanings import check_columns, evidence_of, observation_model
from dashboard.state import AppState, Settings, forget_file, get_state

T = TypeVar("T")
#: Calibrators compared before the user chooses: no harm first, then the field's usual ones.
USUAL = ("Identity", "Platt", "Temperature", "Beta", "Isotonic", "HistogramBinning")
NOISE_AWARE = ("TrimmedIsotonic", "TrimmedBeta", "LWCal", "GatedLWCal")


@st.cache_resource(show_spinner=False)
def freeze_libraries() -> None:
    """Once a process: keep the garbage collector from walking the imported libraries after every rerun."""
    gc.collect()
    gc.freeze()


def _once(key: tuple[Any, ...], compute: Callable[[], T]) -> T:
    state = get_state()
    if key in state.results:
        state.results.move_to_end(key)
        return state.results[key]
    return state.remember(key, compute())


def load(data: bytes, filename: str) -> None:
    """Parse an upload into a fresh state, and guess what its columns mean. Raises InputError, state untouched."""
    _start(data, ingest.parse(data, filename), Choices())


def load_sample() -> None:
    """The sample: random-forest scores on handwritten digits, 30 % of the labels flipped."""
    load(_sample_bytes(), "digits_30_percent_flipped.csv")
    state = get_state()
    state.settings = Settings(labels="noisy", audit_random=True, measure_on="audit")


@st.cache_resource(show_spinner=False)
def _sample_bytes() -> bytes:
    return digits_with_flipped_labels()


def _start(data: bytes, parsed: ingest.Parsed, choices: Choices) -> None:
    ingested = ingest.interpret(parsed, choices)
    forget_file()
    state = get_state()
    if ingested.roles.audit is not None:
        # somebody checked some of the labels: the others are not taken for the outcomes
        state.settings = replace(state.settings, labels="noisy")
    state.filename, state.data = parsed.filename, data
    state.parsed, state.choices, state.ingested = parsed, choices, ingested


def reinterpret(choices: Choices) -> None:
    """Read the parsed file under other choices. Raises InputError, state untouched."""
    state = get_state()
    assert state.parsed is not None
    state.ingested = ingest.interpret(state.parsed, choices)
    state.choices = choices
    state.analysed = False


def reparse(choices: Choices) -> None:
    """Parse the file again under another format. Raises InputError, state untouched."""
    state = get_state()
    assert state.data is not None
    settings, data = state.settings, state.data
    _start(data, ingest.parse(data, state.filename, choices.format), choices)
    get_state().settings = settings


@dataclass(frozen=True, eq=False)
class Analysis:
    """The session's evidence: ``evidence`` that calibrators are fitted on, ``audit`` of clean audit labels
    that form a random sample (else None), and ``measured``, the one of the two that verdicts are about."""

    key: tuple[Any, ...]
    ingested: Ingested
    settings: Settings
    evidence: Evidence
    audit: Evidence | None
    choice: SubgroupChoice

    @property
    def measured(self) -> Evidence:
        return self.audit if self.audit is not None and self.settings.measure_on == "audit" else self.evidence


def check_ready(state: AppState) -> None:
    """Raise InputError with the reason where the file cannot be analysed yet; cheap."""
    assert state.ingested is not None
    check_columns(state.ingested, state.settings)
    observation_model(state.settings)
    _ = state.ingested.columns  # raises where a question about the score is open


def smallest_share(settings: Settings, rows: int) -> float:
    """The smallest share of the rows that makes a subgroup: the user's, and at least 50 rows of a large file."""
    return max(settings.min_mass, min(50 / max(rows, 1), 0.1))


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
    key = (state.ingested.report.sha256, state.choices, identity)
    smallest = smallest_share(settings, state.ingested.report.rows_kept)
    built = _once(("analysis", *key), partial(evidence_of, state.ingested, settings, smallest))
    evidence, audited, choice = built
    return Analysis(key, state.ingested, settings, evidence, audited, choice)


def audit_of(found: Analysis) -> Audit:
    settings = found.settings
    key = ("audit", *found.key, settings.measure_on, settings.bins, settings.tolerance)
    return _once(
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
    return _once(
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
    return _once(("gate", *found.key), lambda: GatedLWCal().fit(found.evidence))


def folds_of(found: Analysis, keep_rows: bool = False) -> Folds:
    return _once(("folds", *found.key, keep_rows), lambda: Folds.of(found.evidence, keep_rows=keep_rows))


def cross_fit_of(found: Analysis, name: str) -> CrossFit:
    """A calibrator's maps. Raises DoesNotExist where it cannot be fitted on this evidence."""
    method = REGISTRY[name]
    return _once(
        ("cross-fit", *found.key, name), lambda: cross_fit(method(), folds_of(found, method.needs_groups))
    )


def predicted_by(found: Analysis, name: str) -> Evidence:
    """The measured evidence at a calibrator's out-of-fold predictions."""
    if name == "Identity":
        return found.measured
    return _once(("predicted", *found.key, found.settings.measure_on, name), partial(_predicted, found, name))


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

    return _once(key, compute)


def error_of(found: Analysis, name: str, bins: int, strategy: str) -> metrics.CalibrationError:
    key = ("error", *found.key, found.settings.measure_on, name, bins, strategy)
    return _once(key, lambda: metrics.ece(predicted_by(found, name).without_groups(), bins, strategy))


def maxima_of(found: Analysis) -> dict[str, metrics.CalibrationError]:
    """maxECE and MC of the score."""
    settings = found.settings
    key = ("maxima", *found.key, settings.measure_on, settings.bins)
    return _once(
        key,
        lambda: {
            "maxECE": metrics.max_ece(
                found.measured, settings.bins, smallest_share(settings, found.measured.n)
            ),
            "MC": metrics.multicalibration_error(found.measured, settings.bins),
        },
    )


def corrected_cells(found: Analysis, name: str) -> metrics.Cells:
    """The cells of the measured evidence at a calibrator's out-of-fold predictions."""
    bins = found.settings.bins
    key = ("cells", *found.key, found.settings.measure_on, bins, name)
    return _once(key, lambda: metrics.cells(predicted_by(found, name), bins))


def rows_of_cell(found: Analysis, group: int, bin_position: int, most: int = 500) -> np.ndarray:
    """Positions in the table of the rows of one cell, the first ``most``."""
    evidence = found.measured
    inside = metrics.Bins.equal_width(found.settings.bins).index(evidence.score) == bin_position
    if group > 0 and evidence.membership is not None:
        inside &= evidence.membership.mask(group - 1)
    places = np.flatnonzero(inside)[:most]
    return places if evidence.row is None else evidence.row[places]


SHOWN_SUSPICIOUS = 500


@dataclass(frozen=True, eq=False)
class Suspicious:
    """Rows whose label contradicts the score, the least trusted first: ``total`` of them, ``table`` the first."""

    total: int
    table: pd.DataFrame


def suspicious_of(found: Analysis, most: int | None = SHOWN_SUSPICIOUS) -> Suspicious:
    """The labels to check first, with their line in the file, loss and weight."""

    def compute() -> Suspicious:
        fitted = gate_of(found)
        assert fitted is not None
        ranked = suspicious_labels(found.evidence, fitted.audit_)
        return Suspicious(len(ranked.position), _with_lines(found, ranked, most))

    return _once(("suspicious", *found.key, most), compute)


def worst_groups(found: Analysis, most: int = 3) -> tuple[GroupFinding, ...]:
    """The worst subgroups, without intersections of one that is named already."""
    groups = audit_of(found).groups
    wrong = {found.choice.subgroups[group.position] for group in groups if group.wrong}
    chosen = []
    for group in groups:
        parts = found.choice.subgroups[group.position].parts
        if not (group.wrong and any(part in wrong for part in parts)):
            chosen.append(group)
    return tuple(chosen[:most])


def audited_flip_rates(ingested: Ingested) -> FlipRates | None:
    """Flip rates counted on the rows that have both a label and a clean one; None where they cannot be."""
    columns = ingested.columns
    if columns.label is None or columns.audit is None:
        return None
    try:
        return flip_rates_from_audit(columns.label, columns.audit)
    except InputError:
        return None


def harm_of(found: Analysis, name: str) -> Harm:
    bins = found.settings.bins
    return _once(
        ("harm", *found.key, bins, name), lambda: harm_check(REGISTRY[name](), found.evidence, bins=bins)
    )


def _with_lines(found: Analysis, ranked: SuspiciousLabels, most: int | None) -> pd.DataFrame:
    position = ranked.position[:most]
    rows = position if found.evidence.row is None else found.evidence.row[position]
    table = pd.DataFrame(
        {
            found.ingested.report.place: found.ingested.columns.line[rows],
            "recorded label": found.evidence.label[position].astype(int),  # type: ignore[index]
            "score": found.evidence.score[position],
            "loss": ranked.loss[:most],
            "weight": ranked.weight[:most],
        }
    )
    roles = found.ingested.roles
    others = [name for name in found.ingested.table.columns if name not in (roles.score, roles.label)]
    rest = found.ingested.table[others].iloc[rows].reset_index(drop=True)
    # a column of the file keeps its name unless it is one of ours
    rest.columns = [f"{name} (file)" if name in table.columns else name for name in others]
    return pd.concat([table, rest], axis=1)


def suspicious_csv(found: Analysis) -> bytes:
    """The whole list as CSV, safe to open in a spreadsheet."""
    return _once(("suspicious-csv", *found.key), lambda: safe_csv(suspicious_of(found, None).table))


def available(found: Analysis) -> tuple[str, ...]:
    """Calibrators that exist for this evidence, in the order in which they are offered."""
    labelled = found.evidence.label is not None
    names = [name for name in (*USUAL, *NOISE_AWARE) if name in REGISTRY]
    names += [name for name in REGISTRY if name not in names]
    return tuple(name for name in names if labelled or not REGISTRY[name].needs_row_labels)


def usual_calibrators(found: Analysis) -> tuple[str, ...]:
    if isinstance(found.evidence.model, Noisy):
        return USUAL + NOISE_AWARE
    return USUAL


def comparison_key(found: Analysis, names: tuple[str, ...], ranked_on: str) -> tuple[Any, ...]:
    return ("comparison", *found.key, found.settings.bins, names, ranked_on)


def comparison_ready(found: Analysis, names: tuple[str, ...], ranked_on: str) -> bool:
    return comparison_key(found, names, ranked_on) in get_state().results


def comparison_of(
    found: Analysis, names: tuple[str, ...], ranked_on: str, progress: Progress | None = None
) -> Comparison:
    key = comparison_key(found, names, ranked_on)
    get_state().latest_comparison = key
    return _once(
        key,
        lambda: compare(
            found.evidence,
            [REGISTRY[name]() for name in names],
            audit=found.audit,
            ranked_on=ranked_on,
            bins=found.settings.bins,
            progress=progress,
        ),
    )


def latest_comparison(found: Analysis) -> Comparison | None:
    """The comparison that was looked at last, if it belongs to this analysis."""
    state = get_state()
    key = state.latest_comparison
    if key is None or key[1 : 1 + len(found.key)] != found.key:
        return None
    return state.results.get(key)


@dataclass(frozen=True)
class Exported:
    """A map ready to leave: JSON and Python text, each read back and compared before it is offered.

    ``python`` is None where a module cannot hold the map, for the reason in ``without_python``.
    """

    map: CalibrationMap
    json: str
    python: str | None
    without_python: str
    checks: tuple[Verification, ...]


def export_of(found: Analysis, compared: Comparison, name: str) -> Exported:
    """The chosen calibrator's map with provenance, and its verified exports."""

    def compute() -> Exported:
        entry = compared.entry(name)
        if entry.map is None:
            raise InputError(f"{entry.title} does not exist here: {entry.missing}")
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        map_ = with_provenance(entry.map, entry, compared.basis, found.ingested.report.sha256, created)
        scores = found.evidence.score
        checks = [verify_json(map_, scores)]
        python, reason = None, ""
        try:
            python = to_python(map_)
        except InputError as error:
            reason = str(error)
        else:
            checks.append(verify_python(map_, scores))
        return Exported(map_, map_.to_json(indent=2), python, reason, tuple(checks))

    return _once(("export", *found.key, compared.ranked_on, name), compute)


def scored_table(found: Analysis, map_: CalibrationMap) -> bytes:
    """The user's rows with the calibrated score, as CSV safe to open in a spreadsheet."""
    columns, table = found.ingested.columns, found.ingested.table
    blank = {ingest.MISSING: ""}
    table = table.assign(
        **{
            name: table[name].cat.rename_categories(blank)
            for name in columns.groups.columns
            if ingest.MISSING in table[name].cat.categories
        }
    )
    return scored_csv(table, map_.predict(columns.score, found.choice.membership))
