"""Which calibrators are compared where nobody chooses, and which exist for an evidence."""

from __future__ import annotations

from calcore.calibrators import DEFAULT_NOISY, REGISTRY
from calcore.evidence import Evidence
from calcore.observation import Noisy

#: Calibrators compared before the user chooses: no harm first, then the field's usual ones.
USUAL = ("Identity", "Platt", "Temperature", "Beta", "Isotonic", "HistogramBinning")
#: For noisy labels: the default, the paper's two, what else knows of flips, the field's usual ones, and the control.
NOISE_AWARE = (
    "Identity",
    DEFAULT_NOISY.__name__,
    "LWCal",
    "GatedLWCal",
    "ForwardPlatt",
    "InvertedIsotonic",
    "TrimmedBeta",
    "Platt",
    "Isotonic",
    "Sharpen",
)


def usual(evidence: Evidence) -> tuple[str, ...]:
    """Names of the calibrators that are compared before anybody chooses, the reference first."""
    return NOISE_AWARE if isinstance(evidence.model, Noisy) else USUAL


def available(evidence: Evidence) -> tuple[str, ...]:
    """Names of the calibrators that exist for this evidence, in the order in which they are offered."""
    labelled = evidence.label is not None
    names = tuple(dict.fromkeys([*usual(evidence), *REGISTRY]))
    return tuple(name for name in names if labelled or not REGISTRY[name].needs_row_labels)
