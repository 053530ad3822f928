"""What the label noise page asks of calcore, each made once."""

from __future__ import annotations

from calcore.contradictions import Contradictions, contradictions
from calcore.errors import InputError
from calcore.gate_grid import GateGrid, gate_grid
from calcore.gate_protocol import ProtocolRow, protocol
from calcore.group_contradictions import GroupSearch, group_contradictions
from calcore.observation.priors import FlipRates, flip_rates_from_forward_platt
from calcore.prevalence import Prevalence, prevalence
from dashboard.services.files import audited_flip_rates
from dashboard.services.memory import once
from dashboard.services.results import Analysis, gate_of


def forward_flip_rates(found: Analysis) -> FlipRates | None:
    """Flip rates estimated from scores and recorded labels alone; None where they cannot be (one class)."""

    def compute() -> FlipRates | None:
        rows = found.evidence
        assert rows.label is not None
        try:
            return flip_rates_from_forward_platt(
                rows.score, rows.label, rows.weight, weighting=rows.weighting
            )
        except InputError:
            return None

    return once(("forward flip rates", *found.key), compute)


def counted_flip_rates(found: Analysis) -> FlipRates | None:
    """Flip rates counted on audited rows, where these are a random sample; None else."""
    return audited_flip_rates(found.ingested) if found.settings.audit_random else None


def contradictions_of(found: Analysis) -> Contradictions:
    """The contradiction rate split by what explains it, with the best flip rates there are."""

    def compute() -> Contradictions:
        return contradictions(
            found.evidence, counted=counted_flip_rates(found), estimated=forward_flip_rates(found)
        )

    return once(("contradictions", *found.key), compute)


def clean_contradictions_of(found: Analysis) -> Contradictions | None:
    """The same on the clean audit sample; None where there is none."""
    audit = found.audit
    if audit is None:
        return None
    return once(("clean contradictions", *found.key), lambda: contradictions(audit))


def group_contradictions_of(found: Analysis) -> GroupSearch:
    tolerance = found.settings.tolerance
    return once(
        ("group contradictions", *found.key, tolerance),
        lambda: group_contradictions(found.evidence, tolerance=tolerance),
    )


def gate_grid_of(found: Analysis) -> GateGrid:
    fitted = gate_of(found)
    assert fitted is not None
    present = fitted.center, fitted.width
    return once(
        ("gate grid", *found.key),
        lambda: gate_grid(found.evidence.without_groups(), found.audit, present=present),
    )


def protocol_of(found: Analysis) -> tuple[ProtocolRow, ...]:
    fitted = gate_of(found)
    assert fitted is not None
    return protocol(fitted.audit_.d_hat, fitted.center, fitted.width)


def prevalence_of(found: Analysis) -> Prevalence:
    tolerance = found.settings.tolerance
    return once(
        ("prevalence", *found.key, tolerance),
        lambda: prevalence(
            found.evidence,
            audit=found.audit,
            counted=counted_flip_rates(found),
            estimated=forward_flip_rates(found),
            tolerance=tolerance,
        ),
    )
