"""A stream watched: batches measured, limits drawn, the test run, and what there is to be alerted about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.audit import TOLERANCE
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.monitoring.alerts import Alert, alerts_of, calibration_alerts, change_alerts
from calcore.monitoring.batches import Batch, Batching, split
from calcore.monitoring.changes import Finding, findings
from calcore.monitoring.estimates import estimated
from calcore.monitoring.limits import FixedLimit, Limits, control_limits, fixed_limits
from calcore.monitoring.measure import measure, unmeasured
from calcore.monitoring.reference import Reference, reference_of
from calcore.monitoring.results import METRICS, BatchResult
from calcore.monitoring.sequential import ALPHA, SequentialTest, sequential_test
from calcore.validation import Floats, fraction, whole_number
from calcore.wording import rows


@dataclass(frozen=True)
class Plan:
    """How a stream is watched.

    ``reference``: the first so many measured batches, or the keys of batches. ``complete``: the share of a batch's
    rows that must have their label before it is bet on, once and for all; below 1 labels that come last may be of
    another kind, and the test does not know. ``alpha`` is the largest share of streams in which one of the two tests (see
    ``Watch``) ever raises a false alarm: each has half of it. ``centre`` is the first score bin above which overconfident scores are too high; None: the bin edge nearest to the mean score of the first batch.
    """

    batching: Batching = field(default_factory=Batching)
    bins: int = 10
    tolerance: float = TOLERANCE
    reference: int | tuple[str, ...] = 4
    fixed: tuple[FixedLimit, ...] = ()
    alpha: float = ALPHA
    complete: float = 0.9
    centre: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.bins, "bins", 2, 100)
        fraction(self.tolerance, "the tolerance", open_interval=False)
        fraction(self.alpha, "the rate of false alarms")
        fraction(self.complete, "the share of labels that completes a batch", open_interval=False)
        if self.centre is not None:
            whole_number(self.centre, "the first bin of the upper half", 1, self.bins - 1)
        if isinstance(self.reference, int):
            whole_number(self.reference, "reference batches", 1, 10_000)


@dataclass(frozen=True, eq=False)
class Watch:
    """A stream as it stands.

    ``limits`` are the control limits by metric, ``fixed`` those that somebody set, in the order of the plan;
    ``reference`` None while no batch is measured (then there are no limits). ``without_place`` rows had no time or no
    value in the batch column. ``test`` is that of "calibrated within tolerance" with its ``findings``, ``change`` that
    of "as in the reference period" with its ``changes``.
    """

    results: tuple[BatchResult, ...]
    plan: Plan
    reference: Reference | None
    limits: dict[str, Limits]
    fixed: tuple[Limits, ...]
    test: SequentialTest
    change: SequentialTest
    findings: tuple[Finding, ...]
    changes: tuple[Finding, ...]
    alerts: tuple[Alert, ...]
    without_place: int = 0

    @property
    def alarming(self) -> tuple[Alert, ...]:
        """Alerts that call for somebody; the others are notices."""
        return tuple(alert for alert in self.alerts if alert.severity == "alert")


def measure_batches(
    plan: Plan,
    score: Floats,
    evidence: Evidence,
    *,
    time: NDArray[np.datetime64] | None = None,
    column: pd.Series | None = None,
    weight: Floats | None = None,
    unlabelled: NDArray[np.bool_] | None = None,
    basis: str | None = None,
    prefix: str = "",
    earlier: Sequence[BatchResult] = (),
) -> tuple[tuple[BatchResult, ...], Plan, int]:
    """Every batch of ``score`` (n,) measured on the rows of ``evidence`` that fall into it, or estimated.

    ``evidence`` is of some of the n rows (``evidence.row`` says which); the others have no label yet, or, where
    ``unlabelled`` (n,), will never have one: a batch is complete without them. ``earlier`` are
    results that were kept: the reference period may be among those of batches that are not here, and what was bet on
    in them is not bet on again. Returns the results, the plan with its ``centre`` settled, and how many rows had no
    place in a batch.
    """
    of_entry = np.arange(len(evidence)) if evidence.row is None else evidence.row
    labelled = np.zeros(score.size, dtype=bool)
    labelled[of_entry] = True
    # labels that are a random sample of the rows are all that will come: batches are as long as they need
    hoped_for = None if unlabelled is None else labelled | ~unlabelled
    counted = labelled if plan.complete == 0 else hoped_for
    made = split(plan.batching, score.size, time=time, column=column, counted=counted, prefix=prefix)
    if plan.centre is None:
        first = made.batches[0].rows if len(made) else np.arange(score.size)
        mean = float(score[first].mean()) if first.size else 0.5
        plan = replace(plan, centre=int(np.clip(round(mean * plan.bins), 1, plan.bins - 1)))
    counts = np.ones(score.size, dtype=bool) if weight is None else weight > 0
    of_row = np.full(score.size, -1)
    for position, batch in enumerate(made.batches):
        of_row[batch.rows] = position
    of_batch = of_row[of_entry]
    order = np.argsort(of_batch, kind="stable")
    edges = np.searchsorted(of_batch[order], np.arange(len(made) + 1))
    results: list[BatchResult] = []
    reference: Reference | None = None
    here = {batch.key for batch in made.batches}
    known_before = [one for one in earlier if one.key not in here]  # a batch counts once in the reference
    for j, batch in enumerate(made.batches):
        if reference is None or not _settled(reference, plan):
            reference = _reference((*known_before, *results), plan)
        entries = order[edges[j] : edges[j + 1]]
        known = reference if reference is not None and _judges(reference, plan, batch) else None
        waited = counts[batch.rows] if unlabelled is None else (counts & (labelled | ~unlabelled))[batch.rows]
        numbers = int(labelled[batch.rows].sum()), int(waited.sum())
        if not counts[batch.rows].any():
            results.append(unmeasured(batch, 0, "too few", "every row has the weight 0"))
        else:
            results.append(_measured(plan, batch, evidence, entries, *numbers, known, basis))
    if reference is None:
        reference = _reference((*known_before, *results), plan)
    if reference is not None:
        results = [
            estimated(one, score[batch.rows], reference, None if weight is None else weight[batch.rows])
            if one.kind == "no labels"
            else one
            for one, batch in zip(results, made.batches, strict=True)
        ]
    if plan.batching.by != "column":  # values of a column may lie beside each other in time
        results = [_bet_on_once(one, earlier) for one in results]
    return tuple(results), plan, made.without_place


def _bet_on_once(one: BatchResult, earlier: Sequence[BatchResult]) -> BatchResult:
    """The batch without its bets if it overlaps in time with another that was bet on: the rows may be the same."""
    if one.growth is None or one.start is None or one.end is None:
        return one
    for other in earlier:
        if other.key == one.key or other.growth is None or other.start is None or other.end is None:
            continue
        if one.start < other.end and other.start < one.end:
            reason = f"overlaps in time with {other.label}, which was tested before: not in the test"
            return replace(one, growth=None, shift=None, reason=reason)
    return one


def _settled(reference: Reference, plan: Plan) -> bool:
    """Are all batches of the reference period measured?"""
    wanted = plan.reference if isinstance(plan.reference, int) else len(plan.reference)
    return len(reference.positions) >= wanted


def _judges(reference: Reference, plan: Plan, batch: Batch) -> bool:
    """Is ``batch`` compared with the reference period? Not the batches that it is made of."""
    return _settled(reference, plan) and batch.key not in reference.keys


def _measured(
    plan: Plan,
    batch: Batch,
    evidence: Evidence,
    entries: NDArray[np.int64],
    labelled: int,
    expected: int,
    reference: Reference | None,
    basis: str | None,
) -> BatchResult:
    """A batch measured on the ``entries`` of the evidence, or why it is not; ``expected`` labels complete it."""
    if not labelled:
        return unmeasured(batch, 0, "no labels", "no labels yet")
    if not batch.complete:
        needed = f"{plan.batching.min_rows:,}"
        return unmeasured(
            batch, labelled, "too few", f"{labelled:,} of at least {needed} rows with labels so far"
        )
    if labelled < plan.batching.min_rows:
        reason = f"labels of {rows(labelled)} so far, too few to measure"
        return unmeasured(batch, labelled, "no labels", reason)
    present = np.unique(evidence.source[entries])
    if present.size < len(evidence.sources):
        missing = next(name for s, name in enumerate(evidence.sources) if s not in present)
        return unmeasured(batch, labelled, "too few", f'no row of the source "{missing}"')
    assert plan.centre is not None
    try:
        result = measure(
            batch,
            evidence.take(entries),
            bins=plan.bins,
            tolerance=plan.tolerance,
            centre=plan.centre,
            reference=reference,
            basis=basis,
        )
    except InputError as error:
        return unmeasured(batch, labelled, "too few", str(error))
    share = labelled / expected
    if share < plan.complete:
        reason = (
            f"labels of {100 * share:.0f} % of the rows so far, and those that come early may differ: not in the test "
            f"before {100 * plan.complete:.0f} %"
        )
        return replace(result, growth=None, shift=None, reason=reason)
    return result


def _reference(results: Sequence[BatchResult], plan: Plan) -> Reference | None:
    try:
        return reference_of(results, plan.reference)
    except InputError:
        return None  # no batch of it is measured yet


def watch(results: Sequence[BatchResult], plan: Plan, without_place: int = 0) -> Watch:
    """Limits, test and alerts over ``results``, in the order of time."""
    reference = _reference(results, plan)
    limits: dict[str, Limits] = {}
    if reference is not None:
        limits = {metric: control_limits(results, metric, reference) for metric in METRICS}
    fixed = tuple(fixed_limits(results, limit) for limit in plan.fixed)
    test = sequential_test([one.growth for one in results], plan.alpha / 2)
    change = sequential_test([one.shift for one in results], plan.alpha / 2)
    found, changed = findings(test.changes, results), findings(change.changes, results)
    of_test = calibration_alerts(results, test, found, plan.tolerance)
    if reference is not None:
        of_test += change_alerts(results, change, changed, found, reference, plan.tolerance)
    return Watch(
        results=tuple(results),
        plan=plan,
        reference=reference,
        limits=limits,
        fixed=fixed,
        test=test,
        change=change,
        findings=found,
        changes=changed,
        alerts=alerts_of(results, limits, fixed, of_test),
        without_place=without_place,
    )
