"""Runs of the command line inside of the tests."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from calcore.cli import main

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments, code=None):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), (
        result.exception
    )
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    """The one sentence on stderr of a run that must end with 2."""
    result = run(*arguments, code=2)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, "one sentence"
    return result.stderr
