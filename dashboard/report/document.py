"""The sections of a report, and their HTML: self-contained, with nothing to fetch and nothing to run but its own script."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import plotly.io
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from calcore.comparison import Comparison
from calcore.maps.calibration_map import installed_version
from dashboard import services
from dashboard.report import calibrator_sections as calibrator
from dashboard.report import score_sections as score
from dashboard.report.blocks import Section
from dashboard.report.calibrator_sections import Chosen
from dashboard.report.time_section import over_time
from dashboard.services import Analysis

SIGNS = {"GOOD": "✓", "WATCH": "!", "BAD": "✕", "UNKNOWN": "?"}


@dataclass(frozen=True)
class _Script:
    """A script with the hash by which the page's policy lets it, and no other, run."""

    text: Markup
    hash: str

    @classmethod
    def of(cls, text: str) -> _Script:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(Markup(text), f"'sha256-{digest}'")


def report_html(found: Analysis, compared: Comparison | None = None, name: str | None = None) -> str:
    """The report on ``found``; with the comparison and the calibrator ``name`` chosen from it, where there is one.

    Holds aggregates only. Raises InputError where the chosen calibrator does not exist here.
    """
    chosen = None
    if compared is not None and name is not None:
        chosen = Chosen(compared, name, services.export_of(found, compared, name).map)
    plotly_script, drawing = _scripts()
    report = found.ingested.report
    return (
        _environment()
        .get_template("report.html")
        .render(
            filename=report.filename,
            created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            sha256=report.sha256,
            version=installed_version(),
            sections=_sections(found, chosen),
            signs=SIGNS,
            css=Markup(_source("report.css")),
            scripts=(plotly_script, drawing),
        )
    )


def file_name(filename: str) -> str:
    """What the report on a file of this name is saved as."""
    stem = re.sub(r"[^\w.-]+", "_", filename.rsplit(".", 1)[0]).strip("._")[:80]
    return f"{stem or 'scores'}.report.html"


def _sections(found: Analysis, chosen: Chosen | None) -> list[Section]:
    made = [
        score.verdict(found),
        score.diagram(found),
        score.subgroups(found),
        score.gate(found),
    ]
    watched = services.latest_watch(found)
    if watched is not None and watched.results:
        made.append(over_time(watched))
    made.append(calibrator.comparison(found, chosen))
    if chosen is not None:
        made.append(calibrator.chosen_map(found, chosen))
    return [*made, score.assumptions(found), score.data(found), calibrator.card(found, chosen)]


@cache
def _scripts() -> tuple[_Script, _Script]:
    return _Script.of(get_plotlyjs()), _Script.of(_source("report.js"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dashboard.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_function"] = lambda figure, **_: plotly.io.to_json(figure)
    return environment


def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
