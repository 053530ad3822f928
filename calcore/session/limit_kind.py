"""Limits that somebody set on metrics, as a session file and a link hold them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from calcore.errors import InputError
from calcore.monitoring.limits import FixedLimit
from calcore.monitoring.results import METRICS

from .kinds import Maybe, Number, OneOf

_METRIC, _END = OneOf(tuple(METRICS)), Maybe(Number(-1_000.0, 1_000.0))


@dataclass(frozen=True)
class FixedLimits:
    """At most one limit a metric; in a link ``gap:-0.02:0.02,ECE::0.05``."""

    words = (
        "a list of limits, at most one a metric, each with a metric of batches and a lowest or highest number"
    )

    def check(self, value: Any) -> tuple[FixedLimit, ...]:
        if not isinstance(value, list | tuple) or len(value) > len(METRICS):
            raise InputError(self.words)
        found = tuple(self._one(item) for item in value)
        if len({one.metric for one in found}) < len(found):
            raise InputError(self.words)
        return found

    def _one(self, item: Any) -> FixedLimit:
        if not isinstance(item, dict) or set(item) != {"metric", "low", "high"}:
            raise InputError(self.words)
        try:
            return FixedLimit(
                _METRIC.check(item["metric"]), _END.check(item["low"]), _END.check(item["high"])
            )
        except InputError:  # an unknown metric, no number, or limits that cross
            raise InputError(self.words) from None

    def parse(self, text: str) -> tuple[FixedLimit, ...]:
        items = []
        for part in text.split(",") if text else []:
            pieces = part.split(":")
            if len(pieces) != 3:
                raise InputError(self.words)
            try:
                low, high = (_END.parse(end) if end else None for end in pieces[1:])
            except InputError:
                raise InputError(self.words) from None
            items.append({"metric": pieces[0], "low": low, "high": high})
        return self.check(items)

    def write(self, value: Collection[FixedLimit]) -> str:
        def end(number: float | None) -> str:
            return "" if number is None else _END.write(number)

        return ",".join(f"{one.metric}:{end(one.low)}:{end(one.high)}" for one in value)
