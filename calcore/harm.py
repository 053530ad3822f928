"""The harm check: how far a method moves scores that were right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from calcore.calibrators import Calibrator
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.metrics.binning import Bins
from calcore.observation import Noisy
from calcore.observation.labelled import Clean
from calcore.validation import Floats

LARGE = 20_000
#: Scores are put on this many buckets where more of them differ.
BUCKETS = 2_772


@dataclass(frozen=True)
class Harm:
    """Mean over draws of the binned distance |p - g(p)| when labels are drawn from the scores themselves.

    ``at_n`` at the file's size, ``at_large`` at 20,000 rows (scores resampled), ``with_flips`` at the file's
    size with the model's flip rates applied to the drawn labels (None without rates). It judges the method on
    these scores, not the one exported map.
    """

    at_n: float
    at_large: float
    with_flips: float | None
    n: int
    draws: int
    bins: int
    seed: int


def harm_check(
    calibrator: Calibrator, evidence: Evidence, *, draws: int = 20, bins: int = 15, seed: int = 0
) -> Harm:
    """Refit ``calibrator`` on labels drawn as Bernoulli(score) and measure how far it moves the scores.

    Needs no labels of its own. Raises DoesNotExist for evidence without any positive weight of X.
    """
    weight = evidence.covariate_weight
    score, place = np.unique(evidence.score, return_inverse=True)
    if score.size > 2 * BUCKETS:
        bucket = np.minimum((evidence.score * BUCKETS).astype(np.int64), BUCKETS - 1)
        _, place = np.unique(bucket, return_inverse=True)
        mass = np.bincount(place, weight)
        score = np.bincount(place, evidence.score * weight) / np.where(mass > 0, mass, 1.0)
    mass = np.bincount(place, weight)
    score, mass = np.clip(score[mass > 0], 0.0, 1.0), mass[mass > 0]
    if not mass.size:
        raise DoesNotExist("no row says where the population's scores lie")
    n = int(np.bincount(evidence.source, evidence.count)[_population_source(evidence)])
    model = evidence.model
    flips = model if isinstance(model, Noisy) and model.known and not evidence.row_parameters else None
    study = _Study(calibrator, score, mass / mass.sum(), bins, draws, seed)
    return Harm(
        study.distance(n, None, own_counts=np.rint(mass * n / mass.sum())),
        study.distance(LARGE, None),
        None if flips is None else study.distance(n, flips),
        n,
        draws,
        bins,
        seed,
    )


def _population_source(evidence: Evidence) -> int:
    """The source that carries most of the mass of X."""
    return int(np.argmax(np.bincount(evidence.source, evidence.covariate_weight)))


@dataclass(frozen=True, eq=False)
class _Study:
    calibrator: Calibrator
    score: Floats
    share: Floats
    bins: int
    draws: int
    seed: int

    def distance(self, n: int, flips: Noisy | None, own_counts: Floats | None = None) -> float:
        rng = np.random.default_rng(self.seed)
        found = []
        for _ in range(self.draws):
            counts = rng.multinomial(n, self.share) if own_counts is None else own_counts.astype(np.int64)
            found.append(self._one(rng, counts, flips))
        return float(np.mean(found))

    def _one(self, rng: np.random.Generator, counts: np.ndarray, flips: Noisy | None) -> float:
        rate = self.score
        if flips is not None:
            rate = flips.rho0 + (1 - flips.rho0 - flips.rho1) * rate  # type: ignore[operator]
        ones = rng.binomial(counts, np.clip(rate, 0.0, 1.0))
        number = np.concatenate([ones, counts - ones]).astype(np.float64)
        drawn = (flips or Clean()).evidence(
            np.tile(self.score, 2),
            np.repeat([1.0, 0.0], self.score.size),
            weight=number,
            weighting="frequency",
        )
        moved = clone(self.calibrator).fit(drawn).predict(self.score) - self.score
        key = Bins.equal_width(self.bins).index(self.score)
        return float(np.abs(np.bincount(key, counts * moved)).sum() / counts.sum())
