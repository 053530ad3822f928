"""Results to draw: small, seeded, with names that a chart could mistake for markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calcore import metrics
from calcore.audit import audit
from calcore.calibrators import GatedLWCal, HistogramBinning, Identity, Isotonic, Platt
from calcore.comparison import compare
from calcore.monitoring import Batching, FixedLimit, Plan, measure_batches, watch
from calcore.observation import Clean
from calcore.subgroups import Membership, make_subgroups

BOLD, LATEX, TEMPLATE = "device = <b>bold</b> & co", "device = $x^2$", "device = %{x} &lt;"


class Sample:
    """Scores that are too high above one half, labels, and three odd subgroups besides the plain ones."""

    def __init__(self, n: int = 4000, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        self.score = rng.random(n).round(3)
        rate = np.where(self.score > 0.5, self.score - 0.15, self.score)
        self.label = (rng.random(n) < rate).astype(float)
        self.noisy = np.where(rng.random(n) < 0.3, 1 - self.label, self.label)
        values = [name.removeprefix("device = ") for name in (BOLD, LATEX, TEMPLATE)]
        self.table = pd.DataFrame(
            {"device": rng.choice(values, n), "region": rng.choice(["north", "south"], n)}
        )
        chosen = make_subgroups(self.table, list(self.table.columns))
        self.membership = Membership.of_subgroups(chosen.subgroups, self.table)
        self.evidence = Clean().evidence(self.score, self.label, groups=self.membership)


@pytest.fixture(scope="session")
def sample():
    return Sample()


@pytest.fixture(scope="session")
def few():
    return Sample(150)


@pytest.fixture(scope="session")
def audited(sample):
    return audit(sample.evidence)


@pytest.fixture(scope="session")
def gate(sample):
    return GatedLWCal().fit(sample.score, sample.noisy).audit_


@pytest.fixture(scope="session")
def comparison(sample):
    """Four calibrators, and one that does not exist here."""
    calibrators = [Identity(), Platt(), Isotonic(), HistogramBinning()]
    made = compare(sample.evidence.without_groups(), calibrators, harm_draws=0)
    first = made.entries[1]
    absent = replace(
        first, name="Absent", title="Absent & gone", metrics={}, differences={}, fit=None, missing="no"
    )
    return replace(made, entries=(*made.entries, absent))


@pytest.fixture(scope="session")
def maps(comparison):
    return [(entry.title, entry.map) for entry in comparison.entries if entry.map is not None]


@pytest.fixture(scope="session")
def many_cells():
    """200 subgroups by 10 bins."""
    rng = np.random.default_rng(0)
    n = 20_000
    score = rng.random(n)
    names = [f"a rather long name of a subgroup, number {i}" for i in range(200)]
    member = Membership.of_masks(rng.random((n, 200)) < 0.3, names)
    label = (rng.random(n) < score).astype(float)
    return metrics.cells(Clean().evidence(score, label, groups=member), 10)


@pytest.fixture(scope="session")
def colors_of():
    """Every colour that a figure names, wherever in it."""

    def found(figure):
        text = json.dumps(json.loads(figure.to_json()))
        return set(re.findall(r'"(#[0-9A-Fa-f]{6}|rgba?\([^)]*\))"', text))

    return found


@pytest.fixture(scope="session")
def watched(sample):
    """Ten months of the sample, the scores too high from the start; the last has no labels, one is too small."""
    rng = np.random.default_rng(0)
    month = rng.choice(10, len(sample.score), p=[0.12] * 4 + [0.02] + [0.1] * 5)
    time = (np.datetime64("2024-01") + month).astype("datetime64[ns]")
    label = np.where(month == 9, np.nan, sample.label)
    evidence = Clean().evidence(sample.score, label, groups=sample.membership)
    plan = Plan(
        Batching("month", min_rows=30),
        reference=2,
        fixed=(FixedLimit("ECE", high=0.01), FixedLimit("gap", low=-0.01)),
    )
    return watch(*measure_batches(plan, sample.score, evidence, time=time))


@pytest.fixture(scope="session")
def unordered(sample):
    """The same by a column with odd names instead of time."""
    plan = Plan(Batching("column", column="device"))
    return watch(*measure_batches(plan, sample.score, sample.evidence, column=sample.table["device"]))
