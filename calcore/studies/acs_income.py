"""WLMC on ACSIncome, naive Bayes, positive-unlabelled labels: python -m calcore.studies.acs_income FOLDER

40 % of the rows train the model, 40 % are seen as PU (half of them unlabelled, the positives of the other half), the
rest judges with its true labels. Defaults of the patched form were chosen on seeds 0-4; seeds 10-19 are reported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from calcore import metrics
from calcore.calibrators import WLMC, Calibrator, Isotonic, PatchedWLMC, Platt
from calcore.evidence import Evidence
from calcore.observation import PU, Clean
from calcore.subgroups import Membership, make_subgroups
from calcore.validation import Floats

REPORTED = range(10, 20)
LABEL = "PINCP_gt_50k"
GROUPS = ("SEX", "RAC1P", "MAR", "AGE")
MIN_MASS = 0.01


@dataclass(frozen=True, eq=False)
class Split:
    """One seed: the weak evidence that methods are fitted on, the clean one that judges, and its subgroups."""

    weak: Evidence
    oracle: Evidence


@dataclass(frozen=True)
class Row:
    """One method, means over seeds, x 100: oracle ECE, maxECE (mass above .01), MC and Brier; rounds taken."""

    name: str
    ece: float
    max_ece: float
    mc: float
    brier: float
    rounds: float


def load(folder: Path) -> tuple[Floats, Floats, Membership]:
    """Features (n, d), labels (n,), and subgroups by sex, race, marital status and age with their pairs."""
    table = pd.read_parquet(folder / "acsincome_ca2018_40pct.parquet")
    label = table[LABEL].to_numpy(dtype=float)
    features = table.drop(columns=[LABEL, "folktables_index", "split"]).to_numpy(dtype=float)
    ages = pd.cut(table["AGEP"], [0, 25, 35, 45, 55, 65, 200]).astype(str)
    chosen = make_subgroups(table.assign(AGE=ages), GROUPS, min_mass=MIN_MASS, cap=100)
    assert chosen.membership is not None
    return features, label, chosen.membership


def split(features: Floats, label: Floats, member: Membership, seed: int) -> Split:
    """Train, hide labels, keep the rest for judging."""
    order = np.random.default_rng(seed).permutation(label.size)
    train, correction, test = np.split(order, [int(0.4 * label.size), int(0.8 * label.size)])
    score = GaussianNB().fit(features[train], label[train]).predict_proba(features)[:, 1]
    unlabelled, other = np.array_split(correction, 2)
    positive = other[label[other] == 1]
    rows = np.concatenate([positive, unlabelled])
    source = np.repeat(["positive", "unlabelled"], [positive.size, unlabelled.size])
    weak = PU(float(label[correction].mean())).evidence(score[rows], source=source, groups=member.take(rows))
    return Split(weak, Clean().evidence(score[test], label[test], groups=member.take(test)))


def judged(splits: Sequence[Split], name: str, method: Calibrator | None) -> Row:
    """Fit on the weak evidence of each split and measure on its clean one."""
    found = []
    for one in splits:
        score, rounds = one.oracle.score, 0
        if method is not None:
            fitted = method.fit(one.weak)
            score = fitted.predict(score, one.oracle.membership)
            rounds = len(getattr(fitted, "audit_", None).rounds) if hasattr(fitted, "audit_") else 0  # type: ignore[union-attr]
        moved = one.oracle.with_score(score)
        table = metrics.cells(moved, 10)
        large = table.group_mass[1:] > MIN_MASS
        found.append(
            [
                np.abs(table.moment[0]).sum(),
                table.group_error[1:][large].max(),
                np.abs(table.moment[1:]).max(),
                metrics.brier(moved).value,
                rounds / 100,
            ]
        )
    return Row(name, *(100 * np.mean(found, axis=0)).tolist())


def study(folder: Path, seeds: Sequence[int] = REPORTED) -> list[Row]:
    """Before, WLMC as in the paper, its patched form, and two methods that know no subgroups."""
    features, label, member = load(folder)
    splits = [split(features, label, member, seed) for seed in seeds]
    methods: list[tuple[str, Calibrator | None]] = [
        ("before", None),
        ("WLMC as in the paper", WLMC()),
        ("WLMC, patched", PatchedWLMC()),
        ("Platt", Platt()),
        ("Isotonic", Isotonic()),
    ]
    return [judged(splits, name, method) for name, method in methods]


def main(folder: Path) -> None:
    rows = study(folder)
    print(f"ACSIncome, naive Bayes, PU, seeds {REPORTED.start}-{REPORTED.stop - 1}; oracle values x 100")
    print(f"{'':22} {'ECE':>6} {'maxECE':>7} {'MC':>6} {'Brier':>7} {'rounds':>7}")
    for row in rows:
        print(
            f"{row.name:22} {row.ece:6.2f} {row.max_ece:7.2f} {row.mc:6.2f} {row.brier:7.2f} {row.rounds:7.1f}"
        )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m calcore.studies.acs_income FOLDER")
    main(Path(sys.argv[1]))
