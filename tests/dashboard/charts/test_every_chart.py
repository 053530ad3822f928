"""What holds for every chart: the palette, a twin, words, no raw rows, names as typed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dashboard.charts
from calcore.gate_grid import gate_grid
from calcore.group_contradictions import group_contradictions
from calcore.lessons import calibration_set_growth, pava_steps, temperature_curve
from calcore.metrics import corp, decision_curve
from calcore.monitoring.series import group_series
from dashboard.charts import theme
from dashboard.charts.binless import corp_chart, decision_chart
from dashboard.charts.comparison import differences_chart, error_against_loss
from dashboard.charts.gate import gate_chart
from dashboard.charts.gate_grid import gate_grid_chart
from dashboard.charts.group_contradictions import group_contradictions_chart
from dashboard.charts.groups import group_error_bars
from dashboard.charts.growth import growth_chart
from dashboard.charts.heatmap import cell_heatmap
from dashboard.charts.maps import maps_chart
from dashboard.charts.over_time import series_chart
from dashboard.charts.over_time_evidence import evidence_chart
from dashboard.charts.over_time_groups import groups_chart
from dashboard.charts.over_time_mapped import mapped_chart
from dashboard.charts.pooling import pooling_chart
from dashboard.charts.reliability import reliability_chart
from dashboard.charts.temperatures import temperatures_chart
from dashboard.charts.weights import weights_histogram

FOLDER = Path(dashboard.charts.__file__).parent


@pytest.fixture(scope="module")
def charts(sample, audited, gate, comparison, maps, watched, unordered):
    curves = [("<b>one</b>", audited.reliability), ("$x$", audited.reliability)]
    return {
        "reliability": reliability_chart(curves, tolerance=0.02),
        "heatmap": cell_heatmap(audited.cells),
        "groups": group_error_bars(audited.groups, reference=audited.error.value),
        "corp": corp_chart("<b>one</b>", corp(sample.evidence)),
        "decisions": decision_chart("$x$", decision_curve(sample.evidence)),
        "weights": weights_histogram(gate, sample.score, sample.noisy),
        "gate": gate_chart(gate),
        "gate grid": gate_grid_chart(gate_grid(sample.evidence)),
        "group contradictions": group_contradictions_chart(group_contradictions(sample.evidence)),
        "error against loss": error_against_loss(comparison),
        "differences": differences_chart(comparison, "Brier"),
        "temperatures": temperatures_chart(temperature_curve(sample.evidence)),
        "pooling": pooling_chart(pava_steps([0.2, 0.4, 0.6], [0, 1, 0]), 1),
        "growth": growth_chart(calibration_set_growth(sample.evidence, repeats=2)),
        "series": series_chart(watched, "ECE"),
        "series by column": series_chart(unordered, "gap"),
        "evidence": evidence_chart(watched),
        "subgroups over time": groups_chart(watched, group_series(watched)[:12]),
        "with a map": mapped_chart(unordered, unordered, "Brier", None),
        "maps": maps_chart([("<i>map</i>", maps[0][1]), *maps], sample.score),
    }


def test_colours_come_from_the_theme(charts, colors_of):
    source = (FOLDER / "theme.py").read_text()
    allowed = set(re.findall(r"#[0-9A-Fa-f]{6}|rgba?\([^)]*\)", source))
    for name, chart in charts.items():
        assert colors_of(chart.figure) <= allowed, name


def test_no_other_module_names_a_colour_and_none_imports_streamlit():
    for path in FOLDER.glob("*.py"):
        text = path.read_text()
        imports = [
            node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert not any("streamlit" in ast.unparse(node) for node in imports), path.name
        if path.name != "theme.py":
            assert not re.search(r"#[0-9A-Fa-f]{6}\b|rgba?\(", text), path.name


def test_every_chart_has_a_title_a_twin_and_words(charts):
    for name, chart in charts.items():
        assert chart.figure.layout.title.text, name
        assert len(chart.table), name
        assert re.search(r"\d", chart.alt), name
        assert "nan" not in chart.alt, name
        assert chart.alt.endswith("."), name


def test_labels_and_titles_escape_markup(charts):
    for name, chart in charts.items():
        layout = chart.figure.layout
        texts = [trace.name for trace in chart.figure.data if trace.name]
        texts += list(layout.yaxis.ticktext or ())
        texts += [line for trace in chart.figure.data for line in _hovers(trace)]
        for text in texts:
            assert not re.search(r"<(?!br>)|\$", text), (name, text)


def _hovers(trace):
    text = trace.hovertext
    if text is None or isinstance(text, str):
        return [] if text is None else [text]
    # a heatmap has a row of texts for each row of cells
    return [line for part in text for line in ([part] if isinstance(part, str) else part)]


def test_no_chart_sends_rows(charts, sample):
    for name, chart in charts.items():
        for trace in chart.figure.data:
            for values in (trace.x, trace.y):
                assert values is None or len(values) < min(1001, len(sample.score)), name


def test_backgrounds_are_transparent_and_margins_small(charts):
    for chart in charts.values():
        layout = chart.figure.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == theme.CLEAR
        assert layout.margin.l <= 30
        assert layout.margin.r <= 30


def test_text_is_not_coloured_so_that_it_follows_the_page(charts):
    for chart in charts.values():
        assert chart.figure.layout.font.color is None
        assert all(note.font.color is None for note in chart.figure.layout.annotations)


def test_files_stay_short():
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text().splitlines()) < 300, path.name
