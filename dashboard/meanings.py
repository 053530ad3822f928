"""What labels can mean, in plain words, and how each answer turns a file into evidence. Knows no Streamlit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from calcore import ingest
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.ingest import Ingested
from calcore.observation import (
    DU,
    PU,
    SD,
    SU,
    UU,
    Clean,
    Noisy,
    ObservationModel,
    Pcomp,
    Pconf,
    PosteriorConfidence,
    Sconf,
)
from calcore.observation.pair_columns import stack_pairs
from calcore.subgroups import SubgroupChoice, make_subgroups
from dashboard.state import Settings


@dataclass(frozen=True)
class Meaning:
    """One answer to "what do your labels mean?": its words, an example file, and what it needs.

    ``parameters`` are fields of Settings; ``columns`` are roles; ``source`` says what the source column tells.
    """

    model: type[ObservationModel]
    answer: str
    explained: str
    example: str
    parameters: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("label",)


MEANINGS: dict[str, Meaning] = {
    "clean": Meaning(
        Clean,
        "They are the outcomes",
        "Each label is what really happened.",
        "score,label\n0.91,1\n0.08,0",
    ),
    "noisy": Meaning(
        Noisy,
        "They are outcomes, some recorded wrong",
        "Weak annotators, historical decisions, rules: some labels are flipped, and nobody knows which.",
        "score,label\n0.91,1\n0.85,0",
        ("rho0", "rho1"),
    ),
    "pu": Meaning(
        PU,
        "Known positives, and rows nobody has checked",
        "A label of 1 is a confirmed positive, drawn at random from all positives; every other row is unchecked.",
        "score,label\n0.91,1\n0.40,",
        ("prior",),
        (),
    ),
    "uu": Meaning(
        UU,
        "Two groups with known shares of positives",
        "Nobody knows a single label, but how many of each group are positive (two regions, before and after).",
        "score,source\n0.91,first\n0.40,second",
        ("prior", "theta1", "theta2"),
        ("source",),
    ),
    "posterior": Meaning(
        PosteriorConfidence,
        "A probability instead of a label",
        "An expert, or a panel of them, says how likely each case is positive.",
        "score,confidence\n0.91,0.8\n0.08,0.1",
        (),
        ("confidence",),
    ),
    "pconf": Meaning(
        Pconf,
        "Positives only, each with a confidence",
        "Only positives are collected, with the probability that a case like it is positive.",
        "score,confidence\n0.91,0.9\n0.60,0.5",
        ("prior", "r_min"),
        ("confidence",),
    ),
    "su": Meaning(
        SU,
        "Pairs known to be alike, and unlabelled rows",
        "Of a pair it is known that both cases have the same outcome, not which.",
        "score,source,pair\n0.91,similar,1\n0.85,similar,1\n0.30,unlabelled,2",
        ("prior",),
        ("source", "unit"),
    ),
    "du": Meaning(
        DU,
        "Pairs known to differ, and unlabelled rows",
        "Of a pair it is known that one case is positive and one negative, not which.",
        "score,source,pair\n0.91,dissimilar,1\n0.15,dissimilar,1\n0.30,unlabelled,2",
        ("prior",),
        ("source", "unit"),
    ),
    "sd": Meaning(
        SD,
        "Pairs that are alike, and pairs that differ",
        "Each pair says only whether both cases have the same outcome.",
        "score,source,pair\n0.91,similar,1\n0.85,similar,1\n0.91,dissimilar,2\n0.15,dissimilar,2",
        ("prior",),
        ("source", "unit"),
    ),
    "pcomp": Meaning(
        Pcomp,
        "Pairs in which one case ranks above the other",
        "Of a pair it is known which case is at least as likely positive.",
        "score,source,pair\n0.91,superior,1\n0.35,inferior,1",
        ("prior",),
        ("source",),
    ),
    "sconf": Meaning(
        Sconf,
        "Pairs with a probability of being alike",
        "Both rows of a pair carry the probability that their outcomes are the same.",
        "score,confidence,pair\n0.91,0.7,1\n0.85,0.7,1",
        ("prior",),
        ("confidence", "unit"),
    ),
}
#: Kinds whose rows may also hold a whole pair, in two score columns.
PAIRED = ("su", "du", "sd", "pcomp", "sconf")
ROLE_WORDS = {"label": "label", "source": "source", "confidence": "confidence", "unit": "unit (pair)"}
PARAMETER_WORDS = {
    "prior": "the class prior: the share of all rows that are positive",
    "theta1": "the share of positives in the first group",
    "theta2": "the share of positives in the second group",
}


def observation_model(settings: Settings) -> ObservationModel:
    """The model that the user described. Raises InputError where a number is missing or impossible."""
    meaning = MEANINGS[settings.labels]
    values = {name: getattr(settings, name) for name in meaning.parameters}
    for name, words in PARAMETER_WORDS.items():
        if name in values and values[name] is None:
            raise InputError(f'"{meaning.answer}" needs {words}')
    if settings.labels == "noisy":
        values["origin"] = settings.rates_origin
    return meaning.model(**values)


def check_columns(ingested: Ingested, settings: Settings) -> None:
    """Raise InputError with the reason where a role that the meaning needs has no column; cheap."""
    roles = ingested.roles
    if roles.score is None:
        raise InputError("No score column is chosen: say which column holds the classifier's score")
    for role in MEANINGS[settings.labels].columns:
        if settings.second_score is not None and (role == "unit" or settings.labels == "pcomp"):
            continue  # the two columns say which rows are a pair, and which member is which
        if getattr(roles, role) is None:
            raise InputError(f"No {ROLE_WORDS[role]} column is chosen, and these labels need one")
    columns = ingested.columns
    model = MEANINGS[settings.labels].model
    told_by_columns = settings.second_score is not None and settings.labels == "pcomp"
    needs_source = "source" in MEANINGS[settings.labels].columns and not told_by_columns
    if needs_source and len(set(settings.source_values)) < len(model.sources):
        raise InputError(f"Say which value of the source column means {' and which '.join(model.sources)}")
    if "confidence" in MEANINGS[settings.labels].columns and columns.confidence is not None:
        blank = int(np.isnan(columns.confidence).sum())
        if blank:
            raise InputError(
                f"{blank:,} rows have no confidence: fill them in the file, or remove those rows"
            )
    if settings.labels == "pu" and roles.label is None and roles.source is None:
        raise InputError("Known positives need a label column (1 = known positive) or a source column")


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


def corrected_evidence(
    ingested: Ingested, settings: Settings, choice: SubgroupChoice, labels: np.ndarray
) -> Evidence:
    """Evidence for fitting calibrators on partly corrected ``labels`` (n,); never to be measured on.

    Flip rates describe the recorded labels. Rows that were picked because they looked wrong are flipped less often
    after their correction and the others as before, so no rates are applied to these labels.
    """
    model = observation_model(settings)
    if isinstance(model, Noisy):
        model = Noisy()
    return model.evidence(ingested.columns.score, labels, **_shared(ingested, settings, choice))


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


def source_values(ingested: Ingested) -> list[str]:
    """The distinct texts of the source column, in the order of their first row, at most 50."""
    source = ingested.columns.source
    return [] if source is None else [str(value) for value in pd.unique(pd.Series(source))[:50]]


def guessed_sources(ingested: Ingested, model: type[ObservationModel]) -> tuple[str, ...]:
    """For each source of the model the file's value that is named like it; none where one is not."""
    values = source_values(ingested)
    by_name = {value.strip().casefold(): value for value in values}
    named = tuple(by_name.get(name, "") for name in model.sources)
    # which value is which is never guessed from the order of rows: it would turn every result round
    return named if all(named) else ()


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
