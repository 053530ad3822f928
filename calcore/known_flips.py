"""Which flip rates may correct the labels at hand, and where each is from."""

from __future__ import annotations

from dataclasses import dataclass

from calcore.evidence import Evidence
from calcore.observation import Clean, Noisy
from calcore.observation.priors import FlipRates


@dataclass(frozen=True)
class KnownFlips:
    """Flip rates with their intervals; ``rates`` is None for those that the model of the evidence states.

    ``origin`` is "given" (from outside, taken as they are), "counted" (on audited rows) or "estimated" (from the same
    scores and labels).
    """

    origin: str
    rates: FlipRates | None

    @property
    def exact(self) -> bool:
        """Are the rates taken as they are, without an error of their own?"""
        return self.origin == "given"


def known_flips(
    evidence: Evidence, counted: FlipRates | None = None, estimated: FlipRates | None = None
) -> tuple[KnownFlips, ...]:
    """What is known of the flips of ``evidence``, best first: rates given, ``counted``, ``estimated``.

    A model whose rates were estimated carries none of their error: ``estimated`` stands for them where it is there.
    Labels said to be the outcomes (Clean) are corrected by counted rates alone: from scores and labels, a score that
    is off looks like flips. Rates that sum to 1 or more say nothing, and are left out.
    """
    model, found = evidence.model, []
    stated = model.origin if isinstance(model, Noisy) and model.known else None
    if stated == "given":
        found.append(KnownFlips(stated, None))
    if _usable(counted):
        found.append(KnownFlips("counted", counted))
    if isinstance(model, Clean):
        return tuple(found)
    if _usable(estimated):
        found.append(KnownFlips("estimated", estimated))
    elif stated == "estimated":
        found.append(KnownFlips(stated, None))
    return tuple(found)


def _usable(rates: FlipRates | None) -> bool:
    return rates is not None and rates.rho0.value + rates.rho1.value < 1
