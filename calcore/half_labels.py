"""Ties: rows with a label of 1/2, half a positive and half a negative.

Every sum over rows takes such a label as it is (Clean: a = b = 1/2). What looks at labels one by one - a loss, a
likelihood, a count - would take the loss of 1/2 for the mean of two losses; it gets each tie as two entries instead.
The variance of a calibrated score stays f (1 - f) a row, as if there were no ties: it is too large by a quarter of
their share, so that tests and intervals err on the careful side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calcore.evidence import Evidence
from calcore.observation.forward_model import RECORDED
from calcore.validation import HALF, Floats


@dataclass(frozen=True, eq=False)
class Apart:
    """``evidence`` with every tie as two entries of half its weight, and where these are.

    ``tied`` (k,) are the positions of the ties, whose first half keeps its place; their second halves follow all
    other entries, in the same order, and stand for no row of their own.
    """

    evidence: Evidence
    tied: NDArray[np.int64]

    def mean(self, values: Floats) -> Floats:
        """Values of all entries back to one a row, (n,): the mean of the two halves of a tie."""
        if not self.tied.size:
            return values
        joined = values[: values.size - self.tied.size].copy()
        joined[self.tied] = (joined[self.tied] + values[joined.size :]) / 2
        return joined


def halves_apart(evidence: Evidence) -> Apart:
    """Each row with a label of 1/2 as one entry of label 1 and one of 0; evidence without ties as it is."""
    label = evidence.label
    if label is None:
        return Apart(evidence, np.empty(0, dtype=np.int64))
    recorded = evidence.row_parameters.get(RECORDED, label)
    ties = (label == HALF) | (recorded == HALF)
    tied = np.flatnonzero(ties)
    if not tied.size:
        return Apart(evidence, tied)
    n = len(evidence)
    order = np.concatenate([np.arange(n), tied])
    half = np.ones(order.size)
    half[tied] = half[n:] = 0.5
    value = np.ones(order.size)
    value[n:] = 0.0

    def whole(labels: Floats) -> Floats:
        taken = labels[order]
        return np.where(taken == HALF, value, taken)

    labels = whole(label)
    parameters = {name: values[order] for name, values in evidence.row_parameters.items()}
    if RECORDED in parameters:
        parameters[RECORDED] = whole(recorded)
    rows = evidence.count.astype(np.int64)[order]
    rows[n:] = 0
    part = evidence.entries(order)
    weight = part.weight * half
    positive, negative = part.model.coefficients(part.source, labels, None, parameters)
    # what one unit of weight is worth to its source: a and b of a row add up to it
    worth = np.divide(part.mass, part.weight, out=np.zeros(order.size), where=part.weight > 0) * weight
    changed = part.label == HALF
    return Apart(
        replace(
            part,
            label=labels,
            positive=np.where(changed, positive * worth, part.positive * half),
            negative=np.where(changed, negative * worth, part.negative * half),
            weight=weight,
            weight_squared=part.weight_squared * half,
            rows=rows,
            row_parameters=parameters,
        ),
        tied,
    )
