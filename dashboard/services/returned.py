"""Lists that leave, are filled in by hand, and come back: a random sample to check, and corrected labels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calcore.audit import RESOLUTION
from calcore.audit_sample import draw, fingerprint, rows_for_average_gap, sample_size, seed_of
from calcore.errors import InputError
from calcore.file_evidence import population_rows
from calcore.ingest import LIST, Ingested, Returned, positions, read_returned
from calcore.ingest.encoding import mark_of
from calcore.ingest.sniff import UNUSED
from calcore.maps import safe_csv
from calcore.meanings import MEANINGS
from dashboard.services.memory import once
from dashboard.state import AppState, Settings, change_settings, get_state

AUDITED, CORRECTED = "audit_label", "corrected_label"
#: The share of a sample that must be filled in for its gaps not to matter.
NEARLY_ALL = 0.95
_SAMPLE, _LABELS = "sample", "labels"


@dataclass(frozen=True)
class SampleList:
    """``size`` rows drawn from ``population`` and their list as ``csv``; ``columns`` of the file that it shows.

    ``for_verdict``: rows at which an average gap of ``gap`` over the score bins would stand out from chance.
    """

    size: int
    population: int
    for_verdict: int
    gap: float
    csv: bytes
    columns: tuple[str, ...]


@dataclass(frozen=True)
class SampleStatus:
    """A checked sample: ``drawn`` rows, ``filled`` of them; ``in_order`` where the first of the draw are filled."""

    filename: str
    drawn: int
    filled: int
    in_order: bool
    positive: tuple[str, ...]
    negative: tuple[str, ...]


@dataclass(frozen=True)
class CorrectionsStatus:
    """Corrections: ``listed`` rows that came back, ``filled`` of them, ``changed`` against the recorded label."""

    filename: str
    listed: int
    filled: int
    changed: int
    positive: tuple[str, ...]
    negative: tuple[str, ...]


def can_draw(state: AppState) -> bool:
    """Are there rows from which an audit sample can be drawn?"""
    assert state.ingested is not None
    rows = population_rows(state.ingested, state.settings)
    return rows is not None and rows.size > 1


def sample_list(state: AppState, precision: float) -> SampleList:
    """The random sample of the file at this precision (0.05: 5 points), the same each time; a smaller one is its start."""
    ingested, settings = state.ingested, state.settings
    assert ingested is not None

    def compute() -> SampleList:
        rows = population_rows(ingested, settings)
        assert rows is not None
        size = sample_size(precision, rows.size)
        drawn = rows[draw(rows.size, size, seed_of(ingested.report.sha256))]
        name = f"{_SAMPLE}-{_frame(ingested, rows)}-{size}"
        report, roles = ingested.report, ingested.roles
        ours = pd.DataFrame({report.place: ingested.columns.line[drawn], LIST: name, AUDITED: ""})
        # whoever checks must see neither what the model says nor what was recorded
        hidden = (roles.score, roles.label, roles.audit, roles.confidence, roles.source)
        table = beside(ours, ingested, drawn, [one for one in hidden if one is not None])
        return SampleList(
            size,
            rows.size,
            rows_for_average_gap(ingested.columns.score[rows], RESOLUTION, settings.bins),
            RESOLUTION,
            list_csv(table, ingested),
            tuple(map(str, table.columns[3:])),
        )

    key = ("sample-list", ingested.report.sha256, state.choices, settings, precision)
    return once(key, compute)


def beside(
    ours: pd.DataFrame, ingested: Ingested, rows: np.ndarray, left_out: Collection[str]
) -> pd.DataFrame:
    """Our columns and those of the file for ``rows``; a column of the file keeps its name unless it is one of ours."""
    others = [name for name in ingested.table.columns if name not in left_out]
    rest = ingested.table[others].iloc[rows].reset_index(drop=True)
    taken = {str(name).casefold() for name in ours.columns}
    rest.columns = pd.Index([free_name(str(name), taken) for name in others])
    return pd.concat([ours, rest], axis=1)


def list_csv(table: pd.DataFrame, ingested: Ingested) -> bytes:
    """A list as text that is laid out like the open file, so that the same program opens it."""
    layout, start = ingested.report.format, (get_state().data or b"")[:4]
    decimal, separator, codec = layout.decimal or ".", layout.separator, layout.encoding or "utf-8"
    if separator is None or separator == UNUSED:
        separator = ";" if decimal == "," else ","
    return safe_csv(table, separator=separator, decimal=decimal, codec=codec, mark=mark_of(start, codec))


def free_name(name: str, taken: set[str]) -> str:
    """``name``, marked as the file's where it is ``taken``, and added there; case and outer spaces tell none apart."""
    while name.strip().casefold() in taken:
        name = f"{name} (file)"
    taken.add(name.strip().casefold())
    return name


def take_sample(data: bytes, filename: str) -> None:
    """Rank and measure on a checked sample from now on. Raises InputError, state untouched."""
    state = get_state()
    ingested = state.ingested
    assert ingested is not None
    mapping = ingested.report.label_mapping or ingested.report.audit_mapping
    returned = read_returned(data, filename, place=ingested.report.place, labels=AUDITED, mapping=mapping)
    if returned.list_name.startswith(f"{_LABELS}-"):
        raise InputError(
            f"{filename} is the list of labels that look wrong: rows picked that way are no random sample. Bring back "
            "the sample that was drawn here."
        )
    if not _is_of(returned, ingested, state.settings):
        raise InputError(
            f"{filename} is no sample of this file as it is read now, but of another file or of other rows of it; "
            "open that file, or draw a sample here."
        )
    checked_labels(returned, ingested, state.settings)
    if not returned.filled:
        raise InputError(
            f'No row of {filename} is filled in: write 1 for a positive and 0 for a negative into "{AUDITED}".'
        )
    state.sample = returned
    change_settings(measure_on="audit")


def take_corrections(data: bytes, filename: str) -> None:
    """Fit calibrators on corrected labels from now on. Raises InputError, state untouched."""
    state = get_state()
    ingested = state.ingested
    assert ingested is not None
    returned = read_returned(
        data,
        filename,
        place=ingested.report.place,
        labels=CORRECTED,
        mapping=ingested.report.label_mapping,
    )
    if returned.list_name != corrections_name(ingested):
        raise InputError(
            f"{filename} is not the list of labels to check of this file; bring back the one that was downloaded here."
        )
    corrected_labels(returned, ingested)
    if not returned.filled:
        raise InputError(
            f'No row of {filename} is filled in: write 1 for a positive and 0 for a negative into "{CORRECTED}".'
        )
    state.corrections = returned


def forget_sample() -> None:
    """As if no sample had been brought back."""
    get_state().sample = None
    change_settings(measure_on="audit" if get_state().settings.audit_random else "labels")


def forget_corrections() -> None:
    """Fit calibrators on the recorded labels again."""
    get_state().corrections = None


def corrections_name(ingested: Ingested) -> str:
    """What the list of labels to check is called: by the file alone, for its rows are found by their lines."""
    return f"{_LABELS}-{fingerprint(ingested.report.sha256, np.empty(0, dtype=np.int64))}"


def lists_in_use(state: AppState) -> tuple[Returned | None, Returned | None]:
    """The sample and the corrections, each None where it does not fit the file as it is read now."""
    ingested = state.ingested
    assert ingested is not None
    sample, corrections = state.sample, state.corrections
    if sample is not None and not _fits(sample, state, ingested):
        sample = None
    if corrections is not None and not (
        corrections.mapping == ingested.report.label_mapping
        and MEANINGS[state.settings.labels].model.has_row_labels
        and ingested.columns.label is not None
        and np.isin(corrections.line, ingested.columns.line[~np.isnan(ingested.columns.label)]).all()
    ):
        corrections = None
    return sample, corrections


def _fits(sample: Returned, state: AppState, ingested: Ingested) -> bool:
    if sample.mapping != (ingested.report.label_mapping or ingested.report.audit_mapping):
        return False
    key = ("sample-fits", sample.sha256, ingested.report.sha256, state.choices, state.settings)
    return once(key, lambda: _is_of(sample, ingested, state.settings))


def checked_labels(sample: Returned, ingested: Ingested, settings: Settings) -> np.ndarray:
    """The checked labels of a sample on the rows of the file, (n,), NaN elsewhere."""
    labels = np.full(len(ingested.columns.score), np.nan)
    drawn = _drawn(sample, ingested, settings)
    place = positions(
        sample, ingested.columns.line[drawn], "in the sample that was drawn", ingested.report.place
    )
    labels[drawn[place]] = sample.label
    return labels


def sample_status(sample: Returned, ingested: Ingested, settings: Settings) -> SampleStatus:
    drawn = _drawn(sample, ingested, settings)
    filled = np.isfinite(checked_labels(sample, ingested, settings)[drawn])
    in_order = bool(filled[: int(filled.sum())].all())
    return SampleStatus(
        sample.filename, drawn.size, int(filled.sum()), in_order, sample.positive, sample.negative
    )


def sample_is_complete(ingested: Ingested, settings: Settings) -> bool:
    """Is (nearly) every row of the checked sample filled in, or the first of the draw without a gap?

    True without a sample.
    """
    sample = lists_in_use(get_state())[0]
    if sample is None:
        return True
    status = sample_status(sample, ingested, settings)
    return status.in_order or status.filled >= NEARLY_ALL * status.drawn


def corrected_labels(corrections: Returned, ingested: Ingested) -> np.ndarray:
    """The labels that were looked up, on the rows of the file, (n,); NaN elsewhere."""
    recorded = ingested.columns.label
    if recorded is None:
        raise InputError("No label column is chosen: there is nothing to correct.")
    labelled = np.flatnonzero(~np.isnan(recorded))
    lines = ingested.columns.line[labelled]
    place = labelled[positions(corrections, lines, "labelled in this file", ingested.report.place)]
    labels = np.full(recorded.size, np.nan)
    labels[place] = corrections.label
    return labels


def corrections_status(corrections: Returned, ingested: Ingested) -> CorrectionsStatus:
    recorded, labels = ingested.columns.label, corrected_labels(corrections, ingested)
    changed = int(((labels != recorded) & np.isfinite(labels)).sum())
    return CorrectionsStatus(
        corrections.filename,
        corrections.line.size,
        corrections.filled,
        changed,
        corrections.positive,
        corrections.negative,
    )


def _frame(ingested: Ingested, rows: np.ndarray) -> str:
    return fingerprint(ingested.report.sha256, ingested.columns.line[rows])


def _size(returned: Returned) -> int:
    """The rows that the list's name says were drawn; 0 where it says none."""
    last = returned.list_name.rsplit("-", 1)[-1]
    return int(last) if last.isascii() and last.isdigit() and len(last) < 12 else 0


def _is_of(sample: Returned, ingested: Ingested, settings: Settings) -> bool:
    """Was the sample drawn from the rows that would be drawn from now?"""
    rows = _rows(ingested, settings)
    size = _size(sample)
    return 0 < size <= rows.size and sample.list_name == f"{_SAMPLE}-{_frame(ingested, rows)}-{size}"


def _rows(ingested: Ingested, settings: Settings) -> np.ndarray:
    """Rows to draw from; labels that are called outcomes later do not undo a sample that was checked before."""
    try:
        rows = population_rows(ingested, settings)
    except InputError:
        return np.empty(0, dtype=np.int64)
    if settings.labels == "clean":
        return np.arange(len(ingested.columns.score))
    return np.empty(0, dtype=np.int64) if rows is None else rows


def _drawn(sample: Returned, ingested: Ingested, settings: Settings) -> np.ndarray:
    rows = _rows(ingested, settings)
    return rows[draw(rows.size, _size(sample), seed_of(ingested.report.sha256))]
