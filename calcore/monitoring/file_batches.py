"""The batches of a file under the meaning of its labels, and how they join those that were kept before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.ingest import Ingested
from calcore.monitoring.results import BatchResult
from calcore.monitoring.watch import Plan, measure_batches
from calcore.wording import rows


def batches_of_file(
    ingested: Ingested,
    plan: Plan,
    measured: Evidence,
    *,
    basis: str | None = None,
    earlier: Sequence[BatchResult] = (),
) -> tuple[tuple[BatchResult, ...], Plan, int]:
    """As ``measure_batches``, for the rows of a file and the evidence that they are ``measured`` on."""
    columns, name = ingested.columns, plan.batching.column
    column = None
    if plan.batching.by == "column":
        if name not in ingested.table:
            raise InputError(f'There is no column "{name}" to make batches of; name another.')
        column = ingested.table[name]
    return measure_batches(
        plan,
        columns.score,
        measured,
        time=columns.time,
        column=column,
        weight=columns.weight,
        unlabelled=columns.left_out,
        basis=basis,
        prefix=f"{ingested.report.sha256[:12]}:",
        earlier=earlier,
    )


def joined(kept: Sequence[BatchResult], new: Sequence[BatchResult]) -> tuple[BatchResult, ...]:
    """Batches that were ``kept`` and ``new`` ones in the order of time, each key once, the new one where both are.

    A batch is bet on once: where a kept one was, on the same terms, its bets stand, whatever became of its labels
    since. A measured batch is never replaced by one that is not, nor a batch by a part of it (see ``parts``).
    """
    found = {one.key: one for one in kept}
    for one in new:
        old = found.get(one.key)
        if old is not None and ((old.measured and not one.measured) or _is_part(old, one)):
            continue
        found[one.key] = one if old is None else _with_bets(old, one)
    ordered = list(found.values())
    if all(one.start is not None for one in ordered):
        ordered.sort(key=lambda one: (one.start or "", one.key))
    return tuple(ordered)


def parts(kept: Sequence[BatchResult], new: Sequence[BatchResult]) -> tuple[str, ...]:
    """A sentence for each new batch that does not replace the kept one because it holds fewer or other rows of it."""
    found = {one.key: one for one in kept}
    return tuple(
        f"{one.label}: this file has {rows(one.rows)} of it and {found[one.key].rows:,} are kept, which stay; give a "
        "batch as a whole, or make batches as long as a file."
        for one in new
        if one.key in found and _is_part(found[one.key], one)
    )


def _is_part(old: BatchResult, new: BatchResult) -> bool:
    """Fewer rows of a batch, or only rows from after those that are kept: no later state of it.

    A batch that was joined with the next for want of labels is not kept from being measured alone once they come.
    """
    joined_before = old.growth is None and old.parts > new.parts
    if joined_before and new.labelled > old.labelled:
        return False
    later = old.end is not None and new.start is not None and new.start > old.end
    return new.rows < old.rows or later


def _with_bets(old: BatchResult, new: BatchResult) -> BatchResult:
    terms = [(one.tolerance, one.centre, one.basis) for one in (old, new)]
    same = terms[0] == terms[1] and old.growth is not None
    if not same:
        return new
    assert old.growth is not None
    if new.growth is not None and len(old.growth.whole) != len(new.growth.whole):
        return new
    kept = replace(new, growth=old.growth)
    if old.shift is not None and old.reference == new.reference:
        kept = replace(kept, shift=old.shift)
    return kept


def fitting(results: Sequence[BatchResult], plan: Plan) -> tuple[BatchResult, ...]:
    """Results whose bets were made on the terms of ``plan``; those of others count without their bets."""
    return tuple(
        one
        if one.growth is None
        or (
            one.tolerance == plan.tolerance
            and one.centre == plan.centre
            and one.bins is not None
            and len(one.bins) == plan.bins
        )
        else replace(one, growth=None, shift=None, reason="measured under other settings: not in the test")
        for one in results
    )
