"""Charts over batches: what is drawn where, and what is not drawn as something that it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calcore.monitoring import watch
from calcore.monitoring.results import METRICS
from calcore.monitoring.series import group_series
from dashboard.charts import theme
from dashboard.charts.over_time import series_chart
from dashboard.charts.over_time_axis import batch_axis
from dashboard.charts.over_time_evidence import evidence_chart, evidence_number
from dashboard.charts.over_time_groups import groups_chart


def trace(chart, name):
    return next((one for one in chart.figure.data if one.name == name), None)


@pytest.mark.parametrize("metric", list(METRICS))
def test_every_batch_is_drawn_once_with_its_value(watched, metric):
    chart = series_chart(watched, metric)
    drawn = {}
    for name in ("Measured", "Beyond a limit", "Estimated, if nothing has changed", "Not measured"):
        one = trace(chart, name)
        for x, y in zip(one.x, one.y, strict=True) if one is not None else ():
            assert x not in drawn
            drawn[x] = (name, y)
    assert len(drawn) == len(watched.results)
    scale = 100 if metric == "gap" else 1
    for batch, x in zip(watched.results, batch_axis(watched.results).x, strict=True):
        if batch.measured:
            assert drawn[x][1] == pytest.approx(scale * batch.value(metric).value, abs=1e-4)


def test_estimates_are_hollow_and_named(watched):
    one = trace(series_chart(watched, "event rate"), "Estimated, if nothing has changed")
    assert len(one.x) == 1
    assert one.marker.symbol == "circle-open"
    assert "no labels yet" in one.hovertext[0]
    chart = series_chart(watched, "event rate")
    ends = [(t.x[0], t.x[-1]) for t in chart.figure.data if t.mode == "lines" and t.line.color == theme.GOOD]
    assert ends
    joined = {x for pair in ends for x in pair}
    assert one.x[0] not in joined


def test_a_fixed_limit_is_a_line_and_what_is_beyond_has_another_shape(watched):
    chart = series_chart(watched, "ECE")
    assert trace(chart, "Highest allowed (0.010)").y == (0.01, 0.01)
    assert trace(chart, "Beyond a limit").marker.symbol == "diamond"
    assert "beyond the fixed limit" in chart.figure.layout.title.text.replace("<br>", " ")


def test_the_axis_is_time_only_where_batches_follow_each_other(watched, unordered):
    assert batch_axis(watched.results).timed
    assert not batch_axis(unordered.results).timed
    assert series_chart(watched, "gap").figure.layout.xaxis.type == "date"


def test_the_reference_period_is_shaded_to_where_the_next_batch_begins(watched):
    shape = next(one for one in series_chart(watched, "gap").figure.layout.shapes if one.type == "rect")
    axis = batch_axis(watched.results)
    assert (shape.x0, shape.x1) == (axis.before[0], axis.before[2])


def test_evidence_is_drawn_to_a_million_and_told_beyond(watched):
    chart = evidence_chart(watched)
    assert max(chart.figure.data[0].y) <= 6
    assert evidence_number(1e6) == "over 1,000,000"
    assert evidence_number(0.0) == "1"
    assert (trace(chart, "Alarm") is not None) == bool(watched.test.alarms)
    line = trace(chart, "Alarm at 40")
    assert line.y[0] == pytest.approx(np.log10(40))


def test_subgroups_share_one_axis(watched):
    chart = groups_chart(watched, group_series(watched)[:4])
    ranges = {chart.figure.layout[name].range for name in ("yaxis", "yaxis2", "yaxis3", "yaxis4")}
    assert len(ranges) == 1


def test_a_row_of_the_table_is_in_an_alert_only_while_it_lasts(watched):
    series = group_series(watched)
    one = replace(series[0], during=np.arange(len(watched.results)) == 3)
    table = groups_chart(watched, [one]).table
    assert list(table["Batch"][table["Alert"] == "yes"]) == [watched.results[3].label]


def test_nothing_measured_is_said(watched):
    empty = watch([one for one in watched.results if not one.measured], watched.plan)
    for metric in METRICS:
        assert series_chart(empty, metric).alt.endswith(".")
    assert groups_chart(empty, []).figure.layout.annotations
