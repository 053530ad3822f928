"""A random sample of a file's rows to be checked by hand: how many, which, and how it is told from any other list."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calcore.metrics.binning import Bins
from calcore.metrics.uncertainty import Z
from calcore.ranking import FEWEST
from calcore.sums import sum_by
from calcore.validation import Floats, fraction, whole_number

MOST_ROWS = 10**12
Z_ONE_SIDED = float(stats.norm.ppf(0.95))


def sample_size(precision: float, population: int, rate: float = 0.5) -> int:
    """Rows to check so that an event rate of the file is known to +/- ``precision`` at 95 %.

    ``precision`` in (0, 1): 0.05 is 5 points. ``population``: the rows that can be drawn; drawing from few is more
    precise, n = n0 / (1 + (n0 - 1) / N) with n0 = z^2 p (1 - p) / h^2 (Cochran 1977, Eq. 4.1-4.2).
    ``rate`` p is the one that is expected; one half needs the most. The mean score of the same rows is known, so this
    is the precision of the overall gap too; a single score range holds fewer of the rows and is known less well. The
    paired Brier difference of two maps that are d apart is known to about 2 d times that: its row terms differ by the
    label only by 2 d. Never fewer than a comparison is ranked on, never more than there are. Raises InputError.
    """
    precision = fraction(precision, "the precision")
    population = whole_number(population, "the rows to draw from", 1, MOST_ROWS)
    rate = fraction(rate, "the expected event rate")
    infinite = Z**2 * rate * (1 - rate) / precision**2
    needed = math.ceil(infinite / (1 + (infinite - 1) / population) - 1e-9)
    return min(max(needed, FEWEST), population)


def rows_for_average_gap(scores: Floats, gap: float, bins: int = 10) -> int:
    """Rows to check so that an average gap over score bins of ``gap`` stands out from chance, to two digits.

    ``scores`` (n,) are those to draw from. Were they right, the moment of bin j would have the standard deviation
    s_j / sqrt(n) with s_j^2 the mean of f (1 - f) 1{bin j}; the ECE, the sum of the absolute moments, would be up to
    (sqrt(2 / pi) sum s_j + z sqrt((1 - 2 / pi) sum s_j^2)) / sqrt(n) at 95 %. Solved for n at ``gap``; a verdict of
    "calibrated within noise" needs as many. Raises InputError.
    """
    gap = fraction(gap, "the gap")
    place = Bins.equal_width(bins).index(scores)
    square = sum_by(place, scores * (1 - scores), bins) / scores.size
    mean, spread = math.sqrt(2 / math.pi) * np.sqrt(square).sum(), math.sqrt((1 - 2 / math.pi) * square.sum())
    needed = max(((mean + Z_ONE_SIDED * spread) / gap) ** 2, 1.0)
    unit = 10 ** max(math.floor(math.log10(needed)) - 1, 0)
    return math.ceil(needed / unit) * unit


def draw(population: int, size: int, seed: int) -> NDArray[np.int64]:
    """``size`` of the positions 0 ... ``population`` - 1, each set of them equally likely, in the order drawn.

    The first rows of a larger draw of the same seed are the smaller draw, and whoever stops early has still
    checked a random sample.
    """
    population = whole_number(population, "the rows to draw from", 1, MOST_ROWS)
    size = whole_number(size, "the rows to draw", 1, population)
    return np.random.default_rng(seed).permutation(population)[:size]


def seed_of(sha256: str) -> int:
    """The seed of a file: the same file gives the same sample."""
    return int(sha256[:16], 16)


def fingerprint(sha256: str, lines: NDArray[np.int64]) -> str:
    """Eight letters for the rows of a file that a list is about: ``lines`` (n,) of the file with this SHA-256.

    Letters a to p only, which no spreadsheet takes for a number or a date.
    """
    digest = hashlib.sha256(sha256.encode() + np.ascontiguousarray(lines, dtype="<i8").tobytes()).hexdigest()
    return "".join(chr(ord("a") + int(one, 16)) for one in digest[:8])
