"""Control limits follow the size of a batch and what batches differ by; fixed limits need more than chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calcore.errors import InputError
from calcore.monitoring.batches import Batching
from calcore.monitoring.limits import FixedLimit, control_limits, fixed_limits
from calcore.monitoring.reference import Reference, reference_of
from calcore.monitoring.results import BatchResult, Value
from calcore.monitoring.watch import Plan, measure_batches
from tests.calcore.monitoring.streams import clean, weekly


def batch(value: float, error: float, metric: str = "Brier", **more) -> BatchResult:
    low, high = value - 1.96 * error, value + 1.96 * error
    return BatchResult(
        "k", "k", None, None, 100, 100, "measured", values={metric: Value(value, error, low, high)}, **more
    )


def measured(table, by="week", **plan):
    results, _, _ = measure_batches(
        Plan(Batching(by), **plan), table.score.to_numpy(), clean(table), time=table.time.to_numpy()
    )
    return results


def test_limits_are_three_errors_of_the_batch_and_of_the_reference():
    table = weekly(12, 500)
    results = measured(table)
    limits = control_limits(results, "gap", reference_of(results, 4))
    assert limits.spread == 0  # weeks of one population differ by chance only
    chosen = [one.value("gap") for one in results[:4]]
    weight = np.array([1 / one.error**2 for one in chosen])
    centre = float(weight @ [one.value for one in chosen] / weight.sum())
    half = 3 * np.sqrt(results[7].value("gap").error ** 2 + 1 / weight.sum())
    assert (limits.low[7], limits.high[7]) == pytest.approx((centre - half, centre + half))
    assert not limits.outside.any()


def test_larger_batches_have_narrower_limits():
    big, small = weekly(6, 2_000), weekly(6, 200, seed=1)
    small["time"] += np.timedelta64(6 * 7, "D")
    results = measured(pd.concat([big, small], ignore_index=True))
    for metric in ("gap", "ECE", "Brier"):
        limits = control_limits(results, metric, reference_of(results, 4))
        width = limits.high - limits.low
        assert width[8] > 1.5 * width[5]
        assert not limits.outside.any()


def test_batches_that_differ_beyond_chance_widen_the_limits():
    """DerSimonian and Laird's estimate written out for equal errors: the variance of the values less the error."""
    values = [0.10, 0.20, 0.15, 0.25, 0.30]
    results = [batch(value, 0.01) for value in values]
    limits = control_limits(results, "Brier", _reference(5))
    assert limits.spread == pytest.approx(np.sqrt(np.var(values, ddof=1) - 0.01**2))
    few = control_limits(results[:2], "Brier", _reference(2))
    assert few.spread == 0
    assert "cannot tell how much batches differ" in few.note


def _reference(batches: int):
    nothing = np.zeros(10)
    return Reference(tuple(range(batches)), (), ("a", "b"), nothing, nothing, nothing, nothing, 100, {})


def test_an_ece_that_noise_alone_gives_is_inside_and_a_larger_one_is_not():
    def off(week, f, region):
        return np.where(week >= 10, 0.25, 0.0)

    results = measured(weekly(14, 300, off=off))
    limits = control_limits(results, "ECE", reference_of(results, 8))
    assert not limits.outside[:10].any()
    assert limits.outside[10:].all()
    assert (limits.low[:8] > 0).all()  # no batch of 300 has an ECE of 0


def test_a_fixed_limit_is_broken_by_more_than_chance_only():
    results = [batch(0.20, 0.001), batch(0.21, 0.1), batch(0.30, 0.01)]
    limits = fixed_limits(results, FixedLimit("Brier", high=0.205))
    assert limits.outside.tolist() == [False, False, True]
    assert fixed_limits(results, FixedLimit("Brier", low=0.25)).outside.tolist() == [True, False, False]


def test_a_batch_without_a_value_is_not_outside():
    nothing = BatchResult("k", "k", None, None, 10, 0, "no labels")
    limits = control_limits([batch(0.2, 0.01), nothing], "Brier", _reference(1))
    assert limits.outside.tolist() == [False, False]
    assert np.isnan(control_limits([nothing], "Brier", _reference(1)).centre)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: FixedLimit("ece", high=1), "no metric"),
        (lambda: FixedLimit("ECE"), "lowest or a highest"),
        (lambda: FixedLimit("ECE", high=float("nan")), "finite"),
        (lambda: FixedLimit("AUC", low=0.9, high=0.8), "cross"),
    ],
)
def test_limits_that_cannot_be(make, words):
    with pytest.raises(InputError, match=words):
        make()
