"""``calcore fit``: a calibration map with its provenance, read back before it is called done."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from calcore import verdicts
from calcore.cli import output
from calcore.cli.compare import calibrator_named, compared
from calcore.cli.file_options import FileOptions, file_options, quiet_option
from calcore.cli.opened import open_file
from calcore.cli.written import refuse_existing, whole_file
from calcore.errors import InputError
from calcore.maps import CalibrationMap, verify_json
from calcore.provenance import with_provenance


@click.command("fit")
@file_options
@click.option("--calibrator", "name", required=True, metavar="NAME", help="Name or title, in any case.")
@click.option(
    "--out", required=True, metavar="PATH", type=click.Path(), help="The map's JSON file; - for stdout."
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@quiet_option
def fit_command(file: str, options: FileOptions, name: str, out: str, force: bool, quiet: bool) -> None:
    """Fit a calibrator on FILE and write its map as JSON.

    The map carries the SHA-256 of the file, what was said of its labels, when it was made, its metrics on rows that
    it was not fitted on, and the harm check.

    Exit code 0: written and read back. 2: usage, or input that cannot be read.
    """
    kind = calibrator_named(name)
    refuse_existing(out, force, file)
    opened = open_file(file, options)
    result = compared(opened, (kind.__name__,), quiet=quiet)
    entry = result.entry(kind.__name__)
    if entry.map is None:
        raise InputError(
            f"{entry.title} does not exist here: {entry.missing}; choose one of {', '.join(opened.calibrators)}."
        )
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    map_ = with_provenance(entry.map, entry, result.basis, opened.ingested.report.sha256, created)
    checked = verify_json(map_, opened.evidence.score)
    if not checked.ok:
        raise InputError(checked.sentence)
    text = map_.to_json(indent=2) + "\n"
    on_screen = out == "-"
    if on_screen:
        click.echo(text, nl=False)
    else:
        with whole_file(out) as target:
            target.write(text.encode())
        with open(out, "rb") as written:
            if CalibrationMap.from_json(written.read()) != map_:
                raise InputError(f"{out} reads back as a different map; write it to another disk.")
    if quiet and on_screen:
        return
    output.say_file(opened, err=on_screen)
    told = "; ".join(
        f"{key} {output.metric(entry.metrics[key])}" for key in ("ECE", "Brier", "log loss", "AUC")
    )
    output.say(
        f"{entry.title}, measured {opened.measured_against} on rows that it was not fitted on: {told}.",
        on_screen,
    )
    output.say(verdicts.harm(entry), on_screen)
    for warning in map_.warnings:
        output.say(f"Warning: {warning}.", on_screen)
    output.say(f"{checked.sentence} Written to {'stdout' if on_screen else out}.", on_screen)
