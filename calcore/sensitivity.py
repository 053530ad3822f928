"""How much a result moves when a stated class prior, proportion or flip rate is off.

Two answers: the exact derivative of what is linear in the weights, from the closed-form slopes of A and B
(``tangent``, ``linear_slopes``), and any metric worked out again over a range of the parameter (``band``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import SupportsFloat

import numpy as np

from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.metrics.results import Estimate, provenance
from calcore.metrics.scores import LOG_CLIP, brier_terms, log_loss_terms
from calcore.metrics.uncertainty import Z, honest_interval, variance_of_sum
from calcore.observation.base import ObservationModel
from calcore.observation.confidence import Pconf
from calcore.observation.slopes import coefficient_slopes, given, movable, moved, require_movable, room
from calcore.sums import sum_by
from calcore.validation import Floats, read_only, whole_number

__all__ = [
    "Band",
    "LinearSlopes",
    "band",
    "check_pconf",
    "coefficient_slopes",
    "linear_slopes",
    "movable",
    "tangent",
    "under",
]

#: Half the distance between the two evaluations behind the slope of a band.
STEP = 1e-5


def under(
    evidence: Evidence, model: ObservationModel, row_parameters: Mapping[str, Floats] | None = None
) -> Evidence:
    """The same rows under other parameter values of the same observation model.

    Both weights are made again from what the evidence keeps of each row; rows that were added up stay added
    up. ``row_parameters`` replaces what differs between rows (flip rates per group). A subgroup keeps its mass.
    What shaped the rows when they were made (``r_min``) stays as it was. Raises InputError for another kind of
    model, or where the weights are not those of the model (a method reweighted them), DoesNotExist where a
    subgroup has no mass left.
    """
    if type(model) is not type(evidence.model):
        raise InputError(f"evidence of {evidence.model.name} cannot be read under {model.name}")
    if row_parameters is None and evidence.row_parameters.keys() - {"confidence"}:
        raise InputError("rates that differ between rows: give row_parameters for the other model too")
    kept = evidence.row_parameters if row_parameters is None else row_parameters
    _require_own_weights(evidence)
    positive, negative = _weights(evidence, model, kept)
    made = replace(evidence, positive=positive, negative=negative, model=model, row_parameters=kept)
    if evidence.drawn_elsewhere is None:
        return made
    share = float(made.mass.sum() / evidence.mass.sum())
    if not share > 0:
        raise DoesNotExist("no mass is left in the subgroup under these parameters")
    drawn = replace(evidence.drawn, share=evidence.drawn.share * share)
    return replace(made, positive=positive / share, negative=negative / share, drawn_elsewhere=drawn)


def _weights(
    evidence: Evidence, model: ObservationModel, row_parameters: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    """A v / n_s and B v / n_s of each entry, over the mass that the evidence is about."""
    positive, negative = model.coefficients(
        evidence.source, evidence.label, row_parameters.get("confidence"), row_parameters
    )
    scale = _scale(evidence)
    return positive * scale, negative * scale


def _scale(evidence: Evidence) -> Floats:
    return evidence.weight / (evidence.source_weight[evidence.source] * evidence.drawn.share)


def _require_own_weights(evidence: Evidence) -> None:
    own = _weights(evidence, evidence.model, evidence.row_parameters)
    for made, held in zip(own, (evidence.positive, evidence.negative), strict=True):
        if not np.allclose(made, held, rtol=1e-6, atol=1e-9 * float(np.abs(made).max())):
            raise InputError(
                "the weights of these rows are not those of their observation model (they were reweighted): "
                "move its parameters before reweighting"
            )


def tangent(evidence: Evidence, parameter: str) -> Evidence:
    """The rows with the derivatives of both weights per unit of ``parameter`` in place of the weights.

    Whatever is a sum over rows linear in the weights (a cell moment, a mass, the Brier score's terms), added up
    on it, is the exact derivative of that sum. It is no evidence of its own: its mass adds up to about 0.
    """
    slopes = coefficient_slopes(evidence, parameter)
    _require_own_weights(evidence)
    scale = _scale(evidence)
    positive, negative = slopes[0] * scale, slopes[1] * scale
    if evidence.drawn_elsewhere is not None:
        # the mass of a subgroup moves too, and its rows are scaled to mass 1 again
        growth = float((positive + negative).sum() / evidence.mass.sum())
        positive = positive - growth * evidence.positive
        negative = negative - growth * evidence.negative
    return replace(evidence, positive=positive, negative=negative)


@dataclass(frozen=True, eq=False)
class LinearSlopes:
    """Derivatives per unit of ``parameter``: of ``base_rate``, ``brier``, ``log_loss``, and of each bin's
    ``moment``, ``mass`` and ``event_rate`` (bins,), NaN where a bin has no mass.

    ``total`` is the sum of the sizes of the moments' slopes: a parameter that is off by d moves the moments by
    about d x total in all, which is at most by how much it moves the ECE.
    """

    parameter: str
    base_rate: float
    brier: float
    log_loss: float
    moment: Floats
    mass: Floats
    event_rate: Floats

    @property
    def total(self) -> float:
        return float(np.abs(self.moment).sum())


def linear_slopes(
    evidence: Evidence, parameter: str, bins: int | Bins = 15, clip: float = LOG_CLIP
) -> LinearSlopes:
    """The exact derivatives of what is linear in the weights, or a ratio of two such sums.

    ``clip`` is that of the log loss. Raises InputError where the model has no such ``parameter``.
    """
    slope = tangent(evidence, parameter)
    made = Bins.of(evidence, bins)
    key, count = made.index(evidence.score), len(made)
    mass, positive = sum_by(key, evidence.mass, count), sum_by(key, evidence.positive, count)
    d_mass, d_positive = sum_by(key, slope.mass, count), sum_by(key, slope.positive, count)
    rate = np.full(count, np.nan)
    np.divide(d_positive * mass - positive * d_mass, mass**2, out=rate, where=mass > 0)
    whole = float(evidence.mass.sum())
    return LinearSlopes(
        parameter=parameter,
        base_rate=float((slope.positive.sum() - evidence.base_rate * slope.mass.sum()) / whole),
        brier=float(brier_terms(slope).sum()),
        log_loss=float(log_loss_terms(slope, clip).sum()),
        moment=read_only(sum_by(key, slope.residual, count)),
        mass=read_only(d_mass),
        event_rate=read_only(rate),
    )


@dataclass(frozen=True, eq=False)
class Band:
    """A metric with one parameter moved over ``values`` (k,), all else the same: ``results`` (k,).

    ``given`` and ``value`` are the stated parameter and the metric there; ``low`` and ``high`` the range of the
    results; ``slope`` the change of the metric per unit of the parameter at ``given``. ``cut``: the range ends
    before ``half_width`` where the model would stop being identifiable. Results are NaN where the metric
    does not exist. The band holds no sampling error: that of the metric comes on top.
    """

    metric: str
    parameter: str
    given: float
    value: float
    values: Floats
    results: Floats
    low: float
    high: float
    slope: float
    half_width: float
    cut: bool


def band(
    evidence: Evidence,
    statistic: Callable[[Evidence], SupportsFloat],
    parameter: str,
    half_width: float,
    points: int = 9,
) -> Band:
    """``statistic`` of the evidence with ``parameter`` moved over its value +- ``half_width``.

    ``statistic`` is any function of evidence with a number as its result: ``metrics.ece``,
    ``lambda e: metrics.max_ece(e, 10)``. ``points`` (odd) values are tried, the stated one in the middle, each
    side evenly up to where the model stays identifiable. Flip rates per group move together; ``values`` are
    then their means over the rows. Raises InputError where the model has no such parameter.

    >>> from calcore import metrics
    >>> from calcore.observation import PU
    >>> scores, source = [0.9, 0.8, 0.3, 0.1], ["positive", "unlabelled", "unlabelled", "unlabelled"]
    >>> found = band(PU(0.3).evidence(scores, source=source), lambda e: e.base_rate, "prior", 0.1)
    >>> round(found.low, 12), round(found.high, 12), round(found.slope, 6)
    (0.2, 0.4, 1.0)
    """
    require_movable(evidence.model, parameter)
    half = _half(half_width, points)
    down, up = room(evidence.model, parameter)
    reach = min(half_width, down), min(half_width, up)
    shifts = np.unique(
        np.concatenate([np.linspace(-reach[0], 0.0, half + 1), np.linspace(0.0, reach[1], half + 1)])
    )

    def at(shift: float) -> SupportsFloat:
        try:
            return statistic(under(evidence, *moved(evidence, parameter, shift)))
        except DoesNotExist:
            return float("nan")

    found = [at(float(shift)) for shift in shifts]
    results = np.array([float(one) for one in found])
    there = results[np.isfinite(results)]
    centre = int(np.searchsorted(shifts, 0.0))
    below, above = min(STEP, down), min(STEP, up)
    start = given(evidence, parameter)
    return Band(
        metric=str(getattr(found[centre], "name", getattr(statistic, "__name__", "statistic"))),
        parameter=parameter,
        given=start,
        value=float(results[centre]),
        values=read_only(start + shifts),
        results=read_only(results),
        low=float(there.min()) if there.size else float("nan"),
        high=float(there.max()) if there.size else float("nan"),
        slope=(float(at(above)) - float(at(-below))) / (above + below),
        half_width=float(half_width),
        cut=bool(min(reach) < half_width),
    )


def _half(half_width: float, points: int) -> int:
    """Points on either side of the stated value."""
    if not (np.isfinite(half_width) and half_width > 0):
        raise InputError(f"half_width: how far the parameter may be off, above 0; got {half_width!r}")
    if whole_number(points, "points", 3, 1001) % 2 == 0:
        raise InputError(f"points must be odd, so that the stated value is one of them; got {points!r}")
    return points // 2


def check_pconf(evidence: Evidence) -> Estimate:
    """prior x mean(1/r), which is 1 where the prior and the confidences of positives are right.

    Over draws from P(x given Y=1) the mean of 1/r is 1/pi. With standard error and interval; both are too small
    where few confidences near 0 carry the mean. Raises InputError for evidence of another model, or of a
    subgroup (whose mass is 1 by construction).
    """
    if not isinstance(evidence.model, Pconf):
        raise InputError(
            f"prior x mean(1/r) is a check of Pconf, and this is evidence of {evidence.model.name}"
        )
    if evidence.drawn_elsewhere is not None:
        raise InputError("prior x mean(1/r) is a check of all rows, not of a subgroup")
    value = float(evidence.mass.sum())
    error = float(np.sqrt(variance_of_sum(evidence, evidence.mass)))
    interval = honest_interval(evidence, (value - Z * error, value + Z * error))
    off = interval is not None and not interval[0] <= 1 <= interval[1]
    notes = ("it should be near 1: the confidences or the class prior are off",) if off else ()
    return Estimate(
        name="prior x mean(1/r)",
        value=value,
        interval=interval,
        standard_error=None if np.isnan(error) else error,
        **provenance(evidence, *notes),
    )
