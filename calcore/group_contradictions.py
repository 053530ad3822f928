"""Subgroups whose labels contradict the score more often than those of other rows at the same scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calcore.audit import TOLERANCE
from calcore.calibrators import LWCal
from calcore.calibrators.loss_weighted import contradiction, recorded_labels
from calcore.contradictions import Errors, Interval, own_doubt, p_value
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence, compress
from calcore.metrics.binning import Bins
from calcore.metrics.uncertainty import LEVEL, SIGNIFICANCE, Z, holm
from calcore.sums import sum_by
from calcore.validation import Floats, fraction

#: Rows are compared with others of the same fortieth of the rows by score, so that rare events are not all alike; .5,
#: where a contradiction turns round, is an edge too.
QUANTILES = 40
STRATA = QUANTILES + 1
#: Above this many rows scores are added up on a grid first.
MANY_ROWS, BUCKETS = 100_000, 2_772
#: A subgroup of fewer rows, or with fewer rows beside it, is not tested.
FEWEST_ROWS = 20


@dataclass(frozen=True)
class GroupContradictions:
    """One subgroup of ``rows`` rows; rates in [0, 1].

    ``observed``, ``expected`` and ``excess`` as in Contradictions, by the subgroup's own rows, with the interval
    of the excess. ``weight`` is the mean weight that LWCal gives to its rows, with ``weight_interval``.
    ``difference`` is how much larger the excess is than that of the other rows at the same scores, with its
    95 % ``interval`` (before any allowance for having searched) and Holm-``adjusted`` p-value; ``chance`` is up to
    what difference chance alone gives this subgroup as one of all that are tested. NaN and None where there are
    too few rows on either side. ``flagged``: significant and beyond the tolerance, in the bad direction;
    ``repeats``: an intersection of a subgroup that is flagged itself.
    """

    group: str
    position: int
    rows: int
    observed: float
    expected: float
    excess: float
    excess_interval: Interval
    weight: float
    weight_interval: Interval
    difference: float
    interval: Interval
    adjusted: float
    chance: float
    flagged: bool
    repeats: bool = False

    @property
    def tested(self) -> bool:
        return bool(np.isfinite(self.adjusted))


@dataclass(frozen=True)
class GroupSearch:
    """Every subgroup, those that stand out first, then by their difference; ``tested`` of them were searched."""

    groups: tuple[GroupContradictions, ...]
    tested: int
    tolerance: float
    n: int

    @property
    def flagged(self) -> tuple[GroupContradictions, ...]:
        return tuple(group for group in self.groups if group.flagged)


def group_contradictions(evidence: Evidence, *, tolerance: float = TOLERANCE) -> GroupSearch:
    """Compare the contradictions of each subgroup of ``evidence`` with those of all other rows.

    A subgroup in which the model is unsure has more contradictions, hence the excess over min(p, 1 - p) is
    compared. That is not enough: equal flip rates give a larger excess where the model is surer (it is flips times
    1 - 2 min(p, 1 - p)). So rows are compared within strata of the score, as Cochran, Mantel and Haenszel do: with
    x the row's excess, W the weights in a stratum s and g the subgroup,

        difference = sum over s of (W_gs W_rs / W_s) (mean x_gs - mean x_rs), over the sum of W_gs W_rs / W_s

    which is 0 where labels are flipped alike and the score means the same. At no tolerance it accused some group in
    0-5 % of simulations without one (clean, symmetric and asymmetric flips; scores too sure and not sure enough;
    rare events; weights; units). Families of subgroups may overlap.
    Raises DoesNotExist where rows carry no label or there are no subgroups.
    """
    fraction(tolerance, "the tolerance", open_interval=False)
    recorded_labels(evidence)
    if evidence.membership is None:
        raise DoesNotExist("this evidence has no subgroups to compare: give groups when it is made")
    entries = _Entries.of(evidence)
    found = [entries.group(position) for position in range(len(evidence.membership.names))]
    adjusted = holm(np.array([part.p for part in found]))
    tested = int(np.isfinite(adjusted).sum())
    # Bonferroni over the subgroups: what the largest of them shows by chance
    z = float(-special.ndtri((1 - LEVEL) / 2 / max(tested, 1)))
    groups = [
        replace(
            part.result,
            adjusted=float(p),
            chance=z * part.error,
            flagged=bool(p < SIGNIFICANCE and part.result.difference > tolerance),
        )
        for part, p in zip(found, adjusted, strict=True)
    ]
    subgroups = evidence.membership.subgroups
    flagged = {subgroups[one.position] for one in groups if one.flagged} if subgroups else set()
    if flagged:
        groups = [
            replace(one, repeats=any(part in flagged for part in subgroups[one.position].parts))
            for one in groups
        ]
    groups.sort(
        key=lambda one: (
            not one.flagged,
            one.flagged and one.repeats,
            not one.tested,
            -np.nan_to_num(one.difference, nan=-2.0),
        )
    )
    return GroupSearch(tuple(groups), tested, tolerance, evidence.n)


@dataclass(frozen=True, eq=False)
class _Compared:
    """A subgroup before the others are known: its ``result``, the difference's p-value and standard error."""

    result: GroupContradictions
    p: float
    error: float


@dataclass(frozen=True, eq=False)
class _Entries:
    """The rows, or sums of them, with all that is compared; (n,) each."""

    evidence: Evidence
    against: Floats
    doubt: Floats
    weight: Floats
    stratum: NDArray[np.int64]
    squares: Floats
    errors: Errors

    @classmethod
    def of(cls, evidence: Evidence) -> _Entries:
        if len(evidence) > MANY_ROWS and evidence.unit is None:
            evidence, _ = compress(evidence, grid=BUCKETS, joint=True)
        assert evidence.label is not None
        return cls(
            evidence=evidence,
            against=contradiction(evidence.score, evidence.label),
            doubt=own_doubt(evidence.score),
            weight=LWCal().fit(evidence.without_groups()).audit_.weights,
            stratum=_strata(evidence),
            squares=evidence.weight_squared,
            errors=Errors.of(evidence),
        )

    def group(self, position: int) -> _Compared:
        member = self.evidence.membership
        assert member is not None
        inside = member.mask(position)
        rows = int(self.evidence.count[inside].sum())
        excess = self.against - self.doubt
        difference, interval, p, error = self._difference(inside, rows)
        at, at_interval = self._mean(inside, excess, self.doubt * (1 - self.doubt))
        weight, weight_interval = self._mean(inside, self.weight, np.zeros(inside.size))
        result = GroupContradictions(
            group=member.names[position],
            position=position,
            rows=rows,
            observed=self._mean(inside, self.against)[0],
            expected=self._mean(inside, self.doubt)[0],
            excess=at,
            excess_interval=at_interval,
            weight=weight,
            weight_interval=weight_interval,
            difference=difference,
            interval=interval,
            adjusted=float("nan"),
            chance=float("nan"),
            flagged=False,
        )
        return _Compared(result, p, error)

    def _mean(
        self, inside: NDArray[np.bool_], values: Floats, null: Floats | None = None
    ) -> tuple[float, Interval]:
        """Weighted mean of ``values`` over the rows ``inside``; with its interval where ``null`` is given."""
        share = np.where(inside, self.evidence.weight, 0.0)
        total = float(share.sum())
        if total <= 0:
            return float("nan"), None
        share = share / total
        mean = float(share @ values)
        if null is None or int(self.evidence.count[inside].sum()) < FEWEST_ROWS:
            return mean, None
        squares = np.where(inside, self.squares, 0.0) / total**2 * null
        error = self.errors.of_sum(share * (values - mean), squares)
        return mean, (mean - Z * error, mean + Z * error) if np.isfinite(error) else None

    def _difference(self, inside: NDArray[np.bool_], rows: int) -> tuple[float, Interval, float, float]:
        """The stratified difference, its interval, p-value and standard error."""
        nothing = float("nan"), None, float("nan"), float("nan")
        if min(rows, self.evidence.n - rows) < FEWEST_ROWS:
            return nothing
        v, s = self.evidence.weight, self.stratum
        total = sum_by(s, v, STRATA)
        of_group = sum_by(s, np.where(inside, v, 0.0), STRATA)
        filled = np.where(total > 0, total, 1.0)
        overlap = float((of_group * (total - of_group) / filled).sum())
        if overlap <= 1e-9 * float(total.sum()):
            return nothing  # no stratum has rows of both
        excess = self.against - self.doubt
        centre = sum_by(s, v * excess, STRATA) / filled
        rate = sum_by(s, v * self.against, STRATA) / filled
        # summed over rows these are W_g W_r / W times the difference of the means, stratum by stratum
        lever = (inside - (of_group / filled)[s]) / overlap
        terms = v * lever * (excess - centre[s])
        value = float(terms.sum())
        # alike in a stratum: each row contradicts at the stratum's own rate
        error = self.errors.of_sum(terms, self.squares * lever**2 * (rate * (1 - rate))[s])
        if not np.isfinite(error):
            return nothing
        return value, (value - Z * error, value + Z * error), p_value(value, error), error


def _strata(evidence: Evidence) -> NDArray[np.int64]:
    """The stratum of each entry, below STRATA: by quantiles of the score, cut once more at .5."""
    edges = Bins.equal_mass(evidence.score, QUANTILES, evidence.weight).edges
    cut = np.unique([*edges[1:-1], 0.5])
    return np.searchsorted(cut, evidence.score, side="right").astype(np.int64)
