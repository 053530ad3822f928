"""Results to a level and a sentence. Pure functions; every sentence that judges is made here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from calcore import wording as w
from calcore.audit import Audit, Gap, GroupFinding
from calcore.calibrators import DEFAULT_NOISY, REGISTRY
from calcore.comparison import Comparison, Entry
from calcore.ingest import IngestReport
from calcore.metrics import Estimate
from calcore.sensitivity import Band


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


def overall(audit: Audit, auc: Estimate | None = None) -> Verdict:
    """The verdict on a score: what is off, by how much, on how many rows, and what chance would give."""
    prefix = _prefix(audit)
    notes = list(_cautions(audit))
    if auc is not None and auc.interval is not None and auc.interval[1] < 0.5:
        notes.insert(
            0,
            f"The score ranks the wrong way round: cases with the event score lower (AUC {w.error(auc.value)}).",
        )
    if audit.level == "contradiction":
        sentence = _contradiction_sentence(audit)
        return Verdict(
            Level.UNKNOWN, sentence, tuple(_cautions(audit)), word="The stated rates contradict the data"
        )
    if audit.level == "wrong":
        worst = audit.wrong_bins[0]
        if len(audit.wrong_bins) > 1:
            notes.insert(
                0,
                f"{len(audit.wrong_bins)} of {audit.bins_tested} tested score bins are off by more than the tolerance.",
            )
        return Verdict(Level.BAD, _joined(prefix, _gap_sentence(worst, shape(audit))), tuple(notes))
    if audit.level == "subgroup":
        return Verdict(Level.WATCH, _joined(prefix, _subgroup_sentence(audit)), tuple(notes))
    if audit.level == "calibrated":
        sentence = _joined(prefix, _calibrated_sentence(audit))
        return Verdict(Level.GOOD, sentence, tuple(notes), word="Calibrated within noise")
    return Verdict(Level.UNKNOWN, _joined(prefix, _unknown_sentence(audit)), tuple(notes))


def _prefix(audit: Audit) -> str:
    """Never a plain statement about labels that are not the outcomes."""
    basis = audit.basis
    return "" if basis == "against the labels" else f"{basis[0].upper()}{basis[1:]}: "


def _joined(prefix: str, sentence: str) -> str:
    return f"{prefix}{sentence[0].lower()}{sentence[1:]}" if prefix else sentence


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
    if audit.level != "contradiction" and audit.reliability.contradiction.any():
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
        f"observed {w.estimated(gap.event_rate)} (95 % interval {w.rates(gap.lower, gap.upper)}, {w.rows(gap.rows)})."
    )


def _contradiction_sentence(audit: Audit) -> str:
    table = audit.reliability
    bad = [j for j in range(len(table)) if table.contradiction[j] and not table.too_few[j]]
    if bad:
        j = max(bad, key=lambda k: abs(table.event_rate[k] - 0.5))
        where = f"scores from {w.edge(table.low[j])} to {w.edge(table.high[j])} would need an event rate of {w.rate(table.event_rate[j])}"
    else:
        where = f"the whole population would need an event rate of {w.rate(audit.base_rate)}"
    return (
        f"With what was said of the labels, {where}. Check the class prior or the flip rates that were given."
    )


def _subgroup_sentence(audit: Audit) -> str:
    wrong = [group for group in audit.groups if group.wrong]
    first = wrong[0]
    assert first.gap is not None
    gap, more = first.gap, len(wrong) - 1
    others = f" {more} more {'subgroups are' if more > 1 else 'subgroup is'} off too." if more else ""
    return (
        f"Fine overall, not for {first.group}: scores from {w.edge(gap.low)} to {w.edge(gap.high)} are "
        f"{w.points(gap.residual)} {w.side(gap.residual)} (predicted {w.rate(gap.mean_score)}, observed "
        f"{w.estimated(gap.event_rate)}, {w.rows(gap.rows)}). {w.count(audit.cells_tested)} cells were searched; chance "
        f"alone would give this one up to {w.points(gap.chance)}.{others}"
    )


def _calibrated_sentence(audit: Audit) -> str:
    assert audit.largest is not None
    searched = ""
    if audit.groups:
        searched = (
            f" None of {w.count(len(audit.groups))} subgroups is off by more than chance and the tolerance."
        )
    return (
        f"Largest gap {w.points(audit.largest.residual)}, and up to "
        f"{w.points(audit.largest.chance)} is expected by chance at this size.{searched}"
    )


def _unknown_sentence(audit: Audit) -> str:
    rarer, number = "positives", audit.positives
    if audit.positives > audit.negatives:
        rarer, number = "negatives", audit.negatives
    size = f"Only {w.rows(audit.n)}"
    if round(audit.positives + audit.negatives) == audit.n:
        # indirect labels come from several samples: positives are counted in none of them
        size += f", about {w.count(max(number, 0))} of them {rarer}"
    if audit.rows_needed > audit.n:
        return (
            f"{size}. About {w.count(audit.rows_needed)} rows would settle an average gap of "
            f"{w.points(audit.resolution)}; a single score range needs more."
        )
    return f"{size}, and no score range has enough of them to test."


def group_line(group: GroupFinding) -> str:
    """A subgroup in a line: its largest gap with the rows that it is from, or why there is none."""
    gap = group.gap
    if gap is None:
        return f"{group.group}: too few rows in every score range to test ({w.rows(group.rows)})"
    mark = "" if group.wrong else "; could be chance"
    return (
        f"{group.group}: scores from {w.edge(gap.low)} to {w.edge(gap.high)} are {w.points(gap.residual)} "
        f"{w.side(gap.residual)} (predicted {w.rate(gap.mean_score)}, observed {w.estimated(gap.event_rate)}, "
        f"{w.rows(gap.rows)}{mark})"
    )


def data_line(report: IngestReport) -> str:
    """Data quality in a line."""
    parts = [report.sentence() + "."]
    if report.clipped:
        parts.append(f"{w.count(report.clipped)} scores a hair outside 0 to 1 were moved to the end.")
    without = report.unlabelled - report.left_out_ties
    if without:
        parts.append(f"{w.rows(without)} {'has' if without == 1 else 'have'} no label.")
    if report.tied:
        parts.append(
            f"{w.rows(report.tied)} with a tie (0.5) {'is' if report.tied == 1 else 'are'} {report.ties}."
        )
    return " ".join(parts)


def harm(entry: Entry) -> str:
    """The harm check in a sentence."""
    if entry.harm is None:
        return "The harm check was not run."
    flips = ""
    if entry.harm.with_flips is not None:
        flips = f"; with labels flipped as here, by {w.points(entry.harm.with_flips)}"
    return (
        f"Harm check: if these scores were right, {entry.title} would still move them by "
        f"{w.points(entry.harm.at_n)} on average at this size ({w.rows(entry.harm.n)}){flips}."
    )


def comparison(result: Comparison) -> Verdict:
    """Who wins, or why nobody does."""
    if result.basis.ranked == "no":
        sentence = result.verdict.removeprefix("Not ranked: ")
        return Verdict(Level.UNKNOWN, sentence[0].upper() + sentence[1:], word="Not ranked")
    if result.winner is None:
        sentence = result.verdict.replace("No clear winner: ", "")
        tied = [result.entry(name) for name in result.tied]
        fitted = result.folds > 0  # rival models are compared as they are
        if (
            fitted
            and tied
            and all(
                entry.differences.get(result.ranked_on) is not None
                and entry.differences[result.ranked_on].upper < 0
                for entry in tied
            )
        ):
            better = f"All of these are clearly better than {result.entry(result.reference).title}."
            return Verdict(
                Level.GOOD, f"{sentence} {better}", (result.basis.sentence,), word="Calibrating helps"
            )
        return Verdict(Level.WATCH, sentence, (result.basis.sentence,), word="No clear winner")
    return Verdict(Level.GOOD, result.verdict, (result.basis.sentence,), word="Clear winner")


def suggested(result: Comparison) -> str:
    """The calibrator that Export starts with: of the best and those tied with it, the one that does least harm.

    No change where that is among them, or nothing may be ranked.
    """
    if not result.tied or result.reference in result.tied:
        return result.reference
    candidates = [result.entry(name) for name in result.tied]
    return min(candidates, key=lambda entry: entry.harm.worst if entry.harm else 0.0).name


def advice(result: Comparison, audit: Audit) -> str:
    """What to do with the comparison, in a sentence: which map to take, or that none is better."""
    name = suggested(result)
    if name != result.reference:
        entry = result.entry(name)
        tied = [result.entry(other).title for other in result.tied if other != name]
        if not tied:
            return f"Take {entry.title}: it is clearly the best."
        names = w.listed([entry.title, *tied])
        return f"Take {entry.title}: of those that cannot be told apart ({names}) it does least harm."
    if result.basis.ranked == "no":
        text = "Leave the scores as they are until a random sample of labels is checked, or the flip rates are known."
        safest = next((e for e in result.entries if e.name == DEFAULT_NOISY.__name__ and e.harm), None)
        if safest is None or safest.harm is None:
            return text
        harm = safest.harm
        said = f"would move scores that are right by {w.points(harm.at_n)} on average"
        if harm.with_flips is not None:
            said += f" if the labels were right too, by {w.points(harm.with_flips)} if they are flipped as estimated"
        return f"{text} If a map is needed before that: {safest.title}, which {said}."
    if audit.level == "subgroup":
        wrong = next(group.group for group in audit.groups if group.wrong)
        return (
            f"Leave the scores of everyone as they are: no calibrator is clearly better. The problem is {wrong}; "
            f"{_about_subgroups(result, wrong)}"
        )
    if audit.level == "wrong":
        return (
            f"The scores are off, but {w.rows(result.measured.n)} cannot say which map is better than none: check more "
            "labels, or state how often labels are flipped."
        )
    return "Leave the scores as they are: no calibrator is clearly better."


def _about_subgroups(result: Comparison, group: str) -> str:
    """What calibrators that correct subgroups came to, and what to do about ``group`` then; else to try one."""
    tried = [e for e in result.entries if e.name in REGISTRY and REGISTRY[e.name].needs_groups]
    there = [entry for entry in tried if entry.missing is None]
    if not tried:
        return "add WLMC to the comparison, which corrects subgroups."
    if not there:
        return f"{tried[0].title}, which corrects subgroups, cannot be used here: {tried[0].missing}."
    names = w.listed([entry.title for entry in there])
    corrects = "corrects" if len(there) == 1 else "correct"
    came = (
        f"is no clear improvement on {w.rows(result.measured.n)}"
        if len(there) == 1
        else "are no clear improvement"
    )
    if all(_changes_nothing(entry, result) for entry in there):
        came = "found nothing to correct"
    return (
        f"{names}, which {corrects} subgroups, {came}. Get more labelled rows of {group}, or look at Over time whether it "
        "began lately."
    )


def _changes_nothing(entry: Entry, result: Comparison) -> bool:
    scores = result.entry(result.reference).fit
    return (
        entry.fit is not None and scores is not None and bool((entry.fit.predicted == scores.predicted).all())
    )


PARAMETERS = {
    "prior": "the class prior",
    "rho0": "the share of negatives recorded as positive",
    "rho1": "the share of positives recorded as negative",
    "theta1": "the share of positives in the first group",
    "theta2": "the share of positives in the second group",
}


def sensitivity(error: Band, event_rate: Band) -> str:
    """What depends on one stated parameter, in a sentence; empty where nothing can be said."""
    low, high = w.rate(float(error.values.min())), w.rate(float(error.values.max()))
    if low == high or error.high > 1:
        return ""  # nothing to move, or so near to where nothing is known that numbers mean nothing
    text = (
        f"If {PARAMETERS.get(error.parameter, error.parameter)} were {low} to {high} instead of {w.rate(error.given)}, "
        f"the ECE would be {w.error(error.low)} to {w.error(error.high)}"
    )
    rates = w.rate(event_rate.low), w.rate(event_rate.high)
    return text + (f" and the event rate {rates[0]} to {rates[1]}." if rates[0] != rates[1] else ".")
