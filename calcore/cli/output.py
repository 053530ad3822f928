"""What the commands print: plain tables, and JSON that any reader takes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
import numpy as np

from calcore import wording as w
from calcore.cli.opened import Opened
from calcore.ingest import IngestReport
from calcore.ingest.report import quote_list
from calcore.meanings import MEANINGS
from calcore.metrics import CalibrationError, Estimate
from calcore.verdicts import Verdict, data_line


def plain(text: str) -> str:
    """Text for a terminal: spaces that do not break would not be found by whoever searches for them."""
    return text.replace("\u00a0", " ")


def say(text: str = "", err: bool = False) -> None:
    click.echo(plain(text), err=err)


def say_file(opened: Opened, err: bool = False, times: bool = False) -> None:
    """What was read, in which roles, and what was assumed."""
    found, roles = opened.ingested.report, opened.ingested.roles
    played = [f'{role} "{name}"' for role, name in roles.single().items() if times or role != "time"]
    if roles.groups:
        played.append(f"subgroups {quote_list(roles.groups)}")
    say(f"{found.filename}: {data_line(found)}", err)
    say(f"Read {', '.join(played)}. Labels: {MEANINGS[opened.settings.labels].answer.lower()}.", err)
    for note in (*found.warnings, *opened.notes):
        say(note, err)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text, the first to the left and the others to the right."""
    lines = [list(header), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def json_text(document: Mapping[str, Any]) -> str:
    """One JSON object (ASCII); NaN and infinity are null."""
    return json.dumps(_value(document), indent=2, allow_nan=False)


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return plain(value) if isinstance(value, str) else value


def estimate(found: Estimate) -> dict[str, Any]:
    """``value``, ``interval`` [low, high] or null, ``n``, ``basis``; of a calibration error also its noise."""
    result = {
        "value": found.value,
        "interval": found.interval and list(found.interval),
        "n": found.n,
        "basis": found.basis,
    }
    if isinstance(found, CalibrationError):
        result |= {
            "noise_floor": found.noise_floor,
            "noise_limit": found.noise_limit,
            "debiased": found.debiased,
            "bins": found.bins,
        }
    return result


def report(found: IngestReport) -> dict[str, Any]:
    """The account of the file: ``name``, ``sha256``, ``rows_read``, ``rows_kept``, ``sentence``, ``refused``, ``warnings``."""
    return {
        "name": found.filename,
        "sha256": found.sha256,
        "rows_read": found.rows_read,
        "rows_kept": found.rows_kept,
        "sentence": found.sentence(),
        "refused": [
            {"reason": r.reason, "count": r.count, found.place + "s": r.lines} for r in found.refused
        ],
        "warnings": found.warnings,
    }


def verdict(found: Verdict) -> dict[str, Any]:
    """``level`` ("good", "watch", "bad", "unknown"), ``title``, ``sentence``, ``notes``."""
    return {
        "level": found.level.name.lower(),
        "title": found.title,
        "sentence": found.sentence,
        "notes": found.notes,
    }


def metric(found: Estimate) -> str:
    """A metric with its interval: "0.012 (0.008–0.017)"."""
    return w.error(found.value) + (f" ({w.interval(found.interval)})" if found.interval else "")


def progress(quiet: bool) -> tuple[Callable[[str, float | None], None], Callable[[], None]]:
    """A function to tell a step and the share done, and one to call at the end; silent unless on a terminal."""
    if quiet or not sys.stderr.isatty():
        return (lambda step, share: None), (lambda: None)

    def told(step: str, share: float | None) -> None:
        done = "" if share is None else f"{share:4.0%} "
        click.echo(f"\r\033[K{done}{step}", err=True, nl=False)

    return told, (lambda: click.echo("\r\033[K", err=True, nl=False))
