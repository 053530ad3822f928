"""What a reliability diagram says: which bins have a point, which are off, and all of it in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calcore.metrics.reliability import Reliability
from dashboard import wording

Curve = tuple[str, Reliability]


def shown(curve: Reliability) -> NDArray[np.bool_]:
    """Bins with a point: rows, and an event rate."""
    return curve.occupied & np.isfinite(curve.event_rate) & np.isfinite(curve.mean_score)


def scores(curve: Reliability, j: int) -> str:
    """The scores of a bin: "0.8 to 0.9"."""
    low, high = wording.edge(float(curve.low[j])), wording.edge(float(curve.high[j]))
    return f"{low} to {high}" if low != high else low


def words(curve: Reliability, j: int) -> str:
    """A bin in words, plain text."""
    interval = wording.rates(*(float(v) for v in np.clip((curve.lower[j], curve.upper[j]), 0, 1)))
    text = (
        f"Scores {scores(curve, j)}: predicted {wording.rate(float(curve.mean_score[j]))}, "
        f"observed {wording.rate(float(curve.event_rate[j]))} ({interval}), "
        f"{wording.rows(int(curve.rows[j]))}"
    )
    return text + "".join(f"; {note}" for note in notes(curve, j))


def notes(curve: Reliability, j: int) -> list[str]:
    """What a reader must know of a bin before using it."""
    found = ["too few rows to test"] if curve.too_few[j] else []
    return [*found, "contradicts the stated rates"] if curve.contradiction[j] else found


def finding(drawn: Sequence[Curve], tolerance: float) -> str:
    """Where the scores are off, as a title."""
    if len(drawn) > 2:
        return f"Event rate against mean score of {len(drawn)} calibrators"
    found = [_finding_of(curve, tolerance) for _, curve in drawn]
    if len(drawn) == 1:
        return found[0]
    return "; ".join(f"{name}: {_lower(text)}" for (name, _), text in zip(drawn, found, strict=True))


def _finding_of(curve: Reliability, tolerance: float) -> str:
    off, tested = (
        np.flatnonzero(shown(curve) & curve.wrong(tolerance)),
        int(np.isfinite(curve.adjusted).sum()),
    )
    beyond = f" by more than {wording.points(tolerance)}" if tolerance > 0 else ""
    if not tested:
        return "Too few rows in every bin to tell"
    if not off.size:
        few = int((shown(curve) & curve.too_few).sum())
        unsure = f"; {few} of {few + tested} bins have too few rows" if few > tested else ""
        return f"No bin is clearly off{beyond}{unsure}"
    occupied = np.flatnonzero(curve.occupied)
    together = ((occupied >= off[0]) & (occupied <= off[-1])).sum() == off.size
    signs = np.sign(curve.residual[off])
    if not together or abs(signs.sum()) != off.size:
        return f"{off.size} of {tested} bins are clearly off{beyond}"
    where = f"Scores {wording.edge(float(curve.low[off[0]]))} to {wording.edge(float(curve.high[off[-1]]))}"
    if off.size == occupied.size:
        where = "All scores"
    elif off[-1] == occupied[-1]:
        where = f"Scores above {wording.edge(float(curve.low[off[0]]))}"
    elif off[0] == occupied[0]:
        where = f"Scores below {wording.edge(float(curve.high[off[-1]]))}"
    return f"{where} are {wording.side(float(signs[0]))}"


def alternative(drawn: Sequence[Curve], title: str) -> str:
    """The title, and the largest gap: of each curve where there are two, else of the worst one."""
    found = []
    for name, curve in drawn:
        sure = np.flatnonzero(shown(curve) & ~curve.too_few)
        if sure.size:
            worst = int(sure[np.argmax(np.abs(curve.residual[sure]))])
            found.append((abs(float(curve.residual[worst])), name, curve, worst))
    start = f"Reliability diagram. {title.rstrip('.')}."
    if not found:
        return f"{start} Every bin has too few rows to test."
    if len(found) > 2:
        found = [max(found, key=lambda one: one[0])]
    gaps = [
        f"{name} ({wording.rows(curve.n)}), largest gap: {_lower(words(curve, worst))}"
        for _, name, curve, worst in found
    ]
    return f"{start} {'. '.join(gaps)}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def twin(curves: Sequence[Curve]) -> pd.DataFrame:
    """Every bin with rows, in words."""
    records: list[dict[str, Any]] = []
    for name, curve in curves:
        for j in np.flatnonzero(curve.occupied):
            lower, upper = float(curve.lower[j]), float(curve.upper[j])
            records.append(
                {
                    "Score of": name,
                    "Scores": scores(curve, int(j)),
                    "Rows": int(curve.rows[j]),
                    "Mean score": wording.rate(float(curve.mean_score[j])),
                    "Event rate": wording.rate(float(curve.event_rate[j])),
                    f"{100 * curve.level:.0f} % interval": wording.rates(lower, upper),
                    "Gap": wording.points(float(curve.residual[j])),
                    "Score is": wording.side(float(curve.residual[j])),
                    "p (adjusted)": wording.p_value(float(curve.adjusted[j])),
                    "Note": "; ".join(notes(curve, int(j))),
                }
            )
    frame = pd.DataFrame(records)
    return frame.drop(columns="Score of") if len(curves) < 2 and len(frame) else frame
