"""What labels can mean, in plain words, and what each answer needs of a file. Knows no Streamlit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calcore.errors import InputError
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
from calcore.settings import Settings
from calcore.validation import HALF


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
    if settings.labels == "pu" and columns.label is not None and bool((columns.label == HALF).any()):
        raise InputError(
            "A tie cannot be half a known positive: leave ties out, or count them as positive or negative"
        )


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
