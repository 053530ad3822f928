"""Subgroup bars, weights, the gate, comparisons and maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calcore.calibrators import HistogramBinning, Isotonic
from dashboard import wording
from dashboard.charts.comparison import differences_chart, error_against_loss
from dashboard.charts.gate import gate_chart, gate_words
from dashboard.charts.groups import group_error_bars
from dashboard.charts.maps import curve, maps_chart
from dashboard.charts.weights import AGREES, CONTRADICTS, weights_histogram


def _bars(chart):
    return [trace for trace in chart.figure.data if trace.type == "bar"]


def test_bars_are_the_ece_of_the_first_groups_and_mark_the_wrong_ones(audited):
    chart = group_error_bars(audited.groups, top=5, reference=audited.error.value)
    drawn = {trace.name: len(trace.x) for trace in _bars(chart)}
    wrong = sum(group.wrong for group in audited.groups[:5])
    assert sum(drawn.values()) == 5 == len(chart.table)
    assert drawn.get("Clearly off in some bin", 0) == wrong == (chart.table["Clearly off"] == "yes").sum()
    largest = max(group.error for group in audited.groups[:5])
    assert chart.table["ECE"][0] == wording.error(largest)
    line = next(trace for trace in chart.figure.data if trace.type == "scatter")
    assert line.x[0] == pytest.approx(audited.error.value, abs=1e-5)


def test_no_groups_and_groups_without_error():
    assert not group_error_bars([]).figure.data


def test_groups_without_a_number_are_left_out(audited):
    groups = [replace(audited.groups[0], error=float("nan"), gap=None), replace(audited.groups[1], gap=None)]
    chart = group_error_bars(groups, reference=float("nan"))
    assert len(chart.table) == 1
    assert "too few rows" in chart.table["Largest gap"][0]


def test_weights_are_counted_apart(gate, sample):
    chart = weights_histogram(gate, sample.score, sample.noisy, bins=20)
    contradicts = (sample.score >= 0.5) != (sample.noisy == 1)
    by_name = {trace.name: trace for trace in _bars(chart)}
    assert sum(v or 0 for v in by_name[CONTRADICTS].y) == contradicts.sum() == chart.table[CONTRADICTS].sum()
    assert sum(v or 0 for v in by_name[AGREES].y) == (~contradicts).sum() == chart.table[AGREES].sum()
    assert by_name[CONTRADICTS].marker.pattern.shape != by_name[AGREES].marker.pattern.shape
    assert all(len(trace.x) == 20 for trace in by_name.values())
    notes = [note.text for note in chart.figure.layout.annotations]
    assert any(note.startswith("floor") for note in notes)
    assert any(note.startswith("median") for note in notes)


def test_no_rows_have_no_weights(gate):
    empty = replace(gate, weights=np.empty(0), losses=np.empty(0))
    assert not weights_histogram(empty, np.empty(0), np.empty(0)).figure.data


@pytest.mark.parametrize(
    ("d_hat", "expected", "rho"), [(0.35, 0.35, 0.46), (0.0, 0.0, 0.0), (1.0, 0.02, 1.0), (0.29, 0.25, 0.0)]
)
def test_gate_has_three_regions_two_boundaries_and_two_markers(gate, d_hat, expected, rho):
    audit = replace(gate, d_hat=d_hat, expected_d=expected, rho=rho)
    figure = gate_chart(audit).figure
    regions = sorted((shape.x0, shape.x1) for shape in figure.layout.shapes if shape.type == "rect")
    assert [regions[0][0], regions[1][0], regions[2][0]] == pytest.approx([0, 0.29, 0.41])
    measured, supposed = figure.data
    assert (measured.x[0], supposed.x[0]) == (d_hat, expected)
    assert measured.y[0] != supposed.y[0]
    assert regions[2][1] == figure.layout.xaxis.range[1] >= max(d_hat, 0.6)
    texts = " ".join(note.text.replace("<br>", " ") for note in figure.layout.annotations)
    for words in ("use the map", "back off, watch", "audit labels first", "expected if labels were right"):
        assert words in texts


def test_gate_in_words(gate):
    assert gate_words(replace(gate, rho=0.46, d_hat=0.35)).startswith(f"Gate {wording.rate(0.46)} backed off")
    assert "used in full" in gate_words(replace(gate, rho=0.0))
    assert "score is kept" in gate_words(replace(gate, rho=1.0))


def test_gate_takes_other_boundaries(gate):
    shapes = gate_chart(gate, center=0.1, width=0.2).figure.layout.shapes
    assert sorted(shape.x1 for shape in shapes if shape.type == "rect")[:2] == pytest.approx([0.1, 0.3])


def test_scatter_has_a_named_cross_for_each_calibrator_that_exists(comparison):
    chart = error_against_loss(comparison)
    present = [entry for entry in comparison.entries if entry.missing is None]
    assert [trace.name for trace in chart.figure.data] == [entry.title for entry in present]
    assert len({trace.marker.symbol for trace in chart.figure.data}) == len(present)
    for trace, entry in zip(chart.figure.data, present, strict=True):
        assert trace.y[0] == pytest.approx(entry.metrics["ECE"].value, abs=1e-5)
        assert trace.x[0] == pytest.approx(entry.metrics["log loss"].value, abs=1e-5)
        low, high = entry.metrics["log loss"].interval
        assert trace.error_x.array[0] + trace.error_x.arrayminus[0] == pytest.approx(high - low, abs=1e-4)
    assert list(chart.table["ECE"]) == [wording.error(entry.metrics["ECE"].value) for entry in present]
    assert "Absent & gone" in chart.alt


def test_scatter_without_intervals_and_without_entries(comparison):
    first = comparison.entries[0]
    bare = {name: replace(found, interval=None) for name, found in first.metrics.items()}
    one = error_against_loss(replace(comparison, entries=(replace(first, metrics=bare),)))
    assert "only calibrator" in one.figure.layout.title.text
    none = error_against_loss(replace(comparison, entries=comparison.entries[-1:]))
    assert not none.figure.data
    assert "Absent & gone" in none.alt


def test_noisy_labels_are_not_ranked_on(comparison):
    unranked = replace(comparison, basis=replace(comparison.basis, ranked="no"))
    for chart in (error_against_loss(unranked), differences_chart(unranked, "Brier")):
        assert chart.figure.layout.title.text.startswith("Not a ranking")


def test_axes_name_the_labels_that_were_used(comparison):
    for chart in (error_against_loss(comparison), differences_chart(comparison, "Brier")):
        assert comparison.measured.model.basis in chart.figure.layout.xaxis.title.text


@pytest.mark.parametrize("metric", ["Brier", "log loss", "ECE"])
def test_forest_has_every_difference_with_its_interval(comparison, metric):
    chart = differences_chart(comparison, metric)
    others = {e.title: e.differences[metric] for e in comparison.entries[1:] if e.missing is None}
    assert set(chart.table["Calibrator"]) == set(others)
    for trace in chart.figure.data:
        for x, y, up in zip(trace.x, trace.y, trace.error_x.array, strict=True):
            found = others[chart.table["Calibrator"][y]]
            assert x == pytest.approx(found.value, abs=1e-6)
            assert x + up == pytest.approx(found.upper, abs=2e-6)
            assert trace.marker.symbol == ("circle" if found.separated else "circle-open")
    notes = {note.text for note in chart.figure.layout.annotations}
    assert notes == {"← better", "worse →"}
    low, high = chart.figure.layout.xaxis.range
    assert low < 0 < high


def test_forest_of_nothing(comparison):
    assert not differences_chart(comparison, "AUC").figure.data
    assert not differences_chart(replace(comparison, entries=comparison.entries[:1]), "Brier").figure.data


def test_maps_are_drawn_as_they_predict(maps, sample):
    chart = maps_chart(maps, sample.score)
    for (name, one), trace in zip(maps, chart.figure.data[1:], strict=False):
        assert trace.name == name
        assert 200 <= len(trace.x) <= 1000
        at = np.isin(trace.x, np.linspace(0, 1, 11).round(6))
        np.testing.assert_allclose(np.asarray(trace.y)[at][-1], one.predict([1.0])[0], atol=1e-4)
    bars = _bars(chart)[0]
    assert sum(bars.y) == len(sample.score)
    assert len(bars.x) == 40


def test_steps_are_drawn_as_steps():
    rng = np.random.default_rng(1)
    score = rng.random(500)
    fitted = HistogramBinning(10).fit(score, (rng.random(500) < score).astype(float)).map_
    x, y = curve(fitted)
    jumps = np.abs(np.diff(y)) > 1e-9
    assert jumps.any()
    assert np.diff(x)[jumps].max() < 1e-12


def test_many_knots_are_thinned():
    rng = np.random.default_rng(1)
    score = rng.random(20_000)
    fitted = Isotonic().fit(score, (rng.random(20_000) < score**2).astype(float)).map_
    x, y = curve(fitted)
    assert len(x) == len(y) <= 1000


def test_maps_without_scores_with_weights_and_without_maps(maps, sample):
    assert not _bars(maps_chart(maps, None))
    assert maps_chart(maps[:1], np.empty(0)).alt.startswith("One calibration map")
    weighted = maps_chart(maps, sample.score, np.full(len(sample.score), 0.5))
    assert sum(_bars(weighted)[0].y) == pytest.approx(len(sample.score) / 2)
    assert not maps_chart([], sample.score).figure.data


def test_table_of_maps_has_a_column_each(maps, sample):
    table = maps_chart(maps, sample.score).table
    for name, one in maps:
        assert table[name][3] == wording.error(float(one.predict([0.175])[0]))
