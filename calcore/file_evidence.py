"""A file under the meaning of its labels: evidence to measure on and to fit on, and rows that may be drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from calcore import ingest
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.ingest import Ingested
from calcore.meanings import PAIRED, check_columns, observation_model
from calcore.observation import Clean, Noisy, ObservationModel
from calcore.observation.forward_model import corrected_evidence
from calcore.observation.pair_columns import stack_pairs
from calcore.settings import Settings
from calcore.subgroups import SubgroupChoice, make_subgroups


def evidence_of(
    ingested: Ingested, settings: Settings, smallest: float, checked: np.ndarray | None = None
) -> tuple[Evidence, Evidence | None, SubgroupChoice]:
    """Evidence of the file under its meaning, of its clean audit labels (None where they are no random sample),
    and its subgroups above the share ``smallest``. Raises InputError where they do not fit.

    ``checked`` (n,): 0, 1 or NaN of a random sample that was checked; it takes the place of the audit column.
    """
    check_columns(ingested, settings)
    columns = ingested.columns
    groups = columns.groups
    choice = SubgroupChoice((), 0, 0)
    if len(groups.columns):
        choice = make_subgroups(groups, list(groups.columns), min_mass=smallest)
    shared = _shared(ingested, settings, choice)
    model = observation_model(settings)
    if settings.second_score is not None and settings.labels in PAIRED:
        evidence = _of_pairs(ingested, settings, model, shared)
    else:
        evidence = model.evidence(
            columns.score,
            columns.label if model.has_row_labels else None,
            source=_source(columns, settings, model),
            confidence=columns.confidence,
            **shared,
        )
    audited = None
    clean = checked if checked is not None else columns.audit if settings.audit_random else None
    if clean is not None and not np.isnan(clean).all():
        audited = Clean().evidence(columns.score, clean, **shared)
    return evidence, audited, choice


def evidence_of_corrections(
    ingested: Ingested, settings: Settings, choice: SubgroupChoice, checked: np.ndarray
) -> Evidence:
    """Evidence for fitting calibrators on partly ``checked`` labels (n,), NaN elsewhere; never to be measured on.

    Flip rates describe the recorded labels. Rows that were picked because they looked wrong are flipped less often
    after their correction and the others as before, so no rates are applied to these labels.
    """
    columns, model = ingested.columns, observation_model(settings)
    assert columns.label is not None
    shared = _shared(ingested, settings, choice)
    if isinstance(model, Noisy):
        return corrected_evidence(Noisy(), columns.score, columns.label, checked, **shared)
    return model.evidence(columns.score, np.where(np.isnan(checked), columns.label, checked), **shared)


def evidence_of_no_rows(ingested: Ingested, settings: Settings) -> Evidence:
    """Evidence without a row, of a file whose labels have not come yet."""
    one = observation_model(settings).evidence(ingested.columns.score[:1], np.zeros(1))
    nobody = np.zeros(0, dtype=np.int64)
    return replace(one.take(nobody), row=nobody)


def population_rows(ingested: Ingested, settings: Settings) -> np.ndarray | None:
    """Positions of the rows that are a sample of the population, from which an audit sample can be drawn.

    None where the labels are the outcomes already, or no rows of the file are such a sample: known positives, pairs,
    and groups of known shares are not.
    """
    if settings.labels in ("noisy", "posterior"):
        return np.arange(len(ingested.columns.score))
    if settings.labels not in ("pu", "su", "du") or settings.second_score is not None:
        return None
    model = observation_model(settings)
    source = _source(ingested.columns, settings, model)
    return np.flatnonzero(source == "unlabelled")


def _shared(ingested: Ingested, settings: Settings, choice: SubgroupChoice) -> dict[str, Any]:
    """What all evidence of a file has in common."""
    columns, report = ingested.columns, ingested.report
    return {
        "unit": columns.unit,
        "weight": columns.weight,
        "groups": choice.membership,
        "time": columns.time,
        "weighting": settings.weighting,
        "clipped": report.clipped,
        "dropped": report.rows_read - report.rows_kept,
    }


def _of_pairs(
    ingested: Ingested, settings: Settings, model: ObservationModel, shared: dict[str, Any]
) -> Evidence:
    """Evidence of a file in which each row holds a pair: both members as rows of their own, the pair as unit."""
    columns = ingested.columns
    cells = ingested.table[settings.second_score]
    other = pd.to_numeric(cells, errors="coerce")
    text = cells.astype("str").str.strip()
    wrong = int((other.isna() & cells.notna() & ~text.isin(["", ingest.MISSING])).sum())
    if wrong:
        raise InputError(
            f"{wrong:,} cells of the second score {settings.second_score!r} are not numbers: repair or empty them"
        )
    pairs = stack_pairs(columns.score, other)

    def both(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[pairs.row]

    groups = shared["groups"]
    if settings.labels == "pcomp":
        source: np.ndarray | None = np.where(pairs.second, "inferior", "superior")
    else:
        source = both(_source(columns, settings, model))
    made = model.evidence(
        pairs.score,
        source=source,
        confidence=both(columns.confidence),
        **{
            **shared,
            "unit": pairs.row,
            "weight": both(columns.weight),
            "time": both(columns.time),
            "groups": None if groups is None else groups.take(pairs.row),
        },
    )
    # rows of the file, so that a click on a cell finds them
    return replace(made, row=pairs.row if made.row is None else pairs.row[made.row])


def _source(columns: ingest.Columns, settings: Settings, model: ObservationModel) -> np.ndarray | None:
    """The model's own source names, row by row."""
    if len(model.sources) == 1:
        return None
    if columns.source is None:
        # positives from the label, every other row unlabelled (only PU comes here)
        return np.where(columns.label == 1, "positive", "unlabelled")
    meant = dict(zip(settings.source_values or model.sources, model.sources, strict=True))
    if len(meant) < len(model.sources):
        raise InputError("Each source needs a value of its own in the source column")
    values = pd.Series(columns.source).astype("str")
    named = values.map(meant)
    if named.isna().any():
        raise InputError(
            f"The source column holds {values[named.isna()].iloc[0]!r}, which stands for none of "
            f"{', '.join(model.sources)}: say what each value means"
        )
    return named.to_numpy(dtype=object)
