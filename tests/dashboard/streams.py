"""Files with a time column, as a stream of scores would give them."""

from __future__ import annotations

import numpy as np

ODD = ("<b>north</b>", "so$u$th & co")


def stream_bytes(
    months: int = 12,
    rows: int = 300,
    *,
    broken_from: int | None = None,
    unlabelled: int = 0,
    start: str = "2022-01",
    time: str | None = "scored_at",
    groups: tuple[str, ...] = ("north", "south"),
    seed: int = 0,
) -> bytes:
    """CSV bytes of ``rows`` scores a month; from month ``broken_from`` on they are 20 points too high, and the last
    ``unlabelled`` months have no labels yet."""
    rng = np.random.default_rng(seed)
    first = np.datetime64(start, "M")
    names = ["score", "label", "region", *([] if time is None else [time])]
    lines = [",".join(names)]
    for month in range(months):
        score = rng.uniform(0.25, 0.95, rows)
        rate = score - 0.2 * (broken_from is not None and month >= broken_from)
        label = (rng.random(rows) < rate).astype(int).astype(str)
        if month >= months - unlabelled:
            label[:] = ""
        days = (first + month).astype("datetime64[D]") + rng.integers(0, 28, rows)
        region = rng.choice(list(groups), rows)
        for s, y, g, day in zip(score, label, region, days, strict=True):
            lines.append(",".join([f"{s:.4f}", y, g, *([] if time is None else [str(day)])]))
    return "\n".join([*lines, ""]).encode()
