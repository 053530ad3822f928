"""The section about the score over time: alerts in sentences, the headline series, and how the batches were watched."""

from __future__ import annotations

from calcore.monitoring import Watch
from calcore.monitoring.caveats import estimates
from calcore.monitoring.sentences import batching_words, of_alert, reference_words, verdict
from dashboard import wording as w
from dashboard.charts.over_time import series_chart
from dashboard.report.blocks import Banner, Block, Bullets, Drawn, Facts, Section, Text

#: Alerts with a box of their own, and how many sentences are listed after them.
BOXES, LISTED = 3, 20
HEADLINES = ("ECE", "gap")


def over_time(watched: Watch) -> Section:
    found = verdict(watched)
    blocks: list[Block] = [Banner(found), *(Text(note, quiet=True) for note in found.notes)]
    blocks += [Banner(of_alert(alert)) for alert in watched.alarming[1:BOXES]]
    others = [*watched.alarming[BOXES:], *(one for one in watched.alerts if one.severity != "alert")]
    if others:
        said = [one.sentence for one in others[:LISTED]]
        if len(others) > LISTED:
            said.append(f"{w.count(len(others) - LISTED)} more are on the page Over time.")
        blocks.append(Bullets(tuple(said), "More alerts, and notices"))
    for metric in HEADLINES:
        blocks.append(Drawn(f"over-time-{metric.lower()}", series_chart(watched, metric)))
        said_of = estimates(watched, metric)
        if said_of:
            blocks.append(Text(said_of, quiet=True))
    plan = (
        ("A batch is", batching_words(watched.plan)),
        ("Reference period", reference_words(watched)),
        ("Tolerance", w.points(watched.plan.tolerance)),
        ("Labels that complete a batch", w.rate(watched.plan.complete)),
    )
    return Section("over-time", "Over time", [*blocks, Facts(plan)])
