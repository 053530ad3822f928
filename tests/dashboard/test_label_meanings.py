"""Every way of observing labels, from the file to the export."""

from __future__ import annotations

import pytest

from calcore.meanings import MEANINGS
from tests.dashboard.conftest import VIEWS, messages, of_file, upload
from tests.dashboard.weak_files import PRIOR, weak_file

WEAK = ["uu", "posterior", "pconf", "su", "du", "sd", "pcomp", "sconf"]


def opened(app, kind, without=()):
    upload(app, weak_file(kind))
    for role in ("label", "audit"):
        of_file(app, "selectbox", f"role-{role}").set_value(None)
    for column, role in (("source", "source"), ("confidence", "confidence"), ("pair", "unit")):
        if column in of_file(app, "selectbox", "role-score").options:
            of_file(app, "selectbox", f"role-{role}").set_value(column)
    app.run()
    of_file(app, "toggle", "more-kinds").set_value(True).run()
    of_file(app, "radio", "labels-mean").set_value(kind).run()
    if kind == "uu":
        for name, value in (("first", "A"), ("second", "B")):
            of_file(app, "selectbox", f"source-UU-{name}").set_value(value).run()
    shares = {"prior": 100 * PRIOR, "theta1": 65.0, "theta2": 17.0, "r_min": 0.1}
    for name in set(MEANINGS[kind].parameters) - set(without):
        of_file(app, "number_input", name).set_value(shares[name]).run()
    assert not app.exception
    return app


@pytest.mark.slow
@pytest.mark.parametrize("kind", WEAK)
def test_a_file_of_every_kind_goes_through_every_view(app, kind):
    opened(app, kind)
    assert not app.error, app.error[0].value
    app.button(key="analyse").click().run()
    assert not app.exception
    for view in VIEWS:
        app.switch_page(f"views/{view}.py").run()
        assert not app.exception, (view, app.exception)
        assert not app.error or view == "overview", (view, app.error[0].value)
    app.switch_page("views/noise.py").run()
    assert "do not exist under" in messages(app)


@pytest.mark.parametrize("kind", WEAK)
def test_a_missing_prior_is_asked_for_in_words(app, kind):
    if "prior" not in MEANINGS[kind].parameters:
        return
    opened(app, kind, without=["prior"])
    assert "share of all rows that are positive" in app.error[0].value
    assert app.button(key="analyse").disabled


@pytest.mark.parametrize("kind", ["su", "du", "sd", "sconf"])
def test_a_prior_of_one_half_is_not_identifiable(app, kind):
    opened(app, kind)
    of_file(app, "number_input", "prior").set_value(50.0).run()
    assert "not identifiable" in app.error[0].value


def test_every_meaning_shows_an_example_that_has_its_columns(app):
    roles = {"label": "label", "source": "source", "confidence": "confidence", "unit": "pair"}
    for kind, meaning in MEANINGS.items():
        header = meaning.example.splitlines()[0].split(",")
        assert "score" in header, kind
        for role in meaning.columns:
            assert roles[role] in header, kind


@pytest.mark.parametrize("kind", ["uu", "pconf", "pcomp", "su"])
def test_what_depends_on_a_stated_share_stands_beside_the_results(app, kind):
    opened(app, kind)
    app.button(key="analyse").click().run()
    app.switch_page("views/overview.py").run()
    said = [part.value for part in app.caption if "instead of" in part.value]
    assert len(said) == (3 if kind == "uu" else 1)


@pytest.mark.parametrize("kind", ["pcomp", "sd", "sconf", "su"])
def test_a_file_with_both_scores_in_a_row_gives_the_numbers_of_one_row_a_member(app, kind):
    lines = weak_file(kind).decode().splitlines()
    header, rows = lines[0].split(","), [line.split(",") for line in lines[1:] if line]
    pair = header.index("pair")
    by_pair = {}
    for row in rows:
        by_pair.setdefault(row[pair], []).append(row)
    wide = ["score,other,source,confidence,region"]
    for members in by_pair.values():
        first, other = members[0], members[1][0] if len(members) == 2 else ""
        told = {
            name: first[header.index(name)] if name in header else "" for name in ("source", "confidence")
        }
        wide.append(f"{first[0]},{other},{told['source']},{told['confidence']},{first[-1]}")
    opened(app, kind)
    app.button(key="analyse").click().run()
    expected = [metric.value for metric in app.metric]
    app.switch_page("views/data.py").run()
    upload(app, "\n".join([*wide, ""]).encode(), "wide.csv")
    told = (
        {"source": "source"}
        if kind in ("sd", "su")
        else {"confidence": "confidence"}
        if kind == "sconf"
        else {}
    )
    for role in ("label", "audit", "unit", "source", "confidence"):
        of_file(app, "selectbox", f"role-{role}").set_value(told.get(role))
    app.run()
    of_file(app, "toggle", "more-kinds").set_value(True).run()
    of_file(app, "radio", "labels-mean").set_value(kind).run()
    of_file(app, "selectbox", "second-score").set_value("other").run()
    of_file(app, "number_input", "prior").set_value(100 * PRIOR).run()
    assert not app.error, app.error[0].value
    app.button(key="analyse").click().run()
    assert not app.exception
    assert [metric.value for metric in app.metric] == expected


def test_a_full_sample_of_the_population_gives_the_sizes_of_subgroups(app):
    opened(app, "uu")
    app.button(key="analyse").click().run()
    app.switch_page("views/subgroups.py").run()
    before = app.metric[0].value
    app.switch_page("views/data.py").run()
    pool = "region\n" + "north\n" * 900 + "south\n" * 100
    of_file(app, "file_uploader", "pool").upload("pool.csv", pool.encode(), "text/csv").run()
    assert not app.error
    app.switch_page("views/subgroups.py").run()
    assert not app.exception
    assert app.metric[0].value != before


def test_a_sample_without_the_subgroup_columns_is_refused(app):
    opened(app, "uu")
    of_file(app, "file_uploader", "pool").upload("pool.csv", b"other\n1\n2\n", "text/csv").run()
    assert "needs the subgroup columns" in app.error[0].value


def test_which_group_is_which_is_asked_and_not_guessed_from_the_order_of_rows(app):
    upload(app, weak_file("uu"))
    of_file(app, "selectbox", "role-source").set_value("source").run()
    of_file(app, "toggle", "more-kinds").set_value(True).run()
    of_file(app, "radio", "labels-mean").set_value("uu").run()
    assert "Say which value of the source column means first" in app.error[0].value
    assert app.button(key="analyse").disabled


def test_which_group_is_which_waits_for_an_open_question(app):
    lines = weak_file("uu").decode().splitlines()
    percent = [f"{100 * float(line.split(',')[0]):.3f},{line.split(',', 1)[1]}" for line in lines[1:] if line]
    upload(app, "\n".join([lines[0], *percent, ""]).encode())
    of_file(app, "selectbox", "role-source").set_value("source").run()
    of_file(app, "toggle", "more-kinds").set_value(True).run()
    of_file(app, "radio", "labels-mean").set_value("uu").run()
    assert not app.exception
    assert app.button(key="analyse").disabled


def test_a_pool_that_lacks_a_later_subgroup_column_is_left_aside(app):
    lines = weak_file("uu").decode().splitlines()
    data = "\n".join([lines[0] + ",age", *(f"{line},{i % 3}" for i, line in enumerate(lines[1:]) if line)])
    upload(app, data.encode())
    of_file(app, "selectbox", "role-source").set_value("source")
    of_file(app, "multiselect", "role-groups").set_value(["region"]).run()
    of_file(app, "toggle", "more-kinds").set_value(True).run()
    of_file(app, "radio", "labels-mean").set_value("uu").run()
    for name, value in (("first", "A"), ("second", "B")):
        of_file(app, "selectbox", f"source-UU-{name}").set_value(value).run()
    for name, value in (("prior", 35.0), ("theta1", 65.0), ("theta2", 17.0)):
        of_file(app, "number_input", name).set_value(value).run()
    of_file(app, "file_uploader", "pool").upload("pool.csv", b"region\nnorth\nsouth\n", "text/csv").run()
    of_file(app, "multiselect", "role-groups").set_value(["region", "age"]).run()
    app.button(key="analyse").click().run()
    app.switch_page("views/subgroups.py").run()
    assert not app.exception


def test_hiding_the_indirect_kinds_keeps_the_answer(app):
    opened(app, "sd")
    of_file(app, "toggle", "more-kinds").set_value(False).run()
    assert of_file(app, "radio", "labels-mean").value == "sd"
    assert not app.error
