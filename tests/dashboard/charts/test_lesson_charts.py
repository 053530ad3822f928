"""The charts of the Learn page: what their traces hold, and that they say it without being seen."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from calcore.lessons import (
    calibration_set_growth,
    family_tendencies,
    pava_steps,
    temperature_curve,
)
from calcore.observation import Clean, Noisy
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.families import families_chart
from dashboard.charts.growth import growth_chart
from dashboard.charts.pooling import pooling_chart
from dashboard.charts.temperatures import temperatures_chart
from dashboard.services.lessons import TEN


@pytest.fixture(scope="module")
def curve(sample):
    return temperature_curve(sample.evidence, 10)


@pytest.fixture(scope="module")
def families():
    return family_tendencies()


@pytest.fixture(scope="module")
def growth(sample):
    return calibration_set_growth(sample.evidence, 10, repeats=4)


@pytest.fixture(scope="module")
def pooling():
    return pava_steps(*TEN)


def traces(figure, name):
    return [trace for trace in figure.data if trace.name == name]


# --- temperatures


def test_the_ranking_is_flat_and_the_errors_are_drawn_at_every_temperature(curve):
    chart = temperatures_chart(curve)
    (auc,) = traces(chart.figure, "AUC")
    assert max(auc.y) - min(auc.y) < 1e-4
    (loss,) = traces(chart.figure, "Log loss")
    fitted = loss.x[int(np.argmin(loss.y))]
    assert fitted == pytest.approx(curve.fitted.temperature, abs=1e-4)
    assert len(loss.x) == len(curve.points) + 1
    assert "at the same ranking" in chart.figure.layout.title.text
    assert (chart.table[""] == "fitted").sum() == 1
    assert chart.table["ECE"].tolist()[0] == wording.error(curve.points[0].ece)


def test_a_fitted_temperature_far_out_is_in_the_table_and_not_drawn():
    rng = np.random.default_rng(0)
    score = np.repeat([0.49, 0.51], 200)
    label = np.concatenate([rng.random(200) < 0.01, rng.random(200) < 0.99]).astype(float)
    curve = temperature_curve(Clean().evidence(score, label), 10)
    assert curve.fitted.temperature < 1 / 16
    chart = temperatures_chart(curve)
    assert min(traces(chart.figure, "Log loss")[0].x) == 0.25
    assert (chart.table[""] == "fitted").any()


def test_one_class_has_no_auc_in_the_chart():
    chart = temperatures_chart(temperature_curve(Clean().evidence([0.2, 0.6, 0.9], [1, 1, 1]), 10))
    assert not traces(chart.figure, "AUC")
    assert "ranking" not in chart.figure.layout.title.text
    assert set(chart.table["AUC"]) == {wording.MISSING}
    assert "nan" not in chart.alt


def test_titles_say_what_they_were_measured_on(sample):
    noisy = Noisy().evidence(sample.score, sample.noisy)
    assert "against the noisy labels" in temperatures_chart(temperature_curve(noisy, 10)).alt
    assert "against the noisy labels" in growth_chart(calibration_set_growth(noisy, 10, repeats=2)).alt


# --- families


def test_every_family_has_a_panel_with_its_slope(families):
    chart = families_chart(families)
    captions = [note.text for note in chart.figure.layout.annotations]
    assert len(captions) == len(families) == 6
    for family, caption in zip(families, captions, strict=True):
        assert family.name in caption
        assert f"slope {family.slope:.2f}" in caption
        assert f"{family.name} " in chart.alt
    points = [trace for trace in chart.figure.data if trace.mode == "lines+markers"]
    assert len(chart.table) == sum(len(trace.x) for trace in points)


def test_panels_are_square(families):
    layout = families_chart(families).figure.layout
    axes = [layout[name] for name in layout if name.startswith("yaxis")]
    assert [axis.scaleanchor for axis in axes] == [axis.anchor for axis in axes]


# --- pooling


def test_each_merge_is_marked_and_the_last_is_the_fit(pooling):
    chart = pooling_chart(pooling, 3)
    (merged,) = traces(chart.figure, "Just pooled")
    assert [x for x in merged.x if x is not None] == [0.41, 0.52, 0.6]
    assert {y for y in merged.y if y is not None} == {0.6667}
    assert chart.table["Value"].tolist() == ["0.0000", "0.0000", "0.5000", "0.6667", *["1.0000"] * 3]
    assert chart.figure.layout.title.text.startswith("Merge 3 of 3")
    assert not traces(pooling_chart(pooling, 0).figure, "Just pooled")


def test_labels_that_rise_leave_nothing_to_pool():
    chart = pooling_chart(pava_steps([0.1, 0.9], [0, 1]), 0)
    assert "Nothing to pool" in chart.alt


# --- growth


def test_lines_are_the_means_and_bands_the_spread(growth):
    chart = growth_chart(growth)
    line = growth.line("Isotonic", "ECE")
    drawn = [trace for trace in traces(chart.figure, line.title) if trace.mode == "lines+markers"]
    assert list(drawn[1].y) == pytest.approx(line.mean, abs=1e-5)
    bands = [trace for trace in chart.figure.data if trace.fill == "toself"]
    assert len(bands) == 4
    assert all(trace.fillcolor in theme.BANDS for trace in bands)
    assert len(chart.table) == len(growth.sizes)


def test_a_band_has_the_colour_of_its_line():
    for line, area in zip(theme.LINES, theme.BANDS, strict=True):
        parts = [int(line[i : i + 2], 16) for i in (1, 3, 5)]
        assert area.startswith(f"rgba({parts[0]},{parts[1]},{parts[2]},")
        assert theme.band(line) == area


def test_the_title_says_where_isotonic_overtakes(growth):
    title = partial(growth_chart)
    at = growth.overtakes["Brier"]
    expected = "stays ahead" if at is None else wording.rows(at)
    assert expected in title(growth).alt


# --- all


def test_colours_come_from_the_theme_and_words_hold_numbers(curve, families, growth, pooling, colors_of):
    source = theme.__file__
    with open(source) as file:
        text = file.read()
    for chart in (
        temperatures_chart(curve),
        families_chart(families),
        growth_chart(growth),
        pooling_chart(pooling, 2),
    ):
        assert all(color in text for color in colors_of(chart.figure))
        assert any(letter.isdigit() for letter in chart.alt)
        assert chart.alt.endswith(".")
        assert len(chart.table)
