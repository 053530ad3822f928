"""A session of the dashboard without a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
VIEWS = ["data", "overview", "reliability", "subgroups", "noise", "compare", "over_time", "export"]


@pytest.fixture
def app() -> AppTest:
    """The app at its landing page."""
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
    return at.run()


@pytest.fixture
def few_calibrators(monkeypatch):
    """Compare starts with three quick calibrators: for tests that are about what they are measured on."""
    monkeypatch.setattr("calcore.usual_calibrators.NOISE_AWARE", ("Identity", "LWCal", "Platt"))


def csv_bytes(
    n: int = 400, seed: int = 0, flips: float = 0.0, header: str = "score,label,region", power: float = 1.0
) -> bytes:
    """Scores with labels drawn from them (from their ``power``, so that above 1 they are too high), and a region."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    label = (rng.random(n) < score**power).astype(int)
    label = np.where(rng.random(n) < flips, 1 - label, label)
    region = rng.choice(["north", "south"], n)
    rows = [f"{s:.4f},{y},{r}" for s, y, r in zip(score, label, region, strict=True)]
    return "\n".join([header, *rows, ""]).encode()


def upload(at: AppTest, data: bytes, name: str = "scores.csv") -> AppTest:
    return at.file_uploader(key="upload").upload(name, data, "text/csv").run()


def messages(at: AppTest) -> str:
    """Everything the page says in boxes and captions."""
    boxes = (at.success, at.warning, at.error, at.info, at.caption)
    return " ".join(part.value for kind in boxes for part in kind).replace("\\", "")


def of_file(at: AppTest, kind: str, name: str):
    """The widget ``name`` that belongs to the open file: its key ends in the file's fingerprint."""
    return next(one for one in getattr(at, kind) if str(one.key).startswith(f"{name}-"))
