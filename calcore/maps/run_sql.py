"""Whether a map's SQL text gives its numbers: run in SQLite, which comes with Python, and compared."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calcore.maps.calibration_map import CalibrationMap
from calcore.maps.example_rows import example_rows
from calcore.maps.sql import SQL_TOLERANCE, to_sql
from calcore.maps.sql_text import identifier
from calcore.maps.verify import Verification, compared, failed, probe_scores
from calcore.validation import Floats


def verify_sql(map_: CalibrationMap, scores: ArrayLike, column: str | None = None) -> Verification:
    """Run the SQL expression for the score ``column`` in SQLite, in memory, and compare within 1e-12.

    scores: as for `verify_json`; rows of subgroups are made up from their definitions. Raises `InputError` for
    scores that are not in [0, 1] and for a map that SQL text cannot hold.
    """
    probes = probe_scores(map_, scores)
    table = None
    if map_.function.needs_groups:
        table = example_rows(map_.definitions(), len(probes))
    name = column or score_column(table)
    text = to_sql(map_, name)
    try:
        result = run_in_sqlite(text, probes, table, name)
    except sqlite3.Error as error:
        return failed("SQL", f"The SQL text does not run in SQLite ({error}); do not use it.")
    return compared("SQL", map_.predict(probes, table), result, tolerance=SQL_TOLERANCE)


def score_column(table: pd.DataFrame | None) -> str:
    """A name for the score that no column of ``table`` has; SQL does not tell upper from lower case."""
    name, taken = "score", set() if table is None else {str(column).lower() for column in table}
    while name in taken:
        name += "_"
    return name


def run_in_sqlite(
    expression: str, scores: Floats, table: pd.DataFrame | None = None, column: str | None = None
) -> Floats:
    """The expression's value for each score of ``column``, NaN for NULL; ``table`` has a row a score."""
    connection = sqlite3.connect(":memory:")
    try:
        if not sqlite_has_logarithms(connection):
            connection.create_function("ln", 1, math.log, deterministic=True)
            connection.create_function("exp", 1, math.exp, deterministic=True)
        others = {} if table is None else {str(name): values for name, values in table.items()}
        columns = {column or score_column(table): pd.Series(scores), **others}
        kinds = (f"{identifier(n)} {'REAL' if v.dtype.kind == 'f' else 'TEXT'}" for n, v in columns.items())
        connection.execute(f"CREATE TABLE t ({', '.join(kinds)})")
        rows = zip(*(v.astype(object).where(v.notna(), None).tolist() for v in columns.values()), strict=True)
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        found = connection.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()
    finally:
        connection.close()
    return np.array([np.nan if value is None else value for (value,) in found], dtype=np.float64)


def sqlite_has_logarithms(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite was built with its mathematical functions, LN and EXP among them."""
    try:
        connection.execute("SELECT ln(1.0), exp(1.0)").fetchall()
    except sqlite3.OperationalError:
        return False
    return True
