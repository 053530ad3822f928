"""Rival models on the same rows, compared like calibrators: measured together, by paired differences."""

from __future__ import annotations

from collections.abc import Mapping

from calcore import metrics
from calcore.comparison import RANKED_ON, Comparison, Entry, mean_score, measures, winner_of
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.metrics.pairs import Pairs
from calcore.metrics.scores import LOG_CLIP
from calcore.ranking import ranking_basis
from calcore.validation import Floats


def compare_scores(
    evidence: Evidence,
    scores: Mapping[str, Floats],
    *,
    audited: bool = False,
    audit_complete: bool = True,
    ranked_on: str = "Brier",
    bins: int = 10,
    log_loss_clip: float = LOG_CLIP,
) -> Comparison:
    """Compare rival models on the same rows: each of ``scores`` (n,) in [0, 1] by name, the first the reference.

    Nothing is fitted: entries have no map and no harm check. ``audited``: the evidence is of a random sample of clean
    labels, ``audit_complete`` as in compare. Raises InputError on fewer than two models or an unknown metric.
    """
    if len(scores) < 2:
        raise InputError("comparing models needs the scores of at least two")
    if ranked_on not in RANKED_ON or (ranked_on == "MC" and evidence.membership is None):
        raise InputError(f"models cannot be ranked on {ranked_on!r} here")
    measured = {name: evidence.with_score(values) for name, values in scores.items()}
    reference = next(iter(measured))
    pairs = Pairs.of(measured, bins, log_loss_clip)
    nan = float("nan")
    entries = []
    for name, one in measured.items():
        values = measures(one, pairs, ranked_on)
        kinds = [kind for kind in RANKED_ON if kind in values]
        entries.append(
            Entry(
                name=name,
                title=name,
                metrics=values,
                differences={kind: pairs.difference(kind, name, reference) for kind in kinds},
                harm=None,
                auc_change=values["AUC"].value - metrics.auc(measured[reference]).value,
                share_at_ends=nan,
                slope=nan,
                mean_prediction=mean_score(one),
                fit=None,
            )
        )
    basis = ranking_basis(evidence, evidence if audited else None, complete=audit_complete)
    winner, tied, verdict = winner_of(entries, pairs, basis, ranked_on)
    return Comparison(
        entries=tuple(entries),
        reference=reference,
        basis=basis,
        ranked_on=ranked_on,
        winner=winner,
        tied=tied,
        verdict=verdict,
        measured=evidence,
        folds=0,
        seed=0,
        bins=bins,
        base_rate=evidence.base_rate,
    )
