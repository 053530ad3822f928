"""One batch measured on its labels: every metric of it with its error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calcore import metrics
from calcore.errors import InputError
from calcore.evidence import Evidence, collapsed_if_large
from calcore.metrics.uncertainty import Z, variance_of_sum
from calcore.monitoring.batches import Batch
from calcore.monitoring.betting import Allowed, growth, shapes
from calcore.monitoring.reference import Reference
from calcore.monitoring.results import BatchResult, BinTable, GroupGap, Value
from calcore.observation.labelled import Labelled
from calcore.validation import Floats


def measure(
    batch: Batch,
    evidence: Evidence,
    *,
    bins: int,
    tolerance: float,
    centre: int,
    reference: Reference | None = None,
    basis: str | None = None,
) -> BatchResult:
    """Measure ``batch`` on ``evidence``, that of its rows alone; bets are on ``reference`` too, where it is given.

    Raises InputError where the batch cannot be measured.
    """
    evidence = _without_single_units(evidence)
    if evidence.membership is not None:
        evidence = replace(evidence, membership=evidence.membership.compact())
    whole, _ = collapsed_if_large(evidence.without_groups())
    error = metrics.ece(whole, bins)
    if not np.isfinite(error.value):
        raise InputError("; ".join(error.notes))
    by_bin, by_group = metrics.cells(evidence, bins), metrics.cells(evidence, 1)
    scores = {"Brier": metrics.brier(whole), "log loss": metrics.log_loss(whole), "AUC": metrics.auc(whole)}
    mass = float(whole.mass.sum())
    gap, spread = float(by_group.moment[0, 0]) / mass, float(by_group.error[0, 0]) / mass
    values = {
        "ECE": _value(error),
        "gap": _wald(gap, spread),
        "event rate": _event_rate(whole),
        "mean score": _mean_score(whole, mass),
        **{name: _value(found) for name, found in scores.items()},
    }
    table = BinTable(
        by_bin.moment[0],
        by_bin.mass[0],
        by_bin.mean_score[0],
        by_bin.error[0],
        by_bin.rows[0].astype(np.int64),
    )
    return BatchResult(
        key=batch.key,
        label=batch.label,
        start=iso(batch.start),
        end=iso(batch.end),
        rows=len(batch),
        labelled=evidence.n,
        kind="measured",
        parts=batch.parts,
        basis=evidence.model.basis if basis is None else basis,
        assumptions=evidence.model.assumptions,
        values=values,
        noise_floor=error.noise_floor,
        noise_limit=error.noise_limit,
        debiased=error.debiased,
        bins=table,
        groups=_groups(by_group, by_bin, shapes(bins, centre)[2], evidence),
        growth=growth(evidence, Allowed.around_zero(tolerance, bins), centre),
        shift=None if reference is None else growth(evidence, reference.allowed(tolerance), centre),
        tolerance=tolerance,
        centre=centre,
        reference=() if reference is None else reference.keys,
    )


def _without_single_units(evidence: Evidence) -> Evidence:
    """Labelled rows of which none belongs with another are draws of their own: the same errors, many times faster."""
    unit = evidence.unit
    if unit is None or not isinstance(evidence.model, Labelled) or np.unique(unit).size < len(unit):
        return evidence
    return replace(evidence, unit=None)


def unmeasured(batch: Batch, labelled: int, kind: str, reason: str) -> BatchResult:
    """A batch on which nothing is measured, with the reason."""
    return BatchResult(
        batch.key,
        batch.label,
        iso(batch.start),
        iso(batch.end),
        len(batch),
        labelled,
        kind,
        reason,
        batch.parts,
    )


def iso(moment: np.datetime64 | None) -> str | None:
    """A time as ISO 8601 text to the second, in UTC."""
    return None if moment is None else str(moment.astype("datetime64[s]"))


def _value(found: metrics.Estimate) -> Value:
    low, high = (float("nan"), float("nan")) if found.interval is None else found.interval
    error = float("nan") if found.standard_error is None else found.standard_error
    return Value(float(found.value), error, low, high)


def _wald(value: float, error: float) -> Value:
    return Value(value, error, value - Z * error, value + Z * error)


def _event_rate(whole: Evidence) -> Value:
    table = metrics.reliability(whole, 1)
    low, high = float(table.lower[0]), float(table.upper[0])
    return Value(float(table.event_rate[0]), (high - low) / (2 * Z), low, high)


def _mean_score(whole: Evidence, mass: float) -> Value:
    terms = whole.mass * whole.score / mass
    return _wald(float(terms.sum()), float(np.sqrt(variance_of_sum(whole, terms))))


def _groups(
    level: metrics.Cells, table: metrics.Cells, signs: Floats, evidence: Evidence
) -> tuple[GroupGap, ...]:
    """The level of each subgroup from one bin over all scores, its tilt from the bins."""
    subgroups = () if evidence.membership is None else evidence.membership.subgroups
    found = []
    for g in range(1, len(level.groups)):
        mass = float(level.mass[g, 0])
        if mass > 0:
            spread = float(np.sqrt(np.nansum(table.error[g] ** 2)))
            found.append(
                GroupGap(
                    name=level.groups[g],
                    rows=int(level.rows[g, 0]),
                    mass=mass,
                    gap=float(level.moment[g, 0]) / mass,
                    error=float(level.error[g, 0]) / mass,
                    tilt=float(signs @ table.moment[g]) / mass,
                    tilt_error=spread / mass,
                    parts=tuple(part.name for part in subgroups[g - 1].parts) if subgroups else (),
                )
            )
    return tuple(found)
