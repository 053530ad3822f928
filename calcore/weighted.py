"""Order statistics under weights: a row of weight 2 is the row twice."""

from __future__ import annotations

import numpy as np

from calcore.validation import Floats


def counting_unit(weights: Floats) -> float:
    """What counts as one row: 1, or the smallest positive weight where weights are on a smaller scale.

    Keeps order statistics free of the scale of normalised weights while a weight of 2 is still two rows.
    """
    positive = weights[weights > 0]
    return min(1.0, float(positive.min())) if positive.size else 1.0


def weighted_quantile(values: Floats, weights: Floats | None, q: float | Floats) -> Floats:
    """Quantiles of the expanded sample, linear between order statistics (numpy's default rule).

    ``values`` (n,), ``weights`` (n,) or None, ``q`` in [0, 1], scalar or (k,). With weights of 1 this is
    ``np.quantile``; with whole weights it is ``np.quantile`` of each value repeated that often.
    """
    if weights is None or bool((weights == 1).all()):
        return np.asarray(np.quantile(values, q), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    reach = np.cumsum(weights[order] / counting_unit(weights))
    position = np.asarray(q, dtype=np.float64) * max(reach[-1] - 1.0, 0.0)
    below = np.floor(position)
    # an order statistic k is the first value whose cumulated count exceeds k; the slack keeps sums of
    # weights that should be whole from falling one short
    slack = 1e-9 * reach[-1]
    last = ordered.size - 1
    low = ordered[np.minimum(np.searchsorted(reach, below + slack, side="right"), last)]
    high = ordered[np.minimum(np.searchsorted(reach, below + 1 + slack, side="right"), last)]
    return np.asarray(low + (position - below) * (high - low), dtype=np.float64)


def weighted_median(values: Floats, weights: Floats | None) -> float:
    """The median of the expanded sample."""
    return float(weighted_quantile(values, weights, 0.5))
