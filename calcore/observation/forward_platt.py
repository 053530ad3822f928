"""The forward Platt model of recorded labels at its mode: a logistic curve between two flip rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special, stats

from calcore.observation.rate_estimate import LEVEL, Tally
from calcore.sums import sum_by
from calcore.validation import Floats

#: Scores are clipped at this before their logit is taken: the surest scores must not carry the fit.
CLIP = 1e-3
#: Dirichlet(1.1, 1.1, 3) of (rho0, rho1, 1 - rho0 - rho1), as exponents of its density.
DIRICHLET = (0.1, 0.1, 2.0)
#: Values of rho0 at which the posterior is looked at first.
RATES = np.concatenate([np.geomspace(1e-5, 0.01, 5)[:-1], np.linspace(0.01, 0.97, 25)])
#: Fall of the log posterior to the ends of an interval.
FALL = float(stats.chi2.ppf(LEVEL, 1)) / 2
#: Logits are added up in so many buckets at most.
BUCKETS = 500
#: Further than this below its top the posterior is not searched.
HOPELESS = 20.0
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ForwardMode:
    """The mode: flip rates, the curve sigmoid(``slope`` z + ``intercept``), and P(Y=1), ``prior``."""

    rho0: float
    rho1: float
    slope: float
    intercept: float
    prior: float


@dataclass(frozen=True, eq=False)
class ForwardPosterior:
    """P(recorded 1) = rho0 + (1 - rho0 - rho1) sigmoid(a z + b), and the posterior of its four parameters.

    ``z`` (m,) logits of the scores, ``count`` (2, m) rows recorded 0 and 1; log a ~ N(log ``slope_median``,
    ``slope_spread``). At a given rho0 the rest is theta = (log-odds of rho1 / (1 - rho0), log a, b).
    """

    z: Floats
    count: Floats
    slope_median: float = 1.0
    slope_spread: float = 1.0

    @classmethod
    def of(
        cls, tally: Tally, slope_median: float = 1.0, slope_spread: float = 1.0, clip: float = CLIP
    ) -> ForwardPosterior:
        z = special.logit(np.clip(tally.score, clip, 1 - clip))
        if z.size <= BUCKETS:
            return cls(z, tally.count, slope_median, slope_spread)
        # rows of nearly equal logits at their mean: the curve bends little within .03
        rows = tally.count.sum(axis=0)
        bucket = np.minimum(((z - z.min()) / np.ptp(z) * BUCKETS).astype(np.int64), BUCKETS - 1)
        held, place = np.unique(bucket, return_inverse=True)
        count = np.stack([sum_by(place, kind, held.size) for kind in tally.count])
        mean = sum_by(place, z * rows, held.size) / sum_by(place, rows, held.size)
        return cls(mean, count, slope_median, slope_spread)

    def mirrored(self) -> ForwardPosterior:
        """The same rows with the classes exchanged: its rho0 is rho1 here."""
        return replace(self, z=-self.z, count=self.count[::-1])

    def mode(self) -> ForwardMode:
        """Where the posterior is highest."""
        rho0, theta, _ = self._best(DIRICHLET)
        rho1 = float((1 - rho0) * special.expit(theta[0]))
        slope, intercept = float(np.exp(theta[1])), float(theta[2])
        positive = special.expit(slope * self.z + intercept)
        prior = float(self.count.sum(axis=0) @ positive / self.count.sum())
        return ForwardMode(rho0, rho1, slope, intercept, prior)

    def interval(self) -> tuple[float, float]:
        """Where the profile of the posterior in rho0, flat in rho0 at 0, is within FALL of its top."""
        flat = (0.0, *DIRICHLET[1:])
        best, theta, top = self._best(flat)

        def fall(rho0: float) -> float:
            return self._fit(rho0, theta, flat)[1] - top - FALL

        low = 0.0 if best < 1e-6 or fall(0.0) <= 0 else float(optimize.brentq(fall, 0.0, best, xtol=1e-6))
        high = 1.0 if fall(0.999) <= 0 else float(optimize.brentq(fall, best, 0.999, xtol=1e-6))
        return low, high

    def _best(self, exponents: tuple[float, float, float]) -> tuple[float, Floats, float]:
        """rho0, theta and minus the log posterior at its best."""
        theta, found = np.array([-2.0, np.log(self.slope_median), 0.0]), []
        for rate in RATES:
            theta, value = self._fit(float(rate), theta, exponents)
            found.append((value, theta))
            if value > min(found, key=lambda one: one[0])[0] + HOPELESS:
                break
        values = np.array([value for value, _ in found])
        place = int(np.argmin(values))
        around = float(RATES[max(place - 1, 0)]), float(RATES[min(place + 1, RATES.size - 1)])
        theta = found[place][1]
        rho0 = float(
            optimize.minimize_scalar(
                lambda rate: self._fit(rate, theta, exponents)[1],
                bounds=around,
                method="bounded",
                options={"xatol": 1e-7},
            ).x
        )
        theta, value = self._fit(rho0, theta, exponents)
        return rho0, theta, value

    def _fit(self, rho0: float, theta: Floats, exponents: tuple[float, float, float]) -> tuple[Floats, float]:
        """The best theta at ``rho0``, by damped Fisher scoring from ``theta``, and its value."""
        value, gradient, curvature = self._value(rho0, theta, exponents)
        for _ in range(60):
            if np.abs(gradient).max() < 1e-7:
                break
            step = -np.linalg.solve(curvature + 1e-9 * np.eye(3), gradient)
            step /= max(1.0, np.abs(step).max() / 2)
            size = 1.0
            while size > 1e-6:
                trial = self._value(rho0, theta + size * step, exponents)
                if trial[0] < value + 1e-4 * size * float(gradient @ step):
                    break
                size /= 2
            else:
                break
            small = value - trial[0] < 1e-9
            theta, (value, gradient, curvature) = theta + size * step, trial
            if small:
                break
        return theta, value

    def _value(
        self, rho0: float, theta: Floats, exponents: tuple[float, float, float]
    ) -> tuple[float, Floats, Floats]:
        """Minus the log posterior up to a constant, its gradient and its expected curvature in theta."""
        share, rest = special.expit(theta[0]), special.expit(-theta[0])
        line = np.exp(theta[1]) * self.z
        one, zero = special.expit(line + theta[2]), special.expit(-line - theta[2])
        slope = (1 - rho0) * rest
        q = np.maximum(rho0 + slope * one, TINY)
        not_q = np.maximum((1 - rho0) * share + slope * zero, TINY)
        e0, e1, e2 = exponents
        standard = (theta[1] - np.log(self.slope_median)) / self.slope_spread
        prior = (
            (e0 * np.log(max(rho0, TINY)) if e0 else 0.0)
            + (e1 + e2) * np.log1p(-rho0)
            - e1 * np.logaddexp(0.0, -theta[0])
            - e2 * np.logaddexp(0.0, theta[0])
            - (standard**2 + theta[2] ** 2) / 2
        )
        value = -float(self.count[1] @ np.log(q) + self.count[0] @ np.log(not_q) + prior)
        spread = slope * one * zero
        design = np.stack([-slope * share * one, spread * line, spread])
        pull = self.count[1] / q - self.count[0] / not_q
        gradient = -(
            design @ pull + np.array([e1 * rest - e2 * share, -standard / self.slope_spread, -theta[2]])
        )
        curvature = (design * (self.count.sum(axis=0) / (q * not_q))) @ design.T
        curvature += np.diag([(e1 + e2) * share * rest, 1.0 / self.slope_spread**2, 1.0])
        return value, gradient, curvature
