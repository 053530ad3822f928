"""What calibrators may be ranked on: the outcomes, a random sample of them, or labels whose errors are known."""

from __future__ import annotations

from dataclasses import dataclass

from calcore.evidence import Evidence
from calcore.observation import Clean, Noisy
from calcore.wording import rows

#: Fewer labels than this rank nothing.
FEWEST = 30


@dataclass(frozen=True)
class RankingBasis:
    """What the comparison measured on, and whether that allows a ranking.

    ``case`` is one of "clean", "audit", "rates given", "rates estimated", "weak", "noisy", "contradiction", "few"; ``ranked`` is
    "yes", "indicative" or "no"; ``sentence`` says why.
    """

    case: str
    ranked: str
    sentence: str


def ranking_basis(evidence: Evidence, audit: Evidence | None, *, complete: bool = True) -> RankingBasis:
    """Which labels a comparison of this evidence is measured on, and what that allows.

    ``complete`` is False where rows of the random sample were left unchecked.
    """
    model = evidence.model
    if audit is not None and (audit.n < FEWEST or not 0 < audit.base_rate < 1):
        classes = "both classes" if 0 < audit.base_rate < 1 else "one class"
        return RankingBasis(
            "audit",
            "no",
            f"Not ranked: the clean audit sample has {audit.n:,} rows of {classes}; "
            f"at least {FEWEST} rows with both outcomes are needed.",
        )
    if audit is not None and not complete:
        return RankingBasis(
            "audit",
            "indicative",
            f"Indicative only: of the random sample {audit.n:,} labels were checked and others left out; if those are "
            "not left out by chance, the ranking can be wrong.",
        )
    if audit is not None:
        return RankingBasis(
            "audit", "yes", f"Ranked on a random sample of {audit.n:,} clean audit labels, with intervals."
        )
    if model.corrected and not 0 < evidence.base_rate < 1:
        return RankingBasis(
            "contradiction",
            "no",
            f"Not ranked: the stated rates or prior contradict the data, {100 * evidence.base_rate:.0f} % of rows would "
            "have to be positive.",
        )
    if evidence.n < FEWEST or (isinstance(model, Clean) and not 0 < evidence.base_rate < 1):
        classes = "" if 0 < evidence.base_rate < 1 else " of one class"
        return RankingBasis(
            "few",
            "no",
            f"Not ranked: the file has {rows(evidence.n)}{classes}; at least {FEWEST} rows with both outcomes are needed.",
        )
    if isinstance(model, Clean):
        return RankingBasis("clean", "yes", f"Ranked on {evidence.n:,} labels taken to be the outcomes.")
    if isinstance(model, Noisy) and not model.known:
        return RankingBasis(
            "noisy",
            "no",
            "Not ranked: these labels are noisy, and no clean sample or flip rates are given. A map that copies "
            "the noise looks best on them.",
        )
    if isinstance(model, Noisy) and model.origin == "estimated":
        return RankingBasis(
            "rates estimated",
            "indicative",
            "Indicative only: the flip rates were estimated from these same scores.",
        )
    if isinstance(model, Noisy):
        return RankingBasis(
            "rates given",
            "yes",
            "Ranked by noise-corrected metrics; as good as the flip rates that were given.",
        )
    return RankingBasis(
        "weak", "yes", f"Ranked by metrics {model.basis}; as good as the assumptions of {model.name}."
    )
