"""What became of two files that were joined, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lines:
    """How many, and where the first of them stand: "lines 3, 9 and 12"."""

    count: int
    where: str


@dataclass(frozen=True)
class JoinAccount:
    """The join of the files ``scores`` and ``labels``.

    Of the ``rows`` of the scores ``labelled`` got a label from the second file, ``kept`` had one, ``unlabelled`` have
    none, and ``without_id`` have no id; ``repeated_ids`` stand on ``repeated_rows`` rows that all got their label;
    on ``against`` the second file says something else than the row's own label, which stays. Of the labels'
    file ``no_score`` are ids without a row of the scores, ``blank_id`` rows with a label and no id, ``no_label`` ids
    without a label, ``again`` rows that say again what another says, ``refused`` rows that could not be read.
    ``alike`` are ids of labels and scores that differ only in how they are written; ``numbers`` the files whose ids
    are typed as decimals.
    """

    scores: str
    labels: str
    on: str
    labels_on: str
    rows: int
    labelled: int
    unlabelled: int
    without_id: int
    repeated_ids: int
    repeated_rows: int
    no_score: Lines
    blank_id: Lines
    no_label: int
    again: int
    kept: int
    against: Lines
    refused: int
    alike: tuple[str, str] | None
    numbers: tuple[str, ...]

    def sentence(self) -> str:
        """What was joined, e.g. "labels.csv gave 8 of 9 rows a label, by "id"; 1 row has none"."""
        by = f'"{self.on}"' if self.on == self.labels_on else f'"{self.on}" and "{self.labels_on}"'
        none = f"; {_rows(self.unlabelled)} {_has(self.unlabelled)} none" if self.unlabelled else ""
        return f"{self.labels} gave {self.labelled:,} of {_rows(self.rows)} a label, by {by}{none}"

    def details(self) -> tuple[str, ...]:
        """Whatever is not plain, each a sentence; what could be a mistake comes first."""
        labels = self.labels
        said = (
            (self.against.count, f"{_rows(self.against.count)} of {self.scores} had another label than {labels} gives, "
             f"and kept it ({self.against.where})."),
            (self.no_score.count, f"{_ids(self.no_score.count)} of {labels} {_has(self.no_score.count)} no score "
             f"({self.no_score.where})."),
            (self.alike is not None, "Ids are compared as they are written: " + " is not ".join(
                f'"{one}"' for one in self.alike or ()) + "."),
            (self.blank_id.count, f"{_rows(self.blank_id.count)} of {labels} {_has(self.blank_id.count)} a label and no id "
             f"({self.blank_id.where})."),
            (self.refused, f"{_rows(self.refused)} of {labels} could not be read."),
            (self.numbers, f'Ids of {" and ".join(self.numbers)} are decimals there, and whole ones were read without ".0".'),
            (self.without_id, f"{_rows(self.without_id)} of {self.scores} {_has(self.without_id)} no id."),
            (self.no_label, f"{_ids(self.no_label)} of {labels} {_has(self.no_label)} no label yet."),
            (self.repeated_ids, f"{_ids(self.repeated_ids)} {'stands' if self.repeated_ids == 1 else 'stand'} on several "
             f"rows of {self.scores}: all {self.repeated_rows:,} got the label."),
            (self.again, f"{_rows(self.again)} of {labels} {'says' if self.again == 1 else 'say'} again what another says."),
            (self.kept, f"{_rows(self.kept)} of {self.scores} had a label already."),
        )  # fmt: skip
        return tuple(sentence for there, sentence in said if there)

    def refused_after(self, rows_kept: int) -> tuple[str, ...]:
        """That the counts are of rows some of which were refused afterwards, where ``rows_kept`` are left."""
        refused = self.rows - rows_kept
        if refused <= 0:
            return ()
        were = "was" if refused == 1 else "were"
        return (
            f"These counts are of all {_rows(self.rows)} of {self.scores}; {refused:,} {were} refused afterwards.",
        )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _ids(count: int) -> str:
    return "1 id" if count == 1 else f"{count:,} ids"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
