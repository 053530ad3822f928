"""Simulated populations, and what each observation model would see of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.observation import (
    DU,
    PU,
    SD,
    SU,
    UU,
    Clean,
    Noisy,
    ObservationModel,
    Pcomp,
    Pconf,
    PosteriorConfidence,
    Sconf,
)
from calcore.validation import Floats

#: Points of x at which integrals over the population are taken.
GRID = 400_000


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the population: ``x``, ``score``, event ``rate``, label ``y``, each (n,), and ``groups`` (n, m)."""

    x: Floats
    score: Floats
    rate: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.x.size

    def take(self, index: NDArray[np.integer]) -> Rows:
        return Rows(**{column.name: getattr(self, column.name)[index] for column in fields(self)})

    @classmethod
    def join(cls, *parts: Rows) -> Rows:
        names = [column.name for column in fields(cls)]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, eq=False)
class Population:
    """x uniform on [0, 1], with a score f(x) and an event rate r(x), both (n,) to (n,) within [0, 1].

    Subgroups: ``strips`` equal strips of x, then the levels of each of the ``attributes``, which are drawn
    with the given shares and tell nothing about x.
    """

    score: Callable[[Floats], Floats]
    rate: Callable[[Floats], Floats]
    strips: int = 0
    attributes: tuple[tuple[float, ...], ...] = ()

    @cached_property
    def _grid(self) -> tuple[Floats, Floats, Floats]:
        x = (np.arange(GRID) + 0.5) / GRID
        return x, self.score(x), self.rate(x)

    @cached_property
    def prior(self) -> float:
        """P(Y=1)."""
        return float(self._grid[2].mean())

    def draw(self, rng: np.random.Generator, n: int) -> Rows:
        """A random sample of the population."""
        x = rng.random(n)
        rate = self.rate(x)
        groups = [self._strip(x)]
        for shares in self.attributes:
            level = np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")
            groups.append(level[:, None] == np.arange(len(shares)))
        return Rows(x, self.score(x), rate, rng.random(n) < rate, np.concatenate(groups, axis=1))

    def given(self, rng: np.random.Generator, y: NDArray[np.bool_]) -> Rows:
        """One row for each label of ``y`` (n,), drawn from the rows of the population that have it."""
        order = np.empty(y.size, dtype=np.int64)
        found: list[Rows] = []
        start = 0
        for label in (True, False):
            wanted = np.flatnonzero(y == label)
            order[wanted] = start + np.arange(wanted.size)
            start += wanted.size
            found.append(self._with_label(rng, label, wanted.size))
        return Rows.join(*found).take(order)

    def _with_label(self, rng: np.random.Generator, label: bool, n: int) -> Rows:
        share = self.prior if label else 1 - self.prior
        parts = [self.draw(rng, 0)]
        missing = n
        while missing > 0:
            rows = self.draw(rng, int(1.1 * missing / share) + 50)
            parts.append(rows.take(np.flatnonzero(rows.y == label)[:missing]))
            missing -= len(parts[-1])
        return Rows.join(*parts)

    def moments(self, bins: int) -> Floats:
        """E[1{cell}(Y - f)] of every subgroup and bin, (groups, bins); the whole population where none."""
        x, score, rate = self._grid
        place = Bins.equal_width(bins).index(score)
        residual = (rate - score) / GRID
        strip = [np.bincount(place, residual * inside, bins) for inside in self._strip(x).T]
        whole = np.bincount(place, residual, bins)
        levels = [share * whole for shares in self.attributes for share in shares]
        return np.array([*strip, *levels] or [whole])

    def error(self, bins: int) -> float:
        """The true ECE over ``bins`` equal-width bins."""
        _, score, rate = self._grid
        return float(
            np.abs(np.bincount(Bins.equal_width(bins).index(score), rate - score, bins)).sum() / GRID
        )

    def masses(self) -> Floats:
        """P(subgroup), (groups,)."""
        levels = [share for shares in self.attributes for share in shares]
        return np.array([1 / self.strips] * self.strips + levels)

    def _strip(self, x: Floats) -> NDArray[np.bool_]:
        return np.minimum((x * self.strips).astype(np.int64), self.strips - 1)[:, None] == np.arange(
            self.strips
        )


def observation_models(prior: float) -> dict[str, ObservationModel]:
    """One of each observation model, for a population of this prior; four of them need it to differ from 1/2."""
    made: list[ObservationModel] = [Clean(), Noisy(0.2, 0.1), PosteriorConfidence(), PU(prior)]
    made += [UU(prior, 0.8, 0.2), Pconf(prior), Pcomp(prior)]
    if abs(prior - 0.5) > 1e-9:
        made += [SU(prior), DU(prior), SD(prior), Sconf(prior)]
    return {model.name: model for model in made}


@dataclass(frozen=True, eq=False)
class Seen:
    """The columns that an observation model is given: ``rows`` and what is known of them, each (n,)."""

    rows: Rows
    label: NDArray[np.bool_] | None = None
    source: NDArray[np.str_] | None = None
    confidence: Floats | None = None
    unit: NDArray[np.int64] | None = None


def observe(
    model: ObservationModel, population: Population, rng: np.random.Generator, n: int, groups: bool = True
) -> Evidence:
    """What ``model`` sees of the population: n draws from each of its sources; of pairs, n pairs."""
    seen = SIGHTS[model.name](model, population, rng, n)
    return model.evidence(
        seen.rows.score,
        seen.label,
        source=seen.source,
        confidence=seen.confidence,
        unit=seen.unit,
        groups=seen.rows.groups if groups and seen.rows.groups.shape[1] else None,
    )


Sight = Callable[[ObservationModel, Population, np.random.Generator, int], Seen]


def _labels(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    rows = population.draw(rng, n)
    return Seen(rows, label=rows.y)


def _flipped(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    assert isinstance(model, Noisy)
    assert isinstance(model.rho0, float)
    assert isinstance(model.rho1, float)
    rows = population.draw(rng, n)
    return Seen(rows, label=rng.random(n) < np.where(rows.y, 1 - model.rho1, model.rho0))


def _posteriors(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    rows = population.draw(rng, n)
    return Seen(rows, confidence=rows.rate)


def _positives(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    rows = population.given(rng, np.ones(n, dtype=bool))
    return Seen(rows, confidence=rows.rate)


def _known_positives(
    model: ObservationModel, population: Population, rng: np.random.Generator, n: int
) -> Seen:
    return _two(model, population.given(rng, np.ones(n, dtype=bool)), population.draw(rng, n))


def _mixtures(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    assert isinstance(model, UU)
    first, second = (population.given(rng, rng.random(n) < theta) for theta in (model.theta1, model.theta2))
    return _two(model, first, second)


def _pairs_and_population(
    model: ObservationModel, population: Population, rng: np.random.Generator, n: int
) -> Seen:
    pairs = _pairs(population, rng, n, alike=isinstance(model, SU))
    return _two(model, pairs, population.draw(rng, n), paired=(True, False))


def _both_pairs(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    alike, different = (_pairs(population, rng, n, alike) for alike in (True, False))
    return _two(model, alike, different, paired=(True, True))


def _compared(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    """Pairs that come as (+,+), (+,-) or (-,-), the superior member first."""
    pi = population.prior
    chance = np.array([pi**2, pi * (1 - pi), (1 - pi) ** 2])
    kind = rng.choice(3, n, p=chance / chance.sum())
    return _two(model, population.given(rng, kind <= 1), population.given(rng, kind == 0))


def _agreement(model: ObservationModel, population: Population, rng: np.random.Generator, n: int) -> Seen:
    rows = population.draw(rng, 2 * n)
    one, other = rows.rate[:n], rows.rate[n:]
    agree = one * other + (1 - one) * (1 - other)
    return Seen(rows, confidence=np.tile(agree, 2), unit=np.tile(np.arange(n), 2))


def _pairs(population: Population, rng: np.random.Generator, n: int, alike: bool) -> Rows:
    """n pairs of independent rows whose labels agree, or differ: the first members, then the second."""
    pi = population.prior
    both = pi**2 / (pi**2 + (1 - pi) ** 2)
    one = rng.random(n) < (both if alike else 0.5)
    return population.given(rng, np.concatenate([one, one if alike else ~one]))


def _two(
    model: ObservationModel, first: Rows, second: Rows, paired: tuple[bool, bool] = (False, False)
) -> Seen:
    """Rows of two sources; ``paired`` says of each whether its halves are the two members of pairs."""
    sizes = [len(first), len(second)]
    unit = np.concatenate(
        [np.arange(n) % (n // 2 if pairs else n) for n, pairs in zip(sizes, paired, strict=True)]
    )
    source = np.repeat(np.array(model.sources), sizes)
    return Seen(Rows.join(first, second), source=source, unit=unit if any(paired) else None)


#: How each observation model draws its rows, by its name.
SIGHTS: dict[str, Sight] = {
    "Clean": _labels,
    "Noisy": _flipped,
    "PosteriorConfidence": _posteriors,
    "PU": _known_positives,
    "UU": _mixtures,
    "Pconf": _positives,
    "SU": _pairs_and_population,
    "DU": _pairs_and_population,
    "SD": _both_pairs,
    "Pcomp": _compared,
    "Sconf": _agreement,
}


def toy() -> Population:
    """The toy problem of the weak-label paper (WLMC, Appendix E): prior 1/2, eight strips of x."""
    return Population(lambda x: 0.12 + 0.76 * x, lambda x: 0.12 + 0.76 * x + 0.11 * np.sin(2 * np.pi * x), 8)


def skewed(attributes: tuple[tuple[float, ...], ...] = ()) -> Population:
    """Like the toy problem with prior .35, for models that do not exist at 1/2; two strips of x."""
    return Population(
        lambda x: 0.05 + 0.6 * x, lambda x: 0.05 + 0.6 * x + 0.08 * np.sin(2 * np.pi * x), 2, attributes
    )
