"""``calcore apply``: a map on a file of any size, every row of it kept."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import click

from calcore import wording as w
from calcore.cli import output
from calcore.cli.file_options import file_format, format_options, quiet_option, scale_option, score_option
from calcore.cli.written import refuse_existing, whole_file
from calcore.errors import InputError
from calcore.maps import CalibrationMap
from calcore.scoring import ScoreChoices, score_file
from calcore.scoring.score_file import BATCH_ROWS


def _with_format(command: Any) -> Any:
    for option in reversed(format_options):
        command = option(command)
    return command


@click.command("apply")
@click.argument("map_path", metavar="MAP", type=click.Path())
@click.argument("file", type=click.Path())
@click.option("--out", required=True, metavar="PATH", type=click.Path(), help="A .csv, .tsv, .txt or .parquet file; - for CSV on stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@score_option
@scale_option
@_with_format
@click.option("--batch-rows", type=click.IntRange(1), default=BATCH_ROWS, show_default=True, help="Rows in memory at a time.")  # fmt: skip
@quiet_option
def apply_command(
    map_path: str,
    file: str,
    out: str,
    force: bool,
    score: str | None,
    scale: Any,
    encoding: str | None,
    separator: str | None,
    decimal: str | None,
    header: bool | None,
    batch_rows: int,
    quiet: bool,
) -> None:
    """Write FILE with one more column, "calibrated_score", by the MAP that "fit" or the dashboard made.

    All rows and columns are kept, in memory that does not grow with the file. Rows whose score cannot be read get an
    empty calibrated score, and are counted. Text stays as it is in FILE, with its separator, decimal mark, quotation
    marks, line ends and encoding, and without a header where it has none; a cell that a spreadsheet would run as a
    formula gets an apostrophe before it. The Export page of the dashboard writes the same.

    Exit code 0: written. 2: usage, or input that cannot be read.
    """
    on_screen = out == "-"
    parquet = Path(out).suffix.lower() in (".parquet", ".pq")
    if not on_screen and not parquet and Path(out).suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise InputError(f"{out} says nothing about its kind; let it end in .csv or .parquet.")
    refuse_existing(out, force, file, map_path)
    map_ = CalibrationMap.from_file(map_path)
    choices = ScoreChoices(file_format(encoding, separator, decimal, header), score, scale)
    told, done = output.progress(quiet or on_screen)

    def counted(rows: int) -> None:
        told(f"{w.rows(rows)} scored", None)

    with ExitStack() as stack:
        if on_screen:
            if sys.stdout is None:
                raise InputError(
                    "--out - writes to the standard output, which is closed; name a file instead."
                )
            target: BinaryIO = sys.stdout.buffer
        else:
            target = stack.enter_context(whole_file(out))
        result = score_file(
            map_, file, target, parquet=parquet, choices=choices, batch_rows=batch_rows, progress=counted
        )
        if not result.scored and not on_screen:
            raise InputError(
                f'No row of {file} has a score that can be read in "{result.score}": {result.why()}.'
            )
    done()
    if not quiet:
        for sentence in result.sentences():
            output.say(sentence, err=True)
    sys.stdout.flush()
