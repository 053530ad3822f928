"""What estimates of rates are made of: a rate with its interval, and rows added up by score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from calcore.errors import InputError
from calcore.evidence import GRID
from calcore.sums import sum_by
from calcore.validation import Floats

LEVEL = 0.95
Z = float(stats.norm.ppf(0.5 + LEVEL / 2))
#: Bootstrap draws behind an interval.
DRAWS = 300
#: A source of fewer rows than this bootstraps to nothing that could be trusted.
FEWEST_ROWS = 30


@dataclass(frozen=True)
class RateEstimate:
    """A rate in [0, 1] with its interval at 95 %, the rows that it is from, and what it assumes.

    ``method`` names how it was found. Where ``assumptions`` do not hold, the interval does not cover either.
    """

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    assumptions: tuple[str, ...]
    method: str = "audited rows"


def rate_estimate(
    name: str,
    value: float,
    interval: tuple[float, float],
    n: int,
    method: str,
    assumptions: tuple[str, ...],
) -> RateEstimate:
    """A RateEstimate kept within [0, 1], its interval around its value."""
    value = float(np.clip(value, 0.0, 1.0))
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in interval)
    return RateEstimate(name, value, (min(low, value), max(high, value)), n, assumptions, method)


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson interval of a share; (0, 1) where there are no rows."""
    if n == 0:
        return 0.0, 1.0
    found = stats.binomtest(round(successes), n).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows added up by score: ``score`` (m,) ascending, ``count`` (2, m) of the rows of either kind.

    Exact up to GRID distinct scores; beyond, scores stand at the middle of their bucket of the grid.
    """

    score: Floats
    count: Floats

    @classmethod
    def of(cls, score: Floats, kind: np.ndarray, worth: Floats | None = None) -> Tally:
        """``score`` (n,) in [0, 1], ``kind`` (n,) of 0 and 1, ``worth`` (n,) in rows, 1 each where None."""
        distinct, place = np.unique(score, return_inverse=True)
        if distinct.size > GRID:
            buckets, place = np.unique(
                np.minimum((score * GRID).astype(np.int64), GRID - 1), return_inverse=True
            )
            distinct = (buckets + 0.5) / GRID
        kinds = np.asarray(kind, dtype=np.int64)
        m = distinct.size
        return cls(distinct, sum_by(kinds * m + place, worth, 2 * m).reshape(2, m))

    @property
    def size(self) -> Floats:
        """Rows of either kind, (2,)."""
        return self.count.sum(axis=1)

    def resampled(self, seed: int, draws: int, *, by_kind: bool) -> Iterator[Tally]:
        """Bootstrap samples, seeded: each kind on its own where ``by_kind``, else all rows together.

        A draw in which one kind is missing is drawn again.
        """
        rng = np.random.default_rng(seed)
        share = self.count / self.size[:, None] if by_kind else self.count / self.size.sum()
        made = 0
        while made < draws:
            if by_kind:
                count = np.stack([rng.multinomial(int(n), p) for n, p in zip(self.size, share, strict=True)])
            else:
                count = rng.multinomial(int(self.size.sum()), share.ravel()).reshape(share.shape)
            if count.any(axis=1).all():
                made += 1
                yield Tally(self.score, count.astype(np.float64))


def bootstrap_intervals(
    tally: Tally, estimate: Callable[[Tally], tuple[float, ...]], seed: int, draws: int, *, by_kind: bool
) -> list[tuple[float, float]]:
    """Percentile intervals of each value that ``estimate`` returns; (0, 1) where a kind has too few rows."""
    if tally.size.min() < FEWEST_ROWS:
        return [(0.0, 1.0) for _ in estimate(tally)]
    found = np.array([estimate(drawn) for drawn in tally.resampled(seed, draws, by_kind=by_kind)])
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(found, (tail, 1 - tail), axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def check_draws(draws: int) -> None:
    if draws < 20:
        raise InputError(f"draws: a bootstrap interval needs at least 20, got {draws!r}")
