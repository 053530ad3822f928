"""Lists as a person fills them in: a file with known truth, what a download holds, an upload of what came back."""

from __future__ import annotations

import io

import pandas as pd

from tests.dashboard.conftest import csv_bytes, of_file, upload

N = 1200


def noisy(n=N, seed=3, flips=0.25):
    """A file of calibrated scores whose labels are partly flipped, and the truth by line."""
    clean, flipped = csv_bytes(n, seed), csv_bytes(n, seed, flips=flips)
    truth = pd.read_csv(io.BytesIO(clean))["label"].to_numpy()
    return flipped, dict(zip(range(2, n + 2), truth.tolist(), strict=True))


def opened(app, data, labels="noisy", name="scores.csv"):
    upload(app, data, name)
    if labels != "clean":
        of_file(app, "radio", "labels-mean").set_value(labels).run()
    app.button(key="analyse").click().run()
    assert not app.exception
    return app


def held(app, kind):
    """What a download button of the page holds: the newest result of its kind."""
    results = app.session_state["calcore"].results
    return next(value for key, value in reversed(results.items()) if key[0] == kind)


def the_list(app):
    return pd.read_csv(io.BytesIO(held(app, "sample-list").csv))


def filled(table, truth, column="audit_label"):
    return table.assign(**{column: [truth[line] for line in table["line"]]})


def as_csv(table):
    return table.to_csv(index=False).encode()


def bring(app, name, data, filename="filled.csv"):
    of_file(app, "file_uploader", f"{name}-upload").upload(filename, data, "text/csv").run()
    assert not app.exception
    return app


def compared(app):
    """The table of the comparison, the first on its page."""
    return app.dataframe[0].value


def buttons(app):
    return [button.label for button in app.button]
