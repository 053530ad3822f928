"""The same rows with a calibration map applied to their scores from some moment on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.ingest import Ingested
from calcore.maps import CalibrationMap
from calcore.monitoring.results import BatchResult
from calcore.monitoring.watch import Plan, measure_batches
from calcore.validation import Floats


def mapped_scores(
    map_: CalibrationMap, ingested: Ingested, since: NDArray[Any] | np.datetime64 | None
) -> Floats:
    """Scores (n,) with ``map_`` applied to rows at or after ``since`` (all of them: None; rows without a time: never).

    Raises InputError where the map needs subgroup columns that the file lacks.
    """
    columns = ingested.columns
    new = map_.predict(columns.score, ingested.table if map_.function.needs_groups else None)
    if since is None:
        return new
    if columns.time is None:
        raise InputError(
            "A map from a date on needs a time column, and none is chosen; choose one on the Data page."
        )
    return np.where(columns.time >= since, new, columns.score)


def batches_at_map(
    ingested: Ingested,
    plan: Plan,
    measured: Evidence,
    map_: CalibrationMap,
    since: np.datetime64 | None,
    *,
    basis: str | None = None,
) -> tuple[tuple[BatchResult, ...], Plan, int]:
    """As ``batches_of_file``, at the mapped scores."""
    columns, name = ingested.columns, plan.batching.column
    score = mapped_scores(map_, ingested, since)
    rows = slice(None) if measured.row is None else measured.row
    return measure_batches(
        plan,
        score,
        measured.with_score(score[rows]),
        time=columns.time,
        column=ingested.table[name] if plan.batching.by == "column" else None,
        weight=columns.weight,
        unlabelled=columns.left_out,
        basis=basis,
        prefix=f"{ingested.report.sha256[:12]}:",
    )
