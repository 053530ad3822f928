"""``calcore audit``: is a score calibrated, where not, for whom, and can the data tell?"""

from __future__ import annotations

from typing import Any

import click

from calcore import metrics, verdicts
from calcore import wording as w
from calcore.audit import TOLERANCE, Audit, Gap, GroupFinding, audit
from calcore.cli import output
from calcore.cli.exits import CANNOT_TELL, GOOD, WRONG
from calcore.cli.file_options import FileOptions, file_options, format_option, quiet_option
from calcore.cli.opened import Opened, open_file
from calcore.settings import smallest_share
from calcore.verdicts import Verdict

EXIT_CODES = {"calibrated": GOOD, "wrong": WRONG, "subgroup": WRONG, "cannot tell": CANNOT_TELL, "contradiction": CANNOT_TELL}  # fmt: skip
_GAPS, _GROUPS = 5, 3


@click.command("audit")
@file_options
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 100),
    default=100 * TOLERANCE,
    show_default=True,
    metavar="POINTS",
    help="Gaps up to it are not called wrong; 2 is a gap of 0.02.",
)
@format_option
@quiet_option
@click.pass_context
def audit_command(
    ctx: click.Context, file: str, options: FileOptions, tolerance: float, style: str, quiet: bool
) -> None:
    """Say whether the scores in FILE are calibrated, where they are not, and for whom.

    Exit code 0: calibrated within noise and tolerance. 1: not calibrated, overall or in a subgroup. 2: usage, or
    input that cannot be read. 3: the data cannot tell, or contradict the rates that were given.

    A gap is called wrong only if it is significant and beyond the tolerance.
    """
    told, done = output.progress(quiet)
    told(f"Reading {click.format_filename(file, shorten=True)}", 0.0)
    opened = open_file(file, options, tolerance / 100)
    told(f"Measuring {w.rows(opened.measured.n)}", 0.5)
    found = audit(
        opened.measured,
        bins=options.bins,
        tolerance=opened.settings.tolerance,
        min_mass=smallest_share(opened.settings, opened.measured.n),
    )
    scores = {
        "AUC": metrics.auc(opened.measured),
        "Brier": metrics.brier(opened.measured),
        "log loss": metrics.log_loss(opened.measured),
    }
    verdict = verdicts.overall(found, scores["AUC"])
    done()
    code = EXIT_CODES[found.level]
    if style == "json":
        click.echo(output.json_text(document(opened, found, scores, verdict, code)))
    else:
        _print(opened, found, scores, verdict)
    ctx.exit(code)


def document(
    opened: Opened, found: Audit, scores: dict[str, metrics.Estimate], verdict: Verdict, code: int
) -> dict[str, Any]:
    """The audit as plain values.

    ``file`` (see ``output.report``); ``labels``: ``kind``, ``measured``, ``assumptions``; ``notes``; ``verdict``
    (see ``output.verdict``); ``exit_code``; ``n``, ``event_rate``, ``mean_score``, ``tolerance`` (0.02: two points),
    ``rows_needed`` where the data cannot tell; ``metrics`` by name ("ECE", "AUC", "Brier", "log loss"; see
    ``output.estimate``); ``gaps``: every tested score bin, the largest gap first (see ``_gap``);
    ``subgroups``: every audited subgroup, the worst first: ``name``, ``n``, ``share``, ``ece``, ``wrong``, ``gap``
    or null; ``subgroups_too_small``: how many held too few rows.
    """
    return {
        "command": "audit",
        "file": output.report(opened.ingested.report),
        "labels": {
            "kind": opened.settings.labels,
            "measured": opened.measured_against,
            "assumptions": found.assumptions,
        },
        "notes": opened.notes,
        "verdict": output.verdict(verdict),
        "exit_code": code,
        "n": found.n,
        "event_rate": found.base_rate,
        "mean_score": found.mean_score,
        "tolerance": found.tolerance,
        "rows_needed": found.rows_needed if found.level == "cannot tell" else None,
        "metrics": {
            "ECE": output.estimate(found.error),
            **{name: output.estimate(score) for name, score in scores.items()},
        },
        "gaps": [_gap(gap, found.tolerance) for gap in found.gaps],
        "subgroups": [_group(group, found.tolerance) for group in found.groups],
        "subgroups_too_small": found.too_small_groups + opened.choice.too_small,
    }


def _gap(gap: Gap, tolerance: float) -> dict[str, Any]:
    """``low``, ``high`` of the scores; ``predicted``, ``observed`` with its 95 % ``interval``; ``gap`` (observed less
    predicted), ``chance`` (up to what gap chance alone would show), ``n``, ``p_value`` after Holm, ``wrong``."""
    return {
        "low": gap.low,
        "high": gap.high,
        "predicted": gap.mean_score,
        "observed": gap.event_rate,
        "interval": [gap.lower, gap.upper],
        "gap": gap.residual,
        "chance": gap.chance,
        "n": gap.rows,
        "p_value": gap.adjusted,
        "wrong": gap.is_wrong(tolerance),
    }


def _group(group: GroupFinding, tolerance: float) -> dict[str, Any]:
    return {
        "name": group.group,
        "n": group.rows,
        "share": group.mass,
        "ece": group.error,
        "wrong": group.wrong,
        "gap": None if group.gap is None else _gap(group.gap, tolerance),
    }


def _print(opened: Opened, found: Audit, scores: dict[str, metrics.Estimate], verdict: Verdict) -> None:
    error = found.error
    output.say_file(opened)
    output.say()
    output.say(f"{verdict.title}. {verdict.sentence}")
    for note in verdict.notes:
        output.say(note)
    output.say()
    output.say(
        f"ECE {output.metric(error)} over {error.bins} bins {opened.measured_against}; a calibrated score would show "
        f"about {w.error(error.noise_floor)}, up to {w.error(error.noise_limit)}."
    )
    output.say(
        f"{w.rows(found.n)}, event rate {w.estimated(found.base_rate)}, mean score {w.rate(found.mean_score)}, "
        + ", ".join(f"{name} {output.metric(score)}" for name, score in scores.items())
        + ". Intervals hold at 95 %."
    )
    if found.gaps:
        shown = found.gaps[:_GAPS]
        output.say(f"\nLargest gaps ({len(shown)} of {len(found.gaps)} score ranges tested)")
        header = (
            "scores",
            "predicted",
            "observed",
            "95 % interval",
            "gap",
            "by chance",
            "rows",
            "adjusted p",
            "",
        )
        output.say(output.table(header, [_gap_row(gap, found.tolerance) for gap in shown]))
    if found.groups:
        output.say(
            f"\nWorst subgroups (of {w.count(len(found.groups))}; {w.count(found.cells_tested)} cells tested)"
        )
        for group in found.worst_groups(opened.choice.subgroups, _GROUPS):
            output.say(verdicts.group_line(group))
    if found.assumptions:
        output.say("\nThis holds if " + "; ".join(found.assumptions) + ".")


def _gap_row(gap: Gap, tolerance: float) -> tuple[str, ...]:
    return (
        f"{w.edge(gap.low)} to {w.edge(gap.high)}",
        w.rate(gap.mean_score),
        w.estimated(gap.event_rate),
        w.rates(gap.lower, gap.upper),
        f"{w.points(gap.residual)} {w.side(gap.residual)}".strip(),
        f"up to {w.points(gap.chance)}",
        w.count(gap.rows),
        w.p_value(gap.adjusted),
        "wrong" if gap.is_wrong(tolerance) else "",
    )
