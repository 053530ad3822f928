"""Export: the chosen map, read back and checked, in the forms that production needs."""

from __future__ import annotations

import streamlit as st

from calcore import verdicts
from calcore.calibrators import REGISTRY
from calcore.errors import InputError
from dashboard import services
from dashboard.components.page import VIEWS, draw_maps, head, problem, require_analysis
from dashboard.components.report import report
from dashboard.components.scored_rows import scored_rows
from dashboard.components.text import escape
from dashboard.services import Exported
from dashboard.services.comparing import ExportedFile, map_file_name
from dashboard.state import get_state

SCIKIT_LEARN = """\
from calcore.maps import CalibratedClassifier, CalibrationMap
calibration_map = CalibrationMap.from_json(open("{file}").read())
calibrated = CalibratedClassifier(classifier, calibration_map)  # your fitted classifier; predict_proba goes through the map
"""


def page() -> None:
    head("Export", "A calibration map for production, run on your scores and compared before you get it.")
    found = require_analysis()
    result = services.latest_comparison(found)
    if result is None:
        st.info(
            "Compare calibrators first: the map leaves with its measured numbers.",
            icon=":material/compare_arrows:",
        )
        if st.button("Compare calibrators", type="primary", key="export-to-compare"):
            st.switch_page(VIEWS["compare"])
        report(found)
        return
    names = [entry.name for entry in result.entries if entry.missing is None]
    suggestion = get_state().export_choice or verdicts.suggested(result)
    name = st.selectbox(
        "Calibrator",
        names,
        index=names.index(suggestion) if suggestion in names else 0,
        format_func=lambda one: REGISTRY[one].title,
        key=get_state().fresh("export-name"),
    )
    get_state().export_choice = name
    entry = result.entry(name)
    try:
        exported = services.export_of(found, result, name)
    except InputError as error:
        problem(error)
        return
    st.caption(escape(REGISTRY[name].summary))
    st.markdown(escape(verdicts.harm(entry)))
    for warning in exported.map.warnings:
        st.warning(escape(warning[:1].upper() + warning[1:]), icon=":material/warning:")
    st.caption(escape(result.verdict))
    checks = [one.check for one in exported.files if one.check is not None]
    right = [escape(check.sentence) for check in checks if check.ok]
    if right:
        st.success("  \n".join(right), icon=":material/verified:")
    for check in checks:
        if not check.ok:
            st.error(escape(check.sentence), icon=":material/error:")
    formats(exported, name)
    scored_rows(found, exported)
    report(found, result, name)
    draw_maps(found, [(entry.title, exported.map)], key="export-map")
    with st.expander("The JSON", icon=":material/data_object:"):
        st.code(exported.json[:20_000], language="json")
    for title, one in (("The Python module", "Python"), ("The SQL expression", "SQL")):
        data = exported.file(one).data
        if isinstance(data, str):
            with st.expander(title, icon=":material/code:"):
                st.code(data[:20_000], language=one.lower())
    with st.expander("In scikit-learn", icon=":material/code:"):
        st.code(SCIKIT_LEARN.format(file=map_file_name(name, "json")), language="python")


def formats(exported: Exported, name: str) -> None:
    """The downloads; an export that differs from its map cannot be taken, and one that cannot be says why."""
    first, second, third = st.columns(3)
    with first:
        offer(
            exported.file("JSON"),
            "Map as JSON",
            map_file_name(name, "json"),
            "application/json",
            "data_object",
        )
    with second:
        offer(exported.file("Python"), "Python module", map_file_name(name, "py"), "text/x-python", "code")
    with third:
        offer(
            exported.file("SQL"), "SQL expression", map_file_name(name, "sql"), "application/sql", "database"
        )
    offer(exported.file("ONNX"), "ONNX model", map_file_name(name, "onnx"), "application/octet-stream", "hub")


def offer(one: ExportedFile, label: str, file_name: str, mime: str, icon: str) -> None:
    if one.data is None:
        st.caption(escape(one.reason))
        return
    st.download_button(
        label,
        one.data,
        file_name=file_name,
        mime=mime,
        on_click="ignore",
        type="primary" if one.format == "JSON" else "secondary",
        key=f"download-{one.format.lower()}",
        disabled=not one.usable,
        icon=f":material/{icon}:",
    )


page()
