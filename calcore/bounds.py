"""How far an estimated MC can be from the true one, and how many rows keep it near: the bounds of WLMC.

WLMC, Propositions 1-3 (PU, UU, Pconf) and Theorems 3-4. All hold for any score that was not fitted on the same rows,
and for any distribution: at sizes that files have they are far wider than the intervals of ``calcore.metrics``, and
are of use for planning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from calcore.errors import InputError, NotIdentifiable
from calcore.validation import fraction, whole_number

MOST_ROWS = 10**15


@dataclass(frozen=True)
class Witnesses:
    """The classes that MC is a maximum over: ``groups`` = |C| subgroups and ``bins`` = |W| ranges of scores.

    For an infinite W give its covering number in the sup norm at scale ``eta`` as ``bins``; for an infinite C its VC
    ``dimension`` d, by which its Rademacher complexity is taken as sqrt(d / n) (WLMC, D.2) and ``groups`` is
    not used.
    """

    groups: int
    bins: int
    eta: float = 0.0
    dimension: float | None = None

    def __post_init__(self) -> None:
        whole_number(self.groups, "groups", 1, MOST_ROWS)
        whole_number(self.bins, "bins", 1, MOST_ROWS)
        if self.eta != 0:
            fraction(self.eta, "eta", open_interval=False)
        if self.dimension is not None:
            _positive(self.dimension, "the dimension")

    def complexity(self, n: int) -> float:
        """A bound of the Rademacher complexity of C on n rows: Massart's sqrt(2 log |C| / n), or sqrt(d / n)."""
        twice = 2 * math.log(self.groups) if self.dimension is None else self.dimension
        return math.sqrt(twice / n)

    def width(self, n: int, delta: float) -> float:
        """The bracket of WLMC, Eq. 18: complexity + eta + sqrt((2 log N + log(4 / delta)) / n)."""
        chance = 2 * math.log(self.bins) + math.log(4 / delta)
        return self.complexity(n) + self.eta + math.sqrt(chance / n)


@dataclass(frozen=True)
class Bound:
    """With probability 1 - ``delta`` the estimated MC lies within ``value`` of the true one.

    ``sizes`` are the rows of each source, ``envelopes`` the largest |term| that a row of each adds to a moment.
    """

    value: float
    delta: float
    sizes: tuple[int, ...]
    envelopes: tuple[float, ...]
    witnesses: Witnesses
    equation: str


@dataclass(frozen=True)
class SampleSize:
    """Rows that suffice: ``per_batch`` of each source, and ``total`` of each over ``batches`` fresh batches."""

    per_batch: tuple[int, ...]
    batches: int = 1

    @property
    def total(self) -> tuple[int, ...]:
        return tuple(size * self.batches for size in self.per_batch)


def pu_envelopes(prior: float) -> tuple[float, float]:
    """pi for positives and 1 for unlabelled rows (WLMC, Proposition 1)."""
    return fraction(prior, "the class prior pi"), 1.0


def uu_envelopes(prior: float, theta1: float, theta2: float) -> tuple[float, float]:
    """A_k = sup over v of |alpha_k(v)| (WLMC, Eq. 19 and C.1): each alpha is linear, so at v = 0 or 1.

    ``theta1`` = 1 - gamma1 and ``theta2`` = gamma2 are the shares of positives. Raises NotIdentifiable where equal.
    """
    pi = fraction(prior, "the class prior pi")
    first = fraction(theta1, "the share of positives in the first sample", open_interval=False)
    second = fraction(theta2, "the share of positives in the second sample", open_interval=False)
    delta = abs(first - second)
    if delta < 1e-12:
        raise NotIdentifiable(
            f"UU: the two sources have the same positive fraction {first:g}, not identifiable"
        )
    return (
        max((1 - second) * pi, second * (1 - pi)) / delta,
        max((1 - first) * pi, first * (1 - pi)) / delta,
    )


def pconf_envelopes(prior: float, r_min: float) -> tuple[float]:
    """pi (1 + 1 / C_r), every confidence being at least ``r_min`` = C_r (WLMC, Proposition 3)."""
    smallest = r_min if r_min == 1 else fraction(r_min, "r_min")
    return (fraction(prior, "the class prior pi") * (1 + 1 / smallest),)


def pu_bound(
    n_positive: int, n_unlabelled: int, prior: float, witnesses: Witnesses, delta: float = 0.05
) -> Bound:
    """WLMC, Proposition 1, Eq. 18: 2 sum over sources of pi_s (complexity + eta + sqrt(...)), pi_s = pi and 1."""
    sizes = n_positive, n_unlabelled
    return uniform_bound(pu_envelopes(prior), sizes, witnesses, delta, equation="WLMC, Proposition 1")


def uu_bound(
    n_first: int,
    n_second: int,
    prior: float,
    theta1: float,
    theta2: float,
    witnesses: Witnesses,
    delta: float = 0.05,
) -> Bound:
    """WLMC, Proposition 2: as Proposition 1, with the envelopes A_1 and A_2 of the two mixtures."""
    envelopes, sizes = uu_envelopes(prior, theta1, theta2), (n_first, n_second)
    return uniform_bound(envelopes, sizes, witnesses, delta, equation="WLMC, Proposition 2")


def pconf_bound(
    n: int, prior: float, r_min: float, witnesses: Witnesses, delta: float = 0.05, constant: float = 2.0
) -> Bound:
    """WLMC, Proposition 3: C pi (1 + 1 / C_r) (complexity + eta + sqrt(...)); C, not given there, is 2 as in the others."""
    envelopes = pconf_envelopes(prior, r_min)
    return uniform_bound(envelopes, (n,), witnesses, delta, constant, equation="WLMC, Proposition 3")


def uniform_bound(
    envelopes: Sequence[float],
    sizes: Sequence[int],
    witnesses: Witnesses,
    delta: float = 0.05,
    constant: float = 2.0,
    *,
    equation: str = "WLMC, Eq. 63",
) -> Bound:
    """``constant`` x sum over sources of envelope x (complexity + eta + sqrt((2 log N + log(4 / delta)) / n)).

    ``envelopes`` and ``sizes`` (sources,). With ``constant`` 2, the paper's, "universal numerical constants" are
    absorbed: its proof gives 2 sqrt(2 log N / n) + sqrt(2 log(4 / delta) / n) for the last term, up to sqrt(1.5) =
    1.23 times what is stated. ``finite_bound`` has no such gap.
    """
    _check(envelopes, sizes, delta)
    _positive(constant, "the constant of a bound")
    value = constant * sum(
        envelope * witnesses.width(n, delta) for envelope, n in zip(envelopes, sizes, strict=True)
    )
    return Bound(value, delta, tuple(sizes), tuple(envelopes), witnesses, equation)


def finite_bound(
    envelopes: Sequence[float], sizes: Sequence[int], witnesses: Witnesses, delta: float = 0.05
) -> Bound:
    """Hoeffding over finitely many cells, as in the proof of WLMC, Theorem 4, with every constant.

    Sum over S sources of envelope x sqrt(2 log(2 S |C| |W| / delta) / n); for S = 2 the logarithm is that
    of Theorem 4. Tighter than Proposition 1. Raises InputError for classes that are not finite.
    """
    _check(envelopes, sizes, delta)
    chance = 2 * _log_events(witnesses, len(sizes), delta)
    value = sum(envelope * math.sqrt(chance / n) for envelope, n in zip(envelopes, sizes, strict=True))
    return Bound(value, delta, tuple(sizes), tuple(envelopes), witnesses, "WLMC, Theorem 4 (Hoeffding)")


def rows_for_bound(
    envelopes: Sequence[float], error: float, witnesses: Witnesses, delta: float = 0.05, constant: float = 2.0
) -> SampleSize:
    """The smallest n, the same for every source, whose ``uniform_bound`` is at most ``error``.

    Every term but eta is one over sqrt(n): n = (constant sum(envelopes) width(1) / (error - constant sum(envelopes)
    eta))^2. Raises InputError where eta alone exceeds the error.
    """
    one = uniform_bound(envelopes, [1] * len(envelopes), witnesses, delta, constant).value
    fixed = constant * sum(envelopes) * witnesses.eta
    room = _positive(error, "the error") - fixed
    if room <= 0:
        raise InputError(
            f"the scale eta alone costs {fixed:g}: a smaller one is needed for an error of {error:g}"
        )
    n = max(math.ceil(((one - fixed) / room) ** 2), 1)

    def enough(rows: int) -> bool:
        return uniform_bound(envelopes, [rows] * len(envelopes), witnesses, delta, constant).value <= error

    # rounding may leave the square root one row off, either way
    while not enough(n):
        n += 1
    while n > 1 and enough(n - 1):
        n -= 1
    return SampleSize((n,) * len(envelopes))


def boosting_rounds(error: float, start: float = 1.0) -> int:
    """K = ceil(4 D_0 / epsilon^2): most updates of WLMC at ``error`` epsilon (WLMC, Theorem 2).

    ``start`` = D_0 = E[(f_0(X) - P(Y=1 given X))^2], at most 1.
    """
    distance = start if start == 1 else fraction(start, "the starting distance D_0")
    return math.ceil(4 * distance / _positive(error, "the error") ** 2)


def rows_for_wlmc(
    envelopes: Sequence[float],
    error: float,
    witnesses: Witnesses,
    delta: float = 0.05,
    start: float = 1.0,
) -> SampleSize:
    """Rows of fresh batches with which WLMC ends within ``error`` on every cell (WLMC, Theorem 4).

    n_s >= C B_s^2 log(2 S |C| |W| (K + 1) / delta) / epsilon^2 in each of at most K + 1 batches. The paper's
    universal C is 32 S^2 for S sources: then Hoeffding keeps every moment within epsilon / 4 in every batch.
    """
    _check(envelopes, [1] * len(envelopes), delta)
    sources, batches = len(envelopes), boosting_rounds(error, start) + 1
    chance = _log_events(witnesses, sources, delta / batches)
    sizes = (math.ceil(32 * sources**2 * envelope**2 * chance / error**2) for envelope in envelopes)
    return SampleSize(tuple(sizes), batches)


def rows_for_wlmc_vc(
    envelopes: Sequence[float],
    error: float,
    bins: int,
    dimension: float,
    constant: float,
    delta: float = 0.05,
    start: float = 1.0,
) -> SampleSize:
    """The smallest n >= C B_s^2 (d log n + log(4 |W| (K + 1) / delta)) / epsilon^2 (WLMC, Theorem 3).

    For subgroups of VC ``dimension`` d. The paper does not give its ``constant`` C, which depends on the bound of
    the Rademacher complexity.
    """
    _check(envelopes, [1] * len(envelopes), delta)
    Witnesses(1, bins, dimension=dimension)
    _positive(constant, "the constant C")
    batches = boosting_rounds(error, start) + 1
    chance = math.log(4 * bins * batches / delta)
    return SampleSize(
        tuple(_fixed_point(constant * envelope**2 / error**2, dimension, chance) for envelope in envelopes),
        batches,
    )


def _fixed_point(scale: float, dimension: float, chance: float) -> int:
    """The smallest n above which n >= scale (dimension log n + chance) holds for good."""

    def needed(n: float) -> float:
        return max(scale * (dimension * math.log(n) + chance), 1.0)

    n = 1.0
    while n < needed(n) or n < scale * dimension:
        n *= 2
    # from above, each step stays above the largest solution and comes nearer
    while needed(n) < n * (1 - 1e-9):
        n = needed(n)
    rows = math.ceil(n)
    while rows > 1 and rows - 1 >= needed(rows - 1):
        rows -= 1
    return rows


def _log_events(witnesses: Witnesses, sources: int, delta: float) -> float:
    if witnesses.dimension is not None or witnesses.eta > 0:
        raise InputError(
            "this bound counts cells: it needs finitely many subgroups and bins, eta 0 and no dimension"
        )
    return math.log(2 * sources * witnesses.groups * witnesses.bins / delta)


def _positive(value: float, name: str) -> float:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def _check(envelopes: Sequence[float], sizes: Sequence[int], delta: float) -> None:
    fraction(delta, "delta")
    if not envelopes or len(envelopes) != len(sizes):
        raise InputError(
            f"{len(envelopes)} envelopes for {len(sizes)} sources: one of each is needed a source"
        )
    for envelope in envelopes:
        _positive(envelope, "an envelope")
    for size in sizes:
        whole_number(size, "rows of a source", 1, MOST_ROWS)
