"""Venn-Abers: two isotonic fits, one for either label that a new row may get, and their merged value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from calcore.calibrators.base import Calibrator
from calcore.calibrators.recorded_counts import RecordedCounts
from calcore.evidence import Evidence
from calcore.maps.functions import ConstantFunction, StepFunction
from calcore.maps.map_function import MapFunction, checked_scores
from calcore.validation import Floats

#: Below this many rows of either class the two fits lie far apart.
FEWEST = 30


class VennAbers(Calibrator):
    """p1 / (1 - p0 + p1), p0 and p1 the isotonic values of a new row counted among the rows with label 0 and 1.

    The inductive predictor (IVAP) of Vovk, Petej and Fedorova (2015), Section 2, merged by their Eq. 11: the value of
    least regret in log loss. For exchangeable rows one of p0 and p1, chosen by the new row's label, is calibrated at
    any number of rows; ``interval`` gives both. A new row counts as one row of weight 1.

    Between two neighbouring scores both are constant: p1 keeps its value down to just above the score before, p0 up
    to just below the score after. The map is that step function, a step wide for each score that was seen; only
    where a score of exactly 1 was seen does the double next to 1 share its step.

    Known flip rates: the interval is made for the recorded label, and both ends and the merged value are carried back
    through the flips. Other weak labels give no label that a new row could have: it does not exist there. Fitted:
    ``scores_``, ``p0_``, ``p1_``, each (m,): the interval at each score seen, on the scale of true labels.
    """

    title = "Venn-Abers"
    summary = "Isotonic with an interval that is valid at any number of rows; needs labelled rows."
    needs_row_labels = True
    keeps_order = True

    def _fit(self, evidence: Evidence) -> MapFunction:
        self._warn_of_weights(evidence)
        counts = RecordedCounts.of(evidence, self.title)
        p1 = upper_values(counts.size, counts.positive)
        # label 0 is label 1 with both the labels and the order of the scores turned round
        p0 = 1.0 - upper_values(counts.size[::-1], (counts.size - counts.positive)[::-1])[::-1]
        self.scores_, self.p0_, self.p1_ = counts.score, counts.true_rate(p0), counts.true_rate(p1)
        fewest = min(counts.positive.sum(), (counts.size - counts.positive).sum())
        if fewest < FEWEST:
            self._warn(
                f"only {fewest:.4g} rows of one class: look at the intervals, which are wide, not at the map alone"
            )
        if counts.slope < 1:
            self._warn("the interval is valid for the recorded label, at the flip rates as given")
        edges, low, high = _steps(counts.score, p0, p1)
        values = counts.true_rate(high / (1.0 - low + high))
        if values.size == 1:
            return ConstantFunction(value=float(values[0]))
        jump = np.flatnonzero(np.diff(values)) + 1
        return StepFunction(
            edges=np.concatenate([[0.0], edges[jump], [1.0]]), values=values[np.concatenate([[0], jump])]
        )

    def interval(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """(p0, p1), each (n,) in [0, 1] with p0 <= p1, at ``scores`` (n,) in [0, 1].

        Raises InputError for scores that are NaN or outside [0, 1], NotFittedError before ``fit``.
        """
        check_is_fitted(self, "map_")
        p = checked_scores(scores).reshape(-1)
        # below every score seen the new row stands alone with its label 0, above every one with its label 1
        low, high = np.concatenate([[0.0], self.p0_]), np.append(self.p1_, 1.0)
        return (
            low[np.searchsorted(self.scores_, p, side="right")],
            high[np.searchsorted(self.scores_, p, side="left")],
        )


def _steps(score: Floats, p0: Floats, p1: Floats) -> tuple[Floats, Floats, Floats]:
    """Left edges of the steps, and p0 and p1 on each: below the first score, at it, between it and the next, ..."""
    after = np.minimum(np.nextafter(score, 1.0), 1.0)
    edges = np.concatenate([[0.0], np.column_stack([score, after]).ravel()])
    low = np.concatenate([[0.0], np.repeat(p0, 2)])
    high = np.append(np.repeat(p1, 2), 1.0)
    # a step starts at its edge and ends before the next: where two edges are one, the later step is the one there;
    # a score of exactly 1 gets the last place below 1 too, since steps end there
    edges[edges == 1.0] = np.nextafter(1.0, 0.0)
    if score[-1] == 1.0:
        edges, low, high = edges[:-1], low[:-1], high[:-1]
    keep = np.append(np.diff(edges) > 0, True)
    return edges[keep], low[keep], high[keep]


def upper_values(size: Floats, positive: Floats) -> Floats:
    """p1 at each score: the isotonic value there after one more row, a positive, was added at that score.

    ``size`` (m,) above 0 and ``positive`` (m,) in rows, by ascending score. The slope of the greatest convex minorant
    of the cumulative sum diagram, for all scores in O(m) (Vovk, Petej and Fedorova 2015, Algorithms 1 and 2): the
    corners of the minorant stay on a stack while the new row moves from score to score.
    """
    x = np.concatenate([[-1.0, 0.0], np.cumsum(size)]).tolist()
    y = np.concatenate([[-1.0, 0.0], np.cumsum(positive)]).tolist()
    # corners from the right, so that the top of the stack is the leftmost: first of the points as they stand
    stack: list[tuple[float, float]] = []
    for point in zip(reversed(x), reversed(y), strict=True):
        while len(stack) > 1 and not _convex(point, stack[-1], stack[-2]):
            stack.pop()
        stack.append(point)
    found = [0.0] * len(size)
    for i in range(len(size)):
        (x0, y0), (x1, y1) = stack[-1], stack[-2]
        found[i] = (y1 - y0) / (x1 - x0)
        # the new row moves past this score, so the corner before it moves by this score's rows
        point = (x[i + 2] - 1.0, y[i + 2] - 1.0)
        if (point[1] - y0) * (x1 - x0) >= (point[0] - x0) * (y1 - y0):
            continue
        stack.pop()
        while len(stack) > 1 and not _convex(point, stack[-1], stack[-2]):
            stack.pop()
        stack.append(point)
    return np.clip(found, 0.0, 1.0)


def _convex(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Does the way from ``a`` over ``b`` to ``c`` turn to the left?"""
    return (b[0] - a[0]) * (c[1] - a[1]) > (c[0] - a[0]) * (b[1] - a[1])
