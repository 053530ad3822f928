"""Page config and navigation, and nothing else."""

from pathlib import Path

import streamlit as st

from dashboard.components.over_time_controls import remember_controls
from dashboard.components.saved_session import follow_link, notice
from dashboard.components.sidebar import sidebar
from dashboard.services import freeze_libraries
from dashboard.state import remember_looked

# a local picture: icons of pages would be fetched from outside as favicons
ICON = str(Path(__file__).parent / "images" / "icon.png")

st.set_page_config(page_title="Calibration monitor", page_icon=ICON, layout="wide")
freeze_libraries()

page = st.navigation(
    [
        st.Page("views/data.py", title="Data", icon=":material/upload_file:", default=True),
        st.Page("views/overview.py", title="Overview", icon=":material/speed:"),
        st.Page("views/reliability.py", title="Reliability", icon=":material/show_chart:"),
        st.Page("views/subgroups.py", title="Subgroups", icon=":material/grid_on:"),
        st.Page("views/noise.py", title="Label noise", icon=":material/rule:"),
        st.Page("views/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("views/over_time.py", title="Over time", icon=":material/timeline:"),
        st.Page("views/export.py", title="Export", icon=":material/download:"),
        st.Page("views/learn.py", title="Learn", icon=":material/school:"),
    ]
)
follow_link()
remember_looked()
remember_controls()
sidebar(page.url_path or "data")
notice()
page.run()
