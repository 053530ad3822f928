"""Results to a level and a sentence. Pure functions; every sentence that judges is made here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from calcore.audit import Audit, Gap, GroupFinding
from calcore.calibrators import GateAudit
from calcore.comparison import Comparison, Entry
from calcore.ingest import IngestReport
from dashboard import wording as w


class Level(Enum):
    """How much to worry, always shown as a word and an icon too."""

    GOOD = "Calibrated"
    WATCH = "Look here"
    BAD = "Not calibrated"
    UNKNOWN = "Cannot tell"


@dataclass(frozen=True)
class Verdict:
    """A level, the sentence with its numbers, and what else to know, each a sentence."""

    level: Level
    sentence: str
    notes: tuple[str, ...] = ()
    word: str | None = None

    @property
    def title(self) -> str:
        return self.word or self.level.value


def overall(audit: Audit) -> Verdict:
    """The verdict on a score: what is off, by how much, on how many rows, and what chance would give."""
    prefix = _prefix(audit)
    notes = list(_cautions(audit))
    if audit.level == "wrong":
        worst = audit.wrong_bins[0]
        if len(audit.wrong_bins) > 1:
            notes.insert(
                0,
                f"{len(audit.wrong_bins)} of {audit.chance.cells} tested score bins are off by more than the tolerance.",
            )
        return Verdict(Level.BAD, prefix + _gap_sentence(worst, shape(audit)), tuple(notes))
    if audit.level == "subgroup":
        return Verdict(Level.WATCH, prefix + _subgroup_sentence(audit), tuple(notes))
    if audit.level == "calibrated":
        return Verdict(Level.GOOD, prefix + _calibrated_sentence(audit), tuple(notes))
    return Verdict(Level.UNKNOWN, prefix + _unknown_sentence(audit), tuple(notes))


def _prefix(audit: Audit) -> str:
    """Never a plain statement about labels that are not the outcomes."""
    basis = audit.basis
    return "" if basis == "against the labels" else f"{basis[0].upper()}{basis[1:]}: "


def _cautions(audit: Audit) -> list[str]:
    found = []
    if audit.basis == "against the noisy labels":
        found.append(
            "Flipped labels alone make a right score look wrong: this says how scores and recorded labels differ."
        )
    if audit.decisions_only:
        found.append("These scores are only 0 and 1: they are decisions, not probabilities.")
    elif audit.constant_score:
        found.append("Every row has the same score: there is one point to judge.")
    if audit.reliability.contradiction.any():
        found.append(
            "In some bins the stated rates would need an event rate below 0 or above 1: they contradict the data there."
        )
    return found


def shape(audit: Audit) -> str:
    """The overall pattern of the wrong bins in a phrase."""
    gaps = audit.wrong_bins
    high = [gap for gap in gaps if gap.residual < 0]
    low = [gap for gap in gaps if gap.residual > 0]
    if not low:
        above = min(gap.low for gap in high)
        return "Scores too high" if above == 0 else f"Scores too high above {w.edge(above)}"
    if not high:
        below = max(gap.high for gap in low)
        return "Scores too low" if below == 1 else f"Scores too low below {w.edge(below)}"
    if max(gap.high for gap in low) <= min(gap.low for gap in high) + 1e-9:
        return "Overconfident: scores too extreme at both ends"
    if max(gap.high for gap in high) <= min(gap.low for gap in low) + 1e-9:
        return "Underconfident: scores too close to the middle"
    return "Scores off in both directions"


def _gap_sentence(gap: Gap, pattern: str) -> str:
    return (
        f"{pattern}. Worst from {w.edge(gap.low)} to {w.edge(gap.high)}: predicted {w.rate(gap.mean_score)}, "
        f"observed {w.rate(gap.event_rate)} (95 % interval {w.rates(gap.lower, gap.upper)}, {w.rows(gap.rows)})."
    )


def _side(gap: Gap) -> str:
    return "too high" if gap.residual < 0 else "too low"


def _subgroup_sentence(audit: Audit) -> str:
    wrong = [group for group in audit.groups if group.wrong]
    first = wrong[0]
    assert first.gap is not None
    others = (
        f" {len(wrong) - 1} more {'subgroups are' if len(wrong) > 2 else 'subgroup is'} off too."
        if len(wrong) > 1
        else ""
    )
    return (
        f"Fine overall, not for {first.group}: {w.points(first.gap.residual)} {_side(first.gap)} from "
        f"{w.edge(first.gap.low)} to {w.edge(first.gap.high)} ({w.rows(first.gap.rows)}); the largest of "
        f"{w.count(audit.group_chance.cells)} cells, where chance alone gives up to {w.points(audit.group_chance.limit)}."
        f"{others}"
    )


def _calibrated_sentence(audit: Audit) -> str:
    assert audit.largest is not None
    searched = (
        f" None of {w.count(len(audit.groups))} subgroups is off by more than chance and the tolerance."
        if audit.groups
        else ""
    )
    return (
        f"Calibrated within noise: largest gap {w.points(audit.largest.residual)}, and up to "
        f"{w.points(audit.chance.limit)} is expected by chance at this size.{searched}"
    )


def _unknown_sentence(audit: Audit) -> str:
    rarer, number = (
        ("positives", audit.positives)
        if audit.positives <= audit.negatives
        else ("negatives", audit.negatives)
    )
    size = f"only {w.rows(audit.n)} with about {w.count(max(number, 0))} {rarer}"
    if audit.rows_needed > audit.n:
        return (
            f"{size}. About {w.rows(audit.rows_needed)} would settle a gap of {w.points(audit.resolution)}."
        )
    return f"{size}, and no score bin has enough of them to test."


def group_line(group: GroupFinding) -> str:
    """A subgroup in a line: its largest gap, or why there is none."""
    if group.gap is None:
        return f"{group.group}: too few rows in every bin to test ({w.rows(group.rows)})"
    mark = "off" if group.wrong else "within noise"
    return (
        f"{group.group}: {w.points(group.gap.residual)} {_side(group.gap)} from {w.edge(group.gap.low)} to "
        f"{w.edge(group.gap.high)} ({mark}; {w.rows(group.rows)})"
    )


def gate(audit: GateAudit, suspicious: int) -> Verdict:
    """What the contradiction rate says about the labels, and which calibrator to use."""
    expected = w.rate(audit.expected_d)
    found = f"Labels contradict the scores on {w.rate(audit.d_hat)} of rows ({expected} would be expected if the labels were right and the scores calibrated)"
    look = f" Look at the {w.count(suspicious)} labels listed under Label noise." if suspicious else ""
    if audit.rho == 0:
        return Verdict(
            Level.GOOD, f"{found}: the gate is shut, LWCal's map is used as it is.{look}", word="Gate shut"
        )
    if audit.rho < 1:
        return Verdict(
            Level.WATCH,
            f"{found}: the gate is {w.rate(audit.rho)} open towards the raw score. Use {audit.score}.{look}",
            word="Gate part open",
        )
    return Verdict(
        Level.BAD,
        f"{found}: the gate is fully open, only the raw score is used. {audit.action}{look}",
        word="Gate open",
    )


def data_line(report: IngestReport) -> str:
    """Data quality in a line."""
    parts = [report.sentence() + "."]
    if report.clipped:
        parts.append(f"{w.count(report.clipped)} scores a hair outside 0 to 1 were moved to the end.")
    if report.unlabelled:
        parts.append(f"{w.rows(report.unlabelled)} have no label.")
    return " ".join(parts)


def harm(entry: Entry) -> str:
    """The harm check in a sentence."""
    if entry.harm is None:
        return "The harm check was not run."
    return (
        f"If these scores were right, {entry.title} would move them by {w.points(entry.harm.at_n)} on average "
        f"with {w.rows(entry.harm.n)}, and by {w.points(entry.harm.at_large)} with 20,000."
    )


def comparison(result: Comparison) -> Verdict:
    """Who wins, or why nobody does."""
    if result.basis.ranked == "no":
        return Verdict(Level.UNKNOWN, result.verdict, word="Not ranked")
    if result.winner is None:
        return Verdict(Level.WATCH, result.verdict, (result.basis.sentence,), word="No clear winner")
    return Verdict(Level.GOOD, result.verdict, (result.basis.sentence,), word="Clear winner")


def suggested(result: Comparison) -> str:
    """The calibrator that Export starts with: the winner; else the best that does little harm; else no change.

    On labels that allow no ranking nothing is suggested over the score as it is.
    """
    if result.winner is not None:
        return result.winner
    if result.basis.ranked == "no":
        return "Identity"
    present = [entry for entry in result.entries if entry.missing is None]
    base = result.entry(result.reference)
    better = [
        entry
        for entry in present
        if entry.differences[result.ranked_on if result.ranked_on in entry.differences else "Brier"].upper < 0
        and (entry.harm is None or entry.harm.at_large <= 0.02)
    ]
    return min(better, key=lambda entry: entry.metrics[result.ranked_on].value).name if better else base.name
