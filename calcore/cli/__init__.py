"""The command line: audit a file of scores, compare calibrators, fit a map, apply it, watch a stream.

Exit codes of every command: 0 done (``audit``: calibrated within noise and tolerance; ``monitor``: no open alert), 1 not
calibrated (``audit``) or an open alert (``monitor``), 2 usage or unreadable input, 3 the data cannot tell (``audit``,
``monitor``) or allow no ranking (``compare``).
"""

from __future__ import annotations

import click

from calcore.cli.apply import apply_command
from calcore.cli.audit import audit_command
from calcore.cli.compare import compare_command
from calcore.cli.exits import SentenceGroup
from calcore.cli.fit import fit_command
from calcore.cli.monitor import monitor_command

EPILOG = """\b
Exit codes:
  0  done; audit: calibrated within noise and tolerance
  1  audit: not calibrated, overall or in a subgroup; monitor: an open alert
  2  usage, or input that cannot be read
  3  audit, monitor: the data cannot tell; compare: nothing may be ranked
"""


@click.group(cls=SentenceGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Can a classifier's scores be trusted as probabilities? Reads CSV, TSV, text and Parquet."""


for _command in (audit_command, fit_command, apply_command, compare_command, monitor_command):
    main.add_command(_command)

__all__ = ["main"]
