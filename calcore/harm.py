"""The harm check: how far a method moves scores that were right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from calcore.calibrators import Calibrator
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.half_labels import halves_apart
from calcore.metrics.binning import Bins
from calcore.observation import Clean, Noisy
from calcore.observation.forward_platt import ForwardPosterior
from calcore.observation.rate_estimate import Tally
from calcore.sums import grid_place, sum_by
from calcore.validation import Floats

LARGE = 20_000
#: Scores are put on this many buckets where more of them differ.
BUCKETS = 2_772


@dataclass(frozen=True)
class Harm:
    """Mean over draws of the binned distance |p - g(p)| when labels are drawn from the scores themselves.

    ``at_n`` at the file's size, ``at_large`` at 20,000 rows (scores resampled), ``with_flips`` at the file's
    size with ``flips``, rho0 and rho1, applied to the drawn labels: those that the model knows, which the method is
    then told, or else those that forward Platt estimates from the recorded labels, which it is not told. None where
    labels are not noisy, or flip rates differ from group to group. For methods that look at subgroups, whose labels
    are drawn row by row, ``at_n`` is at no more than 20,000 rows and ``with_flips`` is None. It judges the method on
    these scores, not the one exported map.
    """

    at_n: float
    at_large: float
    with_flips: float | None
    n: int
    draws: int
    bins: int
    seed: int
    flips: tuple[float, float] | None = None

    @property
    def worst(self) -> float:
        """The larger harm at the file's size: with right labels, and with flipped ones where labels are noisy."""
        return self.at_n if self.with_flips is None else max(self.at_n, self.with_flips)


def harm_check(
    calibrator: Calibrator, evidence: Evidence, *, draws: int = 20, bins: int = 15, seed: int = 0
) -> Harm:
    """Refit ``calibrator`` on labels drawn as Bernoulli(score) and measure how far it moves the scores.

    Needs no labels of its own. Raises DoesNotExist for evidence without any positive weight of X.
    """
    if calibrator.needs_groups and evidence.membership is not None:
        return _harm_on_rows(calibrator, evidence, draws, bins, seed)
    weight = evidence.covariate_weight
    score, place = np.unique(evidence.score, return_inverse=True)
    if score.size > 2 * BUCKETS:
        bucket = grid_place(evidence.score, BUCKETS)
        occupied, place = np.unique(bucket, return_inverse=True)
        heavy = np.maximum(sum_by(place, weight, occupied.size), np.finfo(float).tiny)
        score = sum_by(place, evidence.score * weight, occupied.size) / heavy
    mass = sum_by(place, weight, score.size)
    score, mass = np.clip(score[mass > 0], 0.0, 1.0), mass[mass > 0]
    if not mass.size:
        raise DoesNotExist("no row says where the population's scores lie")
    n = evidence.population_size
    flips = _flips(evidence)
    study = _Study(calibrator, score, mass / mass.sum(), bins, draws, seed)
    # the file's own scores, each as often as it occurs; under sampling weights drawn in their proportion
    own = mass * n / mass.sum()
    counts = np.rint(own).astype(np.int64) if np.allclose(own, np.rint(own), atol=1e-6) else None
    return Harm(
        study.distance(n, None, counts),
        study.distance(LARGE, None),
        None if flips is None else study.distance(n, flips, counts),
        n,
        draws,
        bins,
        seed,
        None if flips is None else flips.rates,
    )


@dataclass(frozen=True)
class _Flips:
    """Flip rates to draw labels with, and the model under which the method sees such labels."""

    rates: tuple[float, float]
    seen_as: Noisy

    def recorded_rate(self, rate: Floats) -> Floats:
        return self.rates[0] + (1 - self.rates[0] - self.rates[1]) * rate


def _flips(evidence: Evidence) -> _Flips | None:
    """The flip rates of noisy labels: known, or estimated from them."""
    model = evidence.model
    if not isinstance(model, Noisy) or "rho0" in evidence.row_parameters or evidence.label is None:
        return None
    if isinstance(model.rho0, float) and isinstance(model.rho1, float):
        return _Flips((model.rho0, model.rho1), model)
    rows = halves_apart(evidence).evidence
    assert rows.label is not None
    tally = Tally.of(rows.score, rows.label, rows.weight)
    if not tally.size.all():
        return None
    mode = ForwardPosterior.of(tally).mode()
    return _Flips((mode.rho0, mode.rho1), Noisy())


def _harm_on_rows(calibrator: Calibrator, evidence: Evidence, draws: int, bins: int, seed: int) -> Harm:
    """The same for a method that looks at subgroups: labels are drawn on rows, which keep theirs."""
    member = evidence.membership
    assert member is not None
    share = evidence.covariate_weight / evidence.covariate_weight.sum()
    n = evidence.population_size

    def distance(size: int) -> float:
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(draws):
            rows = rng.choice(share.size, size, p=share)
            score, groups = evidence.score[rows], member.take(rows)
            drawn = Clean().evidence(score, rng.random(size) < score, groups=groups)
            moved = clone(calibrator).fit(drawn).predict(score, groups) - score
            key = Bins.equal_width(bins).index(score)
            found.append(float(np.abs(sum_by(key, moved, bins)).sum() / size))
        return float(np.mean(found))

    return Harm(distance(min(n, LARGE)), distance(LARGE), None, n, draws, bins, seed)


@dataclass(frozen=True, eq=False)
class _Study:
    calibrator: Calibrator
    score: Floats
    share: Floats
    bins: int
    draws: int
    seed: int

    def distance(self, n: int, flips: _Flips | None, own: NDArray[np.int64] | None = None) -> float:
        rng = np.random.default_rng(self.seed)
        found = []
        for _ in range(self.draws):
            counts = rng.multinomial(n, self.share) if own is None else own
            found.append(self._one(rng, counts, flips))
        return float(np.mean(found))

    def _one(self, rng: np.random.Generator, counts: NDArray[np.int64], flips: _Flips | None) -> float:
        rate = self.score if flips is None else flips.recorded_rate(self.score)
        ones = rng.binomial(counts, np.clip(rate, 0.0, 1.0))
        number = np.concatenate([ones, counts - ones]).astype(np.float64)
        drawn = (Clean() if flips is None else flips.seen_as).evidence(
            np.tile(self.score, 2),
            np.repeat([1.0, 0.0], self.score.size),
            weight=number,
            weighting="frequency",
        )
        moved = clone(self.calibrator).fit(drawn).predict(self.score) - self.score
        key = Bins.equal_width(self.bins).index(self.score)
        return float(np.abs(sum_by(key, counts * moved, self.bins)).sum() / counts.sum())
