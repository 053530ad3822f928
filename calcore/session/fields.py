"""Every setting that a session file or a link may hold, with the values that it may have."""

from __future__ import annotations

from dataclasses import dataclass

from calcore.calibrators import REGISTRY
from calcore.comparison import RANKED_ON
from calcore.meanings import MEANINGS
from calcore.monitoring.batches import CALENDAR, MOST_BATCHES
from calcore.monitoring.limits import FixedLimit
from calcore.monitoring.results import METRICS
from calcore.settings import Settings

from .kinds import Flag, Kind, Many, Maybe, Number, OneOf, Text, Whole
from .limit_kind import FixedLimits

_SHARE = Maybe(Number(0.0, 1.0))
_CALIBRATOR = OneOf(tuple(REGISTRY), "the name of a calibrator")
_CALIBRATORS = Many(_CALIBRATOR, 100)
_PLACE = Whole(1, MOST_BATCHES)
_NAME, _NAMES, _VALUES = Maybe(Text()), Many(Text(), 5000), Many(Text(), 1000)

#: Fields of Settings. The tolerance, the bins and the smallest share end where their sliders do.
SETTINGS: dict[str, Kind] = {
    "labels": OneOf(tuple(MEANINGS)),
    "rho0": _SHARE,
    "rho1": _SHARE,
    "rates_origin": OneOf(("given", "estimated")),
    "prior": _SHARE,
    "theta1": _SHARE,
    "theta2": _SHARE,
    "r_min": _SHARE,
    "source_values": Many(Text(), 10, repeats=True),
    "second_score": _NAME,
    "audit_random": Flag(),
    "measure_on": OneOf(("labels", "audit")),
    "weighting": OneOf(("importance", "frequency")),
    "tolerance": Number(0.0, 0.1),
    "bins": Whole(2, 40),
    "min_mass": Number(0.0, 0.1),
}

STRATEGIES = ("width", "mass", "isotonic")
PATCHED = ("PatchedWLMC", "WLMC")


@dataclass(frozen=True)
class Looked:
    """What was looked at. ``strategy``, ``reliability_bins`` (None: those of the settings), ``calibrators`` and
    ``group`` (the name of a subgroup) are the reliability diagram; ``find`` and ``wlmc_form`` the subgroups;
    ``compared`` (None: those that are offered) and ``ranked_on`` the comparison; ``exported`` the map that leaves.

    Over time, where None is what the page suggests: batches by ``batch_by``, of ``batch_size`` rows or by
    ``batch_column``, of at least ``fewest_rows``, and tested from ``complete`` % of the labels on; ``metric`` is shown;
    ``reference`` is the "first" ``reference_first`` batches or a "range" of them, counted from 1;
    ``fixed_limits`` were set.
    """

    strategy: str = "width"
    reliability_bins: int | None = None
    calibrators: tuple[str, ...] = ("Identity",)
    group: str | None = None
    find: str = ""
    wlmc_form: str = PATCHED[0]
    compared: tuple[str, ...] | None = None
    ranked_on: str = RANKED_ON[0]
    exported: str | None = None
    batch_by: str | None = None
    batch_size: int | None = None
    batch_column: str | None = None
    fewest_rows: int | None = None
    complete: int | None = None
    metric: str = "ECE"
    reference: str = "first"
    reference_first: int | None = None
    reference_from: int | None = None
    reference_to: int | None = None
    fixed_limits: tuple[FixedLimit, ...] = ()


#: Fields of Looked.
LOOKED: dict[str, Kind] = {
    "strategy": OneOf(STRATEGIES),
    "reliability_bins": Maybe(Whole(2, 40)),
    "calibrators": _CALIBRATORS,
    "group": _NAME,
    "find": Text(),
    "wlmc_form": OneOf(PATCHED),
    "compared": Maybe(_CALIBRATORS),
    "ranked_on": OneOf(RANKED_ON),
    "exported": Maybe(_CALIBRATOR),
    "batch_by": Maybe(OneOf((*CALENDAR, "rows", "column"))),
    "batch_size": Maybe(Whole(10, 10**8)),
    "batch_column": _NAME,
    "fewest_rows": Maybe(Whole(1, 10**7)),
    "complete": Maybe(Whole(0, 100)),
    "metric": OneOf(tuple(METRICS)),
    "reference": OneOf(("first", "range")),
    "reference_first": Maybe(_PLACE),
    "reference_from": Maybe(_PLACE),
    "reference_to": Maybe(_PLACE),
    "fixed_limits": FixedLimits(),
}
#: Fields of FileFormat, Roles, LabelMapping and ClassView, and those of Choices that hold no other object.
FORMAT: dict[str, Kind] = {
    "encoding": Maybe(OneOf(("utf-8", "utf-16", "windows-1252"))),
    "separator": Maybe(OneOf((",", ";", "\t", "|"), "a comma, a semicolon, a tab or a vertical bar")),
    "decimal": Maybe(OneOf((".", ","))),
    "header": Maybe(Flag()),
}
ROLES: dict[str, Kind] = {
    **dict.fromkeys(("score", "label", "audit", "source", "confidence", "weight", "unit", "time"), _NAME),
    "groups": _NAMES,
}
MAPPING: dict[str, Kind] = dict.fromkeys(("positive", "negative", "unlabelled", "half"), _VALUES)
CLASSES: dict[str, Kind] = {"columns": _NAMES, "label": Text(), "view": Text(), "audit": _NAME}
PLAIN_CHOICES: dict[str, Kind] = {
    "score_scale": Maybe(OneOf(("probability", "percent", "logit"))),
    "day_first": Maybe(Flag()),
    "top_groups": Maybe(Whole(1, 1_000_000)),
    "rivals": _NAMES,
}
#: Numbers that belong to one meaning of the labels, or to several.
OF_MEANING = ("rho0", "rho1", "prior", "theta1", "theta2", "r_min")


def says_nothing(name: str, labels: str) -> bool:
    """Is ``name`` a number that labels of this meaning do not have?"""
    if name == "rates_origin":
        return labels != "noisy"
    return name in OF_MEANING and name not in MEANINGS[labels].parameters


def default(name: str) -> object:
    """The value of a field of Settings or Looked where nobody says one."""
    return vars(Settings() if name in SETTINGS else Looked())[name]
