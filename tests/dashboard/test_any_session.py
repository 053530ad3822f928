"""Session files that are valid but made for nothing: whatever they say, every page stands and says why it cannot."""

from __future__ import annotations

import hashlib
import random

import pytest

from calcore.ingest import Choices, ClassView, FileFormat, LabelMapping, Roles
from calcore.meanings import MEANINGS
from calcore.monitoring.limits import FixedLimit
from calcore.session import PATCHED, STRATEGIES, ListUsed, Looked, Session
from calcore.settings import Settings
from tests.dashboard.conftest import csv_bytes, upload
from tests.dashboard.test_saved_session import fresh, open_session

NAMES = ("score", "label", "region", "extra", "when", "src", "gone")
MAPPINGS = (
    None,
    LabelMapping(("1",), ("0",)),
    LabelMapping(("0",), ("1",)),
    LabelMapping(("x",), ()),
    LabelMapping((), (), ("1", "0")),
)


def wide() -> bytes:
    head, *rows = csv_bytes(300).decode().splitlines()
    added = [
        f"{i * 37 % 100 / 100},{1 + i % 28:02d}/{1 + i % 12:02d}/2026,{'AB'[i % 2]}" for i in range(len(rows))
    ]
    lines = [f"{row},{more}" for row, more in zip(rows, added, strict=True)]
    return "\n".join([f"{head},extra,when,src", *lines, ""]).encode()


def some_session(data: bytes, r: random.Random) -> Session:
    """Any columns in any roles, any answers, any numbers."""

    def column(share):
        return r.choice(NAMES) if r.random() < share else None

    def some(values, most):
        return tuple(dict.fromkeys(r.choices(values, k=r.randrange(most))))

    def share():
        return r.choice([None, 0.0, 1.0, 0.3, 0.5, r.random()])

    roles = Roles(
        score=r.choice(("score",) * 5 + NAMES),
        label=r.choice(("label",) * 3 + NAMES),
        groups=some(NAMES, 4),
        source=column(0.5),
        **{role: column(0.25) for role in ("audit", "confidence", "weight", "unit", "time")},
    )
    choices = Choices(
        format=r.choice([FileFormat(), FileFormat("utf-16"), FileFormat(None, ";"), FileFormat(header=False)]),
        roles=r.choice([None, roles]),
        score_scale=r.choice([None, None, "percent", "logit", "probability"]),
        label_mapping=r.choice(MAPPINGS),
        audit_mapping=r.choice(MAPPINGS),
        day_first=r.choice([None, True, False]),
        top_groups=r.choice([None, 1, 5]),
        classes=ClassView(("score", "extra"), r.choice(["label", "src", "gone"]), r.choice(["top", "extra", "?"]))
        if r.random() < 0.2
        else None,
        rivals=some(NAMES, 3),
    )  # fmt: skip
    judged = Settings(
        labels=r.choice(list(MEANINGS)),
        **{name: share() for name in ("rho0", "rho1", "prior", "theta1", "theta2", "r_min")},
        source_values=r.choice([(), ("A", "B"), ("A", "A"), ("x", "y"), ("A",)]),
        second_score=column(0.2),
        audit_random=r.random() < 0.5,
        measure_on=r.choice(["labels", "audit"]),
        weighting=r.choice(["importance", "frequency"]),
        tolerance=r.random() / 10,
        bins=r.randrange(2, 41),
        min_mass=r.random() / 10,
    )
    calibrators = ["Identity", "Platt", "LWCal", "Isotonic"]
    looked = Looked(
        r.choice(STRATEGIES),
        r.choice([None, 2, 40]),
        some(calibrators, 4),
        r.choice([None, "region = north", "?"]),
        r.choice(["", "nor", "[*"]),
        r.choice(PATCHED),
        some(calibrators, 4),
        r.choice(["Brier", "MC", "ECE"]),
        r.choice([None, "Platt", "LWCal"]),
        batch_by=r.choice([None, "day", "month", "rows", "column"]),
        batch_size=r.choice([None, 10, 100, 10**8]),
        batch_column=r.choice([None, *NAMES]),
        fewest_rows=r.choice([None, 1, 50, 10**7]),
        complete=r.choice([None, 0, 100]),
        metric=r.choice(["ECE", "gap", "AUC"]),
        reference=r.choice(["first", "range"]),
        reference_first=r.choice([None, 1, 2000]),
        reference_from=r.choice([None, 1, 2000]),
        reference_to=r.choice([None, 1, 2000]),
        fixed_limits=r.choice([(), (FixedLimit("gap", -0.01, 0.01), FixedLimit("ECE", high=0.0))]),
    )
    sha = hashlib.sha256(data).hexdigest() if r.random() < 0.6 else "0" * 64
    lists = (ListUsed("sample", "checked.csv", "1" * 64),) if r.random() < 0.2 else ()
    return Session(sha, "s.csv", 300, choices, roles, judged, looked, lists, r.random() < 0.8, "reliability")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_page_stands(seed):
    data = wide()
    file = some_session(data, random.Random(seed)).to_json().encode()
    at = fresh()
    for step in ("session", "file") if seed % 2 else ("file", "session"):
        at = open_session(at, file) if step == "session" else upload(at, data)
    assert not at.exception
    for view in ("data", "reliability", "subgroups", "overview", "over_time", "compare"):
        at.switch_page(f"views/{view}.py").run()
        assert not at.exception, view
