"""Labels that look wrong: those that contradict the score, the least trusted first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcore.calibrators import GateAudit
from calcore.calibrators.loss_weighted import contradicts
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.validation import Floats


@dataclass(frozen=True, eq=False)
class SuspiciousLabels:
    """``position`` in the evidence, ``loss`` and LWCal ``weight`` of each, the largest loss first."""

    position: NDArray[np.int64]
    loss: Floats
    weight: Floats


def suspicious_labels(evidence: Evidence, audit: GateAudit) -> SuspiciousLabels:
    """Rows whose recorded label contradicts the decision p >= .5; ``audit`` is that of a fit on ``evidence``.

    A list of labels to check, and no more: a sample of labels picked this way must never be measured on.
    Raises DoesNotExist where rows carry no label.
    """
    if evidence.label is None:
        raise DoesNotExist(f"no label can look wrong under {evidence.model.name}: its rows carry none")
    found = np.flatnonzero(contradicts(evidence.score, evidence.label))
    order = found[np.argsort(-audit.losses[found], kind="stable")]
    return SuspiciousLabels(order, audit.losses[order], audit.weights[order])
