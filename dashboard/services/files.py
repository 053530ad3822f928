"""Reading: an upload or the sample into a fresh session, and what is known of it before an analysis."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import streamlit as st

from calcore import ingest
from calcore.errors import InputError
from calcore.ingest import Choices, Ingested, Roles, ScoreColumns
from calcore.meanings import check_columns, observation_model
from calcore.observation.priors import (
    FlipRates,
    RateEstimate,
    flip_rates_from_audit,
    flip_rates_from_confident_joint,
    flip_rates_from_extremes,
    flip_rates_from_forward_platt,
    prior_from_best_bin,
    prior_from_elkan_noto,
)
from calcore.samples import digits_with_flipped_labels
from dashboard.services.late_labels import joined_again
from dashboard.services.memory import once
from dashboard.services.returned import checked_labels, lists_in_use
from dashboard.state import AppState, Settings, forget_file, get_state


@st.cache_resource(show_spinner=False)
def freeze_libraries() -> None:
    """Once a process: keep the garbage collector from walking the imported libraries after every rerun."""
    gc.collect()
    gc.freeze()


def load(data: bytes, filename: str) -> None:
    """Parse an upload into a fresh state, and guess what its columns mean. Raises InputError, state untouched."""
    _start(data, ingest.parse(data, filename), Choices())


def load_sample() -> None:
    """The sample: random-forest scores on handwritten digits, 30 % of the labels flipped."""
    load(sample_bytes(), "digits_30_percent_flipped.csv")
    state = get_state()
    state.settings = Settings(labels="noisy", audit_random=True, measure_on="audit")


@st.cache_resource(show_spinner=False)
def sample_bytes() -> bytes:
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
    settings, data, lists = state.settings, state.data, (state.sample, state.corrections)
    late, parsed = state.late, ingest.parse(data, state.filename, choices.format)
    if late is not None:
        joined, late = late.joined is not None, joined_again(late, parsed, data)
        if late.joined is not None:
            parsed = late.joined.parsed
        elif joined:  # a role may be played by the column that is gone
            choices = replace(choices, roles=None)
    _start(data, parsed, choices)
    state = get_state()
    state.settings = settings
    state.sample, state.corrections = (
        lists  # of the same file: whether they still fit is looked at where they are used
    )
    state.late = late


def score_columns_of(state: AppState) -> ScoreColumns:
    """Columns of the open file that could be scores beside the one that is."""
    assert state.parsed is not None
    assert state.ingested is not None
    parsed, roles = state.parsed, state.ingested.roles
    return once(("score columns", parsed.sha256, state.choices), lambda: ingest.score_columns(parsed, roles))


def check_ready(state: AppState) -> None:
    """Raise InputError with the reason where the file cannot be analysed yet; cheap."""
    assert state.ingested is not None
    check_columns(state.ingested, state.settings)
    observation_model(state.settings)
    _ = state.ingested.columns  # raises where a question about the score is open


def audited_flip_rates(ingested: Ingested) -> FlipRates | None:
    """Flip rates counted on the rows that have both a label and a clean one; None where they cannot be.

    Clean are the labels of a random sample that was checked, else those of the audit column.
    """
    try:
        columns = ingested.columns
    except InputError:  # a question about the score is open
        return None
    state = get_state()
    sample = lists_in_use(state)[0] if state.ingested is ingested else None
    clean = columns.audit if sample is None else checked_labels(sample, ingested, state.settings)
    if columns.label is None or clean is None:
        return None
    try:
        return flip_rates_from_audit(columns.label, clean)
    except InputError:
        return None


def estimated_flip_rates(ingested: Ingested) -> tuple[FlipRates, ...]:
    """Flip rates from the labels and scores alone, by each method. Raises InputError without labels."""
    columns = ingested.columns
    if columns.label is None:
        raise InputError("No label column is chosen: flip rates are estimated from labels")
    labelled = ~np.isnan(columns.label)
    scores, labels = columns.score[labelled], columns.label[labelled]
    weight = None if columns.weight is None else columns.weight[labelled]
    weighting = get_state().settings.weighting

    def compute() -> tuple[FlipRates, ...]:
        return (
            flip_rates_from_forward_platt(scores, labels, weight, weighting=weighting),
            flip_rates_from_confident_joint(scores, labels),
            flip_rates_from_extremes(scores, labels),
        )

    return once(("flip rates", ingested.report.sha256, get_state().choices, weighting), compute)


def estimated_priors(ingested: Ingested) -> tuple[RateEstimate, ...]:
    """The class prior from known positives (label 1) and the other rows, by each method."""
    columns = ingested.columns
    if columns.label is None:
        raise InputError("No label column is chosen: known positives are rows with a label of 1")
    known = columns.label == 1
    positive, unlabelled = columns.score[known], columns.score[~known]
    key = ("priors", ingested.report.sha256, get_state().choices)
    methods = (prior_from_best_bin, prior_from_elkan_noto)
    return once(key, lambda: tuple(method(positive, unlabelled) for method in methods))


def load_pool(data: bytes, filename: str) -> None:
    """A full sample of the population, with the group columns of the open file. Raises InputError without them."""
    state = get_state()
    assert state.ingested is not None
    groups = state.ingested.roles.groups
    parsed = ingest.parse(data, filename)
    absent = [name for name in groups if name not in parsed.columns]
    if absent or not groups:
        raise InputError(
            f"{filename} needs the subgroup columns of the open file: {', '.join(absent or ['none is chosen'])}"
        )
    state.pool = ingest.interpret(parsed, Choices(roles=Roles(groups=groups)))
