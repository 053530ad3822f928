"""Files of scores: bytes, a path or a file object to typed columns and an account of every row.

ingested = read(data, filename="scores.csv")
ingested.report.sentence()
ingested.columns.score
"""

from calcore.subgroups import MISSING

from .choices import Choices, ClassView, FileFormat, LabelMapping, Question, Roles, answer
from .columns import Columns
from .interpret import Ingested, interpret
from .parsed import Parsed
from .read import parse, read
from .report import ColumnInfo, IngestReport, Refused
from .returned import LIST, Returned, positions, read_returned
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
    "LabelMapping",
    "Parsed",
    "Question",
    "Refused",
    "Returned",
    "Roles",
    "ScoreColumns",
    "answer",
    "interpret",
    "parse",
    "positions",
    "read",
    "read_returned",
    "score_columns",
]
