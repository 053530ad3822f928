"""A plan as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from calcore.errors import InputError
from calcore.monitoring.batches import Batching
from calcore.monitoring.limits import FixedLimit
from calcore.monitoring.watch import Plan


def plan_to_document(plan: Plan) -> dict[str, Any]:
    """The plan as plain JSON."""
    document = asdict(plan)
    if not isinstance(plan.reference, int):
        document["reference"] = list(plan.reference)
    document["fixed"] = list(document["fixed"])
    return document


def plan_from_document(document: Mapping[str, Any]) -> Plan:
    """The plan that a document holds. Raises InputError where it is damaged or has fields unknown here."""
    try:
        reference = document["reference"]
        rest = {name: document[name] for name in ("bins", "tolerance", "alpha", "complete", "centre")}
        return Plan(
            batching=Batching(**document["batching"]),
            reference=reference if isinstance(reference, int) else tuple(str(key) for key in reference),
            fixed=tuple(FixedLimit(**limit) for limit in document["fixed"]),
            **rest,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"The plan of this stream is damaged or of another version ({type(error).__name__}); give a new one."
        ) from None
