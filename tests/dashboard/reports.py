"""Reports made without a page, and their HTML taken apart."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

import numpy as np
import streamlit as st

from dashboard import services
from dashboard.report import report_html
from dashboard.services import Analysis
from dashboard.state import change_settings, get_state


@contextmanager
def fresh_session() -> Iterator[None]:
    """A session without a page, forgotten afterwards; Streamlit's warnings that there is no page stay quiet."""
    logger = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
    level = logger.level
    logger.setLevel(logging.ERROR)
    st.session_state.clear()
    try:
        yield
    finally:
        st.session_state.clear()
        logger.setLevel(level)


def opened(data: bytes, name: str = "scores.csv", **settings) -> Analysis:
    """The analysis of a file as it is guessed, and of what is said about its labels."""
    services.load(data, name)
    change_settings(**settings)
    get_state().analysed = True
    return services.analysis(get_state())


def reported(found: Analysis, *names: str) -> str:
    """The report; with a comparison of calibrators, of which the last is chosen, where they are named."""
    if not names:
        return report_html(found)
    return report_html(found, services.comparison_of(found, ("Identity", *names), "Brier"), names[-1])


def file_with_ids(n: int = 600, seed: int = 5) -> bytes:
    """Scores that are too high, each with nine digits and an id of its own, in two regions."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    label = (rng.random(n) < score**2).astype(int)
    region = rng.choice(["north", "south"], n)
    rows = [
        f"SECRET{i:05d},{s:.9f},{y},{r}" for i, (s, y, r) in enumerate(zip(score, label, region, strict=True))
    ]
    return "\n".join(["customer,score,label,region", *rows, ""]).encode()


class Parts(HTMLParser):
    """Tags with their attributes, what can be read, and what scripts and styles hold."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, list[str]] = {"script": [], "style": []}
        self._inside, read = "", []
        self._read: list[str] = read
        self.feed(html)
        self.text = re.sub(r"[ \r\n]+", " ", " ".join(read))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in self.code else ""
        if self._inside:
            self.code[tag].append("")

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data):
        if self._inside:
            self.code[self._inside][-1] += data
        else:
            self._read.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def sections(self) -> list[str | None]:
        return [attributes.get("id") for attributes in self.all("section")]

    @property
    def figures(self) -> list[str | None]:
        return [one.get("data-figure") for one in self.all("div") if "data-figure" in one]
