"""The interval of a rate of labels over weighted rows that may belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calcore.evidence import Evidence
from calcore.metrics.reliability import wilson
from calcore.metrics.uncertainty import FEWEST_DRAWS, effective_draws, variance_of_sum
from calcore.validation import Floats


def rate_interval(evidence: Evidence, values: Floats) -> tuple[float, float] | None:
    """Wilson's 95 % interval of the weighted mean of ``values`` (n,) of 0 and 1, within [0, 1].

    The trials are the effective number of rows, (sum v)^2 / sum v^2, over the design effect of ``values`` where rows
    belong together. None below FEWEST_DRAWS independent draws.
    """
    if effective_draws(evidence) < FEWEST_DRAWS:
        return None
    share = evidence.weight / evidence.weight.sum()
    trials = float(evidence.weight.sum() ** 2 / evidence.weight_squared.sum())
    trials /= _design_effect(evidence, share * values)
    low, high = wilson(np.array([share @ values * trials]), np.array([trials]))
    return max(float(low[0]), 0.0), min(float(high[0]), 1.0)


def _design_effect(evidence: Evidence, terms: Floats) -> float:
    """How much larger units make the variance of the sum of ``terms`` than independent rows would, at least 1."""
    if evidence.unit is None:
        return 1.0
    together, alone = variance_of_sum(evidence, terms), variance_of_sum(replace(evidence, unit=None), terms)
    return max(together / alone, 1.0) if alone > 0 and np.isfinite(together) else 1.0
