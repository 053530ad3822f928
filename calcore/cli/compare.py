"""``calcore compare``: calibrators side by side, each measured on rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from calcore import verdicts
from calcore.calibrators import REGISTRY, Calibrator
from calcore.cli import output
from calcore.cli.exits import CANNOT_TELL, GOOD
from calcore.cli.file_options import FileOptions, file_options, format_option, quiet_option
from calcore.cli.opened import Opened, open_file
from calcore.comparison import RANKED_ON, Comparison, Entry, compare
from calcore.comparison_table import comparison_table
from calcore.errors import InputError
from calcore.usual_calibrators import usual


@click.command("compare")
@file_options
@click.option(
    "--calibrators", metavar="NAMES", help="Names or titles, separated by commas; those of the dashboard where not given."
)  # fmt: skip
@click.option(
    "--ranked-on",
    type=click.Choice(RANKED_ON, case_sensitive=False),
    default=RANKED_ON[0],
    show_default=True,
    help="What calibrators are sorted by.",
)
@format_option
@quiet_option
@click.pass_context
def compare_command(
    ctx: click.Context,
    file: str,
    options: FileOptions,
    calibrators: str | None,
    ranked_on: str,
    style: str,
    quiet: bool,
) -> None:
    """Compare calibrators on FILE, out of fold, with intervals and the harm check.

    Exit code 0: compared ("no clear winner" is an answer). 2: usage, or input that cannot be read. 3: nothing may be
    ranked on these labels.
    """
    opened = open_file(file, options)
    names = usual(opened.evidence) if calibrators is None else _named(calibrators)
    result = compared(opened, names, ranked_on, quiet)
    verdict = verdicts.comparison(result)
    code = CANNOT_TELL if result.basis.ranked == "no" else GOOD
    if style == "json":
        click.echo(output.json_text(document(opened, result, code)))
        ctx.exit(code)
    output.say_file(opened)
    output.say(f"\n{verdict.title}. {verdict.sentence}")
    for note in verdict.notes:
        output.say(note)
    rows = comparison_table(result)
    output.say("\n" + output.table(tuple(rows.columns), rows.itertuples(index=False)))
    output.say(
        f"Measured {opened.measured_against}, on rows that the calibrator was not fitted on; intervals hold at 95 %. "
        "Lower is better, except AUC. Harm: how far the method would move scores that are right. "
        "AUC change: less that of no change, on the same rows."
    )
    for entry in result.entries:
        said = entry.missing or result.harm_warning(entry.name)
        if said:
            output.say(f"{said[0].upper()}{said[1:].rstrip('.')}.")
    ctx.exit(code)


def compared(
    opened: Opened, names: tuple[str, ...], ranked_on: str = RANKED_ON[0], quiet: bool = True
) -> Comparison:
    """The comparison that the dashboard makes of the same file; progress on a terminal unless ``quiet``."""
    told, done = output.progress(quiet)
    try:
        return compare(
            opened.evidence,
            [REGISTRY[name]() for name in dict.fromkeys(("Identity", *names))],
            audit=opened.audit,
            ranked_on=ranked_on,
            bins=opened.settings.bins,
            progress=told,
        )
    finally:
        done()


def calibrator_named(text: str) -> type[Calibrator]:
    """The calibrator of this name or title, in any case. Raises InputError with all names."""
    wanted = _folded(text)
    for name, kind in REGISTRY.items():
        if wanted in (_folded(name), _folded(kind.title)):
            return kind
    raise InputError(f'There is no calibrator "{text.strip()}"; choose one of {", ".join(REGISTRY)}.')


def _folded(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _named(text: str) -> tuple[str, ...]:
    names = [calibrator_named(part).__name__ for part in text.split(",") if part.strip()]
    if not names:
        raise InputError(
            f"--calibrators names none; give some of {', '.join(REGISTRY)}, separated by commas."
        )
    return tuple(names)


def document(opened: Opened, result: Comparison, code: int) -> dict[str, Any]:
    """The comparison as plain values.

    ``file`` (see ``output.report``); ``labels``: ``kind``, ``measured``; ``notes``; ``verdict`` (see
    ``output.verdict``); ``exit_code``; ``ranked`` ("yes", "indicative", "no") and ``ranked_because``; ``ranked_on``;
    ``reference``, ``winner`` (a name or null) and ``tied`` (names); ``folds``, ``seed``, ``bins``; ``calibrators``, in
    the order of the names given: see ``_entry``.
    """
    return {
        "command": "compare",
        "file": output.report(opened.ingested.report),
        "labels": {"kind": opened.settings.labels, "measured": opened.measured_against},
        "notes": opened.notes,
        "verdict": output.verdict(verdicts.comparison(result)),
        "exit_code": code,
        "ranked": result.basis.ranked,
        "ranked_because": result.basis.sentence,
        "ranked_on": result.ranked_on,
        "reference": result.reference,
        "winner": result.winner,
        "tied": result.tied,
        "folds": result.folds,
        "seed": result.seed,
        "bins": result.bins,
        "calibrators": [_entry(entry, result) for entry in result.entries],
    }


def _entry(entry: Entry, result: Comparison) -> dict[str, Any]:
    """``name``, ``title``, ``missing`` (why it does not exist here, or null), ``metrics`` by name (see
    ``output.estimate``), ``differences`` to the reference by metric (``value``, ``lower``, ``upper``), ``harm`` or null
    (``at_n``, ``at_large``, ``with_flips``, ``n``, ...), ``auc_change``, ``share_at_ends``, ``slope``,
    ``mean_prediction``, ``warning`` or null."""
    return {
        "name": entry.name,
        "title": entry.title,
        "missing": entry.missing,
        "metrics": {name: output.estimate(found) for name, found in entry.metrics.items()},
        "differences": {
            name: {"value": found.value, "lower": found.lower, "upper": found.upper}
            for name, found in entry.differences.items()
        },
        "harm": None if entry.harm is None else asdict(entry.harm),
        "auc_change": entry.auc_change,
        "share_at_ends": entry.share_at_ends,
        "slope": entry.slope,
        "mean_prediction": entry.mean_prediction,
        "warning": None if entry.missing else result.harm_warning(entry.name),
    }
