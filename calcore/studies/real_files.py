"""From a real file to an exported map: python -m calcore.studies.real_files FOLDER

Two files that users have: CIFAR-10 (two networks' probabilities beside counts of human votes: one random vote is
the noisy label of "cat against the rest", the gold label the audit column) and UCI credit default (a
gradient-boosting model trained on half of the rows, the other half scored).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from calcore import ingest
from calcore.audit import Audit, audit
from calcore.calibrators import REGISTRY
from calcore.comparison import Comparison, compare
from calcore.evidence import Evidence
from calcore.maps import CalibrationMap, verify_json, verify_python
from calcore.observation import Clean, Noisy
from calcore.subgroups import make_subgroups

CAT = 3
CREDIT_LABEL = "default payment"


@dataclass(frozen=True, eq=False)
class Journey:
    """One file's way: what was read, the audit, the comparison, and the map that came back from its JSON."""

    report: ingest.IngestReport
    audit: Audit
    comparison: Comparison
    map: CalibrationMap
    exact: bool


def cifar_cats(folder: Path, network: str = "wrn", seed: int = 0) -> bytes:
    """A CSV of P(cat), one random human vote "cat or not" as the label, the gold label as audit column."""
    table = pd.read_parquet(folder / "cifar10_test_models_x_human.parquet")
    votes = table[[f"human_{c}" for c in range(10)]].to_numpy(dtype=float)
    share = votes[:, CAT] / votes.sum(axis=1)
    vote = np.random.default_rng(seed).random(len(table)) < share
    return _csv(
        {
            "score": table[f"p_{network}_{CAT}"].to_numpy(dtype=float).clip(0, 1),
            "label": vote.astype(int),
            "audit_label": (table["y"] == CAT).to_numpy(dtype=int),
        }
    )


def credit_default(folder: Path, seed: int = 0) -> bytes:
    """A CSV of default scores for the half of the rows that the model did not see, with its group columns."""
    table = pd.read_csv(folder / "uci_credit_default.csv")
    label_column = next(name for name in table.columns if CREDIT_LABEL in name)
    label = table[label_column].to_numpy(dtype=int)
    features = table.drop(columns=[label_column, *(name for name in ("ID",) if name in table)])
    seen = np.random.default_rng(seed).random(len(table)) < 0.5
    model = HistGradientBoostingClassifier(random_state=seed).fit(features[seen], label[seen])
    rest = table[~seen]
    return _csv(
        {
            "score": model.predict_proba(features[~seen])[:, 1],
            "label": label[~seen],
            **{name: rest[name].to_numpy() for name in ("SEX", "EDUCATION", "MARRIAGE")},
        }
    )


def travel(data: bytes, filename: str, noisy: bool) -> Journey:
    """The way of a file: read, audit, compare, export the calibrator that does best, read it back."""
    read = ingest.read(data, filename=filename)
    columns = read.columns
    membership = make_subgroups(columns.groups, list(columns.groups.columns)).membership
    model = Noisy() if noisy else Clean()
    evidence = model.evidence(columns.score, columns.label, groups=membership)
    checked: Evidence | None = None
    if columns.audit is not None:
        checked = Clean().evidence(columns.score, columns.audit, groups=membership)
    result = compare(evidence, [method() for method in REGISTRY.values()], audit=checked)
    best = min(
        (entry for entry in result.entries if entry.missing is None),
        key=lambda entry: entry.metrics[result.ranked_on].value,
    )
    assert best.map is not None
    text = best.map.to_json()
    back = CalibrationMap.from_json(text)
    exact = bool((back.predict(columns.score) == best.map.predict(columns.score)).all())
    exact &= verify_json(back, columns.score).ok and verify_python(back, columns.score).ok
    return Journey(read.report, audit(checked or evidence), result, back, exact)


def told(name: str, journey: Journey) -> str:
    """The numbers of a journey, as text."""
    found = journey.audit
    lines = [
        f"{name}: {journey.report.sentence()}",
        f"  ECE {found.error.value:.4f} [{found.error.interval[0]:.4f}, {found.error.interval[1]:.4f}]"  # type: ignore[index]
        f" (chance up to {found.error.noise_limit:.4f}), {found.level}, {len(found.groups)} subgroups",
        f"  {journey.comparison.verdict}",
        f"  exported: {journey.map.calibrator}, n = {journey.map.n:,}, read back exactly: {journey.exact}",
        f"  {'':18} {'ECE':>7} {'Brier':>7} {'logloss':>8} {'AUC':>7} {'harm n':>7} {'20,000':>7}",
    ]
    for entry in journey.comparison.entries:
        if entry.missing is None and entry.harm is not None:
            values = [entry.metrics[metric].value for metric in ("ECE", "Brier", "log loss", "AUC")]
            lines.append(
                f"  {entry.title:18} {values[0]:7.4f} {values[1]:7.4f} {values[2]:8.4f} {values[3]:7.4f}"
                f" {entry.harm.at_n:7.4f} {entry.harm.at_large:7.4f}"
            )
    return "\n".join(lines)


def _csv(columns: dict[str, np.ndarray]) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()


def main(folder: Path) -> None:
    for network in ("wrn", "lenet"):
        data = cifar_cats(folder, network)
        print(
            told(f"CIFAR-10 cats, {network}, one human vote", travel(data, f"cats_{network}.csv", noisy=True))
        )
    print(told("UCI credit default", travel(credit_default(folder), "credit.csv", noisy=False)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m calcore.studies.real_files FOLDER")
    main(Path(sys.argv[1]))
