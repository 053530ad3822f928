"""What a logistic fit multiplies with: a plain matrix of features, or a line of its own for each subgroup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calcore.sums import sum_by
from calcore.validation import Floats


class Design(Protocol):
    """A matrix (n, d) that is known by its products alone; its last column is the intercept's."""

    @property
    def size(self) -> int:
        """The number of columns d."""
        ...

    def times(self, w: Floats) -> Floats:
        """The matrix times ``w`` (d,), (n,)."""
        ...

    def back(self, v: Floats) -> Floats:
        """The transposed matrix times ``v`` (n,), (d,)."""
        ...

    def gram(self, k: Floats) -> Floats:
        """The transposed matrix times diag(``k``) times the matrix, (d, d)."""
        ...


@dataclass(frozen=True, eq=False)
class Columns:
    """``features`` (n, d - 1) and a column of ones."""

    matrix: Floats

    @classmethod
    def of(cls, features: Floats) -> Columns:
        return cls(np.column_stack([features, np.ones(len(features))]))

    @property
    def size(self) -> int:
        return self.matrix.shape[1]

    def times(self, w: Floats) -> Floats:
        return self.matrix @ w

    def back(self, v: Floats) -> Floats:
        return self.matrix.T @ v

    def gram(self, k: Floats) -> Floats:
        return self.matrix.T @ (self.matrix * k[:, None])


@dataclass(frozen=True, eq=False)
class GroupLines:
    """A line in ``z`` (n,) for everyone, and what each of m subgroups adds to its slope and its intercept.

    Columns: the slope, m deviations of it, m deviations of the intercept, the intercept. ``pattern`` (n,) is each
    row's pattern of membership, ``table`` (patterns, m) of 0 and 1 the subgroups of a pattern: products are sums
    over patterns, so that a million rows cost no million times m numbers.
    """

    z: Floats
    pattern: NDArray[np.int32]
    table: Floats

    @property
    def size(self) -> int:
        return 2 + 2 * self.table.shape[1]

    @property
    def _groups(self) -> Floats:
        """Everyone, then the subgroups, (patterns, 1 + m)."""
        return np.column_stack([np.ones(len(self.table)), self.table])

    def _shift_last(self, slopes: Floats, shifts: Floats) -> Floats:
        """Both parts, each everyone first, in the order of the columns."""
        return np.concatenate([slopes, shifts[1:], shifts[:1]])

    def times(self, w: Floats) -> Floats:
        m = self.table.shape[1]
        slope = self._groups @ w[: 1 + m]
        shift = self._groups @ np.concatenate([w[-1:], w[1 + m : -1]])
        return slope[self.pattern] * self.z + shift[self.pattern]

    def back(self, v: Floats) -> Floats:
        groups, patterns = self._groups, len(self.table)
        shift = groups.T @ sum_by(self.pattern, v, patterns)
        return self._shift_last(groups.T @ sum_by(self.pattern, v * self.z, patterns), shift)

    def gram(self, k: Floats) -> Floats:
        groups, patterns = self._groups, len(self.table)
        power = k
        blocks = []
        for _ in range(3):
            blocks.append(groups.T @ (groups * sum_by(self.pattern, power, patterns)[:, None]))
            power = power * self.z
        ones, mixed, squares = blocks
        whole = np.block([[squares, mixed], [mixed, ones]])
        m = self.table.shape[1]
        order = np.concatenate([np.arange(1 + m), np.arange(2 + m, 2 + 2 * m), [1 + m]])
        return whole[np.ix_(order, order)]
