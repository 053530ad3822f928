"""Calibrators side by side: out of fold, paired, and ranked only on what can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calcore import metrics
from calcore.calibrators import Calibrator, Identity
from calcore.crossfit import CrossFit, Folds, cross_fit, predict_elsewhere, predict_rows
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.harm import Harm, harm_check
from calcore.maps import CalibrationMap
from calcore.metrics.differences import Difference
from calcore.metrics.pairs import Pairs
from calcore.metrics.results import Estimate
from calcore.metrics.scores import LOG_CLIP
from calcore.observation import Clean
from calcore.provenance import harm_warning
from calcore.ranking import RankingBasis, ranking_basis
from calcore.validation import Floats

#: The metrics that calibrators can be ranked on: lower is better, and paired differences have intervals.
RANKED_ON = ("Brier", "log loss", "ECE", "MC")

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Entry:
    """One calibrator of a comparison.

    Measured out of fold: ``metrics`` by name; ``differences`` to the reference (negative is better; intervals
    at a simultaneous 95 %, Bonferroni over the calibrators; of Brier and log loss by paired bootstrap);
    ``mean_prediction``. Of the method on these
    scores: ``harm``, None where it was not asked for. Of the map fitted on all rows: ``auc_change`` (what
    merging or turning scores costs), ``share_at_ends`` of outputs that are exactly 0 or 1, ``slope`` of its
    log-odds against the score's (above 1 sharpens, below 0 turns the ranking round). ``missing`` is the reason
    where the calibrator does not exist under the observation model.
    """

    name: str
    title: str
    metrics: dict[str, Estimate]
    differences: dict[str, Difference]
    harm: Harm | None
    auc_change: float
    share_at_ends: float
    slope: float
    mean_prediction: float
    fit: CrossFit | None
    missing: str | None = None

    @property
    def map(self) -> CalibrationMap | None:
        return None if self.fit is None else self.fit.map


@dataclass(frozen=True, eq=False)
class Comparison:
    """Entries in the order given; ``reference`` is the name that differences are taken to.

    ``winner`` is the name that is best on ``ranked_on`` with every paired interval to the others clear of 0;
    None where there is no clear winner or no ranking. ``tied`` holds the best and those not separated from it;
    ``verdict`` says both in a sentence. ``measured`` is the evidence that all were measured on.
    """

    entries: tuple[Entry, ...]
    reference: str
    basis: RankingBasis
    ranked_on: str
    winner: str | None
    tied: tuple[str, ...]
    verdict: str
    measured: Evidence
    folds: int
    seed: int
    bins: int
    base_rate: float

    def entry(self, name: str) -> Entry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise InputError(f"no calibrator {name!r} in this comparison")

    def harm_warning(self, name: str) -> str | None:
        """A warning where calibrator ``name`` would move right scores further than it improved these."""
        return harm_warning(self.entry(name), self.reference, self.basis)


def compare(
    evidence: Evidence,
    calibrators: Sequence[Calibrator],
    *,
    audit: Evidence | None = None,
    audit_complete: bool = True,
    recorded: Evidence | None = None,
    reference: str = "Identity",
    ranked_on: str = "Brier",
    folds: int = 5,
    bins: int = 10,
    seed: int = 0,
    harm_draws: int = 20,
    log_loss_clip: float = LOG_CLIP,
    known: Mapping[str, Entry] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare ``calibrators`` fitted on ``evidence``, out of fold.

    ``audit``: clean evidence of a random sample of rows of the same file; measured on it where given.
    ``audit_complete`` is False where rows of that sample were left unchecked, which may be no accident.
    ``recorded``: the rows with their recorded labels, where some labels of ``evidence`` were corrected after they
    looked wrong; measured on it where there is no audit, and never on the corrected ones.
    ``ranked_on`` is "Brier", "log loss", "ECE", or "MC" for evidence with subgroups (the criteria of weak validation;
    WLMC, Appendix G). ``known`` holds entries of earlier comparisons of the same evidence, folds and bins by name: their
    fits and harm checks are not made again. ``harm_draws`` 0 leaves the harm check out. ``progress`` is
    called with a step's name and the share done. Raises InputError on an empty list or unknown names.
    """
    calibrators = list(calibrators)
    names = [type(calibrator).__name__ for calibrator in calibrators]
    if reference == "Identity" and reference not in names:
        calibrators.insert(0, Identity())
        names.insert(0, reference)
    if reference not in names or len(set(names)) != len(names):
        raise InputError(
            f"the reference {reference!r} must be one of the calibrators, each given once: {names}"
        )
    if ranked_on not in RANKED_ON:
        raise InputError(f"calibrators are ranked on one of {', '.join(RANKED_ON)}, got {ranked_on!r}")
    if audit is not None and not isinstance(audit.model, Clean):
        raise InputError(f"the audit sample must be of clean labels, got {audit.model.name}")
    if ranked_on == "MC" and evidence.membership is None:
        raise InputError("MC looks at subgroups, and this evidence has none: rank on another metric")
    by_group = ranked_on == "MC" or any(one.needs_groups for one in calibrators)
    split = Folds.of(evidence, folds, seed, keep_rows=by_group)
    elsewhere = audit if audit is not None else recorded
    measured = split.work if elsewhere is None else elsewhere
    # nothing is measured on corrected labels, the harm under flips and what the ranking costs neither
    judged = split.work if recorded is None else recorded.without_groups() if not by_group else recorded
    told = progress or (lambda step, share: None)
    fits: dict[str, tuple[CrossFit, Evidence] | str] = {}
    for i, calibrator in enumerate(calibrators):
        told(f"Fitting {calibrator.title}", i / (2 * len(calibrators)))
        earlier = known.get(names[i]) if known else None
        fits[names[i]] = _fit(calibrator, split, measured, elsewhere, earlier)
    base = fits[reference]
    if isinstance(base, str):
        raise DoesNotExist(f"the reference does not exist here: {base}")
    pairs = Pairs.of(
        {name: found[1] for name, found in fits.items() if not isinstance(found, str)}, bins, log_loss_clip
    )
    entries = []
    for i, calibrator in enumerate(calibrators):
        told(f"Measuring {calibrator.title}", 0.5 + i / (2 * len(calibrators)))
        found = fits[names[i]]
        if isinstance(found, str):
            entries.append(_absent(names[i], calibrator.title, found))
        else:
            earlier = known.get(names[i]) if known else None
            harm = earlier.harm if earlier else None
            if harm is None and harm_draws:
                harm = harm_check(calibrator, judged, draws=harm_draws, bins=bins)
            entries.append(
                _entry(
                    names[i],
                    calibrator.title,
                    *found,
                    reference,
                    pairs,
                    judged,
                    harm,
                    ranked_on,
                )
            )
    basis = ranking_basis(evidence if recorded is None else recorded, audit, complete=audit_complete)
    winner, tied, verdict = winner_of(entries, pairs, basis, ranked_on)
    return Comparison(
        entries=tuple(entries),
        reference=reference,
        basis=basis,
        ranked_on=ranked_on,
        winner=winner,
        tied=tied,
        verdict=verdict,
        measured=measured,
        folds=split.count,
        seed=seed,
        bins=bins,
        base_rate=measured.base_rate,
    )


def _fit(
    calibrator: Calibrator,
    split: Folds,
    measured: Evidence,
    elsewhere: Evidence | None,
    earlier: Entry | None,
) -> tuple[CrossFit, Evidence] | str:
    same = earlier is not None and earlier.fit is not None and earlier.fit.predicted.size == len(split.work)
    try:
        fit = earlier.fit if same and earlier and earlier.fit else cross_fit(calibrator, split)
    except DoesNotExist as reason:
        return str(reason)
    predicted = fit.predicted if elsewhere is None else predict_elsewhere(fit, split, elsewhere)
    return fit, measured.with_score(predicted)


def _absent(name: str, title: str, reason: str) -> Entry:
    nan = float("nan")
    return Entry(name, title, {}, {}, None, nan, nan, nan, nan, None, missing=reason)


def _entry(
    name: str,
    title: str,
    fit: CrossFit,
    out_of_fold: Evidence,
    reference: str,
    pairs: Pairs,
    work: Evidence,
    harm: Harm | None,
    ranked_on: str,
) -> Entry:
    values = measures(out_of_fold, pairs, ranked_on)
    outputs = predict_rows(fit.map, work)
    at_ends = work.covariate_weight @ ((outputs == 0) | (outputs == 1)) / work.covariate_weight.sum()
    change = metrics.auc(work.with_score(outputs)).value - metrics.auc(work).value
    return Entry(
        name=name,
        title=title,
        metrics=values,
        differences={kind: pairs.difference(kind, name, reference) for kind in RANKED_ON if kind in values},
        harm=harm,
        auc_change=change,
        share_at_ends=float(at_ends),
        slope=log_odds_slope(work.score, outputs, work.covariate_weight),
        mean_prediction=mean_score(out_of_fold),
        fit=fit,
    )


def measures(evidence: Evidence, pairs: Pairs, ranked_on: str) -> dict[str, Estimate]:
    """Every metric of a comparison by name."""
    values: dict[str, Estimate] = {
        "ECE": metrics.ece(evidence, pairs.bins),
        "adaptive ECE": metrics.adaptive_ece(evidence, pairs.bins),
        "Brier": metrics.brier(evidence),
        "log loss": metrics.log_loss(evidence, pairs.clip),
        "AUC": metrics.auc(evidence),
        "macro-F1": metrics.macro_f1(evidence),
    }
    if ranked_on == "MC":
        values["MC"] = metrics.multicalibration_error(evidence, pairs.bins)
    return values


def mean_score(evidence: Evidence) -> float:
    return float(evidence.mass @ evidence.score / evidence.mass.sum())


def log_odds_slope(score: Floats, output: Floats, weight: Floats, clip: float = 1e-6) -> float:
    """Least-squares slope of the output's log-odds against the score's; NaN for a constant score."""
    x, y = (np.log(p / (1 - p)) for p in (np.clip(score, clip, 1 - clip), np.clip(output, clip, 1 - clip)))
    x = x - weight @ x / weight.sum()
    spread = float(weight @ x**2)
    return float(weight @ (x * y) / spread) if spread > 1e-12 * weight.sum() else float("nan")


def winner_of(
    entries: list[Entry],
    pairs: Pairs,
    basis: RankingBasis,
    ranked_on: str,
) -> tuple[str | None, tuple[str, ...], str]:
    present = [entry for entry in entries if entry.missing is None]
    if basis.ranked == "no":
        return None, (), basis.sentence
    if len(present) < 2:
        return None, tuple(entry.name for entry in present), "Only one calibrator can be measured here."
    best = min(present, key=lambda entry: entry.metrics[ranked_on].value)
    others = [entry for entry in present if entry is not best]
    tied = [e for e in others if not pairs.difference(ranked_on, best.name, e.name).upper < 0]
    prefix = "" if basis.ranked == "yes" else "Indicative: "
    if not tied:
        return (
            best.name,
            (best.name,),
            f"{prefix}{best.title} has the lowest {ranked_on}, clear of all others.",
        )
    titles = [entry.title for entry in tied]
    shown = ", ".join(titles[:3]) + (f" and {len(tied) - 3} more" if len(tied) > 3 else "")
    return (
        None,
        (best.name, *(entry.name for entry in tied)),
        f"{prefix}No clear winner: {best.title} has the lowest {ranked_on}, not separated from {shown}.",
    )
