"""Learn: where the numbers of the other pages come from, worked through on the user's own data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from calcore.errors import InputError
from calcore.lessons import ErrorArithmetic, Family, PlattSteps
from dashboard import lesson_words as words
from dashboard import services
from dashboard import wording as w
from dashboard.charts.families import families_chart
from dashboard.charts.growth import growth_chart
from dashboard.charts.pooling import pooling_chart
from dashboard.charts.temperatures import temperatures_chart
from dashboard.components.page import VIEWS, assumptions, draw, head, measured_on, problem
from dashboard.components.text import escape
from dashboard.services import LessonData
from dashboard.state import get_state


def lesson_data() -> LessonData:
    """The user's analysis where there is one, else the sample; the page says which."""
    data = None
    try:
        data = services.own_lesson()
    except InputError as error:
        problem(error)
    if data is not None and data.found is not None:
        measured_on(data.found)
        st.caption(escape(words.where_own(data.evidence.n, services.measured_words(data.found))))
        assumptions(data.evidence.model.assumptions)
        return data
    data = services.sample_lesson()
    st.info(words.where_sample(data.evidence.n, get_state().ingested is not None), icon=":material/school:")
    st.page_link(VIEWS["data"], label="Go to Data", icon=":material/upload_file:")
    return data


def begin(lesson: words.Lesson) -> None:
    st.subheader(lesson.title, anchor=False)
    st.markdown(escape(lesson.why))


def computed_on_demand(label: str, note: str, key: str, compute: Callable[[], object]) -> bool:
    """A button for what takes seconds; whether it has just been computed."""
    asked = st.button(label, key=key, icon=":material/play_arrow:")
    st.caption(note)
    if asked:
        with st.spinner(label):
            compute()
    return asked


def arithmetic(data: LessonData) -> None:
    begin(words.ARITHMETIC)
    found = services.arithmetic_of(data)
    st.dataframe(arithmetic_table(found), hide_index=True, key="arithmetic-table")
    st.caption(escape(f"{words.arithmetic(found)} {words.chance(found)}"))


def arithmetic_table(found: ErrorArithmetic) -> pd.DataFrame:
    rows = [
        {
            "Scores": f"{w.edge(float(found.low[j]))} to {w.edge(float(found.high[j]))}",
            "Rows": w.count(int(found.rows[j])),
            "Mean score": w.exact(float(found.mean_score[j])),
            "Event rate": w.exact(float(found.event_rate[j])),
            "Gap": w.exact(float(found.gap[j])),
            "Weight": w.exact(float(found.weight[j])),
            "Contribution": w.exact(float(found.contribution[j])),
        }
        for j in range(len(found))
    ]
    total = {
        "Scores": "Sum",
        "Rows": w.count(int(found.rows.sum())),
        "Mean score": "",
        "Event rate": "",
        "Gap": "",
        "Weight": w.exact(float(found.weight.sum())),
        "Contribution": w.exact(found.total),
    }
    return pd.DataFrame([*rows, total])


def temperatures(data: LessonData) -> None:
    begin(words.TEMPERATURES)
    curve = services.temperatures_of(data)
    draw(temperatures_chart(curve), key="temperatures")
    st.caption(escape(f"{words.temperatures(curve)} {words.TEMPERATURE_NOTE}"))
    for warning in curve.warnings:
        st.caption(escape(f"Note: {warning}."))


def families() -> None:
    begin(words.FAMILIES)
    st.markdown("\n".join(f"- **{escape(one.family)}.** {escape(one.cause)}" for one in words.TENDENCIES))
    found: tuple[Family, ...] = ()
    if services.families_ready():
        found = services.families()
    elif computed_on_demand(words.TRAIN, words.TRAIN_NOTE, "train-families", services.families):
        st.rerun()
    st.dataframe(tendency_table(found), hide_index=True, key="tendency-table")
    st.caption(escape(words.TENDENCY_NOTE))
    if found:
        draw(families_chart(found), key="families")
        st.caption(escape(words.SLOPE_NOTE))


def tendency_table(found: tuple[Family, ...]) -> pd.DataFrame:
    rows = []
    for one in words.TENDENCIES:
        row = {"Family": one.family, "Paper's text": one.text, "Paper's table (ECE)": one.table}
        if found:
            row["Here"] = words.measured_direction(found, one.models)
        rows.append(row)
    return pd.DataFrame(rows)


def platt(data: LessonData) -> None:
    begin(words.PLATT)
    found = services.platt_by_hand_of(data)
    st.markdown(escape(words.platt(found)))
    if found.steps is not None:
        st.dataframe(platt_table(found.steps), hide_index=True, key="platt-table")
    for warning in found.warnings:
        st.caption(escape(f"Note: {warning}."))


def platt_table(steps: PlattSteps) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Score": [w.exact(float(value)) for value in steps.score],
            "logit(score)": [w.exact(float(value)) for value in steps.logit],
            "A × logit + B": [w.exact(float(value)) for value in steps.line],
            "Calibrated": [w.exact(float(value)) for value in steps.calibrated],
        }
    )


def pooling(data: LessonData) -> None:
    begin(words.POOLING)
    labelled = data.evidence.label is not None
    options = [words.OWN, words.EXAMPLE]
    draws = get_state().key("learn-draw")
    number = st.session_state.setdefault(draws, 0)
    own = False
    if labelled:
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        picked = left.segmented_control(
            "Points", options, default=words.OWN, key="pooling-points", required=True
        )
        own = picked != words.EXAMPLE
        if right.button("Ten other rows", key="other-rows", disabled=not own, icon=":material/casino:"):
            number = st.session_state[draws] = number + 1
    else:
        st.caption(words.NO_LABELS)
    found = services.pooling_of(data, number if own else None)
    assert found is not None
    step, total = 0, len(found.steps)
    if total:
        # another draw has other steps: its slider starts afresh
        key = get_state().key(f"pooling-{number if own else 'example'}-{total}")
        step = st.slider("Merges made", 0, total, 0, key=key)
    draw(pooling_chart(found, step), key="pooling")
    st.caption(escape(words.pooling(found, step)))
    if own:
        st.caption(escape(words.OWN_NOTE))


def growth(data: LessonData) -> None:
    begin(words.GROWTH)
    if not services.growth_ready(data):
        if computed_on_demand(words.GROW, words.GROW_NOTE, "grow", partial(services.growth_of, data)):
            st.rerun()
        return
    shown = services.growth_of(data)
    if shown.reason is not None:
        st.caption(escape(words.growth_of_sample(shown.reason)))
    draw(growth_chart(shown.growth), key="growth")
    st.caption(escape(f"{words.growth(shown.growth)} {words.growth_set_up(shown.growth)}"))


def page() -> None:
    head("Learn", "Where the numbers on the other pages come from, worked through on real rows.")
    data = lesson_data()
    arithmetic(data)
    temperatures(data)
    families()
    platt(data)
    pooling(data)
    growth(data)


page()
