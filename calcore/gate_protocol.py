"""What to do at which contradiction rate: the deployment protocol of LWCal, Table XI."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from calcore.calibrators.loss_weighted import GATE_START, GATE_WIDTH, recommended


@dataclass(frozen=True)
class ProtocolRow:
    """Contradiction rates from ``low`` up to ``high``: the recommended ``score``, the ``action``, and whether the data
    are ``here``."""

    low: float
    high: float
    score: str
    action: str
    here: bool


def protocol(d_hat: float, center: float = GATE_START, width: float = GATE_WIDTH) -> tuple[ProtocolRow, ...]:
    """The three rows of LWCal, Table XI, at this gate; that of ``d_hat`` is marked.

    The thresholds are warnings about apparent contradiction, and say nothing of the true rate of wrong labels.
    """
    ends = (0.0, center, center + width, 1.0)
    here = recommended(d_hat, center, width)
    rows = []
    for low, high in pairwise(ends):
        score, action = recommended((low + high) / 2, center, width)
        rows.append(ProtocolRow(low, high, score, action, (score, action) == here))
    return tuple(rows)
