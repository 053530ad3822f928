"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _shared() -> Path | None:
    root = Path(os.environ.get("CALCORE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    return root if (root / "golden").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with golden numbers and real files that lies beside a checkout, where there is one."""
    root = _shared()
    if root is None:
        pytest.skip("the folder of golden numbers and real data (CALCORE_SHARED) is not here")
    return root
