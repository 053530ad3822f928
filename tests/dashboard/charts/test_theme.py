from __future__ import annotations

import plotly.graph_objects as go

from dashboard.charts import theme
from dashboard.charts.names import escaped, shortened, title_lines, two_lines


def test_twelve_series_differ_without_colour():
    looks = [theme.style(i) for i in range(12)]
    assert len({look.marker for look in looks}) == 12
    assert len({(look.color, look.dash, look.marker) for look in looks}) == 12
    assert len({look.dash for look in looks[:6]}) == 6


def _luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one, other):
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_lines_can_be_seen_on_both_pages():
    for color in (*theme.LINES, theme.NEUTRAL):
        assert _contrast(color, "#FFFFFF") >= 3
        assert _contrast(color, "#0e1117") >= 3


def test_numbers_can_be_read_on_every_shade():
    for _, color in theme.DIVERGING:
        assert _contrast(color, theme.MARK) >= 4.5


def test_a_calibrator_keeps_its_style_in_every_chart():
    alone = theme.styles(["Isotonic"])[0]
    assert theme.styles(["Score", "Platt", "Isotonic"])[2] == alone
    assert (
        theme.styles(["Identity"])
        == theme.styles(["No change"])
        == theme.styles(["Score"])
        == [theme.style(0)]
    )


def test_no_two_series_of_a_chart_share_a_style():
    names = ["Score", "No change", "Platt", "Platt", "x", "y", "Isotonic", "Beta", "z", "LWCal", "u", "v"]
    assert len(set(theme.styles(names))) == len(names)


def test_titles_are_wrapped_escaped_and_counted():
    text = "Fine overall, not for a = <b>: twelve points too low above one half, the largest of all"
    figure = theme.base_layout(go.Figure(), 400, text)
    assert figure.layout.title.text.count("<br>") == 1
    assert "&lt;b&gt;" in figure.layout.title.text
    assert figure.layout.margin.t == theme.title_height(text) > theme.title_height("Short")


def test_names_are_shown_as_typed():
    assert escaped("a <b> & $x^2$ &lt;") == "a &lt;b&gt; &amp; &#36;x^2&#36; &amp;lt;"
    assert escaped("two\nlines") == "two lines"
    assert shortened("x" * 50, 11) == "xxxxx…xxxxx"
    assert two_lines("region = north and device = <b>") == "region = north<br>and device = &lt;b&gt;"
    assert two_lines("short") == "short"
    assert two_lines("y" * 60).count("<br>") <= 1
    assert title_lines("") == []


def test_nothing_escapes_its_message():
    figure = theme.nothing("No <b> here")
    assert figure.layout.annotations[0].text == "No &lt;b&gt; here"
