"""How the two weights of a row move with the parameters of its observation model, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.observation.base import ObservationModel
from calcore.observation.confidence import Pconf
from calcore.observation.labelled import Noisy
from calcore.observation.mixtures import PU, UU
from calcore.observation.pairs import DU, SD, SU, Pcomp, Sconf
from calcore.validation import Floats

#: How near a parameter is moved to where the model stops being identifiable, or half way if nearer.
EDGE = 1e-3

Slopes = tuple[Floats, Floats]


def movable(model: ObservationModel) -> tuple[str, ...]:
    """Names of the parameters that move the weights; none for models without."""
    if isinstance(model, Noisy) and not model.known:
        return ()
    return tuple(name for kind, name in _SLOPES if kind is type(model))


def coefficient_slopes(evidence: Evidence, parameter: str) -> Slopes:
    """dA and dB of each row per unit of ``parameter``, (n,) each: derivatives of ``coefficients``.

    Flip rates per group move together, by the same amount in every group. Raises InputError where the model
    has no such parameter.
    """
    require_movable(evidence.model, parameter)
    return _SLOPES[type(evidence.model), parameter](evidence)


def require_movable(model: ObservationModel, parameter: str) -> None:
    names = movable(model)
    if parameter not in names:
        has = f"its parameters are {', '.join(names)}" if names else "it has no parameter that could be off"
        raise InputError(f"{model.name} has no parameter {parameter!r} to move: {has}")


def room(model: ObservationModel, parameter: str) -> tuple[float, float]:
    """How far ``parameter`` can go down and up while the model stays identifiable."""
    require_movable(model, parameter)
    if isinstance(model, Noisy):
        pairs = _rates(model)
        own = [pair[parameter] for pair in pairs]
        return min(own), _short_of(min(1 - sum(pair.values()) for pair in pairs))
    value = float(getattr(model, parameter))
    if parameter == "prior":
        # alike and differing pairs say nothing at 1/2, so that a prior stays on its side
        low, high = 0.0, 1.0
        if isinstance(model, (SU, DU, SD, Sconf)):
            low, high = (0.0, 0.5) if value < 0.5 else (0.5, 1.0)
        return _short_of(value - low), _short_of(high - value)
    other = float(model.parameters["theta2" if parameter == "theta1" else "theta1"])
    down, up = value, 1 - value
    return (_short_of(value - other), up) if value > other else (down, _short_of(other - value))


def _short_of(distance: float) -> float:
    return distance - min(EDGE, distance / 2)


def moved(evidence: Evidence, parameter: str, shift: float) -> tuple[ObservationModel, Mapping[str, Floats]]:
    """The model of ``evidence`` with ``parameter`` moved by ``shift``, and what its rows then carry."""
    model: Any = evidence.model
    value = getattr(model, parameter)
    rows = dict(evidence.row_parameters)
    if parameter in rows:
        rows[parameter] = np.maximum(rows[parameter] + shift, 0.0)
    if isinstance(value, Mapping):
        changed: Any = {level: max(rate + shift, 0.0) for level, rate in value.items()}
    else:
        changed = value + shift
    return replace(model, **{parameter: changed}), rows


def given(evidence: Evidence, parameter: str) -> float:
    """The value of ``parameter``; of flip rates per group, their mean over the rows."""
    value = getattr(evidence.model, parameter)
    if isinstance(value, Mapping):
        return float(np.average(evidence.row_parameters[parameter], weights=evidence.weight))
    return float(value)


def _rates(model: Noisy) -> list[dict[str, float]]:
    """The two flip rates of each group, or of all rows."""
    rates = (("rho0", model.rho0), ("rho1", model.rho1))
    levels = {level for _, rate in rates if isinstance(rate, Mapping) for level in rate} or {""}
    return [
        {name: float(rate[level] if isinstance(rate, Mapping) else rate) for name, rate in rates}  # type: ignore[arg-type]
        for level in levels
    ]


def _by_source(slopes: Callable[[Any], tuple[tuple[float, float], ...]]) -> Callable[[Evidence], Slopes]:
    """Slopes that are the same for all rows of a source: (dA, dB) of each."""

    def of_rows(evidence: Evidence) -> Slopes:
        table = np.array(slopes(evidence.model))
        return table[evidence.source, 0], table[evidence.source, 1]

    return of_rows


def _pu_prior(model: PU) -> tuple[tuple[float, float], ...]:
    return (1.0, -1.0), (0.0, 0.0)


def _uu_prior(model: UU) -> tuple[tuple[float, float], ...]:
    one, two = model.theta1, model.theta2
    delta = one - two
    return ((1 - two) / delta, two / delta), (-(1 - one) / delta, -one / delta)


def _uu_theta1(model: UU) -> tuple[tuple[float, float], ...]:
    pi, two, square = model.prior, model.theta2, (model.theta1 - model.theta2) ** 2
    a, b = -pi * (1 - two) / square, (1 - pi) * two / square
    return (a, b), (-a, -b)


def _uu_theta2(model: UU) -> tuple[tuple[float, float], ...]:
    pi, one, square = model.prior, model.theta1, (model.theta1 - model.theta2) ** 2
    a, b = pi * (1 - one) / square, -(1 - pi) * one / square
    return (a, b), (-a, -b)


def _su_prior(model: SU) -> tuple[tuple[float, float], ...]:
    inverse = 1 / (2 * model.prior - 1) ** 2
    return (1 - inverse, inverse - 1), (inverse, -inverse)


def _du_prior(model: DU) -> tuple[tuple[float, float], ...]:
    inverse = 1 / (2 * model.prior - 1) ** 2
    return (1 + inverse, -1 - inverse), (-inverse, inverse)


def _sd_prior(model: SD) -> tuple[tuple[float, float], ...]:
    pi, d = model.prior, 2 * model.prior - 1
    alike = pi**2 + (1 - pi) ** 2
    similar = 2 * pi - alike / d**2
    dissimilar = 2 * (1 - pi) + 2 * pi * (1 - pi) / d**2
    return (similar, 2 * d - similar), (dissimilar, -2 * d - dissimilar)


def _pcomp_prior(model: Pcomp) -> tuple[tuple[float, float], ...]:
    return (0.0, -1.0), (1.0, 0.0)


def _sconf_prior(evidence: Evidence) -> Slopes:
    model: Any = evidence.model
    slope = (1 - 2 * evidence.row_parameters["confidence"]) / (2 * model.prior - 1) ** 2
    return slope, -slope


def _pconf_prior(evidence: Evidence) -> Slopes:
    r = evidence.row_parameters["confidence"]
    return np.ones(len(evidence)), (1 - r) / r


def _noisy(parameter: str) -> Callable[[Evidence], Slopes]:
    def of_rows(evidence: Evidence) -> Slopes:
        model: Any = evidence.model
        positive, _ = model.coefficients(evidence.source, evidence.label, None, evidence.row_parameters)
        rows: Mapping[str, Any] = evidence.row_parameters or {"rho0": model.rho0, "rho1": model.rho1}
        slope = (positive - (parameter == "rho0")) / (1 - rows["rho0"] - rows["rho1"])
        return slope, -slope

    return of_rows


_SLOPES: dict[tuple[type[ObservationModel], str], Callable[[Evidence], Slopes]] = {
    (Noisy, "rho0"): _noisy("rho0"),
    (Noisy, "rho1"): _noisy("rho1"),
    (PU, "prior"): _by_source(_pu_prior),
    (UU, "prior"): _by_source(_uu_prior),
    (UU, "theta1"): _by_source(_uu_theta1),
    (UU, "theta2"): _by_source(_uu_theta2),
    (SU, "prior"): _by_source(_su_prior),
    (DU, "prior"): _by_source(_du_prior),
    (SD, "prior"): _by_source(_sd_prior),
    (Pcomp, "prior"): _by_source(_pcomp_prior),
    (Sconf, "prior"): _sconf_prior,
    (Pconf, "prior"): _pconf_prior,
}
