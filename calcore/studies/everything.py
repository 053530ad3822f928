"""Every observation model x calibrator x metric: python -m calcore.studies.everything

Simulated data of each observation model; each calibrator is fitted on one sample and measured on another. A cell
is a number, or "does not exist" with its reason; numbers in brackets are errors no larger than what a calibrated
score would show by chance. Exits with 1 if anything raised.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calcore import metrics
from calcore.calibrators import REGISTRY
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.observation import ObservationModel
from calcore.studies.simulation import observation_models, observe, skewed

#: Shares of the levels of two attributes whose levels are subgroups.
ATTRIBUTES = ((0.5, 0.3, 0.2), (0.7, 0.3))
BINS = 10
DRAWS = 2000


@dataclass(frozen=True)
class Entry:
    """One cell: its ``value``, or why it is not there: it does not exist (``reason``), or something ``raised``.

    ``by_chance``: a binned error that a calibrated score would show too.
    """

    model: str
    calibrator: str
    metric: str
    value: float | None = None
    reason: str | None = None
    raised: str | None = None
    by_chance: bool = False


def event_rate(evidence: Evidence) -> metrics.Estimate:
    """The event rate of the heaviest bin of the reliability diagram, as an estimate without interval."""
    found = metrics.reliability(evidence, BINS)
    whole = metrics.brier(evidence)
    value = float(found.event_rate[int(np.argmax(found.mass))])
    return metrics.Estimate(
        name="event rate",
        value=value,
        interval=None,
        standard_error=None,
        n=whole.n,
        dropped=whole.dropped,
        clipped=whole.clipped,
        basis=whole.basis,
        assumptions=whole.assumptions,
        notes=("no bin holds mass",) if np.isnan(value) else (),
    )


def worst_group(evidence: Evidence, metric: Callable[[Evidence], metrics.Estimate]) -> metrics.Estimate:
    """``metric`` in the subgroup where it is worst."""
    found = metrics.by_group(evidence, metric, 0.01)
    if found.worst_estimate is None:
        raise DoesNotExist(found.note)
    return found.worst_estimate


#: Every metric by its heading.
METRICS: dict[str, Callable[[Evidence], metrics.Estimate]] = {
    "event rate": event_rate,
    "ECE": lambda evidence: metrics.ece(evidence, BINS),
    "adapt. ECE": lambda evidence: metrics.adaptive_ece(evidence, BINS),
    "MCE": lambda evidence: metrics.mce(evidence, BINS),
    "classw. ECE": lambda evidence: metrics.classwise_ece(evidence, BINS),
    "maxECE": lambda evidence: metrics.max_ece(evidence, BINS),
    "MC": lambda evidence: metrics.multicalibration_error(evidence, BINS),
    "Brier": metrics.brier,
    "log loss": metrics.log_loss,
    "AUC": metrics.auc,
    "macro-F1": metrics.macro_f1,
    "sweep ECE": metrics.sweep_ece,
    "debias. ECE": lambda evidence: metrics.debiased_ece(evidence, BINS),
    "smooth ECE": metrics.smooth_ece,
    "ECCE": metrics.ecce,
    "ECCE range": metrics.ecce_range,
    "Spiegelh. z": metrics.spiegelhalter,
    "Hosmer-L.": metrics.hosmer_lemeshow,
    "slope": metrics.calibration_slope,
    "intercept": metrics.calibration_intercept,
    "slope test": metrics.recalibration_test,
    "MCB Brier": metrics.score_decomposition,
    "MCB log": lambda evidence: metrics.score_decomposition(evidence, "log loss"),
    "net benefit": metrics.net_benefit,
    "cost": metrics.expected_cost,
    "worst Brier": lambda evidence: worst_group(evidence, metrics.brier),
}


def run(n: int = DRAWS, seed: int = 0, models: Sequence[str] = ()) -> tuple[Entry, ...]:
    """All cells (of the named ``models``), with ``n`` draws from each source to fit on and as many to measure on."""
    population = skewed(ATTRIBUTES)
    found: list[Entry] = []
    for position, (name, model) in enumerate(observation_models(population.prior).items()):
        if models and name not in models:
            continue
        if models and name not in models:
            continue
        rng = np.random.default_rng([seed, position])
        train, test = (observe(model, population, rng, n) for _ in range(2))
        for calibrator in REGISTRY:
            found += _measured(name, model, calibrator, train, test)
    return tuple(found)


def _measured(
    name: str, model: ObservationModel, calibrator: str, train: Evidence, test: Evidence
) -> list[Entry]:
    try:
        fitted = REGISTRY[calibrator]().fit(train)
        scored = test.with_score(fitted.predict(test.score, test.membership))
    except DoesNotExist as error:
        return [Entry(name, calibrator, metric, reason=str(error)) for metric in METRICS]
    except Exception as error:
        return [Entry(name, calibrator, metric, raised=repr(error)) for metric in METRICS]
    return [_cell(name, calibrator, metric, scored) for metric in METRICS]


def _cell(name: str, calibrator: str, metric: str, evidence: Evidence) -> Entry:
    try:
        found = METRICS[metric](evidence)
    except DoesNotExist as error:
        return Entry(name, calibrator, metric, reason=str(error))
    except Exception as error:
        return Entry(name, calibrator, metric, raised=repr(error))
    if np.isfinite(found.value):
        by_chance = isinstance(found, metrics.CalibrationError) and not found.beyond_chance
        return Entry(name, calibrator, metric, value=float(found.value), by_chance=by_chance)
    if not found.notes:
        return Entry(name, calibrator, metric, raised=f"{found.value!r} without a reason")
    return Entry(name, calibrator, metric, reason=found.notes[-1])


def told(entries: Sequence[Entry]) -> str:
    """A table for each observation model, rows calibrators and columns metrics; reasons are written once."""
    lines: list[str] = []
    for model in dict.fromkeys(entry.model for entry in entries):
        lines += [f"\n{model}", f"  {'':18}" + "".join(f"{metric:>11} " for metric in METRICS)]
        for calibrator in dict.fromkeys(entry.calibrator for entry in entries):
            row = [entry for entry in entries if (entry.model, entry.calibrator) == (model, calibrator)]
            missing = {entry.reason for entry in row}
            if len(missing) == 1 and None not in missing:
                lines.append(f"  {calibrator:18} does not exist: {row[0].reason}")
                continue
            lines.append(f"  {calibrator:18}" + "".join(f"{_short(entry):>12}" for entry in row))
            lines += [
                f"  {'':18} {entry.metric} does not exist: {entry.reason}" for entry in row if entry.reason
            ]
    numbers = sum(entry.value is not None for entry in entries)
    absent = sum(entry.reason is not None for entry in entries)
    raised = [entry for entry in entries if entry.raised is not None]
    lines.append(
        f"\n{len(entries):,} cells: {numbers:,} numbers, {absent:,} that do not exist, {len(raised):,} that raised"
    )
    lines += [f"  {entry.model}, {entry.calibrator}, {entry.metric}: {entry.raised}" for entry in raised]
    return "\n".join(lines).lstrip("\n")


def _short(entry: Entry) -> str:
    if entry.raised is not None:
        return "RAISED"
    if entry.value is None:
        return "n/a"
    return f"({entry.value:.4f})" if entry.by_chance else f"{entry.value:.4f} "


def main() -> int:
    entries = run()
    print(told(entries))
    return int(any(entry.raised is not None for entry in entries))


if __name__ == "__main__":
    sys.exit(main())
