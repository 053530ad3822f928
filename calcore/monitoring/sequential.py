"""A test of gaps within what is allowed that stays valid however often one looks.

One unit of money is set aside, spread over bets (patterns x stakes) and over the batches at which each may begin. What
it has become by now is at least 20 with a probability of at most 1/20, ever, while every gap is allowed (Ville's
inequality). After an alarm that is over, the test begins anew with one unit: the bound is on streams with any false
alarm, and holds from each such beginning on approximately, for where it begins is read off the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from calcore.monitoring.betting import SHAPES, STAKES, Growth, shapes
from calcore.validation import Floats, fraction

#: A false alarm, ever, in at most this share of streams.
ALPHA = 0.05
#: How slowly the money that may still begin to bet runs out: half of it is left after so many batches.
HALF_BEGUN = 20


@dataclass(frozen=True)
class Change:
    """One bet that has won: ``pattern`` is a shape, or "too low"/"too high" in bin ``bin``; ``group`` None overall.

    Positions of batches: ``since`` is where it is likeliest to have begun, ``alarm`` the first at which it was beyond
    what chance gives, ``until`` the last in which it shows; ``over`` says that later batches speak against it.
    """

    group: str | None
    pattern: str
    bin: int | None
    since: int
    alarm: int
    until: int
    over: bool
    log_evidence: float


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """``log_evidence`` (batches,), which begins anew after an alarm that is over, and what it found.

    An alarm is ``log_evidence`` at or above ``threshold``, log(1 / alpha); ``alarms`` are the first batches of each.
    ``changes`` are what they are about, in order: overall first, then the subgroups that are convicted on their own
    (each at alpha / m), the earliest first.
    """

    log_evidence: Floats
    threshold: float
    alarms: tuple[int, ...]
    changes: tuple[Change, ...]


def sequential_test(growths: Sequence[Growth | None], alpha: float = ALPHA) -> SequentialTest:
    """The test after each batch; None for a batch on which nothing is bet (no labels yet).

    Subgroups that a batch does not hold are not bet on there.
    """
    fraction(alpha, "the rate of false alarms")
    threshold = float(-np.log(alpha))
    line, alarms = np.zeros(len(growths)), []
    changes: list[Change] = []
    start = 0
    while start < len(growths):
        line[start:], found, new = _one_run(growths[start:], threshold)
        if found is None:
            break
        alarms.append(start + found)
        over = bool(new) and new[0].over
        end = start + max(new[0].until, found) + 1 if over else len(growths)
        if over:  # what else is told of it lies within it
            _, _, new = _one_run(growths[start:end], threshold)
            new = [replace(one, over=True) for one in new]
        changes = _continued(changes, [_moved(one, start) for one in new], start)
        if not over:
            break
        start = end
    return SequentialTest(line, threshold, tuple(alarms), tuple(changes))


def _moved(one: Change, by: int) -> Change:
    return replace(one, since=one.since + by, alarm=one.alarm + by, until=one.until + by)


def _continued(known: list[Change], new: list[Change], start: int) -> list[Change]:
    """All changes; one that goes on where the test began anew is told once."""
    found = list(known)
    for one in new:
        same = [k for k in found if (k.group, k.pattern, k.bin) == (one.group, one.pattern, one.bin)]
        if same and one.since <= start + 1 and same[-1].until >= start - 2:
            found[found.index(same[-1])] = replace(same[-1], until=one.until, over=one.over)
        else:
            found.append(one)
    return found


def _one_run(growths: Sequence[Growth | None], threshold: float) -> tuple[Floats, int | None, list[Change]]:
    """Log money after each batch, the first alarm, and the bets behind it."""
    some = next((one for one in growths if one is not None), None)
    if some is None:
        return np.zeros(len(growths)), None, []
    names = tuple(dict.fromkeys(name for one in growths if one is not None for name in one.names))
    bins = (len(some.whole) - len(SHAPES)) // 2
    nothing = np.zeros_like(some.whole)
    whole = np.array([nothing if one is None else one.whole for one in growths])
    groups = _group_logs(growths, names)
    log_whole, together = _mixture(whole, _weights(bins)), None
    own = np.full(groups.shape[2], 1 / groups.shape[2])
    log_groups = _mixture_each(groups, own) if names else np.zeros((len(growths), 0))
    if names:
        # half of the money is bet on the population, half on the subgroups in equal parts
        together = np.logaddexp(log_whole, logsumexp(log_groups, axis=1) - np.log(len(names))) - np.log(2)
    line = log_whole if together is None else together
    found = _first(line, threshold)
    if found is None:
        return line, None, []
    changes = []
    if (at := _first(log_whole, threshold)) is not None:
        changes = _overall(whole, _weights(bins), threshold, max(at, found), bins)
    of_groups = [
        _change(groups[:, g], own, name, max(at, found), bins)
        for g, name in enumerate(names)
        if (at := _first(log_groups[:, g], threshold + np.log(len(names)))) is not None
    ]
    changes += sorted(of_groups, key=lambda one: (one.since, one.alarm, -one.log_evidence))
    return line, found, changes


def _group_logs(growths: Sequence[Growth | None], names: tuple[str, ...]) -> Floats:
    """(batches, m, shapes, stakes); 0 where a batch does not hold a subgroup."""
    patterns = next(one.groups.shape[1] for one in growths if one is not None)
    found = np.zeros((len(growths), len(names), patterns, len(STAKES)))
    place = {name: g for g, name in enumerate(names)}
    for t, one in enumerate(growths):
        if one is not None and one.names:
            found[t, [place[name] for name in one.names]] = one.groups
    return found


def _weights(bins: int) -> Floats:
    """Shares (patterns,) of the money: a third on level, a third on confidence, a third on single bins."""
    return np.concatenate([np.full(4, 1 / 6), np.full(2 * bins, 1 / 3 / (2 * bins))])


def _mixture(logs: Floats, weights: Floats) -> Floats:
    """Log money after each batch, (batches,), of bets (batches, patterns, stakes) begun at every batch.

    The share h / ((j + h - 1)(j + h)) begins at batch j = 1, 2, ...: h / (t + h) has not begun after t.
    """
    return _mixture_each(logs[:, None], weights)[:, 0]


def _mixture_each(logs: Floats, weights: Floats) -> Floats:
    """``_mixture`` of each of m subgroups, (batches, m), from (batches, m, patterns, stakes)."""
    share = np.log(weights)[:, None] - np.log(logs.shape[-1])
    money, found = np.full(logs.shape[1:], -np.inf), np.empty(logs.shape[:2])
    for t, factor in enumerate(logs):
        begins = np.log(HALF_BEGUN / ((t + HALF_BEGUN) * (t + 1 + HALF_BEGUN)))
        money = np.logaddexp(money, begins + share) + factor
        waiting = np.log(HALF_BEGUN / (t + 1 + HALF_BEGUN))
        found[t] = np.logaddexp(logsumexp(money, axis=(1, 2)), waiting)
    return found


def _first(log_evidence: Floats, threshold: float) -> int | None:
    beyond = np.flatnonzero(log_evidence >= threshold)
    return int(beyond[0]) if beyond.size else None


def _overall(logs: Floats, weights: Floats, threshold: float, alarm: int, bins: int) -> list[Change]:
    """The bet behind the alarm, and those that are convicted on their own, began at another time and say something new."""
    signs = np.vstack([shapes(bins, bins // 2), np.eye(bins), -np.eye(bins)])
    made = [_change(logs, weights, None, alarm, bins)]
    for p in np.argsort(-weights, kind="stable"):
        alone = np.ones(1)
        at = _first(_mixture(logs[:, [p]], alone), threshold - np.log(weights[p]))
        if at is not None:
            one = _change(logs[:, [p]], alone, None, at, bins, int(p))
            if all(abs(one.since - other.since) > 1 and not _says(signs, other, one, bins) for other in made):
                made.append(one)
    return made


def _says(signs: Floats, known: Change, new: Change, bins: int) -> bool:
    """Does ``known`` say of the same batches all that ``new`` says?"""
    first, second = (
        signs[
            SHAPES.index(one.pattern)
            if one.bin is None
            else len(SHAPES) + bins * (one.pattern == "too high") + one.bin
        ]
        for one in (known, new)
    )
    together = known.since <= new.until and new.since <= known.until
    return together and bool((first * second)[second != 0].min() > 0)


def _change(
    logs: Floats, weights: Floats, group: str | None, alarm: int, bins: int, named: int = 0
) -> Change:
    """The bet that has won most by the alarm; since when: the start that leaves it the most; and until when."""
    since_each = np.cumsum(logs[alarm::-1], axis=0)[
        ::-1
    ]  # log money at the alarm of a bet begun at each batch
    best = since_each.max(axis=0) + np.log(weights)[:, None]
    pattern, stake = np.unravel_index(int(np.argmax(best)), best.shape)
    since = int(np.argmax(since_each[:, pattern, stake]))
    # batches on which nothing was bet (no labels, subgroup not there) change no money: it did not begin in them
    since += int(np.argmax(np.any(logs[since : alarm + 1, pattern] != 0, axis=-1)))
    # from there on the stakes share the money: one that was right for a lucky week may be too high for the next
    later = logsumexp(np.cumsum(logs[alarm + 1 :, pattern], axis=0), axis=-1) - np.log(logs.shape[-1])
    later = np.concatenate([[0.0], later])
    # over at the first loss of what an alarm needs as a win: what comes back after that is another change, which a run
    # in between could not know of either
    lost = np.flatnonzero(later - np.maximum.accumulate(later) < np.log(ALPHA))
    over = bool(lost.size)
    until = int(np.argmax(later[: lost[0] + 1] if over else later))
    single = named + int(pattern) - len(SHAPES)  # the first of the patterns given is number ``named``
    name = SHAPES[single] if single < 0 else SHAPES[0 if single < bins else 1]
    evidence = float(since_each[since, pattern, stake])
    return Change(
        group, name, None if single < 0 else single % bins, since, alarm, alarm + until, over, evidence
    )
