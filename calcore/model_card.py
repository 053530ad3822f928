"""The model card of a calibration map: what it is, what it was fitted on, what it is good for and what it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calcore import wording as w
from calcore.audit import Audit
from calcore.calibrators import REGISTRY
from calcore.comparison import Comparison, Entry
from calcore.maps import CalibrationMap
from calcore.maps.calibration_map import VERSION
from calcore.observation import ObservationModel
from calcore.verdicts import PARAMETERS, harm, suggested

#: A change of the AUC, or a share of outputs, below this is not worth a sentence.
NOTABLE = 0.001
#: Fewer rows make a map that another sample would draw differently.
FEW_ROWS = 500


@dataclass(frozen=True)
class ModelCard:
    """``facts`` are pairs of name and value; ``uses`` and ``limits`` are sentences."""

    facts: tuple[tuple[str, str], ...]
    uses: tuple[str, ...]
    limits: tuple[str, ...]


def model_card(map_: CalibrationMap, result: Comparison, audit: Audit, filename: str) -> ModelCard:
    """The card of a map that a comparison measured; ``audit`` is that of the score before it."""
    entry = result.entry(map_.calibrator)
    facts = [
        ("Calibrator", f"{entry.title}. {REGISTRY[entry.name].summary}"),
        ("Parameters", _values(map_.parameters) or "none"),
        ("Learned", _learned(map_)),
        ("Map", f"format version {VERSION}, made by calcore {map_.library_version}"),
        ("Checksum of the map", map_.checksum),
        ("Made", map_.created or "time not recorded"),
        ("Fitted on", f"{w.rows(map_.n)} of {filename}"),
        ("SHA-256 of the data", map_.data_sha256 or "not recorded"),
        ("Scores fitted on", f"{w.edge(map_.input_domain[0])} to {w.edge(map_.input_domain[1])}"),
        *_labels(map_.observation["name"], map_.observation["parameters"], map_.observation["assumptions"]),
        ("Measured", _measured(entry, result)),
        ("Against no change", _difference(result, entry)),
        ("Harm", harm(entry)),
        ("Looks at", _inputs(map_)),
    ]
    return ModelCard(tuple(facts), _uses(), tuple(_limits(map_, entry, result, audit)))


def score_card(model: ObservationModel, audit: Audit, filename: str, sha256: str) -> ModelCard:
    """The card where no calibrator was compared: what was audited, and that there is no map to use."""
    facts = [
        ("Calibrator", "none: no comparison was run, and no map was made"),
        ("Measured on", f"{w.rows(audit.n)} of {filename}"),
        ("SHA-256 of the data", sha256),
        *_labels(model.name, model.parameters, model.assumptions),
    ]
    limits = ("This report says how far the scores can be believed; it gives nothing to change them with.",)
    return ModelCard(tuple(facts), (), (*limits, *_of_every_number()))


def _labels(
    name: str, parameters: Mapping[str, Any], assumptions: tuple[str, ...] | list[str]
) -> list[tuple[str, str]]:
    given = [
        f"{PARAMETERS.get(key, key)}: {'not known' if value is None else _value(value)}"
        for key, value in parameters.items()
        if key not in ("column", "origin") or value not in (None, "given")
    ]
    return [
        ("Observation model", name),
        ("Its parameters", "; ".join(given) or "none"),
        ("Holds if", "; ".join(assumptions) or "nothing is assumed"),
    ]


def _values(values: Mapping[str, Any]) -> str:
    """Parameters in a line: "clip 1e-06, knots 4"."""
    return ", ".join(f"{name} {_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return f"({_values(value)})"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_value, value))})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _learned(map_: CalibrationMap) -> str:
    """The few numbers of a formula; tables of knots stay in the map, for they lie at the scores of rows."""
    function = map_.function.to_dict()
    numbers = {
        name: value
        for name, value in function.items()
        if type(value) is float and name not in map_.parameters
    }
    kind = str(function["kind"]).replace("_", " ")
    return f"{kind}: {_values(numbers)}" if numbers else f"{kind}; its numbers are in the map"


def _measured(entry: Entry, result: Comparison) -> str:
    first = entry.metrics["ECE"]
    basis = "against the clean audit labels" if result.basis.case == "audit" else first.basis
    values = [
        f"{name} {w.error(one.value)}"
        + (f" (95 % interval {w.interval(one.interval)})" if one.interval else "")
        for name in ("ECE", "Brier", "log loss", "AUC")
        if (one := entry.metrics[name]) is not None
    ]
    return f"{'; '.join(values)}; {basis}, on {w.rows(first.n)}, each predicted by a map that did not see it"


def _difference(result: Comparison, entry: Entry) -> str:
    if entry.name == result.reference:
        return "this is no change"
    metric = result.ranked_on
    found = entry.differences[metric]
    bounds = f"{w.signed(found.lower)} to {w.signed(found.upper)}"
    return (
        f"{metric} {w.signed(found.value)} ({bounds}, {100 * found.level:.3g} % interval); below 0 is better"
    )


def _inputs(map_: CalibrationMap) -> str:
    columns = _columns(map_)
    if not map_.function.needs_groups:
        return "the score alone"
    return f"the score and {w.listed(columns, 20)}" if columns else "the score and subgroups"


def _columns(map_: CalibrationMap) -> list[str]:
    """The columns that the map's subgroups look at; none where these were given as masks."""
    if any(set(group) == {"name"} for group in map_.subgroups):
        return []
    return sorted({column for group in map_.definitions() for column in group.columns})


def _uses() -> tuple[str, ...]:
    return (
        "For scores of the same model, on cases that arise as those of this file did, where the score is read as "
        "a probability or set against a threshold.",
        "For a check by hand: the JSON with this checksum gives the same numbers to the last bit.",
    )


def _of_every_number() -> tuple[str, ...]:
    return (
        "It says nothing of another model, another population or another time: measure again when any of them changes.",
        "It says nothing of why cases turn out as they do, and is no reason by itself to decide about a person.",
    )


def _limits(map_: CalibrationMap, entry: Entry, result: Comparison, audit: Audit) -> list[str]:
    found = [*_of_every_number(), *_unproven(entry, result, audit)]
    low, high = map_.input_domain
    if low > 0.01 or high < 0.99:
        found.append(
            f"No score below {w.edge(low)} or above {w.edge(high)} was seen: there the map only continues."
        )
    if map_.n < FEW_ROWS:
        found.append(f"Fitted on {w.rows(map_.n)} only: another sample would give another map.")
    if map_.function.needs_groups:
        found.append(
            f"Needs {w.listed(_columns(map_), 20) or 'subgroups'} of every case, written as in this file."
        )
    elif audit.level == "subgroup":
        wrong = [group.group for group in audit.groups if group.wrong]
        found.append(f"Changes every subgroup alike: what is off for {w.listed(wrong, 2)} alone stays off.")
    elif audit.groups:
        found.append("Changes every subgroup alike: look at the subgroups again on its scores.")
    if entry.auc_change < -NOTABLE:
        found.append(f"Changes the order of cases: AUC {w.signed(entry.auc_change)}.")
    if entry.share_at_ends > NOTABLE:
        found.append(
            f"Gives exactly 0 or 1 to {w.rate(entry.share_at_ends)} of rows, which no sample can be sure of."
        )
    return [*found, *(f"{warning[:1].upper()}{warning[1:]}." for warning in map_.warnings)]


def _unproven(entry: Entry, result: Comparison, audit: Audit) -> list[str]:
    """Whether the map was shown to help at all."""
    if entry.name == result.reference:
        return ["It changes nothing: what is said of the scores above holds after it."]
    if result.basis.ranked == "no":
        return ["Not shown to help: these labels allow no ranking. Check a random sample of labels first."]
    metric, found = result.ranked_on, []
    if not entry.differences[metric].upper < 0:
        found.append(f"Not shown to help: its {metric} is not clearly below that of no change.")
    if result.basis.ranked == "indicative":
        found.append(result.basis.sentence)
    other = suggested(result)
    if other not in (entry.name, result.reference):
        found.append(f"Not the one that the comparison suggests, which is {result.entry(other).title}.")
    return found
