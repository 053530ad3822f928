"""The Data page asks what ties count as, and joins labels of another file."""

from __future__ import annotations

import numpy as np

from calcore import ingest
from tests.dashboard.conftest import csv_bytes, messages, of_file, upload
from tests.dashboard.test_views import go


def state_of(at):
    return at.session_state["calcore"]


def games(n=300):
    rng = np.random.default_rng(0)
    score = rng.random(n)
    label = np.where(rng.random(n) < 0.1, 0.5, (rng.random(n) < score).astype(float))
    text = "score,result\n" + "".join(f"{s:.4f},{y:g}\n" for s, y in zip(score, label, strict=True))
    return label, text.encode()


def test_ties_are_asked_about_and_the_answer_can_be_changed(app):
    label, data = games()
    upload(app, data)
    ties = int((label == 0.5).sum())
    said = " ".join(part.value for part in app.markdown).replace("\\", "")
    assert f'"result" holds {ties} rows with 0.5 between 0 and 1: what does a tie count as?' in said
    question = of_file(app, "radio", "question")
    assert question.options[:2] == ["Leave these rows out", "Half a positive, half a negative"]
    assert question.value == "leave out"
    question.set_value("half").run()
    assert not app.exception
    assert of_file(app, "radio", "question").value == "half"
    assert (state_of(app).ingested.columns.label == 0.5).sum() == ties
    app.button(key="analyse").click().run()
    for view in ("overview", "reliability", "noise", "compare", "export", "learn"):
        go(app, view)
        assert not app.exception, view
    go(app, "data")
    of_file(app, "radio", "question").set_value("negative").run()
    assert state_of(app).ingested.columns.label.mean() == (label == 1).mean()
    of_file(app, "radio", "question").set_value("leave out").run()
    assert np.isnan(state_of(app).ingested.columns.label).sum() == ties


def two_files(n=300):
    cells = [line.split(",") for line in csv_bytes(n).decode().splitlines()[1:]]
    scores = "\n".join(["id,score,region", *(f"r{i},{s},{r}" for i, (s, _, r) in enumerate(cells))])
    labels = "\n".join(["id;label", *(f"r{i};{y}" for i, (_, y, _) in enumerate(cells) if i % 3)])
    return scores.encode(), labels.encode()


def bring(at, data, name="labels.csv"):
    return of_file(at, "file_uploader", "labels-file").upload(name, data, "text/csv").run()


def said_by(at):
    return " ".join([*(part.value for part in at.markdown), messages(at)]).replace("\\", "")


def test_labels_of_another_file_are_joined_analysed_and_taken_away(app):
    scores, labels = two_files()
    upload(app, scores)
    before = state_of(app).parsed.sha256
    assert app.button(key="analyse").disabled
    bring(app, labels)
    assert not app.exception
    assert not app.error
    assert 'labels.csv gave 200 of 300 rows a label, by "id"; 100 rows have none.' in said_by(app)
    assert of_file(app, "selectbox", "role-label").value == "label"
    assert state_of(app).parsed.sha256 != before
    app.button(key="analyse").click().run()
    go(app, "overview")
    assert not app.exception
    assert state_of(app).analysed
    go(app, "data")
    app.button(key="forget-labels").click().run()
    assert not app.exception
    assert state_of(app).parsed.sha256 == before
    assert "label" not in state_of(app).parsed.columns


def test_columns_that_cannot_be_guessed_are_asked_for(app):
    scores, labels = two_files()
    upload(app, scores)
    bring(app, labels.replace(b"id;label", b"case;label"))
    assert "labels.csv is read. Say which columns belong together." in said_by(app)
    assert app.button(key="join-labels").disabled
    of_file(app, "selectbox", "late-on").set_value("region").run()
    of_file(app, "selectbox", "late-labels-on").set_value("case").run()
    assert of_file(app, "selectbox", "late-label").value == "label"
    app.button(key="join-labels").click().run()
    assert any("No id of labels" in box.value.replace("\\", "") for box in app.error)
    of_file(app, "selectbox", "late-on").set_value("id").run()
    app.button(key="join-labels").click().run()
    assert not app.error
    assert "gave 200 of 300 rows" in said_by(app)


def test_a_file_that_cannot_be_read_or_contradicts_itself_is_said_so(app):
    scores, labels = two_files()
    upload(app, scores)
    bring(app, b"PK\x03\x04rubbish", "labels.xlsx.csv")
    assert app.error
    bring(app, labels + b"\nr1;1\nr1;0\n", "twice.csv")
    assert any("has two labels for the id" in box.value.replace("\\", "") for box in app.error)
    assert "label" not in state_of(app).parsed.columns


def test_labels_stay_joined_when_the_scores_are_read_in_another_layout(app):
    scores, labels = two_files()
    upload(app, scores)
    bring(app, labels)
    joined = state_of(app).parsed.sha256
    of_file(app, "selectbox", "encoding").set_value("windows-1252").run()
    assert not app.exception
    assert state_of(app).parsed.sha256 == joined
    assert "gave 200 of 300 rows" in said_by(app)
    of_file(app, "selectbox", "separator").set_value(";").run()
    assert not app.exception
    assert "Say which columns belong together" in said_by(app)


def test_names_of_ids_and_files_are_shown_as_typed(app):
    upload(app, b"$x$ id,score\n*a*,0.9\n_b_,0.2\n", "scores.csv")
    bring(app, b"$x$ id,label\n*a*,1\n_b_,0\n`c`,1\n", "*labels*.csv")
    raw = " ".join(part.value for part in app.markdown)
    assert r"\*labels\*.csv gave 2 of 2 rows a label" in raw
    assert r"\$x\$ id" in raw
    assert ingest.interpret(state_of(app).parsed).columns.label.tolist() == [1, 0]


def partly_labelled(n=300):
    """Scores some of which have an outcome, three outcomes in all, and a file with outcomes of the others."""
    cells = [line.split(",") for line in csv_bytes(n).decode().splitlines()[1:]]
    words = ["paid" if y == "0" else "lost" for _, y, _ in cells]
    words[3] = "maybe"
    rows = (f"r{i},{'' if i == 7 else s},{words[i] if i % 2 else ''}" for i, (s, _, _) in enumerate(cells))
    later = "\n".join(["id,outcome", *(f"r{i},{words[i]}" for i in range(0, n, 2))])
    return "\n".join(["id,score,outcome", *rows]).encode(), later.encode()


def test_what_labels_mean_is_not_asked_again_when_more_of_them_come(app):
    scores, labels = partly_labelled()
    upload(app, scores)
    of_file(app, "radio", "question").set_value("lost").run()
    assert '"outcome": maybe (1 row) counts as negative, beside paid.' in said_by(app)
    bring(app, labels)
    assert not app.exception
    assert "gave 150 of 300 rows a label" in said_by(app)
    assert "These counts are of all 300 rows of scores.csv; 1 was refused afterwards." in said_by(app)
    assert "which one is positive" not in said_by(app)
    found = state_of(app).ingested
    assert found.report.label_mapping.positive == ("lost",)
    assert np.isfinite(found.columns.label).all()
    bring(app, labels.replace(b"lost", b"gone"), "other.csv")
    assert "which one is positive" in said_by(app), "a value that nobody spoke of"
