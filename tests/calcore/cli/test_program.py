"""The program itself: help, exit codes, no warning, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.calcore.cli.runs import ROOT, run


def program(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-m", "calcore", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False, **options)


def test_the_program_runs_without_a_warning_and_ends_with_its_code(too_high):
    done = program("audit", too_high, "--format", "json")
    assert done.returncode == 1
    assert done.stderr == b""
    assert json.loads(done.stdout)["exit_code"] == 1


@pytest.mark.parametrize("command", [(), ("audit",), ("fit",), ("apply",), ("compare",)])
def test_the_help_names_the_exit_codes(command):
    assert "xit code" in run(*command, "--help", code=0).stdout


def test_a_reader_that_goes_away_is_no_verdict(too_high):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = (
        f'"{sys.executable}" -m calcore audit "{too_high}" --format json | true; exit ${{PIPESTATUS[0]}}'
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 141
    assert done.stderr == b""
