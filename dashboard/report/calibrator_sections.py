"""Sections about what would change the score: the comparison, the chosen map, and its model card."""

from __future__ import annotations

from dataclasses import dataclass

from calcore import verdicts
from calcore.comparison import Comparison
from calcore.comparison_table import comparison_table
from calcore.maps import CalibrationMap
from calcore.model_card import ModelCard, model_card, score_card
from dashboard import services
from dashboard import wording as w
from dashboard.charts.comparison import differences_chart
from dashboard.charts.maps import maps_chart
from dashboard.charts.reliability import reliability_chart
from dashboard.report.blocks import Banner, Block, Bullets, Caution, Drawn, Facts, Section, Table, Text
from dashboard.services import Analysis

NO_COMPARISON = "No comparison was run: this report holds no calibrator, no map and no harm check."


@dataclass(frozen=True, eq=False)
class Chosen:
    """A comparison, the name of the calibrator that was chosen from it, and the map as it is exported."""

    compared: Comparison
    name: str
    map: CalibrationMap


def comparison(found: Analysis, chosen: Chosen | None) -> Section:
    if chosen is None:
        return Section("comparison", "Comparison of calibrators", [Text(NO_COMPARISON)])
    result = chosen.compared
    ranked = "not ranked" if result.basis.ranked == "no" else f"ranked on {result.ranked_on}"
    blocks: list[Block] = [
        Banner(verdicts.comparison(result)),
        Text(verdicts.advice(result, services.audit_of(found))),
        Table.of(comparison_table(result), f"Calibrators, {ranked}"),
        Text(
            f"{ranked[:1].upper()}{ranked[1:]}. Measured {services.measured_words(found)} on {w.rows(result.measured.n)}, "
            f"{result.folds} folds; intervals 95 %, in brackets. Lower is better, except AUC. Harm: how far the method "
            "moves scores that are right. AUC change: less that of no change, on the same rows.",
            quiet=True,
        ),
    ]
    if found.calibration is not found.evidence:
        blocks.append(Text("Fitted on corrected labels, measured on others.", quiet=True))
    missing = tuple(f"{entry.title}: {entry.missing}." for entry in result.entries if entry.missing)
    if missing:
        blocks.append(Bullets(missing, "Not compared"))
    blocks.append(Drawn("differences", differences_chart(result, result.ranked_on)))
    return Section("comparison", "Comparison of calibrators", blocks)


def chosen_map(found: Analysis, chosen: Chosen) -> Section:
    """The calibrator that leaves: its diagram out of fold, its map, and what to be warned of."""
    result, entry, map_ = chosen.compared, chosen.compared.entry(chosen.name), chosen.map
    audit = services.audit_of(found)
    blocks: list[Block] = [Text(verdicts.harm(entry))]
    blocks += [Caution(f"{warning[:1].upper()}{warning[1:]}.") for warning in map_.warnings]
    if chosen.name != result.reference:
        after = services.reliability_after(found, result, chosen.name)
        curves = [("Score", audit.reliability), (entry.title, after)]
        blocks.append(Drawn("reliability-after", reliability_chart(curves, tolerance=audit.tolerance)))
        blocks.append(
            Text(f"{entry.title} is drawn at predictions for rows that it was not fitted on.", quiet=True)
        )
    if map_.function.needs_groups:
        blocks.append(Text(f"{entry.title} differs between subgroups: it has no single curve."))
    else:
        scores, weight = found.evidence.score, found.evidence.covariate_weight
        blocks.append(Drawn("map", maps_chart([(entry.title, map_)], scores, weight, grid_only=True)))
        blocks.append(Text("The map is drawn at 201 even steps; the exported one is exact.", quiet=True))
    return Section("map", f"Chosen calibrator: {entry.title}", blocks)


def card(found: Analysis, chosen: Chosen | None) -> Section:
    made = _card(found, chosen)
    blocks: list[Block] = [Facts(made.facts)]
    if made.uses:
        blocks.append(Bullets(made.uses, "For whom, and when"))
    blocks.append(Bullets(made.limits, "When not to use it, and its limits"))
    return Section("card", "Model card", blocks)


def _card(found: Analysis, chosen: Chosen | None) -> ModelCard:
    report, audit = found.ingested.report, services.audit_of(found)
    if chosen is None:
        return score_card(found.measured.model, audit, report.filename, report.sha256)
    return model_card(chosen.map, chosen.compared, audit, report.filename)
