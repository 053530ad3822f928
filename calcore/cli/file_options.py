"""The options that say what a file holds, shared by every command that reads labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from calcore.ingest import FileFormat
from calcore.ingest.choices import TIE_OPTIONS
from calcore.meanings import MEANINGS
from calcore.settings import Settings

_DEFAULT = Settings()
#: Values of --ties, and what they stand for.
TIES = {option.replace(" ", "-"): option for option in TIE_OPTIONS}


@dataclass(frozen=True)
class FileOptions:
    """What was said of a file on the command line; None: found in the file."""

    score: str | None
    label: str | None
    audit_label: str | None
    weight: str | None
    unit: str | None
    group: tuple[str, ...]
    no_groups: bool
    source: str | None
    source_value: tuple[str, ...]
    confidence: str | None
    second_score: str | None
    positive: str | None
    ties: str | None
    labels_file: str | None
    id_column: str | None
    labels_id: str | None
    scale: str | None
    labels: str | None
    prior: float | None
    rho0: float | None
    rho1: float | None
    theta1: float | None
    theta2: float | None
    r_min: float | None
    bins: int
    min_mass: float
    encoding: str | None
    separator: str | None
    decimal: str | None
    header: bool | None

    @property
    def format(self) -> FileFormat:
        return file_format(self.encoding, self.separator, self.decimal, self.header)


def file_format(
    encoding: str | None, separator: str | None, decimal: str | None, header: bool | None
) -> FileFormat:
    """The layout that was said; a tab may be written as ``\\t`` or ``tab``."""
    named = {"\\t": "\t", "tab": "\t", "space": " "}
    return FileFormat(encoding, named.get(separator or "", separator), decimal, header)


def _meanings() -> str:
    return ", ".join(
        f"{key} ({meaning.answer[0].lower()}{meaning.answer[1:]})" for key, meaning in MEANINGS.items()
    )


format_options = (
    click.option("--encoding", metavar="NAME", help="Encoding of a text file; found where not given."),
    click.option("--separator", metavar="CHAR", help="Separator of a text file; found where not given."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark; found where not given."),
    click.option(
        "--header/--no-header", default=None, help="Whether the first row holds names; found where not given."
    ),
)
scale_option = click.option(
    "--scale",
    type=click.Choice(["probability", "percent", "logit"]),
    help="What the scores are; needed where they are not all within 0 and 1.",
)
score_option = click.option(
    "--score", metavar="COLUMN", help="The classifier's score; guessed where not given."
)

_OPTIONS = (
    score_option,
    click.option("--label", metavar="COLUMN", help="The recorded label; guessed where not given."),
    click.option(
        "--audit-label",
        metavar="COLUMN",
        help="Checked labels of a random sample of the rows, blank elsewhere: results are measured on them.",
    ),
    click.option("--weight", metavar="COLUMN", help="Weights of the rows."),
    click.option("--unit", metavar="COLUMN", help="What rows belong together by: a customer, or a pair."),
    click.option("--group", metavar="COLUMN", multiple=True, help="A column of subgroups; may be repeated. Guessed where not given."),
    click.option("--no-groups", is_flag=True, help="Look at no subgroups."),
    click.option("--positive", metavar="LABEL", help="The label value that is positive; every other one is negative."),
    click.option("--ties", type=click.Choice(tuple(TIES)), help="What a label of 0.5, a tie, counts as; left out where not given."),
    click.option("--labels-file", metavar="PATH", type=click.Path(), help="A file with labels that arrived later, joined by id."),
    click.option("--id", "id_column", metavar="COLUMN", help="With --labels-file: the id column; guessed where both files have one of the same name."),
    click.option("--labels-id", metavar="COLUMN", help="The id column of the labels' file, where it is called otherwise."),
    scale_option,
    click.option("--labels", type=click.Choice(list(MEANINGS)), help=f"What the labels mean: {_meanings()}. Without it: clean, or noisy where some labels were checked."),
    click.option("--prior", type=float, metavar="SHARE", help="Class prior, 0 to 1: the share of all rows that are positive."),
    click.option("--rho0", type=float, metavar="SHARE", help="Share of negatives recorded as positive (noisy)."),
    click.option("--rho1", type=float, metavar="SHARE", help="Share of positives recorded as negative (noisy)."),
    click.option("--theta1", type=float, metavar="SHARE", help="Share of positives in the first group (uu)."),
    click.option("--theta2", type=float, metavar="SHARE", help="Share of positives in the second group (uu)."),
    click.option("--r-min", type=float, metavar="SHARE", help="Confidences below it count as it (pconf)."),
    click.option("--source", metavar="COLUMN", help="Which sample a row is from (pu, uu, su, du, sd, pcomp)."),
    click.option("--source-value", metavar="VALUE", multiple=True, help="Once for each source, in the order that a message asks for, where the values are not named like them."),
    click.option("--confidence", metavar="COLUMN", help="The probability that stands for a label (posterior, pconf, sconf)."),
    click.option("--second-score", metavar="COLUMN", help="The other score, where each row holds a pair."),
    click.option("--bins", type=click.IntRange(2, 1000), default=_DEFAULT.bins, show_default=True, help="Score bins of equal width."),
    click.option("--min-mass", type=click.FloatRange(0, 1), default=_DEFAULT.min_mass, show_default=True, help="Smallest share of the rows that makes a subgroup; of a large file never fewer than 50 rows."),
    *format_options,
)  # fmt: skip


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument FILE and the options about it; the command gets them as ``file`` and ``options``."""

    @wraps(command)
    def with_options(**given: Any) -> Any:
        options = FileOptions(**{one.name: given.pop(one.name) for one in fields(FileOptions)})
        return command(options=options, **given)

    result: Callable[..., Any] = with_options
    for option in reversed(_OPTIONS):
        result = option(result)
    return click.argument("file", type=click.Path())(result)


quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress and no remarks on stderr.")
format_option = click.option(
    "--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True, help="What is printed."
)  # fmt: skip
