from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calcore import metrics
from calcore.observation import Clean
from dashboard import wording
from dashboard.charts.cell_findings import UNTESTED, residual_limit
from dashboard.charts.heatmap import TEXT_CELLS, cell_heatmap


def _trace(chart, start):
    return next(trace for trace in chart.figure.data if trace.name and trace.name.startswith(start))


def test_cells_are_the_residuals_with_everyone_on_top(audited):
    chart = cell_heatmap(audited.cells)
    heat = _trace(chart, "Residual")
    assert chart.figure.layout.yaxis.ticktext[0] == "(everyone)"
    np.testing.assert_allclose(heat.z[0], audited.cells.residual[0], atol=1e-4)
    assert heat.zmin == -heat.zmax
    assert heat.zmid == 0


def test_every_cell_with_rows_can_be_clicked(audited):
    touch = _trace(cell_heatmap(audited.cells), "Cells")
    pairs = {tuple(pair) for pair in touch.customdata}
    assert pairs == {(g, j) for g, j in np.argwhere(audited.cells.rows > 0).tolist()}
    for pair, x, text in zip(touch.customdata, touch.x, touch.hovertext, strict=True):
        assert pair[1] == x
        assert f"{audited.cells.rows[pair[0], pair[1]]:,} rows" in text
    assert touch.marker.symbol == "square"


def test_no_other_trace_answers_to_the_pointer(audited):
    others = [trace for trace in cell_heatmap(audited.cells).figure.data if trace.name != "Cells"]
    assert {trace.hoverinfo for trace in others} == {"skip"}


def test_marks_need_significance_and_a_gap_beyond_the_tolerance(audited):
    cells = audited.cells
    off = (cells.adjusted < 0.05) & (np.abs(cells.residual) > 0.02) & ~cells.too_few
    assert off.any()
    chart = cell_heatmap(cells)
    assert len(_trace(chart, "Clearly off").x) == off.sum() == (chart.table["Clearly off"] == "yes").sum()
    wide = cell_heatmap(cells, tolerance=1.0)
    assert not any(trace.name and trace.name.startswith("Clearly off") for trace in wide.figure.data)


def test_too_few_rows_are_hatched_and_empty_cells_blank(few):
    cells = metrics.cells(few.evidence, 40)
    chart = cell_heatmap(cells)
    hatched, heat = _trace(chart, UNTESTED), _trace(chart, "Residual")
    untested = (cells.rows > 0) & ~np.isfinite(cells.adjusted)
    assert hatched.marker.pattern.shape == "/"
    assert len(hatched.y) == untested.sum()
    assert sum(v is not None for row in heat.z for v in row) == np.isfinite(cells.adjusted).sum()
    assert len(_trace(chart, "Cells").x) == (cells.rows > 0).sum() < cells.rows.size


def test_the_whole_population_and_the_worst_subgroups_come_first(audited):
    cells = audited.cells
    shown = [pair[0] for pair in _trace(cell_heatmap(cells, top=3), "Cells").customdata]
    assert shown[0] == 0
    assert len(set(shown)) == 4


def test_search_is_a_plain_substring_whatever_its_case(audited):
    names = audited.cells.groups
    chart = cell_heatmap(audited.cells, search="$X^2$")
    found = {names[pair[0]] for pair in _trace(chart, "Cells").customdata}
    assert found == {"(everyone)", *(name for name in names if "$x^2$" in name)}
    nobody = cell_heatmap(audited.cells, search="(.*")
    assert "No subgroup" in nobody.figure.layout.title.text
    assert set(nobody.table["Subgroup"]) == {"(everyone)"}


def test_names_are_escaped_on_the_axis_and_whole_in_the_hover(audited):
    chart = cell_heatmap(audited.cells)
    labels = " ".join(chart.figure.layout.yaxis.ticktext)
    assert "<b>" not in labels
    assert "$" not in labels
    hovers = " ".join(_trace(chart, "Cells").hovertext)
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; co" in hovers
    assert "&#36;x^2&#36;" in hovers


def test_the_range_of_the_colours_holds_every_residual_and_is_said(audited):
    chart, limit = cell_heatmap(audited.cells), residual_limit(audited.cells)
    assert _trace(chart, "Residual").zmax == limit
    assert any(f"±{wording.points(limit)}" in note.text for note in chart.figure.layout.annotations)
    tested = np.isfinite(audited.cells.adjusted)
    assert limit >= np.abs(audited.cells.residual[tested]).max()


def test_text_only_up_to_400_cells(audited, many_cells):
    assert _trace(cell_heatmap(audited.cells), "Residual").text is not None
    assert _trace(cell_heatmap(many_cells, top=TEXT_CELLS // 10), "Residual").text is None


def test_200_subgroups_stay_small(many_cells):
    chart = cell_heatmap(many_cells, top=200)
    assert len(_trace(chart, "Cells").x) == 2010
    assert len(chart.figure.to_json()) < 700_000
    assert len(_trace(cell_heatmap(many_cells), "Residual").z) == 51


@pytest.mark.parametrize("bins", [1, 2])
def test_one_bin_and_no_subgroups(sample, bins):
    chart = cell_heatmap(metrics.cells(Clean().evidence(sample.score, sample.label), bins))
    assert len(chart.table) == bins
    assert "only the whole population" in chart.alt


def test_nothing_tested_and_nothing_at_all(audited):
    cells, nan = audited.cells, np.full(audited.cells.rows.shape, np.nan)
    untested = cell_heatmap(replace(cells, p_value=nan, adjusted=nan))
    assert "No cell has enough rows to test" in untested.alt
    empty = cell_heatmap(replace(cells, rows=np.zeros_like(cells.rows), mass=0 * cells.mass, adjusted=nan))
    assert not empty.figure.data
