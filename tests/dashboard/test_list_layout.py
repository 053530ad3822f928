"""Lists leave in the layout of the open file, and come back in it."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from tests.dashboard.conftest import messages
from tests.dashboard.lists import bring, filled, held, noisy, opened
from tests.dashboard.test_views import go

pytestmark = pytest.mark.usefixtures("few_calibrators")


@pytest.mark.slow
@pytest.mark.parametrize("codec, mark", [("utf-8", b""), ("utf-16-le", b"\xff\xfe"), ("windows-1252", b"")])
def test_lists_keep_separator_decimal_mark_and_encoding(app, codec, mark):
    data, truth = noisy()
    text = data.decode().replace(",", ";").replace(".", ",").replace("north", "nörd")
    go(opened(app, mark + text.encode(codec)), "compare")
    layout = {"sep": ";", "decimal": ","}

    found = held(app, "sample-list").csv
    assert found.startswith(mark + '"line";"list"'.encode(codec))
    table = pd.read_csv(io.StringIO(found.removeprefix(mark).decode(codec)), **layout)
    assert set(table["region"]) == {"nörd", "south"}
    back = filled(table, truth).to_csv(index=False, **layout)
    bring(app, "sample", mark + back.encode(codec))
    assert not app.error
    assert "Ranked on a random sample" in messages(app)

    go(app, "noise")
    found = held(app, "suspicious-csv")
    table = pd.read_csv(io.StringIO(found.removeprefix(mark).decode(codec)), **layout)
    assert table["score"].between(0, 1).all(), "numbers have the decimal mark of the file"
    back = filled(table, truth, "corrected_label").to_csv(index=False, **layout)
    bring(app, "corrections", mark + back.encode(codec))
    assert not app.error
