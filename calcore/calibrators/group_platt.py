"""Group-wise Platt scaling: a line for everyone, and what each subgroup adds to it, shrunk towards nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calcore.calibrators.base import Calibrator
from calcore.calibrators.designs import GroupLines
from calcore.calibrators.logistic import CLIP, LogisticProblem, logit
from calcore.errors import DoesNotExist, InputError
from calcore.evidence import Evidence, compress
from calcore.maps.functions import LogisticFunction
from calcore.maps.group_logistic import GroupLogisticFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import Floats

#: Above this many rows the spread is chosen on scores added up in this many buckets, and the fit then made on rows.
ADD_UP_ABOVE, BUCKETS = 20_000, 400
#: Spreads of the subgroups' deviations that are tried where none is given.
SPREADS = (0.0, *np.geomspace(0.02, 3.0, 14).tolist())


@dataclass(frozen=True, eq=False)
class GroupPlattAudit:
    """How ``spread`` was chosen: the ``log_marginal`` likelihood of each of ``spreads``, both (k,), 0 at the largest.

    ``worth``: how many clean rows one row is worth, at most 1; ``spreads`` has one entry where it was given.
    """

    spread: float
    spreads: Floats
    log_marginal: Floats
    worth: float


class GroupPlatt(Calibrator):
    """sigmoid(a logit p + b), where each subgroup of a row adds its deviation to a and to b.

    Deviations are N(0, ``spread``) beforehand, on scores whose log-odds have mean 0 and spread 1, so that a subgroup
    of few rows stays at the line for everyone, and a row in several subgroups adds theirs up. ``spread`` None: the
    value of largest marginal likelihood in Laplace's approximation (empirical Bayes; MacKay 1992, Section 4). Weak
    labels carry less than clean ones: their log likelihood is multiplied by d / trace(H^-1 J), H the curvature and J
    the variance of its gradient (Pauli, Racugno and Ventura 2011, Eq. 2.4), never by more than 1.

    Without subgroups it is Platt. Fitted: ``a_``, ``b_``, ``slopes_`` and ``intercepts_`` of the subgroups (m,),
    ``audit_`` (GroupPlattAudit).
    """

    title = "Group-wise Platt"
    summary = "Platt, with a line of its own for each subgroup as far as its rows speak for one."
    needs_groups = True

    def __init__(self, spread: float | None = None, clip: float = CLIP) -> None:
        self.spread = spread
        self.clip = clip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.spread is not None and not (np.isfinite(self.spread) and self.spread >= 0):
            raise InputError(f"the spread of deviations must be at least 0 or None, got {self.spread!r}")

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        constant = self._constant(evidence)
        if constant is not None:
            return constant
        if evidence.membership is None:
            self._warn("no subgroups: this is Platt")
        z = logit(evidence.score, self.clip)
        weight = evidence.weight / evidence.weight.sum()
        center = float(weight @ z)
        scale = float(np.sqrt(weight @ (z - center) ** 2)) or 1.0
        problem = _Shrunk.of(evidence, (z - center) / scale)
        coarse = _added_up(evidence)
        found, separated = self._chosen(
            problem, _Shrunk.of(coarse, (logit(coarse.score, self.clip) - center) / scale)
        )
        m = problem.groups
        slopes = np.append(found[1 : 1 + m], found[0]) / scale
        shifts = found[1 + m :] - center * slopes
        self.a_, self.b_ = float(slopes[-1]), float(shifts[-1])
        self.slopes_, self.intercepts_ = slopes[:-1], shifts[:-1]
        if separated:
            self._warn("the score (almost) separates the classes: no finite map is best, this one is bounded")
        self._warn_of_falling(problem.lines)
        if not (self.slopes_.any() or self.intercepts_.any()):
            return LogisticFunction(slope=self.a_, intercept=self.b_, clip=self.clip)
        return GroupLogisticFunction(
            slope=self.a_,
            intercept=self.b_,
            slopes=tuple(self.slopes_.tolist()),
            intercepts=tuple(self.intercepts_.tolist()),
            clip=self.clip,
        )

    def _chosen(self, problem: _Shrunk, coarse: _Shrunk) -> tuple[Floats, bool]:
        """The coefficients of ``problem`` at the spread that was given, or of largest marginal likelihood in ``coarse``."""
        w, separated = coarse.minimum(0.0, np.zeros(coarse.lines.size))
        worth = coarse.worth(w)
        coarse, problem = coarse.at(worth), problem.at(worth)
        spreads = np.array(SPREADS if self.spread is None else (self.spread,))
        if separated or not problem.groups:
            # a line that fits without error leaves nothing for the subgroups to add
            spreads = np.zeros(1)
        fits, log_marginal = [], np.zeros(spreads.size)
        for k, spread in enumerate(spreads):
            w, _ = coarse.minimum(float(spread), w)
            fits.append(w)
            log_marginal[k] = coarse.log_marginal(float(spread), w)
        if not np.isfinite(log_marginal).any():
            self._warn(
                "negative masses leave no likelihood to weigh deviations by: the smallest spread is used"
            )
            log_marginal = -np.arange(float(spreads.size))
        best = int(np.argmax(log_marginal))
        self.audit_ = GroupPlattAudit(float(spreads[best]), spreads, log_marginal - log_marginal[best], worth)
        found, bounded = problem.minimum(float(spreads[best]), fits[best])
        return found, bounded or separated

    def _warn_of_falling(self, lines: GroupLines) -> None:
        slope = self.a_ + lines.table @ self.slopes_
        if (slope < 0).any():
            self._warn(
                f"the map is decreasing for some rows (slope {slope.min():.3g}): it turns their ranking round"
            )


def _added_up(evidence: Evidence) -> Evidence:
    """Many rows added up by score and membership, on a grid that is fine enough to choose a spread on."""
    if len(evidence) <= ADD_UP_ABOVE:
        return evidence
    try:
        return compress(evidence, grid=BUCKETS, joint=True)[0]
    except DoesNotExist:
        return evidence  # units or continuous weights: slower, on the rows


@dataclass(frozen=True, eq=False)
class _Shrunk:
    """The penalised fits of one file: ``evidence`` on ``lines``, its log likelihood multiplied by ``rows``."""

    evidence: Evidence
    lines: GroupLines
    rows: float

    @classmethod
    def of(cls, evidence: Evidence, z: Floats) -> _Shrunk:
        member = evidence.membership
        if member is None:
            lines = GroupLines(z, np.zeros(len(evidence), np.int32), np.zeros((1, 0)))
        else:
            lines = GroupLines(z, member.pattern, member.table.toarray())
        return cls(evidence, lines, float(evidence.weight.sum()))

    @property
    def groups(self) -> int:
        return self.lines.table.shape[1]

    @property
    def _deviates(self) -> np.ndarray:
        """Which coefficients are deviations: all but the first and the last."""
        return (np.arange(self.lines.size) % (self.lines.size - 1)) > 0

    def at(self, worth: float) -> _Shrunk:
        return _Shrunk(self.evidence, self.lines, self.rows * worth)

    def _problem(self, spread: float) -> LogisticProblem:
        penalty = np.diag(self._deviates / (self.rows * spread**2)) if spread else None
        free = np.zeros((self.lines.size, self.lines.size)) if penalty is None else penalty
        return LogisticProblem(self.lines, self.evidence.positive, self.evidence.mass, free)

    def minimum(self, spread: float, start: Floats) -> tuple[Floats, bool]:
        if spread:
            return self._problem(spread).minimum(start)
        line = GroupLines(self.lines.z, np.zeros(len(self.evidence), np.int32), np.zeros((1, 0)))
        found, outside = LogisticProblem(
            line, self.evidence.positive, self.evidence.mass, np.zeros((2, 2))
        ).minimum()
        return np.concatenate([found[:1], np.zeros(2 * self.groups), found[1:]]), outside

    def log_marginal(self, spread: float, w: Floats) -> float:
        """Laplace's approximation, up to a constant that is the same for every spread."""
        problem = self._problem(0.0)
        # det(H + prior) over the prior's own determinant, written so that a spread of 0 is a plain case
        share = np.where(self._deviates, spread, 1.0)
        inner = self.rows * problem.curvature(w) * np.outer(share, share) + np.diag(self._deviates)
        sign, log_det = np.linalg.slogdet(inner)
        if sign <= 0:
            return -np.inf
        size = float((w[self._deviates] ** 2).sum() / (2 * spread**2)) if spread else 0.0
        return -self.rows * problem.value(w) - size - 0.5 * float(log_det)

    def worth(self, w: Floats) -> float:
        """d / trace(H^-1 J) at the line for everyone, at most 1; 1 where labels count as they are."""
        if self.evidence.label is not None and not bool(
            (self.evidence.negative * self.evidence.positive < 0).any()
        ):
            return 1.0
        ends = np.array([0, self.lines.size - 1])
        curvature = self._problem(0.0).curvature(w)[np.ix_(ends, ends)]
        rate = 1 / (1 + np.exp(-np.clip(self.lines.times(w), -700, 700)))
        gradient = self.evidence.mass * rate - self.evidence.positive
        share = self.evidence.weight / self.evidence.weight.sum()
        # a row of weight 2 is two rows: the square of a gradient counts once for each
        spread = np.divide(gradient**2, share, out=np.zeros_like(share), where=share > 0)
        variance = self.lines.gram(spread)[np.ix_(ends, ends)]
        trace = float(np.trace(np.linalg.pinv(curvature, hermitian=True) @ variance))
        return min(1.0, 2.0 / trace) if trace > 0 else 1.0
