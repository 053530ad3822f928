"""Observation models: how labels were observed, as two weights a row.

Each model registers itself when its file is imported; the files of this package are found by name, so that a
new model needs nothing but a new file.
"""

import importlib
import inspect
import pkgutil
from typing import Any

from calcore.errors import InputError
from calcore.observation.base import MODELS, ObservationModel
from calcore.observation.confidence import Pconf, PosteriorConfidence
from calcore.observation.labelled import Clean, Noisy
from calcore.observation.mixtures import PU, UU
from calcore.observation.pairs import DU, SD, SU, Pcomp, Sconf

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "DU",
    "MODELS",
    "PU",
    "SD",
    "SU",
    "UU",
    "Clean",
    "Noisy",
    "ObservationModel",
    "Pcomp",
    "Pconf",
    "PosteriorConfidence",
    "Sconf",
    "from_dict",
]


def from_dict(data: dict[str, Any]) -> ObservationModel:
    """The model that ``ObservationModel.to_dict`` described."""
    name = data.get("name")
    if name not in MODELS or inspect.isabstract(MODELS[name]):
        raise InputError(f"unknown observation model {name!r}")
    return MODELS[name](**data.get("parameters", {}))
