"""The one logistic fit on evidence: Platt, beta, spline and group-wise calibration are its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from calcore.calibrators.designs import Columns, Design
from calcore.errors import InputError
from calcore.evidence import Evidence
from calcore.validation import Floats

#: Scores are clipped at this in logits, so that 0 and 1 stay finite.
CLIP = 1e-6
#: Coefficients stay within this: separable scores have no finite maximum.
BOUND = 20.0
#: Relative changes of the objective below this are rounding.
ROUNDING = 1e-13


def logit(score: Floats, clip: float) -> Floats:
    """Log odds of scores clipped to [clip, 1 - clip]. Raises InputError for a clip outside (0, .5)."""
    if not 0 < clip < 0.5:
        raise InputError(f"the clip of scores must be above 0 and below 0.5, got {clip!r}")
    return special.logit(np.clip(score, clip, 1.0 - clip))


@dataclass(frozen=True)
class LogisticFit:
    """``coefficients`` of the features and ``intercept``; ``separated`` where no finite fit is best.

    That is where the features tell the classes apart without error: larger coefficients always fit better.
    """

    coefficients: Floats
    intercept: float
    separated: bool


def check_penalty(C: float | None) -> None:
    if C is not None and not (np.isfinite(C) and C > 0):
        raise InputError(f"C, the inverse penalty, must be a positive number or None, got {C!r}")


def fit_logistic(
    evidence: Evidence,
    features: Floats,
    C: float | None = None,
    *,
    nonnegative: bool = False,
    rising: bool = False,
    penalty: Floats | None = None,
) -> LogisticFit:
    """Minimise the sum of a l(z, 1) + b l(z, 0), l the logistic loss of z = features @ w + c.

    ``nonnegative``: the sum of b l(z, 0), an estimate of a risk, counts as 0 where it comes out below (nnPU; WLMC,
    Eq. 78); not convex then. ``rising``: no coefficient of a feature may be below 0.

    ``features`` (n, d). ``penalty`` (d, d): w @ penalty @ w / 2 is added on the scale of counts. With ``C``, |w|^2 / (2 C) is added on the scale of counts, as scikit-learn does.
    Every coefficient stays within +-BOUND; the intercept too. Convex where a + b >= 0.
    """
    design = Columns.of(features)
    whole = np.zeros((design.size, design.size))
    if C is not None:
        whole[:-1, :-1] += np.eye(design.size - 1) / C
    if penalty is not None:
        whole[:-1, :-1] += penalty
    whole /= float(evidence.weight.sum())
    problem = LogisticProblem(design, evidence.positive, evidence.mass, whole, rising)
    found, outside = problem.minimum()
    if nonnegative and problem.negative_risk(found) < 0:
        found = problem.nonnegative_minimum(found)
    # scores of exactly 0 and 1 fit without loss before a coefficient gets anywhere near the bound
    return LogisticFit(found[:-1], float(found[-1]), outside or 0 <= problem.value(found) < 1e-9)


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """The objective: sum of mass log(1 + e^z) - positive z, z = design w, plus w @ penalty @ w / 2.

    ``penalty`` (d, d), the intercept last. ``rising``: all of ``w`` but the intercept stays at 0 or above.
    """

    design: Design
    positive: Floats
    mass: Floats
    penalty: Floats
    rising: bool = False

    def minimum(self, start: Floats | None = None) -> tuple[Floats, bool]:
        """The best ``w`` (d,) within the box, and whether only the box keeps it finite."""
        first = np.zeros(self.design.size) if start is None else start
        found = self.active_set() if self.rising else self.newton(first, np.ones(first.size, dtype=bool))
        outside = bool((np.abs(found) > BOUND).any()) or not bool(np.isfinite(found).all())
        return (self.in_box(), True) if outside else (found, False)

    def value(self, w: Floats) -> float:
        z = self.design.times(w)
        return float(self.mass @ np.logaddexp(0.0, z) - self.positive @ z + 0.5 * (w @ self.penalty @ w))

    def negative_risk(self, w: Floats) -> float:
        """Sum of b l(z, 0): the part of the risk that comes from negatives."""
        return float((self.mass - self.positive) @ np.logaddexp(0.0, self.design.times(w)))

    def nonnegative_minimum(self, start: Floats) -> Floats:
        """The minimum where the negatives' part counts as at least 0, from two starts without derivatives."""

        def value(w: Floats) -> float:
            return self.value(w) - min(self.negative_risk(w), 0.0)

        options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
        box = [(-BOUND, BOUND)] * start.size
        found = [
            optimize.minimize(
                value, np.clip(w, -BOUND, BOUND), method="Nelder-Mead", bounds=box, options=options
            )
            for w in (start, np.zeros(start.size))
        ]
        return np.asarray(min(found, key=lambda one: one.fun).x)

    def gradient(self, w: Floats) -> Floats:
        rate = special.expit(self.design.times(w))
        return self.design.back(self.mass * rate - self.positive) + self.penalty @ w

    def curvature(self, w: Floats) -> Floats:
        """The matrix of second derivatives, (d, d)."""
        rate = special.expit(self.design.times(w))
        return self.design.gram(self.mass * rate * (1 - rate)) + self.penalty

    def active_set(self) -> Floats:
        """The minimum with all coefficients but the intercept at 0 or above (Lawson and Hanson 1974, ch. 23)."""
        at_least_zero = np.arange(self.design.size) < self.design.size - 1
        held, w = np.zeros(self.design.size, dtype=bool), at_least_zero.astype(np.float64)
        for _ in range(10 * w.size):
            target = self.newton(w, ~held)
            short = at_least_zero & ~held & (target <= 0)
            if short.any():
                # as far towards the target as no coefficient falls below 0; those that reach it stay there
                w = w + float((w[short] / np.maximum(w[short] - target[short], 1e-300)).min()) * (target - w)
                w[short] = np.maximum(w[short], 0.0)
                hit = short & (w <= 1e-14)
                w[hit], held = 0.0, held | hit
                continue
            w = target
            pull = np.where(held, -self.gradient(w), 0.0)
            if pull.max() <= 1e-12 or np.abs(w).max() > BOUND:
                break
            held[int(np.argmax(pull))] = False
        return w

    def newton(self, w: Floats, free: np.ndarray) -> Floats:
        """Damped Newton steps on the ``free`` coordinates, until the gradient is at rounding level."""
        value = self.value(w)
        for _ in range(100):
            gradient = self.gradient(w)
            if np.abs(gradient[free]).max(initial=0.0) < 1e-14 or np.abs(w).max() > 1e3 * BOUND:
                break
            step = np.zeros_like(w)
            inner = self.curvature(w)[np.ix_(free, free)]
            # the pseudo-inverse leaves a feature that does not vary at 0
            step[free] = -np.linalg.pinv(inner, rcond=1e-14, hermitian=True) @ gradient[free]
            if gradient @ step >= 0:
                step[free] = -gradient[free]
            if -float(gradient @ step) <= ROUNDING * (1.0 + abs(value)):
                # the value no longer changes in double precision: a full step, if it flattens the gradient
                closer = w + step
                if not np.abs(self.gradient(closer)[free]).max() < np.abs(gradient[free]).max():
                    break
                w, value = closer, self.value(closer)
                continue
            size = 1.0
            new = self.value(w + step)
            while not new < value + 1e-4 * size * float(gradient @ step) and size > 1e-10:
                size /= 2
                new = self.value(w + size * step)
            if not new < value:
                break
            w, value = w + size * step, new
        return w

    def in_box(self) -> Floats:
        """The minimum within the box, from a bounded search polished on the faces that it ends on."""
        size = self.design.size
        lower = 0.0 if self.rising else -BOUND
        box = [(lower, BOUND)] * (size - 1) + [(-BOUND, BOUND)]
        rough = optimize.minimize(
            self.value,
            np.zeros(size),
            jac=self.gradient,
            method="L-BFGS-B",
            bounds=box,
            options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 500},
        ).x
        low, high = np.array(box).T
        held = (rough > high - 1e-6) | (rough < low + 1e-6)
        start = np.where(held, np.where(rough > 0.5 * (low + high), high, low), rough)
        polished = self.newton(start, ~held)
        inside = bool(((polished >= low) & (polished <= high)).all())
        return polished if inside else np.clip(rough, low, high)
