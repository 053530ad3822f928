"""Results of batches as JSON documents, and back, without the loss of a bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from calcore.errors import InputError
from calcore.monitoring.betting import SHAPES, STAKES, Growth
from calcore.monitoring.results import METRICS, BatchResult, BinTable, GroupGap, Value

VERSION = 1


def to_document(one: BatchResult) -> dict[str, Any]:
    """A result as plain JSON; numbers that do not exist are null."""
    return {
        "version": VERSION,
        "key": one.key,
        "label": one.label,
        "start": one.start,
        "end": one.end,
        "rows": one.rows,
        "labelled": one.labelled,
        "kind": one.kind,
        "reason": one.reason,
        "parts": one.parts,
        "basis": one.basis,
        "assumptions": list(one.assumptions),
        "values": {
            name: _plain([found.value, found.error, found.low, found.high])
            for name, found in one.values.items()
        },
        "noise": _plain([one.noise_floor, one.noise_limit, one.debiased]),
        "bins": None if one.bins is None else _bins(one.bins),
        "groups": [
            [group.name, group.rows, _plain(_numbers(group)), list(group.parts)] for group in one.groups
        ],
        "growth": _growth(one.growth),
        "shift": _growth(one.shift),
        "tolerance": _plain([one.tolerance])[0],
        "centre": one.centre,
        "reference": list(one.reference),
    }


def from_document(document: Mapping[str, Any]) -> BatchResult:
    """The result that a document holds. Raises InputError for a version that this program does not know, or damage."""
    version = document.get("version")
    if version != VERSION:
        raise InputError(
            f"The history holds a batch of version {version!r}, and this program reads version {VERSION}; update it."
        )
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(
            f"The history of the batch {str(document.get('key'))[:60]!r} is damaged ({type(error).__name__}); "
            "delete the stream and measure it again."
        ) from None


def _read(document: Mapping[str, Any]) -> BatchResult:
    floor, limit, debiased = _floats(document["noise"])
    return BatchResult(
        key=str(document["key"]),
        label=str(document["label"]),
        start=_text(document["start"]),
        end=_text(document["end"]),
        rows=int(document["rows"]),
        labelled=int(document["labelled"]),
        kind=str(document["kind"]),
        reason=str(document["reason"]),
        parts=int(document["parts"]),
        basis=str(document["basis"]),
        assumptions=_texts(document["assumptions"]),
        values={
            name: Value(*_floats(found)) for name, found in document["values"].items() if name in METRICS
        },
        noise_floor=floor,
        noise_limit=limit,
        debiased=debiased,
        bins=_table(document["bins"]),
        groups=tuple(_group(*group) for group in document["groups"]),
        growth=_grown(document["growth"]),
        shift=_grown(document["shift"]),
        tolerance=_floats([document["tolerance"]])[0],
        centre=int(document["centre"]),
        reference=_texts(document["reference"]),
    )


def _table(found: Mapping[str, Any] | None) -> BinTable | None:
    if found is None:
        return None
    moment, mass, score, error = (
        np.array(_floats(found[name])) for name in ("moment", "mass", "mean_score", "error")
    )
    rows = np.array(found["rows"], dtype=np.int64)
    if not len(moment) == len(mass) == len(score) == len(error) == len(rows):
        raise ValueError("columns of different lengths")
    return BinTable(moment, mass, score, error, rows)


def _group(name: Any, rows: Any, numbers: Any, parts: Any) -> GroupGap:
    mass, gap, error, tilt, tilt_error = _floats(numbers)
    return GroupGap(str(name), int(rows), mass, gap, error, tilt, tilt_error, _texts(parts))


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _numbers(group: GroupGap) -> list[float]:
    return [group.mass, group.gap, group.error, group.tilt, group.tilt_error]


def _plain(values: Any) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _floats(values: Any) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _bins(table: BinTable) -> dict[str, Any]:
    return {
        "moment": _plain(table.moment),
        "mass": _plain(table.mass),
        "mean_score": _plain(table.mean_score),
        "error": _plain(table.error),
        "rows": [int(rows) for rows in table.rows],
    }


def _growth(one: Growth | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "whole": [_plain(row) for row in one.whole],
        "names": list(one.names),
        "shapes": one.groups.shape[1],
        "groups": [[_plain(row) for row in group] for group in one.groups],
    }


def _grown(found: Mapping[str, Any] | None) -> Growth | None:
    if found is None:
        return None
    whole = np.array(found["whole"], dtype=np.float64)
    names = tuple(str(name) for name in found["names"])
    # where there are no subgroups the number of shapes cannot be read off
    groups = np.array(found["groups"], dtype=np.float64).reshape(
        len(names), int(found["shapes"]), len(STAKES)
    )
    if (
        whole.shape[1] != len(STAKES)
        or len(whole) < len(SHAPES)
        or groups.shape[1] not in (0, 2, len(SHAPES))
        or not (np.isfinite(whole).all() and np.isfinite(groups).all())
    ):
        raise ValueError("bets of another shape, or none")
    return Growth(whole, groups, names)
