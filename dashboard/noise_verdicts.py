"""Sentences about label noise: contradictions, subgroups whose labels look worse, the gate, the share of positives."""

from __future__ import annotations

from calcore.audit import TOLERANCE
from calcore.calibrators import GateAudit
from calcore.contradictions import Contradictions
from calcore.gate_grid import GateGrid
from calcore.group_contradictions import GroupContradictions, GroupSearch
from calcore.observation.priors import FlipRates
from calcore.prevalence import PositiveShare, Prevalence
from calcore.verdicts import Level, Verdict
from dashboard import wording as w

#: Fewer rows give no verdict on contradictions.
FEWEST_TO_JUDGE = 30
#: What an interval, or chance, may span at most for "no difference" to say anything.
WIDE = 0.15
GATED = "Gated-LWCal, a calibrator that trusts its map less the more labels contradict the scores,"
#: Where flip rates come from, in words.
ORIGINS = {
    "given": "the flip rates given",
    "counted": "the flip rates counted on audited rows",
    "estimated": "the flip rates estimated from these scores",
}


def gate(audit: GateAudit, split: Contradictions, tolerance: float = TOLERANCE) -> Verdict:
    """Whether labels contradict the scores more than right labels would, and what the gate does about it."""
    found = (
        f"Labels contradict the scores on {w.rate(split.observed)} of rows ({_of_rows(split)}); "
        f"{w.rate(split.expected)} would be expected if the labels were right and the scores calibrated."
    )
    if split.n < FEWEST_TO_JUDGE:
        return Verdict(Level.UNKNOWN, f"{found} Too few rows to tell more.", word="Cannot tell")
    alarm = split.alarm(tolerance)
    if alarm:
        found += (
            f" That is about {w.rows(round(split.excess * split.n))} more than expected, beyond chance: labels are "
            "wrong, or the scores are too sure. Check the least trusted labels first."
        )
    if audit.rho == 0:
        back = f"{GATED} would use its map in full."
    elif audit.rho < 1:
        back = f"{GATED} would go {w.rate(audit.rho)} of the way back to the raw score."
    else:
        back = f"{GATED} would leave the score as it is."
    flips = split.with_flips
    if flips is not None and split.hides(tolerance) and not alarm:
        found += (
            f" With {ORIGINS[flips.origin]} calibrated scores would show {w.rate(flips.expected)}: the scores are not "
            "sure enough, and that hides wrong labels."
        )
        return Verdict(Level.WATCH, f"{found} {back}", word="Wrong labels hidden by unsure scores")
    if not alarm:
        # an unsure model contradicts right labels too: that alone is no alarm
        if split.excess <= 0:
            return Verdict(Level.GOOD, f"{found} {back}", word="No more contradictions than expected")
        why = (
            "what chance would give" if not split.beyond_chance else f"the tolerance of {w.points(tolerance)}"
        )
        found += f" That is {w.points(split.excess)} more, within {why}."
        return Verdict(Level.GOOD, f"{found} {back}", word="About as many contradictions as expected")
    level, word = {
        "LWCal": (Level.WATCH, "Some contradictions"),
        "Gated-LWCal": (Level.WATCH, "Many contradictions"),
    }.get(audit.score, (Level.BAD, "Too many contradictions"))
    return Verdict(level, f"{found} {back}", word=word)


def _of_rows(split: Contradictions) -> str:
    if split.interval is None:
        return w.rows(split.n)
    return f"95 % interval {w.rates(*split.interval)}, {w.rows(split.n)}"


def split_rows(split: Contradictions, clean: Contradictions | None = None) -> list[tuple[str, str, str, str]]:
    """The contradiction rate by what explains it, as rows of a table: what, rate, interval, how it is known.

    ``clean``: that of the clean audit sample, where there is one.
    """
    chance = "beyond chance" if split.significant else "could be chance"
    rows = [
        (
            "Observed",
            w.rate(split.observed),
            _interval(split.interval),
            "labels against the decision at 0.5",
        ),
        ("The model's own doubt", w.rate(split.expected), "exact", "if labels were right, scores calibrated"),
        (
            "Excess: wrong labels, or scores too sure",
            w.rate(split.noise),
            _interval(split.noise_interval),
            f"observed less doubt, not below 0; p {w.p_value(split.p_value)}: {chance}",
        ),
    ]
    flips = split.with_flips
    if flips is not None:
        rows.append(
            (
                "Expected with flips",
                w.rate(flips.expected),
                "exact" if flips.exact else _interval(flips.interval, "not known"),
                f"by {ORIGINS[flips.origin]}, on calibrated scores",
            )
        )
        rows.append(
            (
                "Left unexplained then",
                _signed_points(flips.rest),
                _signed_interval(flips.rest_interval, w.MISSING if flips.exact else "not known"),
                "below 0: the scores are not sure enough",
            )
        )
    if clean is not None:
        rows.append(
            (
                "On clean audit labels",
                w.rate(clean.observed),
                _interval(clean.interval),
                f"what the model itself gets wrong, {w.rows(clean.n)}",
            )
        )
    return rows


def _signed_points(value: float) -> str:
    text = w.points(value)
    return text if text.startswith(("0\u00a0", "<")) else f"{'−' if value < 0 else '+'}{text}"


def _signed_interval(bounds: tuple[float, float] | None, missing: str = w.MISSING) -> str:
    if bounds is None:
        return missing
    low, high = (_signed_points(end) for end in bounds)
    return f"{low.split(w.PERCENT[0])[0]} to {high}"


def _interval(bounds: tuple[float, float] | None, missing: str = w.MISSING) -> str:
    return missing if bounds is None else w.rates(*bounds)


def groups(found: GroupSearch) -> Verdict:
    """Which subgroups' labels look worse than those of other rows at the same scores."""
    if not found.tested:
        return Verdict(
            Level.UNKNOWN,
            "No subgroup has enough rows, and enough other rows at the same scores, to be compared.",
            word="Cannot tell",
        )
    flagged = found.flagged
    if not flagged:
        top = max((one for one in found.groups if one.tested), key=lambda one: one.difference)
        seen = top.chance <= WIDE
        return Verdict(
            Level.GOOD if seen else Level.UNKNOWN,
            f"Of {_subgroups(found.tested)} compared, {top.group} contradicts most beyond other rows at the same scores: "
            f"{_by(top)} ({w.rows(top.rows)}). Chance alone would give it up to {w.points(top.chance)}.",
            word="No group's labels stand out" if seen else "Too few rows to tell groups apart",
        )
    first = flagged[0]
    more = [one.group for one in flagged[1:] if not one.repeats]
    others = f" Also: {w.listed(more)}." if more else ""
    return Verdict(
        Level.WATCH,
        f"Labels of {first.group} look worse: they contradict the score {_by(first)} than those of other rows at the same "
        f"scores (95 % interval {_signed_interval(first.interval)}, {w.rows(first.rows)}). "
        f"Chance alone, over {_subgroups(found.tested)}, would give this one up to {w.points(first.chance)}.{others}",
        word="A group's labels look worse" if not more else "Labels of some groups look worse",
    )


def _subgroups(count: int) -> str:
    return "1 subgroup" if count == 1 else f"{w.count(count)} subgroups"


def _by(group: GroupContradictions) -> str:
    return f"{w.points(group.difference)} {'more' if group.difference >= 0 else 'less'} often"


EXCESS_EXPLAINED = (
    "The contradiction rate mixes wrong labels with a weak model: a model that is unsure contradicts right labels too. "
    "What is left over is label noise only if the scores are calibrated: scores that are too sure add to it, scores that "
    "are not sure enough hide it."
)
#: Why, by the recommended score (LWCal, Section VII).
PROTOCOL_REASONS = {
    "LWCal": "Few contradictions: it had the lowest ECE in the paper's study.",
    "Gated-LWCal": "More contradictions: going part of the way back protects log loss and Brier score, for some ECE.",
    "Raw or Gated-LWCal": "So many contradictions that a map would learn from labels that cannot be trusted: better "
    "labels help, a bolder calibrator does not.",
}
PROTOCOL_EXPLAINED = (
    "The limits are warnings about how often labels contradict the score; they say nothing of the true share of wrong "
    "labels."
)
GROUPS_EXPLAINED = (
    "A group for which the model is unsure has more contradictions with right labels too. Hence the excess over the "
    "model's own doubt is compared, among rows at the same scores. A group for which the scores themselves are off "
    "shows here as well: only clean labels tell the two apart."
)


def recommendation(of_lwcal: float, of_gated: float) -> str:
    """What the paper's recommendations would do to scores that are right: the harm of LWCal and of Gated-LWCal."""
    return (
        "This is the paper's rule of thumb, and it looks at the contradiction rate alone. LWCal sharpens: if these scores "
        f"were right it would move them by {w.points(of_lwcal)}, and Gated-LWCal by {w.points(of_gated)}. Use either only "
        "if Compare shows on clean labels that it helps."
    )


def audited(rates: FlipRates) -> Verdict:
    """What the audited rows say of the recorded labels: how often they are wrong."""
    found = rates.disagreement
    sentence = (
        f"On {w.rows(found.n)} with a clean label too, the recorded one is wrong on {w.rate(found.value)} (95 % interval "
        f"{w.rates(*found.interval)})."
    )
    if rates.few_wrong:
        return Verdict(Level.GOOD, sentence, word="Few wrong labels")
    return Verdict(Level.WATCH, sentence, word="Wrong labels")


def gate_grid(found: GateGrid) -> str:
    """How much the gate's centre and width matter here, in a sentence or two."""
    rho = [one.rho for one in found.settings]
    if max(rho) == min(rho):
        side = "above" if max(rho) == 1 else "below"
        moved = f"Every setting gives the same map: labels contradict on {w.rate(found.d_hat)} of rows, {side} all of them."
    else:
        moved = f"Over these settings the gate goes from {w.error(min(rho))} to {w.error(max(rho))}."
    if not found.measured:
        reason = f"Not measured: {found.failure}." if found.failure else found.basis.sentence
        return f"{moved} Which setting is best cannot be measured here. {reason}"
    if max(rho) == min(rho) and not found.separated:
        return f"{moved} {found.basis.sentence}"
    best = found.best
    if best is None:
        return f"{moved} No setting has a lower Brier score than the present one beyond chance. {found.basis.sentence}"
    assert best.brier is not None
    assert best.difference is not None
    return (
        f"{moved} Centre {w.edge(best.center)} and width {w.edge(best.width)} have the lowest Brier score, "
        f"{w.error(best.brier.value)}: {w.signed(best.difference.value)} against the present setting (interval "
        f"{w.signed(best.difference.lower)} to {w.signed(best.difference.upper)}, at 95 % for all settings together). "
        f"{found.basis.sentence}"
    )


KINDS = {"score": "Mean score", "recorded": "Recorded labels", "audit": "Clean audit sample"}


def share_name(share: PositiveShare) -> str:
    """What a share of positives is, for a table."""
    return KINDS.get(share.kind) or f"Without {share.source} flips"


def _share_source(share: PositiveShare) -> str:
    return "clean audit sample" if share.kind == "audit" else f"corrected by {ORIGINS[share.source]}"


def prevalence(found: Prevalence) -> Verdict | None:
    """Whether the labels record as many positives as there are; None where nothing else is known."""
    best = found.best
    if best is None:
        return None
    recorded = found.of("recorded")
    known = "are" if best.kind == "audit" else "are estimated to be"
    interval = "" if best.interval is None else f", 95 % interval {w.rates(*best.interval)}"
    sentence = (
        f"Labels record {w.rate(recorded.value)} positive ({w.rows(recorded.n)}), about {w.estimated(best.value)} {known} "
        f"({_share_source(best)}{interval}, {w.rows(best.n)})."
    )
    if best.interval is None:
        return Verdict(Level.UNKNOWN, f"{sentence} How far that may be off is not known.")
    if not found.apart and best.interval[1] - best.interval[0] > WIDE:
        return Verdict(Level.UNKNOWN, f"{sentence} That is too wide to say whether they differ.")
    if not found.apart:
        return Verdict(Level.GOOD, sentence, word="No difference beyond chance and the tolerance")
    way = "low" if found.gap < 0 else "high"
    return Verdict(
        Level.WATCH,
        f"{sentence} A calibrator fitted on them as they are comes out too {way}.",
        word=f"Too {'few' if found.gap < 0 else 'many'} positives recorded",
    )


def rates_cautions(clustered: bool) -> list[str]:
    """What estimated flip rates leave out, each a sentence."""
    found = [
        "Estimates from scores and labels alone are indicative: they are far off where their assumption fails."
    ]
    if clustered:
        found.append("They take rows of one unit as independent: their intervals are too narrow.")
    return found


CORRECTIONS_EXPLAINED = (
    "It is tempting to correct the suspicious labels and then measure on them: they are clean now. The result would be "
    "wrong, even if every correction is right. These rows were picked **because** their label went against the score, "
    "so they hold more outcomes against it than the score promises: with 30 % of labels flipped, of picked rows at a "
    "score of 0.9 some 21 % turn out negative, and 10 % of all rows there.",
    "Measured on 40,000 rows of a calibrated score (ECE 0.007 on clean labels), 30 % of labels flipped, the 20 % most "
    "suspicious rows picked and all of them corrected: on these rows alone the score shows an ECE of 0.130. The whole "
    "label column, corrected on them and left elsewhere, shows 0.047, since the flips that agree with the score stayed.",
    "So corrections repair the labels that calibrators are fitted on. The audit column is filled only from rows drawn "
    "**at random**, or with known probabilities; what such a sample says does not change with the corrections.",
)
