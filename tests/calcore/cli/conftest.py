"""Files that the commands are tried on."""

from __future__ import annotations

import pytest

from calcore.samples import digits_with_flipped_labels
from tests.dashboard.conftest import csv_bytes


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    def write(content, name="scores.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def calibrated(file):
    return file(csv_bytes(8_000))


@pytest.fixture
def too_high(file):
    return file(csv_bytes(8_000, power=2.0))


@pytest.fixture
def digits(file):
    return file(digits_with_flipped_labels(), "digits.csv")
