from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calcore import metrics
from calcore.observation import Clean, Noisy
from dashboard import wording
from dashboard.charts import theme
from dashboard.charts.reliability import CONTRADICTION, TOO_FEW, reliability_chart


def _trace(chart, name):
    return next(trace for trace in chart.figure.data if trace.name == name)


def test_points_are_the_bins_with_rows_enough(audited):
    curve = audited.reliability
    points = _trace(reliability_chart([("Score", curve)]), "Score")
    sure = curve.occupied & ~curve.too_few
    np.testing.assert_allclose(points.x, curve.mean_score[sure], atol=1e-4)
    np.testing.assert_allclose(points.y, curve.event_rate[sure], atol=1e-4)
    np.testing.assert_allclose(np.add(points.y, points.error_y.array), curve.upper[sure], atol=2e-4)
    np.testing.assert_allclose(np.subtract(points.y, points.error_y.arrayminus), curve.lower[sure], atol=2e-4)


def test_counts_lie_below_on_the_same_axis(audited):
    chart = reliability_chart([("Score", audited.reliability)])
    bars = next(trace for trace in chart.figure.data if trace.type == "bar")
    assert sum(bars.y) == audited.reliability.n
    assert bars.xaxis is None
    assert bars.yaxis == "y2"
    assert chart.figure.layout.yaxis.domain[0] > chart.figure.layout.yaxis2.domain[1]
    assert chart.figure.layout.yaxis.range == chart.figure.layout.xaxis.range


def test_title_says_where_scores_are_off(audited):
    chart = reliability_chart([("Score", audited.reliability)], tolerance=0.02)
    assert chart.figure.layout.title.text == "Scores above 0.5 are too high"
    assert "Scores above 0.5 are too high" in chart.alt
    assert (
        reliability_chart([("Score", audited.reliability)], title="Mine").figure.layout.title.text == "Mine"
    )


def test_hover_is_in_words_with_interval_and_rows(audited):
    chart = reliability_chart([("Score", audited.reliability)])
    curve, j = audited.reliability, 8
    expected = (
        f"Score<br>Scores 0.8 to 0.9:<br>predicted {wording.rate(curve.mean_score[j])}, "
        f"observed {wording.rate(curve.event_rate[j])} ({wording.rates(curve.lower[j], curve.upper[j])}), "
        f"{curve.rows[j]} rows"
    )
    assert expected in _trace(chart, "Score").hovertext


def test_bins_of_few_rows_are_grey_open_and_unconnected(few):
    curve = metrics.reliability(few.evidence, 15)
    assert curve.too_few.any()
    grey = [trace for trace in reliability_chart([("Score", curve)]).figure.data if trace.name == TOO_FEW]
    assert {trace.marker.color for trace in grey} == {theme.NEUTRAL}
    assert all(trace.marker.symbol.endswith("-open") and trace.mode == "markers" for trace in grey)
    assert (
        sum(len(trace.x) for trace in grey if trace.x[0] is not None) == curve.too_few[curve.occupied].sum()
    )


def test_empty_bins_are_absent():
    score = np.repeat([0.05, 0.95], 200)
    curve = metrics.reliability(Clean().evidence(score, (score > 0.5).astype(float)), 10)
    chart = reliability_chart([("Score", curve)])
    assert len(_trace(chart, "Score").x) == 2
    assert len(chart.table) == 2


def test_one_point_has_no_line():
    curve = metrics.reliability(Clean().evidence(np.full(200, 0.3), np.tile([0.0, 1.0], 100)), 10)
    assert _trace(reliability_chart([("Score", curve)]), "Score").mode == "markers"


def test_intervals_stay_in_the_unit_square_and_contradictions_are_ringed(sample):
    curve = metrics.reliability(Noisy(0.4, 0.4).evidence(sample.score, sample.label), 10)
    assert curve.contradiction.any()
    chart = reliability_chart([("Score", curve)])
    points = _trace(chart, "Score")
    assert max(np.add(points.y, points.error_y.array)) <= 1
    assert min(np.subtract(points.y, points.error_y.arrayminus)) >= 0
    assert len(_trace(chart, CONTRADICTION).x) == curve.contradiction[curve.occupied].sum()
    assert chart.table["Note"].str.contains("contradicts").sum() == curve.contradiction.sum()


def test_all_nan_and_no_curve_still_give_a_figure(audited):
    nan = np.full(len(audited.reliability), np.nan)
    empty = replace(audited.reliability, event_rate=nan, lower=nan, upper=nan, residual=nan)
    for curves in ([("Score", empty)], []):
        chart = reliability_chart(curves)
        assert not chart.figure.data
        assert "no bin" in chart.alt


def test_intervals_that_do_not_exist_are_left_out(audited):
    nan = np.full(len(audited.reliability), np.nan)
    chart = reliability_chart([("Score", replace(audited.reliability, lower=nan, upper=nan))])
    assert not any(_trace(chart, "Score").error_y.array)
    assert "nan" not in chart.figure.to_json().lower()


def test_table_has_every_bin_and_names_curves_where_there_are_several(audited):
    curve = audited.reliability
    one, two = (reliability_chart([(name, curve) for name in names]) for names in (["a"], ["a", "b"]))
    assert len(two.table) == 2 * len(one.table) == 2 * curve.occupied.sum()
    assert list(one.table["Rows"]) == list(curve.rows[curve.occupied])
    assert list(one.table["Event rate"]) == [wording.rate(v) for v in curve.event_rate[curve.occupied]]
    assert set(two.table["Score of"]) == {"a", "b"}


def test_tolerance_is_a_band(audited):
    curves = [("Score", audited.reliability)]
    assert (
        _trace(reliability_chart(curves, tolerance=0.02), f"Within {wording.points(0.02)}").fill == "toself"
    )
    assert not any(trace.name.startswith("Within") for trace in reliability_chart(curves).figure.data)


@pytest.mark.parametrize("count", [2, 12])
def test_overlaid_curves_differ_by_marker(audited, count):
    chart = reliability_chart([(f"curve {i}", audited.reliability) for i in range(count)])
    lines = [trace for trace in chart.figure.data if trace.name.startswith("curve")]
    assert len({trace.marker.symbol for trace in lines}) == count


def test_title_does_not_call_bins_fine_that_hold_too_few_rows(few):
    curve = metrics.reliability(few.evidence, 40)
    assert curve.too_few[curve.occupied].all()
    assert (
        reliability_chart([("Score", curve)]).figure.layout.title.text == "Too few rows in every bin to tell"
    )
    few_tested = np.arange(len(curve)) < 3
    some = replace(curve, too_few=~few_tested, adjusted=np.where(few_tested, 1.0, np.nan))
    assert "have too few rows" in reliability_chart([("Score", some)]).alt
