"""Which flip rates correct which labels: estimates never speak against labels said to be the outcomes."""

from __future__ import annotations

import pytest

from calcore.contradictions import contradictions
from calcore.known_flips import known_flips
from calcore.observation import Clean, Noisy
from calcore.observation.priors import FlipRates, RateEstimate
from calcore.prevalence import prevalence


def rates(value):
    return FlipRates(*(RateEstimate(name, value, (value / 2, 2 * value), 100, ()) for name in "abc"))


COUNTED, ESTIMATED = rates(0.1), rates(0.2)


@pytest.mark.parametrize(
    "model, origins",
    [
        (Clean(), ["counted"]),
        (Noisy(), ["counted", "estimated"]),
        (Noisy(0.1, 0.2), ["given", "counted", "estimated"]),
        (Noisy(0.1, 0.2, origin="estimated"), ["counted", "estimated"]),
    ],
    ids=str,
)
def test_the_best_comes_first_and_both_tables_use_it(model, origins):
    evidence = model.evidence([0.1, 0.4, 0.6, 0.9, 0.8], [0, 1, 0, 1, 1])
    found = known_flips(evidence, COUNTED, ESTIMATED)
    assert [one.origin for one in found] == origins
    assert contradictions(evidence, counted=COUNTED, estimated=ESTIMATED).with_flips.origin == origins[0]
    shares = prevalence(evidence, counted=COUNTED, estimated=ESTIMATED)
    assert [one.source for one in shares.shares if one.kind == "corrected"] == origins
    assert shares.best.source == origins[0]


def test_an_estimate_with_an_interval_stands_for_the_models_own_without_one():
    evidence = Noisy(0.1, 0.2, origin="estimated").evidence([0.1, 0.9], [0, 1])
    (found,) = known_flips(evidence, None, ESTIMATED)
    assert found.rates is ESTIMATED
    (found,) = known_flips(evidence)
    assert found.rates is None
    assert not found.exact


def test_rates_that_say_nothing_are_left_out():
    assert not known_flips(Noisy().evidence([0.1, 0.9], [0, 1]), rates(0.5), rates(0.6))
