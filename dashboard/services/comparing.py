"""Calibrators side by side, and the map that leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from calcore import metrics, usual_calibrators
from calcore.calibrators import REGISTRY
from calcore.comparison import Comparison, Entry, Progress, compare
from calcore.crossfit import predict_elsewhere
from calcore.errors import InputError
from calcore.maps import (
    CalibrationMap,
    Verification,
    sql_file,
    to_onnx,
    to_python,
    verify_json,
    verify_onnx,
    verify_python,
    verify_sql,
)
from calcore.metrics.reliability import Reliability
from calcore.provenance import with_provenance
from calcore.rivals import compare_scores
from calcore.verdicts import suggested
from dashboard.services.memory import once
from dashboard.services.results import Analysis, folds_of
from dashboard.services.returned import corrections_status, lists_in_use, sample_is_complete
from dashboard.state import get_state


def available(found: Analysis) -> tuple[str, ...]:
    """Calibrators that exist for this evidence, in the order in which they are offered."""
    return usual_calibrators.available(found.evidence)


def usual(found: Analysis) -> tuple[str, ...]:
    return usual_calibrators.usual(found.evidence)


def comparison_key(found: Analysis, names: tuple[str, ...], ranked_on: str) -> tuple[Any, ...]:
    return ("comparison", *found.key, found.settings.measure_on, found.settings.bins, names, ranked_on)


def comparison_ready(found: Analysis, names: tuple[str, ...], ranked_on: str) -> bool:
    return comparison_key(found, names, ranked_on) in get_state().results


def comparison_of(
    found: Analysis, names: tuple[str, ...], ranked_on: str, progress: Progress | None = None
) -> Comparison:
    key = comparison_key(found, names, ranked_on)
    get_state().latest_comparison = key
    return once(
        key,
        lambda: compare(
            found.calibration,
            [REGISTRY[name]() for name in names],
            audit=found.audit if found.settings.measure_on == "audit" else None,
            audit_complete=sample_is_complete(found.ingested, found.settings),
            recorded=None if found.calibration is found.evidence else found.evidence,
            ranked_on=ranked_on,
            bins=found.settings.bins,
            known=_known_entries(found),
            progress=progress,
        ),
    )


def _known_entries(found: Analysis) -> dict[str, Entry]:
    """What earlier comparisons of this analysis fitted, whatever they were measured on or sorted by."""
    earlier = [
        value
        for key, value in get_state().results.items()
        if key[: 1 + len(found.key)] == ("comparison", *found.key) and value.bins == found.settings.bins
    ]
    return {entry.name: entry for result in earlier for entry in result.entries if entry.fit is not None}


def rivals_of(found: Analysis, ranked_on: str) -> Comparison | None:
    """The score against those of rival models, on measured rows that have all of them; None without rivals."""
    rivals = found.ingested.columns.rivals
    measured = found.measured
    if not rivals or found.settings.second_score is not None:
        return None

    def compute() -> Comparison:
        rows = np.arange(len(measured)) if measured.row is None else measured.row
        others = {name: values[rows] for name, values in rivals.items()}
        everywhere = np.logical_and.reduce([np.isfinite(values) for values in others.values()])
        if everywhere.sum() < 2:
            raise InputError("Fewer than two rows have a score of every model: choose other rival columns.")
        part = measured if everywhere.all() else measured.take(everywhere)
        name = found.ingested.roles.score or "score"
        scores = {name: part.score, **{other: values[everywhere] for other, values in others.items()}}
        audited = found.audit is not None and measured is found.audit
        return compare_scores(
            part,
            scores,
            audited=audited,
            audit_complete=sample_is_complete(found.ingested, found.settings),
            ranked_on=ranked_on,
            bins=found.settings.bins,
        )

    key = ("rivals", *found.key, found.settings.measure_on, found.settings.bins, ranked_on)
    return once(key, compute)


def latest_comparison(found: Analysis) -> Comparison | None:
    """The comparison that was looked at last, if it belongs to this analysis."""
    state = get_state()
    key = state.latest_comparison
    same = ("comparison", *found.key, found.settings.measure_on)
    if key is None or key[: len(same)] != same:
        return None
    return state.results.get(key)


def reliability_after(found: Analysis, compared: Comparison, name: str) -> Reliability:
    """The diagram of a calibrator's out-of-fold predictions, by the maps that the comparison fitted."""
    fit = compared.entry(name).fit
    assert fit is not None

    def compute() -> Reliability:
        measured, split = found.measured, folds_of(found, REGISTRY[name].needs_groups)
        predicted = measured.with_score(predict_elsewhere(fit, split, measured))
        return metrics.reliability(predicted.without_groups(), found.settings.bins)

    judged = (found.settings.measure_on, found.settings.bins, compared.ranked_on)
    return once(("reliability after", *found.key, *judged, name), compute)


@dataclass(frozen=True)
class ExportedFile:
    """The map in one format, run and compared; without ``data`` where it cannot hold the map, for the ``reason``."""

    format: str
    data: str | bytes | None
    check: Verification | None
    reason: str = ""

    @property
    def usable(self) -> bool:
        return self.check is not None and self.check.ok


@dataclass(frozen=True)
class Exported:
    """A map ready to leave: in every format that can hold it, each run and compared before it is offered."""

    map: CalibrationMap
    json: str
    files: tuple[ExportedFile, ...]

    def file(self, format: str) -> ExportedFile:
        return next(one for one in self.files if one.format == format)


def _file(format: str, write: Callable[[], str | bytes], verify: Callable[[], Verification]) -> ExportedFile:
    try:
        return ExportedFile(format, write(), verify())
    except InputError as error:
        return ExportedFile(format, None, None, str(error))


def export_of(found: Analysis, compared: Comparison, name: str) -> Exported:
    """The chosen calibrator's map with provenance, and its verified exports."""

    def compute() -> Exported:
        entry = compared.entry(name)
        if entry.map is None:
            raise InputError(f"{entry.title} does not exist here: {entry.missing}")
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        map_ = with_provenance(
            entry.map, entry, compared.basis, found.ingested.report.sha256, created, compared.reference
        )
        corrections = lists_in_use(get_state())[1]
        if corrections is not None and found.calibration is not found.evidence:
            changed = corrections_status(corrections, found.ingested).changed
            said = f"fitted after {changed:,} recorded labels were corrected by hand"
            map_ = replace(map_, warnings=(*map_.warnings, said))
        scores = found.evidence.score
        column = found.ingested.roles.score or "score"
        text = map_.to_json(indent=2)
        files = (
            _file("JSON", lambda: text, lambda: verify_json(map_, scores)),
            _file("Python", lambda: to_python(map_), lambda: verify_python(map_, scores)),
            _file("SQL", lambda: sql_file(map_, column), lambda: verify_sql(map_, scores, column)),
            _file("ONNX", lambda: to_onnx(map_), lambda: verify_onnx(map_, scores)),
        )
        return Exported(map_, text, files)

    judged = (found.settings.measure_on, found.settings.bins, compared.ranked_on)
    return once(("export", *found.key, *judged, name), compute)


def exported_map(found: Analysis) -> CalibrationMap | None:
    """The map that was chosen on the Export page, else the one it starts with; None before anything was compared."""
    compared = latest_comparison(found)
    if compared is None:
        return None
    name = get_state().export_choice or suggested(compared)
    try:
        return export_of(found, compared, name).map
    except InputError:  # another comparison, without that calibrator
        return None


def map_file_name(calibrator: str, ending: str) -> str:
    """The name of the file of a map, the same in every format: "platt_calibration.json"; a module can be imported."""
    return f"{calibrator.lower()}_calibration.{ending}"
