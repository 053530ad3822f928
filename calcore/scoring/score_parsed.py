"""Every row of a file that is open anyway with its calibrated score, written as `score_file` writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import pandas as pd

from calcore.errors import InputError
from calcore.ingest import Choices, Parsed, Refused
from calcore.ingest.readers import Reading, read_groups, read_score
from calcore.ingest.several_scores import as_seen
from calcore.maps import CalibrationMap
from calcore.scoring.rows import open_rows
from calcore.scoring.score_file import BATCH_ROWS, Scored
from calcore.scoring.source import Source
from calcore.scoring.writers import writer_of
from calcore.validation import Floats


def score_parsed(
    map_: CalibrationMap,
    parsed: Parsed,
    data: bytes,
    choices: Choices,
    target: BinaryIO,
    *,
    parquet: bool,
    progress: Callable[[int], None] | None = None,
) -> Scored:
    """Write the file whose bytes are ``data``, read as ``parsed`` under ``choices``, with one more column to ``target``.

    Scores and subgroups are those that the map was fitted on, also where they were derived (the likeliest class, the
    commonest values of a column); rows without a usable label or weight are scored too. ``choices`` names the roles.
    Raises InputError where the score cannot be read.
    """
    calibrated, refused, score = _calibrated(map_, parsed, choices)
    rows = open_rows(Source.of(data, parsed.filename), parsed.format)
    writer, column = writer_of(rows, target, parquet=parquet)
    done = read = 0
    for batch in rows.batches(BATCH_ROWS):
        inside = np.flatnonzero(~batch.misfits)
        scores = np.full(len(batch.misfits), np.nan)
        scores[inside] = calibrated[read : read + inside.size]
        read, done = read + inside.size, done + len(scores)
        writer.write(batch, scores)
        if progress is not None:
            progress(done)
    if read != parsed.rows or done != parsed.rows_read:
        raise InputError(
            f"The rows of {parsed.filename} cannot be told apart for certain ({read:,} of {parsed.rows:,} were found again); "
            "save it again as a plain CSV or as Parquet."
        )
    writer.close()
    scored = int(np.isfinite(calibrated).sum())
    return Scored(done, scored, (*parsed.refused, *refused), score, column, parsed.place)


def _calibrated(
    map_: CalibrationMap, parsed: Parsed, choices: Choices
) -> tuple[Floats, tuple[Refused, ...], str]:
    """Calibrated scores of all rows of the table, NaN where there is none, and why; the column that was read."""
    parsed, choices = as_seen(parsed, choices)
    roles = choices.roles
    if roles is None or roles.score is None:
        raise InputError("No score column is chosen; choose the one that holds the model's probabilities.")
    reading = Reading(parsed, np.ones(parsed.rows, bool))
    # the scale was asked for when the file was read: what is left open are probabilities
    scale = choices.score_scale or "probability"
    score, _ = read_score(reading, parsed.columns[roles.score], replace(choices, score_scale=scale))
    assert score is not None
    groups = None
    if map_.function.needs_groups:
        read_groups(reading, [parsed.columns[name] for name in roles.groups], choices.top_groups)
        groups = pd.DataFrame(reading.groups, index=pd.RangeIndex(parsed.rows), copy=False)
    kept = np.flatnonzero(reading.keep)
    result = np.full(parsed.rows, np.nan)
    result[kept] = map_.predict(score[kept], None if groups is None else groups.iloc[kept])
    return result, tuple(reading.refused), roles.score
