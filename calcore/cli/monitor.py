"""``calcore monitor``: one run of a watched stream, for a scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from calcore import wording
from calcore.audit import TOLERANCE
from calcore.cli import output
from calcore.cli.exits import CANNOT_TELL, GOOD, WRONG
from calcore.cli.fetched import fetched, is_address
from calcore.cli.file_options import FileOptions, file_options, quiet_option
from calcore.cli.monitor_document import document as run_document
from calcore.cli.opened import Opened, open_file
from calcore.cli.remembered import TimeOptions, kept_with, said, sound
from calcore.cli.webhook import check_webhook, post
from calcore.errors import InputError
from calcore.monitoring import (
    FixedLimit,
    Plan,
    batches_of_file,
    joined,
    parts,
    watch,
)
from calcore.monitoring.batches import CALENDAR
from calcore.monitoring.history import Recorded, agreed, earlier_runs, record, usable
from calcore.monitoring.results import METRICS
from calcore.monitoring.store import Store

_DEFAULT = Plan()


@click.command("monitor")
@file_options
@click.option(
    "--store",
    "url",
    required=True,
    envvar="CALCORE_HISTORY",
    metavar="URL",
    help="Where the history is kept: the path of a SQLite file, or postgresql://... (or the variable CALCORE_HISTORY).",
)
@click.option(
    "--stream",
    "name",
    default="default",
    show_default=True,
    help="Which stream of the history the file belongs to.",
)
@click.option(
    "--by",
    type=click.Choice([*CALENDAR, "rows"]),
    help="What makes a batch [default: as the stream was kept, else month].",
)
@click.option("--rows", "size", type=click.IntRange(1), help="Rows of a batch, with --by rows.")
@click.option("--batch-column", metavar="COLUMN", help="The values of a column make the batches.")
@click.option(
    "--min-rows",
    type=click.IntRange(1),
    help=f"Fewer rows are joined with the next batch [default: {_DEFAULT.batching.min_rows}].",
)
@click.option("--time", metavar="COLUMN", help="The time of each row; guessed where not given.")
@click.option("--day-first/--month-first", default=None, help="How 03/04/2025 is read.")
@click.option(
    "--reference",
    type=click.IntRange(1),
    help=f"How many batches at the start are the reference period [default: {_DEFAULT.reference}].",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 100),
    metavar="POINTS",
    help=f"Gaps up to it are never alarmed about; 2 is a gap of 0.02 [default: {100 * TOLERANCE:g}].",
)
@click.option(
    "--false-alarms",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help=f"The tests raise a false alarm, ever, in at most this share of streams [default: {_DEFAULT.alpha:g}].",
)
@click.option(
    "--complete",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help=f"A batch is tested once this share of it has labels [default: {_DEFAULT.complete:g}].",
)
@click.option(
    "--max",
    "highest",
    multiple=True,
    metavar="METRIC=VALUE",
    help=f"A limit: alarm for each batch that is above it with its whole 95 % interval. One of {', '.join(METRICS)}; may be repeated.",
)
@click.option(
    "--min",
    "lowest",
    multiple=True,
    metavar="METRIC=VALUE",
    help="A limit below which the metric may not be.",
)
@click.option("--webhook", metavar="URL", help="Where new alerts are posted to, as JSON.")
@quiet_option
@click.pass_context
def monitor_command(
    ctx: click.Context,
    file: str,
    options: FileOptions,
    url: str,
    name: str,
    time: str | None,
    day_first: bool | None,
    webhook: str | None,
    quiet: bool,
    **asked: Any,
) -> None:
    """Append FILE (a path, or an address that begins with https://) to a watched stream, and print one JSON object.

    What is not said of the plan, and of the columns that were named before, is as the stream was kept so far. A file that was appended before changes nothing.
    Batches without labels are estimated, and measured once a later file brings the labels.

    Exit code 0: nothing to be alarmed about. 1: an alert that nobody has acknowledged. 2: usage, or input that cannot
    be read. 3: no batch has labels enough to be measured.
    """
    if webhook is not None:
        webhook = check_webhook(webhook)
    told, done = output.progress(quiet)
    with Store.open(url) as store:
        earlier = earlier_runs(store, name)
        if ctx.get_parameter_source("bins") is not ParameterSource.DEFAULT:
            asked["bins"] = options.bins
        plan = agreed(earlier, _plan(earlier.plan, asked))
        told("Reading", 0.0)
        source, filename = fetched(file) if is_address(file) else (file, None)
        options = replace(options, bins=plan.bins)
        when, before_said = TimeOptions(time, day_first), sound(earlier.reading)
        reading = kept_with(before_said, said(options, when))
        opened = open_file(source, options, plan.tolerance, when, filename, before_said)
        _check_time(opened, plan, earlier.plan is None)
        told("Measuring", 0.3)
        complete, plan = plan.complete, _measured_plan(plan, opened)
        before = usable(earlier, plan)
        new, plan, without = batches_of_file(
            opened.ingested, plan, opened.measured, basis=opened.measured_against, earlier=before
        )
        plan = replace(plan, complete=complete)  # as it was said: the next file may have no random sample
        found = watch(joined(before, new), plan, without)
        told("Keeping", 0.9)
        kept = record(store, earlier, opened.ingested, found, new, _meaning(opened), reading=reading)
        done()
        notes = [
            *opened.ingested.report.warnings,
            *opened.notes,
            *parts(before, new),
            *_without_place(without),
        ]
    code = WRONG if kept.open else GOOD if any(one.measured for one in found.results) else CANNOT_TELL
    document = run_document(opened, name, found, new, kept, notes, code)
    try:
        click.echo(output.json_text(document))
    finally:  # the next run will not call these alerts new, so they are posted even where nobody reads stdout
        _post(webhook, name, kept)
    ctx.exit(code)


def _post(webhook: str | None, name: str, kept: Recorded) -> None:
    fresh = [alert for alert in kept.new if alert.severity == "alert"]
    if webhook is None or not fresh:
        return
    problem = post(webhook, {"stream": name, "alerts": [asdict(alert) for alert in fresh]})
    if problem is not None:
        output.say(problem, err=True)


def _plan(known: Plan | None, asked: dict[str, Any]) -> Plan:
    """The plan of the stream so far, or the default one, with what was said."""
    base = known or _DEFAULT
    batching = base.batching
    if asked["batch_column"] is not None:
        if asked["by"] is not None:
            raise InputError("--by and --batch-column both say what makes a batch; give one of them.")
        batching = replace(batching, by="column", column=asked["batch_column"])
    elif asked["by"] is not None:
        batching = replace(batching, by=asked["by"], column=None)
    if asked["size"] is not None:
        if batching.by != "rows":
            raise InputError("--rows is about batches by rows; add --by rows.")
        batching = replace(batching, size=asked["size"])
    if asked["min_rows"] is not None:
        batching = replace(batching, min_rows=asked["min_rows"])
    said: dict[str, Any] = {"batching": batching}
    for option, field in (("reference", "reference"), ("false_alarms", "alpha"), ("complete", "complete")):
        if asked[option] is not None:
            said[field] = asked[option]
    if "bins" in asked:
        said["bins"], said["centre"] = asked["bins"], None
    if asked["tolerance"] is not None:
        said["tolerance"] = asked["tolerance"] / 100
    limits = _limits(asked["highest"], asked["lowest"])
    if limits:
        said["fixed"] = limits
    return replace(base, **said)


def _limits(highest: Sequence[str], lowest: Sequence[str]) -> tuple[FixedLimit, ...]:
    found: dict[str, FixedLimit] = {}
    for option, texts in (("high", highest), ("low", lowest)):
        for text in texts:
            metric, value = _limit(text, "--max" if option == "high" else "--min")
            known = found.get(metric)
            low, high = (None, None) if known is None else (known.low, known.high)
            found[metric] = FixedLimit(
                metric, value if option == "low" else low, value if option == "high" else high
            )
    return tuple(found.values())


def _limit(text: str, option: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    metric = next((one for one in METRICS if one.casefold() == name.strip().casefold()), None)
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if metric is None or value != value:
        raise InputError(
            f'{option} "{text[:60]}" is no limit; write METRIC=VALUE, such as ECE=0.05, with one of {", ".join(METRICS)}.'
        )
    return metric, value


def _measured_plan(plan: Plan, opened: Opened) -> Plan:
    """Where results are measured on a random sample of checked labels, no batch will ever be complete."""
    return plan if opened.audit is None else replace(plan, complete=0.0)


def _meaning(opened: Opened) -> dict[str, Any]:
    return {
        "kind": opened.settings.labels,
        "measured": opened.measured_against,
    } | opened.measured.model.to_dict()


def _check_time(opened: Opened, plan: Plan, new: bool) -> None:
    """Raise InputError where batches of the calendar have no time to be made by; ``new``: other batches can be chosen."""
    times = opened.ingested.columns.time
    if plan.batching.by not in CALENDAR or (times is not None and not np.isnat(times).all()):
        return
    column = opened.ingested.roles.time
    lacks = "none was found" if column is None else f'"{column}" holds no time'
    otherwise = ", or add --by rows" if new else ""
    raise InputError(
        f"Batches by {plan.batching.by} need a time column, and {lacks}; name it with --time COLUMN{otherwise}."
    )


def _without_place(rows: int) -> list[str]:
    if not rows:
        return []
    have, they = ("has", "it is") if rows == 1 else ("have", "they are")
    return [f"{wording.rows(rows)} {have} no time or no value in the batch column: {they} in no batch."]
