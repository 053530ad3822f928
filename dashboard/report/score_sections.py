"""Sections about the score as it is: verdict, numbers, diagram, subgroups, gate, assumptions, data."""

from __future__ import annotations

import pandas as pd

from calcore import verdicts
from calcore.meanings import MEANINGS
from dashboard import noise_verdicts, services
from dashboard import wording as w
from dashboard.charts.gate import gate_chart
from dashboard.charts.heatmap import cell_heatmap
from dashboard.charts.reliability import reliability_chart
from dashboard.report.blocks import Banner, Block, Bullets, Drawn, Facts, Section, Table, Text
from dashboard.services import Analysis

#: As many subgroups as a heatmap on one page of A4 has room for.
GROUPS_DRAWN = 24


def verdict(found: Analysis) -> Section:
    scores = services.headline_scores(found)
    overall = verdicts.overall(services.audit_of(found), scores["AUC"])
    return Section("verdict", "Verdict", [Banner(overall), *numbers(found)])


def numbers(found: Analysis) -> list[Block]:
    """The headline numbers, each with its interval and its rows."""
    audit, scores = services.audit_of(found), services.headline_scores(found)
    error = audit.error
    rows = [
        (
            "Calibration error (ECE)",
            w.error(error.value),
            w.interval(error.interval),
            w.count(error.n),
            f"chance alone gives up to {w.error(error.noise_limit)}",
        )
    ]
    for title, name in (("Brier score", "Brier"), ("Log loss", "log loss"), ("Ranking (AUC)", "AUC")):
        one = scores[name]
        possible = name != "AUC" or 0 <= one.value <= 1
        rows.append(
            (
                title,
                w.error(one.value) if possible else w.MISSING,
                w.interval(one.interval),
                w.count(one.n),
                "; ".join(one.notes),
            )
        )
    rows.append(
        ("Event rate", w.estimated(audit.base_rate), _event_rate_interval(found), w.count(audit.n), "")
    )
    rows.append(("Mean score", w.rate(audit.mean_score), w.MISSING, w.count(audit.n), ""))
    table = Table.of(
        pd.DataFrame(rows, columns=["Number", "Value", "95 % interval", "Rows", "Note"]),
        f"The score in numbers, measured {services.measured_words(found)}",
    )
    return [
        table,
        Text(
            f"Measured {services.measured_words(found)}. A gap is called wrong only if it is significant and beyond "
            f"the tolerance of {w.points(audit.tolerance)}.",
            quiet=True,
        ),
    ]


def _event_rate_interval(found: Analysis) -> str:
    """That of one bin with all scores in it."""
    whole = services.reliability_of(found, "Identity", 1, "width", None)
    return w.rates(max(float(whole.lower[0]), 0.0), min(float(whole.upper[0]), 1.0))


def diagram(found: Analysis) -> Section:
    audit = services.audit_of(found)
    chart = reliability_chart([("Score", audit.reliability)], tolerance=audit.tolerance)
    said = f"{w.rows(audit.reliability.n)}; intervals 95 % ({audit.reliability.method})."
    return Section("reliability", "Reliability", [Drawn("reliability", chart), Text(said, quiet=True)])


def subgroups(found: Analysis) -> Section:
    audit = services.audit_of(found)
    if not audit.groups:
        return Section("subgroups", "Subgroups", [Text(w.no_subgroups(bool(found.choice.subgroups)))])
    worst = tuple(verdicts.group_line(group) for group in services.worst_groups(found, 5))
    chart = cell_heatmap(audit.cells, tolerance=audit.tolerance, top=GROUPS_DRAWN)
    blocks: list[Block] = [
        Bullets(worst, "The worst subgroups"),
        Text(w.searched(len(audit.groups), audit.cells_tested), quiet=True),
        Drawn("subgroups", chart),
    ]
    return Section("subgroups", "Subgroups", blocks)


def gate(found: Analysis) -> Section:
    fitted, title = services.gate_of(found), "Do the labels fit the scores?"
    if fitted is None:
        return Section("gate", title, [Text(w.NO_GATE)])
    blocks: list[Block] = []
    rates = services.audited_flip_rates(found.ingested)
    if rates is not None:
        blocks.append(Banner(noise_verdicts.audited(rates)))
    split = services.contradictions_of(found)
    blocks.append(Banner(noise_verdicts.gate(fitted.audit_, split, found.settings.tolerance)))
    blocks.append(Drawn("gate", gate_chart(fitted.audit_, center=fitted.center, width=fitted.width)))
    return Section("gate", title, blocks)


def assumptions(found: Analysis) -> Section:
    """What must hold, and what the numbers would be if it did not quite."""
    audit = services.audit_of(found)
    blocks: list[Block] = [
        Facts(
            (("Labels", MEANINGS[found.settings.labels].answer), ("Measured", services.measured_words(found)))
        ),
        Bullets(audit.assumptions, "The numbers of the score hold if")
        if audit.assumptions
        else Text("The numbers of the score assume nothing beyond the labels."),
    ]
    notes = tuple(f"{note}." for note in found.measured.notes)
    if notes:
        blocks.append(Bullets(notes, "Notes"))
    stated = services.sensitivity_of(found)
    said = tuple(sentence for pair in stated if (sentence := verdicts.sensitivity(*pair)))
    if said:
        blocks.append(Bullets(said, "If what was stated were not quite right"))
    elif not stated:
        blocks.append(
            Text("No stated number moves these results: there is none to be wrong about.", quiet=True)
        )
    return Section("assumptions", "Assumptions and sensitivity", blocks)


def data(found: Analysis) -> Section:
    """What became of the rows of the file; counts alone, no line of it."""
    report, roles = found.ingested.report, found.ingested.roles
    counts = [
        ("Rows read", w.count(report.rows_read)),
        ("Rows kept", w.count(report.rows_kept)),
        ("Rows refused", w.count(report.rows_read - report.rows_kept)),
        ("Scores moved to 0 or 1, a hair outside", w.count(report.clipped)),
        ("Rows without a label", w.count(report.unlabelled)),
        ("Left out of what is measured", w.count(services.left_out(found))),
        ("Score column", roles.score or w.MISSING),
        ("Label column", roles.label or "none"),
        ("Subgroup columns", w.listed(list(roles.groups), 12) or "none"),
    ]
    blocks: list[Block] = [Facts(tuple(counts))]
    if report.refused:
        frame = pd.DataFrame([(one.reason, one.count) for one in report.refused], columns=["Reason", "Rows"])
        blocks.append(Table.of(frame, "Rows refused, by reason"))
    if report.warnings:
        blocks.append(Bullets(report.warnings, "Warnings"))
    return Section("data", "Data quality", blocks)
