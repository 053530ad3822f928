"""A file of each kind of labels, drawn from one population: the score is calibrated, the prior .35."""

from __future__ import annotations

import numpy as np

PRIOR = 0.35


def _population(rng, n):
    """Scores with mean about PRIOR and labels drawn from them."""
    score = np.clip(rng.beta(1.4, 2.6, n), 0.001, 0.999)
    return score, (rng.random(n) < score).astype(int)


def _pairs(rng, n):
    (first, y1), (second, y2) = _population(rng, n), _population(rng, n)
    return first, y1, second, y2


def _csv(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""]).encode()


def weak_file(kind: str, n: int = 1500, seed: int = 0) -> bytes:
    """CSV bytes of a file whose labels mean ``kind``."""
    rng = np.random.default_rng(seed)
    region = lambda: rng.choice(["north", "south"])  # noqa: E731
    if kind == "uu":
        score, label = _population(rng, 4 * n)
        first = np.where(label == 1, rng.random(4 * n) < 0.7, rng.random(4 * n) < 0.2)
        return _csv(
            "score,source,region",
            [(f"{s:.5f}", "A" if f else "B", region()) for s, f in zip(score, first, strict=True)],
        )
    if kind == "posterior":
        score, _ = _population(rng, n)
        return _csv("score,confidence,region", [(f"{s:.5f}", f"{s:.4f}", region()) for s in score])
    if kind == "pconf":
        score, label = _population(rng, 3 * n)
        return _csv(
            "score,confidence,region", [(f"{s:.5f}", f"{s:.5f}", region()) for s in score[label == 1]]
        )
    first, y1, second, y2 = _pairs(rng, 2 * n)
    rows = []
    if kind == "sconf":
        for i in range(n):
            alike = first[i] * second[i] + (1 - first[i]) * (1 - second[i])
            rows += [(f"{s:.5f}", f"{alike:.5f}", i, region()) for s in (first[i], second[i])]
        return _csv("score,confidence,pair,region", rows)
    for i in range(2 * n):
        alike, pair = y1[i] == y2[i], (first[i], second[i])
        if kind == "pcomp":
            if y1[i] >= y2[i]:
                rows += [
                    (f"{s:.5f}", name, i, region())
                    for s, name in zip(pair, ("superior", "inferior"), strict=True)
                ]
        elif kind == "sd" or (kind == "su" and alike) or (kind == "du" and not alike):
            rows += [(f"{s:.5f}", "similar" if alike else "dissimilar", i, region()) for s in pair]
    if kind in ("su", "du"):
        score, _ = _population(rng, n)
        rows += [(f"{s:.5f}", "unlabelled", 10_000_000 + i, region()) for i, s in enumerate(score)]
    return _csv("score,source,pair,region", rows)
