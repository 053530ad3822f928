"""How a command ends: an exit code, and one sentence on stderr where something is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from calcore.errors import InputError

GOOD, WRONG, UNUSABLE, CANNOT_TELL = 0, 1, 2, 3
#: What a shell reports of a program whose reader went away (128 + SIGPIPE), and of one that was interrupted.
_PIPE_CLOSED, _INTERRUPTED = 141, 130


class SentenceGroup(click.Group):
    """A group whose commands never end in a traceback for something that the user gave."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal without a dash still gets the numbers
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (click.exceptions.Abort, KeyboardInterrupt):
            _say("Interrupted")
            code = _INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help(), err=True)
            code = UNUSABLE
        except click.ClickException as error:
            _say(error.format_message())
            code = UNUSABLE
        except InputError as error:
            _say(str(error))
            code = UNUSABLE
        except BrokenPipeError:
            # whatever is still buffered has no reader: the interpreter must not try again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = _PIPE_CLOSED
        except OSError as error:
            where = f"{error.filename} " if error.filename else ""
            _say(f"{where}cannot be used: {error.strerror or error}")
            code = UNUSABLE
        except MemoryError:
            _say("The file does not fit into memory: take a random sample of its rows")
            code = UNUSABLE
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else GOOD)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click would end with 1, which means "not calibrated" here
            raise _Closed from error


class _Closed(BrokenPipeError):
    """A pipe that was closed, without the number by which click would take it for its own."""


def _say(sentence: str) -> None:
    text = " ".join(sentence.split())
    if sys.stderr is None:
        return  # closed: the exit code alone speaks
    start = "\r\033[K" if sys.stderr.isatty() else ""  # over a line of progress
    with suppress(OSError, ValueError):  # a full or closed stderr must not change the exit code
        click.echo(f"{start}Error: {text}" + ("" if text.endswith((".", "?", "!")) else "."), err=True)
