"""Adaptive importance sampling: a posterior in a few dimensions, with the evidence of its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import optimize, special, stats
from scipy.stats import qmc

from calcore.validation import Floats, read_only

#: Degrees of freedom of the proposals: tails heavier than a posterior's.
TAILS = 5
#: Points of a round, a power of two as Sobol sequences want; rounds at least and at most.
POINTS, FEWEST_ROUNDS, MOST_ROUNDS = 512, 3, 16
#: Sampling stops at this effective size.
ENOUGH = 500.0
#: Wider than any posterior that the data say something about.
WIDEST = 20.0


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """``points`` (k, d) with ``weight`` (k,) that sum to one; ``log_evidence`` of the model; ``effective_size``."""

    points: Floats
    weight: Floats
    log_evidence: float
    effective_size: float


@dataclass(frozen=True)
class Target:
    """Log of a posterior density up to a constant: ``log_density`` of points (k, d) is (k,), ``gradient`` of one
    point (d,) is (d,); ``starts`` are points to search its mode from."""

    log_density: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]
    starts: tuple[tuple[float, ...], ...]


def sample_posterior(target: Target, seed: int = 0) -> PosteriorSample:
    """Sample from the posterior by importance, starting at its mode.

    Rounds of scrambled Sobol points from a t distribution around the mean of the rounds before; all points are
    weighted by the mixture of all proposals (deterministic-mixture weights; Cornuet et al. 2012).
    """
    center, scale = _mode(target)
    dimension = center.size
    points = np.empty((0, dimension))
    value = np.empty(0)
    proposals: list[tuple[Floats, Floats]] = []
    for k in range(MOST_ROUNDS):
        points_here = _proposed(center, scale, [seed, k])
        proposals.append((center, scale))
        points = np.concatenate([points, points_here])
        value = np.concatenate([value, target.log_density(points_here)])
        density = special.logsumexp(
            [stats.multivariate_t.logpdf(points, m, s, df=TAILS) for m, s in proposals], axis=0
        ) - np.log(len(proposals))
        log_weight = value - density
        total = float(special.logsumexp(log_weight))
        weight = np.exp(log_weight - total)
        effective = float(1 / (weight @ weight))
        if effective >= ENOUGH and k + 1 >= FEWEST_ROUNDS:
            break
        center = weight @ points
        spread = points - center
        scale = _definite((spread * weight[:, None]).T @ spread)
    return PosteriorSample(points, weight, total - float(np.log(len(points))), effective)


def _mode(target: Target) -> tuple[Floats, Floats]:
    """The highest point found from the two best starts, and a covariance a half wider than the curvature says."""
    starts = np.array(target.starts)
    best = starts[np.argsort(-target.log_density(starts))[:2]]
    found = [
        optimize.minimize(
            lambda point: -float(target.log_density(point[None])[0]),
            start,
            jac=lambda point: -target.gradient(point),
            method="BFGS",
            options={"gtol": 1e-2, "maxiter": 100},
        )
        for start in best
    ]
    center = np.asarray(min(found, key=lambda one: one.fun).x)
    step = 1e-4
    curvature = np.array(
        [
            (target.gradient(center - shift) - target.gradient(center + shift)) / (2 * step)
            for shift in step * np.eye(center.size)
        ]
    )
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return center, _definite(1.5 * (vectors / np.maximum(values, 1 / WIDEST)) @ vectors.T)


def _definite(scale: Floats) -> Floats:
    """A covariance with no direction narrower than rounding allows."""
    values, vectors = np.linalg.eigh((scale + scale.T) / 2)
    least = max(1e-12, 1e-9 * float(values[-1]))
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)


def _proposed(center: Floats, scale: Floats, seed: list[int]) -> Floats:
    """Points (POINTS, d) of a t distribution."""
    return center + _standard(center.size, *seed) @ np.linalg.cholesky(scale).T


@lru_cache(maxsize=128)
def _standard(dimension: int, seed: int, round_: int) -> Floats:
    """Points (POINTS, dimension) of the standard t distribution; the same for every posterior."""
    uniform = np.clip(
        qmc.Sobol(dimension + 1, seed=np.random.default_rng([seed, round_])).random(POINTS), 1e-9, 1 - 1e-9
    )
    normal = stats.norm.ppf(uniform[:, :dimension])
    return read_only(normal / np.sqrt(stats.chi2.ppf(uniform[:, dimension:], TAILS) / TAILS))
