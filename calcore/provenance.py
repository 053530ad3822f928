"""What a map carries with it when it leaves: where it comes from, what was measured, and what to be warned of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calcore.maps import CalibrationMap
from calcore.ranking import RankingBasis

if TYPE_CHECKING:
    from calcore.comparison import Entry

#: Harm of at most this, one point, is not warned of where no gain can be measured.
NOTABLE_HARM = 0.01


def harm_warning(entry: Entry, reference: str, basis: RankingBasis) -> str | None:
    """A warning where the method would move right scores further than it improved these; None otherwise."""
    if entry.harm is None or entry.name == reference:
        return None
    moved = f"{entry.title} would move scores that are right by {_points(entry.harm.worst)} on average"
    if basis.ranked == "no":
        if entry.harm.worst <= NOTABLE_HARM:
            return None
        return f"{moved}, and no gain can be measured on these labels: it may do more harm than good"
    gain = max(-entry.differences["ECE"].value, 0.0)
    if entry.harm.worst <= gain:
        return None
    return (
        f"{moved} and improved the ECE of the measured rows by {_points(gain)}: it may do more harm than good"
    )


def _points(value: float) -> str:
    """A distance of probabilities in percentage points."""
    return f"{100 * value:.1f} points"


def with_provenance(
    map_: CalibrationMap,
    entry: Entry,
    basis: RankingBasis,
    data_sha256: str | None,
    created: str | None,
    reference: str = "Identity",
) -> CalibrationMap:
    """The map with where it comes from: data fingerprint, out-of-fold metrics, harm check, ranking basis.

    It carries a warning where its method would move right scores further than it improved these.
    """
    values: dict[str, object] = {
        name: {
            "value": None if np.isnan(found.value) else found.value,
            "interval": None if found.interval is None else list(found.interval),
            "n": found.n,
            "basis": found.basis,
        }
        for name, found in entry.metrics.items()
    }
    if entry.harm is not None:
        harm = entry.harm
        values["harm"] = {"at_n": harm.at_n, "at_20000": harm.at_large, "n": harm.n}
        if harm.with_flips is not None and harm.flips is not None:
            values["harm with flips"] = {
                "at_n": harm.with_flips,
                "rho0": harm.flips[0],
                "rho1": harm.flips[1],
            }
    values["ranking"] = {"case": basis.case, "ranked": basis.ranked}
    warning = harm_warning(entry, reference, basis)
    warnings = map_.warnings if warning is None else (*map_.warnings, warning)
    return replace(map_, data_sha256=data_sha256, created=created, metrics=values, warnings=warnings)
