"""Files of scores: bytes, a path or a file object to typed columns and an account of every row.

ingested = read(data, filename="scores.csv")
ingested.report.sentence()
ingested.columns.score
"""

from calcore.subgroups import MISSING

from .choices import Choices, ClassView, FileFormat, LabelMapping, Question, Roles, answer
from .columns import Columns
from .ids import parse_with_text_ids
from .interpret import Ingested, interpret
from .join_account import JoinAccount
from .join_columns import JoinColumns, NotNamed, guess_join, roles_with_label
from .late_labels import Joined, join_labels
from .parsed import Parsed
from .read import parse, read
from .report import ColumnInfo, IngestReport, Refused
from .returned import LIST, Returned, positions, read_returned
from .roles import guess_roles
from .several_scores import TOP, ScoreColumns, score_columns

__all__ = [
    "LIST",
    "MISSING",
    "TOP",
    "Choices",
    "ClassView",
    "ColumnInfo",
    "Columns",
    "FileFormat",
    "IngestReport",
    "Ingested",
    "JoinAccount",
    "JoinColumns",
    "Joined",
    "LabelMapping",
    "NotNamed",
    "Parsed",
    "Question",
    "Refused",
    "Returned",
    "Roles",
    "ScoreColumns",
    "answer",
    "guess_join",
    "guess_roles",
    "interpret",
    "join_labels",
    "parse",
    "parse_with_text_ids",
    "positions",
    "read",
    "read_returned",
    "roles_with_label",
    "score_columns",
]
