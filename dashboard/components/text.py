"""Text that a user may have typed, shown as it is."""

from __future__ import annotations

import re

from calcore.wording import readable

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~$:&])")


def escape(text: str) -> str:
    """``text`` with everything escaped that Markdown, LaTeX or Streamlit's directives would act on."""
    return _SPECIAL.sub(r"\\\1", readable(str(text))).replace("\n", " ")
